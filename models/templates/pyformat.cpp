// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/templates/pyformat.h"

#include "models/core/utf8.h"
#include "models/templates/access.h"
#include "models/templates/formatspec.h"
#include "models/templates/operators.h"
#include "models/templates/pystring.h"
#include "models/templates/raised.h"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace prosector::jinja {

namespace {

FormatSpec parseSpec(std::string_view text)
{
    FormatSpec spec;
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

std::string formatFloat(const Var &value, double number, FormatSpec spec)
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

std::string formatInteger(const Var &value, const FormatSpec &spec)
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

Var braceFormat(Renderer &renderer, const Var &format, Arguments &arguments)
{
    return Braces(renderer, format, arguments).run();
}

std::string formatValue(const Var &value, std::string_view text)
{
    if (text.empty())
        return std::string(toText(value).view());
    if (value.isBool() || value.isInt() || value.isFloat() || value.isString()) {
        FormatSpec spec = parseSpec(text);
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
