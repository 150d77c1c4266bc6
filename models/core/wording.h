// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

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

/// A number with so many significant digits at most, whatever the locale: "0.25", "1e-07", "inf".
inline std::string decimal(double number, int digits = 4)
{
    char text[64];
    const auto [end, error] = std::to_chars(text, text + sizeof text, number, std::chars_format::general, digits);
    return error == std::errc() ? std::string(text, end) : std::string("?");
}

} // namespace prosector
