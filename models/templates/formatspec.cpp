// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/templates/formatspec.h"

#include "models/core/utf8.h"
#include "models/templates/pystring.h"
#include "models/templates/raised.h"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace prosector::jinja {

std::string asciiOnly(std::string_view text)
{
    std::string out;
    for (std::size_t at = 0; at < text.size();) {
        const CodePoint c = decodeUtf8(text, at);
        at += c.length;
        if (c.value < 0x80)
            out += static_cast<char>(c.value);
        else
            out += pythonEscape(c.value);
    }
    return out;
}

std::string digitsOf(std::int64_t value, int base, bool upperCase)
{
    char digits[72];
    const auto magnitude = value < 0 ? 0 - static_cast<std::uint64_t>(value) : static_cast<std::uint64_t>(value);
    const auto [end, error] = std::to_chars(digits, digits + sizeof digits, magnitude, base);
    std::string out(digits, end);
    if (upperCase)
        std::transform(out.begin(), out.end(), out.begin(), [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c; });
    return out;
}

std::string floatDigits(double value, char type, int precision, bool alternate)
{
    const double magnitude = std::abs(value);
    const bool upperCase = type == 'E' || type == 'F' || type == 'G';
    if (std::isnan(value))
        return upperCase ? "NAN" : "nan";
    if (std::isinf(value))
        return upperCase ? "INF" : "inf";
    if (precision > 10000)
        raise(Exc::ValueError, "precision too big");
    // Not printf: its decimal point follows the locale.
    const char kind = static_cast<char>(type | 0x20);
    const auto form = kind == 'e' ? std::chars_format::scientific : kind == 'f' ? std::chars_format::fixed : std::chars_format::general;
    std::string text(static_cast<std::size_t>(precision) + 400, '\0');
    const auto [end, error] = std::to_chars(text.data(), text.data() + text.size(), magnitude, form, precision);
    text.resize(static_cast<std::size_t>(end - text.data()));
    if (alternate && text.find('.') == std::string::npos)
        text.insert(std::min(text.find('e'), text.size()), ".");
    if (upperCase)
        std::transform(text.begin(), text.end(), text.begin(), [](char c) { return c == 'e' ? 'E' : c; });
    return text;
}

std::string grouped(std::string digits, char separator, std::size_t every)
{
    std::size_t end = 0;
    while (end < digits.size() && ((digits[end] >= '0' && digits[end] <= '9') || (every == 4 && digits[end] >= 'A')))
        ++end;
    for (std::size_t at = end; at > every;) {
        at -= every;
        digits.insert(at, 1, separator);
    }
    return digits;
}

std::string padded(std::string text, const FormatSpec &spec, char defaultAlign, std::size_t signLength)
{
    const auto length = codePointCount(text);
    if (length >= spec.width)
        return text;
    const auto missing = static_cast<std::size_t>(spec.width - length);
    const auto fill = [&spec](std::size_t count) {
        std::string out;
        for (std::size_t i = 0; i < count; ++i)
            out += spec.fill;
        return out;
    };
    switch (spec.align ? spec.align : defaultAlign) {
    case '<': return text + fill(missing);
    case '^': return fill(missing / 2) + text + fill(missing - missing / 2);
    case '=': return text.substr(0, signLength) + fill(missing) + text.substr(signLength);
    default: return fill(missing) + text;
    }
}

int readNumber(std::string_view text, std::size_t &at)
{
    int value = -1;
    while (at < text.size() && text[at] >= '0' && text[at] <= '9') {
        value = std::max(value, 0) * 10 + (text[at++] - '0');
        if (value > maxWidth)
            raise(Exc::ValueError, "Too many decimal digits in format string");
    }
    return value;
}

std::string signFor(bool negative, char sign)
{
    return negative ? "-" : sign == '+' ? "+" : sign == ' ' ? " " : "";
}

} // namespace prosector::jinja
