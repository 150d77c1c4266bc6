// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/core/result.h"
#include "models/core/utf8.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace prosector {

/// Reads JSON of a known shape from front to back without building a tree, for headers of a million
/// entries. The first failure sticks; `base` is where the text lies in its file, for the error.
/// A Document is the choice wherever values are looked up more than once.
class JsonScanner {
public:
    explicit JsonScanner(std::string_view text, std::uint64_t base = 0) : m_text(text), m_base(base) {}

    const std::optional<Error> &error() const { return m_error; }
    /// Absolute, of the next thing that is not white space.
    std::uint64_t offset()
    {
        skipSpace();
        return m_base + m_at;
    }
    bool atEnd()
    {
        skipSpace();
        return m_at == m_text.size();
    }

    /// Looks without taking.
    bool next(char c)
    {
        skipSpace();
        return m_at < m_text.size() && m_text[m_at] == c;
    }
    bool take(char c)
    {
        if (m_error || !next(c))
            return false;
        ++m_at;
        return true;
    }
    bool expect(char c) { return take(c) || fail(std::string("'") + c + '\''); } // take() stepped over the space

    /// Between the members of a container: `first` starts true; false at the closing character.
    bool more(bool &first, char closer)
    {
        if (m_error || take(closer))
            return false;
        if (!first && !expect(','))
            return false;
        first = false;
        return true;
    }

    bool string(std::string &out)
    {
        std::string_view literal;
        bool escaped = false;
        if (!literalString(literal, escaped))
            return false;
        out = escaped ? unescapeJson(literal) : std::string(literal);
        return true;
    }

    /// A non-negative integer without sign, fraction or exponent.
    bool unsignedInteger(std::uint64_t &out)
    {
        skipSpace();
        const std::size_t begin = m_at;
        out = 0;
        bool overflow = false;
        while (!m_error && m_at < m_text.size() && m_text[m_at] >= '0' && m_text[m_at] <= '9') {
            overflow = __builtin_mul_overflow(out, std::uint64_t(10), &out)
                || __builtin_add_overflow(out, static_cast<std::uint64_t>(m_text[m_at] - '0'), &out) || overflow;
            ++m_at;
        }
        const bool ends = m_at == m_text.size() || std::string_view(" \t\r\n,]}").find(m_text[m_at]) != std::string_view::npos;
        if (m_at > begin && ends && !overflow)
            return true;
        m_at = begin;
        return fail("a non-negative integer below 2^64");
    }

    /// Steps over any value, at most `maxDepth` levels deep.
    bool skipValue()
    {
        std::string closers;
        do {
            skipSpace();
            if (m_error)
                return false;
            if (m_at == m_text.size())
                return fail("a value");
            const char c = m_text[m_at];
            if (c == '{' || c == '[') {
                ++m_at;
                closers += c == '{' ? '}' : ']';
                if (closers.size() > maxDepth)
                    return fail("at most " + std::to_string(maxDepth) + " levels");
            } else if (c == '}' || c == ']') {
                if (closers.empty() || closers.back() != c)
                    return fail("a value");
                ++m_at;
                closers.pop_back();
            } else if (c == '"') {
                std::string_view literal;
                bool escaped = false;
                if (!literalString(literal, escaped))
                    return false;
            } else if ((c == ',' || c == ':') && !closers.empty()) {
                ++m_at;
                continue;
            } else {
                const std::size_t end = m_text.find_first_of(" \t\r\n,:]}[{\"", m_at);
                if (end == m_at)
                    return fail("a value");
                m_at = std::min(end, m_text.size());
            }
        } while (!closers.empty());
        return true;
    }

    bool fail(std::string expected)
    {
        if (!m_error) {
            const bool end = m_at >= m_text.size();
            m_error = Error{end ? Errc::Truncated : Errc::Malformed, "not valid JSON", ByteRange{m_base + m_at, m_base + m_at},
                            std::move(expected), end ? "its end" : toValidUtf8(m_text.substr(m_at, 20))};
        }
        return false;
    }

private:
    static constexpr std::size_t maxDepth = 1000;

    void skipSpace()
    {
        while (m_at < m_text.size()
               && (m_text[m_at] == ' ' || m_text[m_at] == '\n' || m_text[m_at] == '\t' || m_text[m_at] == '\r'))
            ++m_at;
    }

    bool literalString(std::string_view &literal, bool &escaped)
    {
        if (!take('"'))
            return fail("a string");
        const std::size_t begin = m_at;
        while (m_at < m_text.size() && m_text[m_at] != '"') {
            if (static_cast<unsigned char>(m_text[m_at]) < 0x20)
                return fail("no control character inside a string");
            if (m_text[m_at] == '\\') {
                escaped = true;
                ++m_at;
            }
            ++m_at;
        }
        if (m_at >= m_text.size()) {
            m_at = m_text.size();
            return fail("'\"' at the end of the string that began at " + std::to_string(m_base + begin - 1));
        }
        literal = m_text.substr(begin, m_at - begin);
        ++m_at;
        return true;
    }

    std::string_view m_text;
    std::uint64_t m_base;
    std::size_t m_at = 0;
    std::optional<Error> m_error;
};

} // namespace prosector
