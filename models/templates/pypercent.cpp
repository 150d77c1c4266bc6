// SPDX-License-Identifier: GPL-3.0-or-later
// `'…' % values`, as Python's str has it.
#include "models/templates/pyformat.h"

#include "models/core/utf8.h"
#include "models/templates/access.h"
#include "models/templates/formatspec.h"
#include "models/templates/operators.h"
#include "models/templates/pystring.h"
#include "models/templates/raised.h"

#include <algorithm>
#include <cmath>

namespace prosector::jinja {

namespace {

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
        FormatSpec spec;
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

    void format(FormatSpec &spec, const Var &value, std::size_t typeAt)
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
            raise(Exc::ValueError, "unsupported format character '" + std::string(m_text.substr(typeAt, c.length)) + "' (0x"
                                       + digitsOf(c.value, 16, false) + ") at index " + std::to_string(codePointCount(m_text.substr(0, typeAt))));
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

    void character(const FormatSpec &spec, const Var &value)
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

    void integer(FormatSpec &spec, const Var &value)
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

    void put(FormatSpec spec, const std::string &sign, std::string digits, SourceId source)
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

} // namespace

Var percentFormat(const Var &format, const Var &values)
{
    return Percent(format, values).run();
}

} // namespace prosector::jinja
