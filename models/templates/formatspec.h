// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace prosector::jinja {

// What both ways of formatting in Python share: `%` and `{:}`.

constexpr int maxWidth = 10'000'000; // wider fields are only asked for by mischief

/// One `%…` or `{:…}`.
struct FormatSpec {
    std::string fill = " ";
    char align = 0, sign = '-', grouping = 0, type = 0;
    bool alternate = false, zero = false;
    int width = 0, precision = -1;
};

/// The number at `at`, which moves behind it; -1 where there is none. Raises ValueError beyond maxWidth.
int readNumber(std::string_view text, std::size_t &at);
/// "-", "+", " " or nothing.
std::string signFor(bool negative, char sign);
/// Characters beyond ASCII as \x, \u and \U escapes, as ascii() has them.
std::string asciiOnly(std::string_view text);
/// Digits of |value| in a base.
std::string digitsOf(std::int64_t value, int base, bool upperCase);
/// |value| in one of Python's float forms. `alternate` keeps the point.
std::string floatDigits(double value, char type, int precision, bool alternate);
/// The leading digits in groups.
std::string grouped(std::string digits, char separator, std::size_t every = 3);
/// Filled up to the width; `signLength` bytes in front stay there with '='.
std::string padded(std::string text, const FormatSpec &spec, char defaultAlign, std::size_t signLength = 0);

} // namespace prosector::jinja
