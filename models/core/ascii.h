// SPDX-License-Identifier: GPL-3.0-or-later
// Letters and blanks of ASCII alone: names in files mean the same in every locale.
#pragma once

#include <string>
#include <string_view>

namespace prosector {

constexpr char asciiLower(char c)
{
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

inline std::string asciiLower(std::string_view text)
{
    std::string lower(text);
    for (char &c : lower)
        c = asciiLower(c);
    return lower;
}

/// Without the spaces, tabs and line ends around it. Points into `text`.
constexpr std::string_view trimmed(std::string_view text)
{
    constexpr std::string_view blanks = " \t\r\n";
    const auto from = text.find_first_not_of(blanks);
    return from == std::string_view::npos ? std::string_view() : text.substr(from, text.find_last_not_of(blanks) - from + 1);
}

} // namespace prosector
