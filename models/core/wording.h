// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>

namespace prosector {

/// "1 file", "3 files".
inline std::string counted(std::uint64_t count, std::string_view noun)
{
    return std::to_string(count) + " " + std::string(noun) + (count == 1 ? "" : "s");
}

/// The last word of a plural as it stands behind a 1: "bytes", "entries", "classes".
inline std::string singular(std::string_view plural)
{
    const auto ends = [&](std::string_view end) { return plural.ends_with(end); };
    if (ends("ies") && plural.size() > 4)
        return std::string(plural.substr(0, plural.size() - 3)) + "y";
    if (ends("sses") || ends("xes") || ends("ches") || ends("shes"))
        return std::string(plural.substr(0, plural.size() - 2));
    return std::string(ends("s") && !ends("ss") ? plural.substr(0, plural.size() - 1) : plural);
}

/// A unit in the plural as it goes with the number: "files", but "file" where it is one. Of "values without
/// effect" the first word is the one that counts.
inline std::string unitFor(double number, std::string_view unit)
{
    if (number != 1)
        return std::string(unit);
    const std::size_t first = std::min(unit.find(' '), unit.size());
    if (first > 0 && unit[first - 1] == 's')
        return singular(unit.substr(0, first)) + std::string(unit.substr(first));
    return singular(unit);
}

/// A number with so many significant digits at most, whatever the locale: "0.25", "1e-07", "inf".
inline std::string decimal(double number, int digits = 4)
{
    char text[64];
    const auto [end, error] = std::to_chars(text, text + sizeof text, number, std::chars_format::general, digits);
    return error == std::errc() ? std::string(text, end) : std::string("?");
}

} // namespace prosector
