// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/templates/pynumber.h"

#include "models/templates/operators.h"
#include "models/templates/pyformat.h"
#include "models/templates/pystring.h"
#include "models/templates/raised.h"

#include <charconv>
#include <cmath>
#include <limits>

namespace prosector::jinja {

namespace {

std::string_view stripped(std::string_view text)
{
    text.remove_prefix(stripBegin(text));
    return text.substr(0, stripEnd(text));
}

/// The text without underscores between digits; nothing where one stands elsewhere.
std::optional<std::string> withoutUnderscores(std::string_view text)
{
    const auto alnum = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] != '_') {
            out += text[i];
            continue;
        }
        if (i == 0 || i + 1 == text.size() || !alnum(text[i - 1]) || !alnum(text[i + 1]))
            return std::nullopt;
    }
    return out;
}

} // namespace

Var parseInteger(std::string_view text, std::int64_t base)
{
    const auto invalid = [&]() -> Var {
        raise(Exc::ValueError, "invalid literal for int() with base " + std::to_string(base) + ": " + pythonRepr(text));
    };
    if (base != 0 && (base < 2 || base > 36))
        raise(Exc::ValueError, "int() base must be >= 2 and <= 36, or 0");
    const auto clean = withoutUnderscores(stripped(text));
    if (!clean)
        return invalid();
    std::string_view digits = *clean;
    bool negative = false;
    if (!digits.empty() && (digits[0] == '-' || digits[0] == '+')) {
        negative = digits[0] == '-';
        digits.remove_prefix(1);
    }
    std::int64_t radix = base;
    if (digits.size() > 2 && digits[0] == '0') {
        const char kind = static_cast<char>(digits[1] | 0x20);
        const int prefix = kind == 'x' ? 16 : kind == 'o' ? 8 : kind == 'b' ? 2 : 0;
        if (prefix != 0 && (base == 0 || base == prefix)) {
            radix = prefix;
            digits.remove_prefix(2);
        }
    }
    if (radix == 0) {
        radix = 10;
        if (digits.size() > 1 && digits[0] == '0' && digits.find_first_not_of('0') != std::string_view::npos)
            return invalid();
    }
    if (digits.empty() || digits[0] == '-' || digits[0] == '+')
        return invalid();
    std::uint64_t magnitude = 0;
    const auto parsed = std::from_chars(digits.data(), digits.data() + digits.size(), magnitude, static_cast<int>(radix));
    if (parsed.ptr != digits.data() + digits.size())
        return invalid();
    const std::uint64_t limit = negative ? 1ULL << 63 : INT64_MAX;
    if (parsed.ec == std::errc::result_out_of_range || magnitude > limit) {
        if (radix != 10)
            raise(Exc::Unsupported, "integer beyond 64 bits");
        digits.remove_prefix(std::min(digits.find_first_not_of('0'), digits.size()));
        const Var made = makeText((negative ? "-" : "") + std::string(digits));
        return Var::heap(Kind::BigInt, const_cast<HeapObject *>(made.heapObject()));
    }
    return Var::integer(negative ? static_cast<std::int64_t>(0 - magnitude) : static_cast<std::int64_t>(magnitude));
}

Var truncated(double value)
{
    if (std::isnan(value))
        raise(Exc::ValueError, "cannot convert float NaN to integer");
    if (std::isinf(value))
        raise(Exc::OverflowError, "cannot convert float infinity to integer");
    const double whole = std::trunc(value);
    if (std::abs(whole) < 9.2e18)
        return Var::integer(static_cast<std::int64_t>(whole));
    const Var made = makeText(fixedDigits(whole, 0));
    return Var::heap(Kind::BigInt, const_cast<HeapObject *>(made.heapObject()));
}

Var toInteger(const Var &value)
{
    if (value.isIntegral())
        return Var::integer(value.asInt());
    if (value.kind() == Kind::BigInt)
        return value;
    if (value.isFloat())
        return truncated(value.asFloat());
    if (value.isString())
        return parseInteger(value.view(), 10);
    if (value.isUndefined())
        raiseUndefined(value);
    raise(Exc::TypeError, "int() argument must be a string, a bytes-like object or a real number, not '" + typeName(value) + "'");
}

double toReal(const Var &value)
{
    if (value.isFloat())
        return value.asFloat();
    if (value.isIntegral())
        return static_cast<double>(value.asInt());
    if (value.isUndefined())
        raiseUndefined(value);
    if (!value.isString() && value.kind() != Kind::BigInt)
        raise(Exc::TypeError, "float() argument must be a string or a real number, not '" + typeName(value) + "'");
    const auto invalid = [&]() -> double { raise(Exc::ValueError, "could not convert string to float: " + pythonRepr(value.view())); };
    const auto clean = withoutUnderscores(stripped(value.view()));
    if (!clean)
        return invalid();
    std::string_view text = *clean;
    double sign = 1;
    if (!text.empty() && (text[0] == '-' || text[0] == '+')) {
        sign = text[0] == '-' ? -1 : 1;
        text.remove_prefix(1);
    }
    const std::string word = lower(text);
    if (word == "inf" || word == "infinity")
        return sign * std::numeric_limits<double>::infinity();
    if (word == "nan")
        return std::numeric_limits<double>::quiet_NaN();
    if (text.empty() || !((text[0] >= '0' && text[0] <= '9') || text[0] == '.'))
        return invalid();
    double number = 0;
    const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number);
    if (parsed.ptr != text.data() + text.size() || parsed.ec == std::errc::invalid_argument)
        return invalid();
    return sign * (parsed.ec == std::errc::result_out_of_range ? overflowed(text) : number);
}

double rounded(double value, std::int64_t digits)
{
    if (!std::isfinite(value) || digits > 323)
        return value;
    if (digits < -308)
        return std::copysign(0.0, value);
    if (digits >= 0) {
        // The decimal digits are exact and round half to even, as in Python's own algorithm.
        const std::string text = fixedDigits(value, static_cast<int>(digits));
        double result = 0;
        std::from_chars(text.data(), text.data() + text.size(), result);
        return result;
    }
    const double scale = std::pow(10.0, static_cast<double>(-digits));
    return std::nearbyint(value / scale) * scale;
}

} // namespace prosector::jinja
