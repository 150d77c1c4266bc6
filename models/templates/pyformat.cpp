// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/templates/pyformat.h"

#include "models/core/utf8.h"
#include "models/templates/access.h"
#include "models/templates/operators.h"
#include "models/templates/pystring.h"
#include "models/templates/raised.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>

namespace prosector::jinja {

namespace {

constexpr int maxWidth = 10'000'000; // wider fields are only asked for by mischief

std::string asciiOnly(std::string_view text)
{
    std::string out;
    char escape[16];
    for (std::size_t at = 0; at < text.size();) {
        const CodePoint c = decodeUtf8(text, at);
        at += c.length;
        if (c.value < 0x80) {
            out += static_cast<char>(c.value);
        } else {
            std::snprintf(escape, sizeof escape, c.value < 0x100 ? "\\x%02x" : c.value < 0x10000 ? "\\u%04x" : "\\U%08x", static_cast<unsigned>(c.value));
            out += escape;
        }
    }
    return out;
}

/// Digits of |value| in a base.
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

/// |value| in one of Python's float forms. `alternate` keeps the point.
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

std::string grouped(std::string digits, char separator, std::size_t every = 3)
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

/// One `%…` or `{:…}`.
struct Spec {
    std::string fill = " ";
    char align = 0, sign = '-', grouping = 0, type = 0;
    bool alternate = false, zero = false;
    int width = 0, precision = -1;
};

std::string padded(std::string text, const Spec &spec, char defaultAlign, std::size_t signLength = 0)
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

// ---- % ----

class Percent {
public:
    Percent(const Var &format, const Var &values) : m_format(format), m_text(format.view()), m_values(values)
    {
        m_mapping = values.isDict() || values.isList() || values.isUndefined() || (values.isObject() && values.object().subscriptable());
    }

    Var run()
    {
        while (m_at < m_text.size()) {
            const std::size_t percent = std::min(m_text.find('%', m_at), m_text.size());
            m_out.append(m_format, m_at, percent);
            m_at = percent + 1;
            if (percent < m_text.size())
                conversion();
        }
        const std::size_t given = m_values.isTuple() ? m_values.sequence().items.size() : 1;
        if (m_used < given && !(m_mapping && !m_values.isTuple()) && !m_named)
            raise(Exc::TypeError, "not all arguments converted during string formatting");
        return m_out.build(m_format.isMarkup());
    }

private:
    Var argument()
    {
        if (m_values.isTuple()) {
            if (m_used >= m_values.sequence().items.size())
                raise(Exc::TypeError, "not enough arguments for format string");
            return m_values.sequence().items[m_used++];
        }
        if (m_used++ > 0)
            raise(Exc::TypeError, "not enough arguments for format string");
        return m_values;
    }

    int star(bool &left)
    {
        const Var value = argument();
        if (!value.isIntegral())
            raise(Exc::TypeError, "* wants int");
        const std::int64_t number = value.asInt();
        if (number < -maxWidth || number > maxWidth)
            raise(Exc::OverflowError, "Python int too large to convert to C int");
        left = left || number < 0;
        return static_cast<int>(std::abs(number));
    }

    void conversion()
    {
        const auto peek = [this]() -> char {
            if (m_at >= m_text.size())
                raise(Exc::ValueError, "incomplete format");
            return m_text[m_at];
        };
        Spec spec;
        std::optional<Var> named;
        if (peek() == '(') {
            if (!m_mapping || m_values.isTuple() || !m_values.isDict())
                raise(Exc::TypeError, "format requires a mapping");
            int open = 1;
            const std::size_t begin = ++m_at;
            while (m_at < m_text.size() && open > 0) {
                open += m_text[m_at] == '(' ? 1 : m_text[m_at] == ')' ? -1 : 0;
                ++m_at;
            }
            if (open > 0)
                raise(Exc::ValueError, "incomplete format key");
            const std::string_view key = m_text.substr(begin, m_at - 1 - begin);
            const Var *const found = m_values.dict().find(key);
            if (!found)
                raise(Exc::KeyError, pythonRepr(key));
            named = *found;
            m_named = true;
        }
        bool left = false;
        for (;; ++m_at) {
            const char c = peek();
            if (c == '-')
                left = true;
            else if (c == '+')
                spec.sign = '+';
            else if (c == ' ')
                spec.sign = spec.sign == '+' ? '+' : ' ';
            else if (c == '#')
                spec.alternate = true;
            else if (c == '0')
                spec.zero = true;
            else
                break;
        }
        if (peek() == '*') {
            ++m_at;
            spec.width = star(left);
        } else {
            spec.width = std::max(readNumber(m_text, m_at), 0);
        }
        if (peek() == '.') {
            ++m_at;
            bool ignored = false;
            if (peek() == '*') {
                ++m_at;
                spec.precision = star(ignored);
                if (ignored)
                    spec.precision = 0;
            } else {
                spec.precision = std::max(readNumber(m_text, m_at), 0);
            }
        }
        while (peek() == 'h' || peek() == 'l' || peek() == 'L')
            ++m_at;
        const std::size_t typeAt = m_at;
        spec.type = peek();
        m_at += characterLength(m_text, m_at);
        spec.align = left ? '<' : 0;
        if (spec.type == '%')
            return m_out.derived("%", m_format.source());
        format(spec, named ? *named : argument(), typeAt);
    }

    void format(Spec &spec, const Var &value, std::size_t typeAt)
    {
        switch (spec.type) {
        case 's':
        case 'r':
        case 'a': {
            Var text = spec.type == 's' ? (m_format.isMarkup() ? escaped(value) : toText(value)) : Var();
            if (spec.type != 's')
                text = makeText(spec.type == 'r' ? repr(value) : asciiOnly(repr(value)), value.source());
            std::size_t size = text.view().size();
            if (spec.precision >= 0)
                size = byteOfCodePoint(text.view(), spec.precision);
            const std::int64_t missing = spec.width - codePointCount(text.view().substr(0, size));
            const std::string pad(missing > 0 ? static_cast<std::size_t>(missing) : 0, ' ');
            if (spec.align != '<')
                m_out.derived(pad, 0);
            m_out.append(text, 0, size);
            if (spec.align == '<')
                m_out.derived(pad, 0);
            return;
        }
        case 'c': return character(spec, value);
        case 'd':
        case 'i':
        case 'u':
        case 'o':
        case 'x':
        case 'X': return integer(spec, value);
        case 'e':
        case 'E':
        case 'f':
        case 'F':
        case 'g':
        case 'G': {
            const double number = toFloat(value);
            const std::string sign = signFor(std::signbit(number) && !std::isnan(number), spec.sign);
            int precision = spec.precision < 0 ? 6 : spec.precision;
            if ((spec.type == 'g' || spec.type == 'G') && precision == 0)
                precision = 1;
            return put(spec, sign, floatDigits(number, spec.type, precision, spec.alternate), value.source());
        }
        default: {
            const CodePoint c = decodeUtf8(m_text, typeAt);
            char text[64];
            std::snprintf(text, sizeof text, " (0x%x) at index %lld", static_cast<unsigned>(c.value),
                          static_cast<long long>(codePointCount(m_text.substr(0, typeAt))));
            raise(Exc::ValueError, "unsupported format character '" + std::string(m_text.substr(typeAt, c.length)) + "'" + text);
        }
        }
    }

    static double toFloat(const Var &value)
    {
        if (value.isFloat())
            return value.asFloat();
        if (value.isIntegral())
            return static_cast<double>(value.asInt());
        if (value.isUndefined())
            raiseUndefined(value);
        raise(Exc::TypeError, "must be real number, not " + typeName(value));
    }

    void character(const Spec &spec, const Var &value)
    {
        std::string text;
        if (value.isString() && value.text().length() == 1)
            text = value.view();
        else if (value.isIntegral() && value.asInt() >= 0 && value.asInt() <= 0x10FFFF)
            appendUtf8(text, static_cast<char32_t>(value.asInt()));
        else if (value.isIntegral())
            raise(Exc::OverflowError, "%c arg not in range(0x110000)");
        else
            raise(Exc::TypeError, "%c requires int or char");
        m_out.derived(padded(std::move(text), spec, '>'), sourceOf(value));
    }

    void integer(Spec &spec, const Var &value)
    {
        const bool hex = spec.type == 'x' || spec.type == 'X', octal = spec.type == 'o';
        std::int64_t number = 0;
        if (value.isIntegral()) {
            number = value.asInt();
        } else if (value.isFloat() && !hex && !octal) {
            if (!std::isfinite(value.asFloat()))
                raise(std::isnan(value.asFloat()) ? Exc::ValueError : Exc::OverflowError,
                      std::isnan(value.asFloat()) ? "cannot convert float NaN to integer" : "cannot convert float infinity to integer");
            if (std::abs(value.asFloat()) >= 9.2e18)
                raise(Exc::Unsupported, "integer beyond 64 bits");
            number = static_cast<std::int64_t>(value.asFloat());
        } else if (value.isUndefined()) {
            raiseUndefined(value);
        } else if (value.kind() == Kind::BigInt) {
            if (hex || octal)
                raise(Exc::Unsupported, "integer beyond 64 bits");
            const bool negative = value.view()[0] == '-';
            return put(spec, signFor(negative, spec.sign), std::string(value.view().substr(negative ? 1 : 0)), value.source());
        } else {
            raise(Exc::TypeError, std::string("%") + spec.type + " format: " + (hex || octal ? "an integer" : "a real number")
                                      + " is required, not " + typeName(value));
        }
        std::string digits = digitsOf(number, hex ? 16 : octal ? 8 : 10, spec.type == 'X');
        if (spec.precision > static_cast<int>(digits.size()))
            digits.insert(0, static_cast<std::size_t>(spec.precision) - digits.size(), '0');
        std::string sign = signFor(number < 0, spec.sign);
        if (spec.alternate)
            sign += hex ? (spec.type == 'x' ? "0x" : "0X") : octal ? "0o" : "";
        put(spec, sign, std::move(digits), value.source());
    }

    void put(Spec spec, const std::string &sign, std::string digits, SourceId source)
    {
        if (spec.zero && spec.align != '<') {
            spec.fill = "0";
            spec.align = '=';
        }
        m_out.derived(padded(sign + digits, spec, '>', sign.size()), source);
    }

    const Var &m_format;
    std::string_view m_text;
    const Var &m_values;
    std::size_t m_at = 0, m_used = 0;
    bool m_mapping = false, m_named = false;
    TextBuilder m_out;
};

// ---- format() ----

Spec parseSpec(std::string_view text)
{
    Spec spec;
    std::size_t at = 0;
    const auto isAlign = [](char c) { return c == '<' || c == '>' || c == '=' || c == '^'; };
    const auto peek = [&] { return at < text.size() ? text[at] : '\0'; };
    if (!text.empty()) {
        const std::size_t first = characterLength(text, 0);
        if (first < text.size() && isAlign(text[first])) {
            spec.fill = text.substr(0, first);
            spec.align = text[first];
            at = first + 1;
        } else if (isAlign(text[0])) {
            spec.align = text[0];
            at = 1;
        }
    }
    if (peek() == '+' || peek() == '-' || peek() == ' ')
        spec.sign = text[at++];
    if (peek() == 'z')
        ++at;
    if (peek() == '#') {
        spec.alternate = true;
        ++at;
    }
    if (peek() == '0') {
        spec.zero = true;
        ++at;
        if (!spec.align) {
            spec.fill = "0";
            spec.align = '=';
        }
    }
    spec.width = std::max(readNumber(text, at), 0);
    if (peek() == ',' || peek() == '_')
        spec.grouping = text[at++];
    if (peek() == '.') {
        ++at;
        spec.precision = readNumber(text, at);
        if (spec.precision < 0)
            raise(Exc::ValueError, "Format specifier missing precision");
    }
    if (at + 1 < text.size())
        raise(Exc::ValueError, "Invalid format specifier");
    if (at < text.size())
        spec.type = text[at];
    return spec;
}

[[noreturn]] void unknownCode(char type, const Var &value)
{
    raise(Exc::ValueError, std::string("Unknown format code '") + type + "' for object of type '" + typeName(value) + "'");
}

std::string formatFloat(const Var &value, double number, Spec spec)
{
    constexpr std::string_view types = "eEfFgGn%";
    if (spec.type && types.find(spec.type) == std::string_view::npos)
        unknownCode(spec.type, value);
    std::string digits, suffix;
    if (spec.type == '%') {
        number *= 100;
        suffix = "%";
        spec.type = 'f';
    }
    if (!spec.type && spec.precision < 0) {
        digits = floatRepr(std::abs(number));
    } else if (!spec.type) {
        // Like 'g', but with a digit behind the point at least.
        digits = floatDigits(number, 'g', std::max(spec.precision, 1), false);
        if (std::isfinite(number) && digits.find('.') == std::string::npos && digits.find('e') == std::string::npos)
            digits += ".0";
    } else {
        int precision = spec.precision < 0 ? 6 : spec.precision;
        if ((spec.type == 'g' || spec.type == 'G' || spec.type == 'n') && precision == 0)
            precision = 1;
        digits = floatDigits(number, spec.type == 'n' ? 'g' : spec.type, precision, spec.alternate);
    }
    if (spec.grouping)
        digits = grouped(std::move(digits), spec.grouping);
    const std::string sign = signFor(std::signbit(number) && !std::isnan(number), spec.sign);
    return padded(sign + digits + suffix, spec, '>', sign.size());
}

std::string formatInteger(const Var &value, const Spec &spec)
{
    if (spec.type && std::string_view("eEfFgG%").find(spec.type) != std::string_view::npos)
        return formatFloat(value, static_cast<double>(value.asInt()), spec);
    if (spec.precision >= 0)
        raise(Exc::ValueError, "Precision not allowed in integer format specifier");
    const std::int64_t number = value.asInt();
    if (spec.type == 'c') {
        std::string text;
        appendUtf8(text, static_cast<char32_t>(number));
        return padded(std::move(text), spec, '<');
    }
    int base = 10;
    std::string prefix;
    switch (spec.type) {
    case 0:
    case 'd':
    case 'n': break;
    case 'b': base = 2; prefix = "0b"; break;
    case 'o': base = 8; prefix = "0o"; break;
    case 'x': base = 16; prefix = "0x"; break;
    case 'X': base = 16; prefix = "0X"; break;
    default: unknownCode(spec.type, value);
    }
    std::string digits = digitsOf(number, base, spec.type == 'X');
    if (spec.grouping)
        digits = grouped(std::move(digits), spec.grouping, base == 10 ? 3 : 4);
    const std::string sign = signFor(number < 0, spec.sign) + (spec.alternate ? prefix : "");
    return padded(sign + digits, spec, '>', sign.size());
}

// ---- str.format ----

class Braces {
public:
    Braces(Renderer &renderer, const Var &format, Arguments &arguments) : m_renderer(renderer), m_format(format), m_arguments(arguments) {}

    Var run()
    {
        TextBuilder out;
        expand(m_format.view(), 2, out, true);
        return out.build(m_format.isMarkup());
    }

private:
    void expand(std::string_view text, int depth, TextBuilder &out, bool outer)
    {
        if (depth < 0)
            raise(Exc::ValueError, "Max string recursion exceeded");
        std::size_t at = 0;
        const auto copy = [&](std::size_t from, std::size_t to) {
            if (outer)
                out.append(m_format, from, to);
            else
                out.derived(text.substr(from, to - from), 0);
        };
        while (at < text.size()) {
            const std::size_t brace = std::min(text.find_first_of("{}", at), text.size());
            copy(at, brace);
            if (brace == text.size())
                return;
            if (brace + 1 < text.size() && text[brace + 1] == text[brace]) {
                copy(brace, brace + 1);
                at = brace + 2;
                continue;
            }
            if (text[brace] == '}')
                raise(Exc::ValueError, "Single '}' encountered in format string");
            int open = 1;
            std::size_t end = brace + 1;
            for (; end < text.size(); ++end) {
                open += text[end] == '{' ? 1 : text[end] == '}' ? -1 : 0;
                if (open == 0)
                    break;
            }
            if (open > 0)
                raise(Exc::ValueError, end == brace + 1 ? "Single '{' encountered in format string" : "expected '}' before end of string");
            field(text.substr(brace + 1, end - brace - 1), depth, out);
            at = end + 1;
        }
    }

    void field(std::string_view text, int depth, TextBuilder &out)
    {
        // A colon or exclamation mark inside brackets belongs to the name.
        std::size_t nameEnd = 0;
        int brackets = 0;
        for (; nameEnd < text.size(); ++nameEnd) {
            const char c = text[nameEnd];
            brackets += c == '[' ? 1 : c == ']' ? -1 : 0;
            if (brackets == 0 && (c == ':' || c == '!'))
                break;
        }
        Var value = lookUp(text.substr(0, nameEnd));
        std::size_t at = nameEnd;
        char conversion = 0;
        if (at < text.size() && text[at] == '!') {
            if (at + 1 >= text.size())
                raise(Exc::ValueError, "unmatched '{' in format spec");
            conversion = text[at + 1];
            at += 2;
            if (at < text.size() && text[at] != ':')
                raise(Exc::ValueError, "expected ':' after conversion specifier");
        }
        TextBuilder spec;
        if (at < text.size())
            expand(text.substr(at + 1), depth - 1, spec, false);
        switch (conversion) {
        case 0: break;
        case 's': value = toText(value); break;
        case 'r': value = makeText(repr(value), value.source()); break;
        case 'a': value = makeText(asciiOnly(repr(value)), value.source()); break;
        default: raise(Exc::ValueError, std::string("Unknown conversion specifier ") + conversion);
        }
        if (m_format.isMarkup())
            value = escaped(value);
        if (spec.size() == 0)
            out.append(toText(value));
        else
            out.derived(formatValue(value, spec.bytes()), sourceOf(value));
    }

    Var lookUp(std::string_view name)
    {
        const std::size_t end = std::min(name.find_first_of(".["), name.size());
        const std::string_view first = name.substr(0, end);
        Var value;
        const bool number = !first.empty() && std::all_of(first.begin(), first.end(), [](char c) { return c >= '0' && c <= '9'; });
        if (first.empty() || number) {
            std::size_t index = m_automatic;
            if (first.empty()) {
                if (m_manual)
                    raise(Exc::ValueError, "cannot switch from manual field specification to automatic field numbering");
                ++m_automatic;
            } else {
                if (m_automatic > 0)
                    raise(Exc::ValueError, "cannot switch from manual field specification to automatic field numbering");
                m_manual = true;
                std::from_chars(first.data(), first.data() + first.size(), index);
            }
            if (index >= m_arguments.positional.size())
                raise(Exc::IndexError, "tuple index out of range");
            value = m_arguments.positional[index];
        } else if (const Var *const named = m_arguments.find(first)) {
            value = *named;
        } else {
            raise(Exc::KeyError, pythonRepr(first));
        }
        for (std::size_t at = end; at < name.size();) {
            if (name[at] == '.') {
                const std::size_t stop = std::min(name.find_first_of(".[", at + 1), name.size());
                if (stop == at + 1)
                    raise(Exc::ValueError, "Empty attribute in format string");
                value = getAttribute(m_renderer, value, makeText(std::string(name.substr(at + 1, stop - at - 1))));
                at = stop;
            } else if (name[at] == '[') {
                const std::size_t stop = name.find(']', at);
                if (stop == std::string_view::npos)
                    raise(Exc::ValueError, "Missing ']' in format string");
                const std::string_view key = name.substr(at + 1, stop - at - 1);
                if (key.empty())
                    raise(Exc::ValueError, "Empty attribute in format string");
                std::int64_t index = 0;
                const auto parsed = std::from_chars(key.data(), key.data() + key.size(), index);
                const bool whole = parsed.ec == std::errc() && parsed.ptr == key.data() + key.size() && index >= 0;
                value = getItem(m_renderer, value, whole ? Var::integer(index) : makeText(std::string(key)));
                at = stop + 1;
            } else {
                raise(Exc::ValueError, "Only '.' or '[' may follow ']' in format field specifier");
            }
        }
        return value;
    }

    Renderer &m_renderer;
    const Var &m_format;
    Arguments &m_arguments;
    std::size_t m_automatic = 0;
    bool m_manual = false;
};

} // namespace

Var percentFormat(const Var &format, const Var &values)
{
    return Percent(format, values).run();
}

Var braceFormat(Renderer &renderer, const Var &format, Arguments &arguments)
{
    return Braces(renderer, format, arguments).run();
}

std::string formatValue(const Var &value, std::string_view text)
{
    if (text.empty())
        return std::string(toText(value).view());
    if (value.isBool() || value.isInt() || value.isFloat() || value.isString()) {
        Spec spec = parseSpec(text);
        if (value.isFloat())
            return formatFloat(value, value.asFloat(), spec);
        if (!value.isString())
            return formatInteger(value, spec);
        if (spec.type && spec.type != 's')
            unknownCode(spec.type, value);
        if (spec.sign != '-' || spec.alternate)
            raise(Exc::ValueError, spec.alternate ? "Alternate form (#) not allowed in string format specifier" : "Sign not allowed in string format specifier");
        if (spec.align == '=') {
            if (!spec.zero)
                raise(Exc::ValueError, "'=' alignment not allowed in string format specifier");
            spec.align = '<';
        }
        std::string_view shown = value.view();
        if (spec.precision >= 0)
            shown = shown.substr(0, byteOfCodePoint(shown, spec.precision));
        return padded(std::string(shown), spec, '<');
    }
    if (value.kind() == Kind::BigInt)
        raise(Exc::Unsupported, "integer beyond 64 bits");
    raise(Exc::TypeError, "unsupported format string passed to " + typeName(value) + ".__format__");
}

Var escaped(const Var &value)
{
    if (value.isString() && value.isMarkup())
        return value;
    const Var text = toText(value);
    const std::string_view bytes = text.view();
    TextBuilder out;
    std::size_t begin = 0;
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        std::string_view entity;
        switch (bytes[i]) {
        case '&': entity = "&amp;"; break;
        case '<': entity = "&lt;"; break;
        case '>': entity = "&gt;"; break;
        case '"': entity = "&#34;"; break;
        case '\'': entity = "&#39;"; break;
        default: continue;
        }
        out.append(text, begin, i);
        out.derived(entity, sourceOf(text));
        begin = i + 1;
    }
    out.append(text, begin, bytes.size());
    return out.build(true);
}

std::string fixedDigits(double value, int digits)
{
    return signFor(std::signbit(value), '-') + floatDigits(value, 'f', digits, false);
}

} // namespace prosector::jinja
