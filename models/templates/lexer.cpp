// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/templates/lexer.h"

#include "models/core/utf8.h"
#include "models/templates/pystring.h"

#include <array>
#include <cstring>

#include <unicode/uchar.h>

namespace prosector::jinja {

namespace {

struct Operator {
    std::string_view text;
    TokenType type;
};
// Longest first.
constexpr std::array operators{
    Operator{"//", TokenType::FloorDiv}, Operator{"**", TokenType::Pow},     Operator{"==", TokenType::Eq},
    Operator{"!=", TokenType::Ne},       Operator{">=", TokenType::GtEq},    Operator{"<=", TokenType::LtEq},
    Operator{"+", TokenType::Add},       Operator{"-", TokenType::Sub},      Operator{"/", TokenType::Div},
    Operator{"*", TokenType::Mul},       Operator{"%", TokenType::Mod},      Operator{"~", TokenType::Tilde},
    Operator{"[", TokenType::LBracket},  Operator{"]", TokenType::RBracket}, Operator{"(", TokenType::LParen},
    Operator{")", TokenType::RParen},    Operator{"{", TokenType::LBrace},   Operator{"}", TokenType::RBrace},
    Operator{">", TokenType::Gt},        Operator{"<", TokenType::Lt},       Operator{"=", TokenType::Assign},
    Operator{".", TokenType::Dot},       Operator{":", TokenType::Colon},    Operator{"|", TokenType::Pipe},
    Operator{",", TokenType::Comma},     Operator{";", TokenType::Semicolon},
};

constexpr bool isDigit(char c)
{
    return c >= '0' && c <= '9';
}

/// Text with every line ending made \n, and where its bytes stood before.
class Normalised {
public:
    Normalised(std::string_view source, bool keepTrailingNewline)
    {
        if (source.find('\r') == std::string_view::npos) {
            text = source;
        } else {
            for (std::size_t i = 0; i < source.size(); ++i) {
                if (source[i] == '\r') {
                    text += '\n';
                    if (i + 1 < source.size() && source[i + 1] == '\n') {
                        ++i;
                        m_dropped.push_back(static_cast<std::uint32_t>(text.size()));
                    }
                } else {
                    text += source[i];
                }
            }
        }
        if (!keepTrailingNewline && !text.empty() && text.back() == '\n')
            text.pop_back();
    }

    std::string text;

    std::uint32_t original(std::size_t at)
    {
        // Asked in rising order, nearly always.
        while (m_next > 0 && m_dropped[m_next - 1] > at)
            --m_next;
        while (m_next < m_dropped.size() && m_dropped[m_next] <= at)
            ++m_next;
        return static_cast<std::uint32_t>(at + m_next);
    }

private:
    std::vector<std::uint32_t> m_dropped; // positions in `text` before which a byte is missing
    std::size_t m_next = 0;
};

class Lexer {
public:
    Lexer(std::string_view source, const LexerOptions &options)
        : m_source(source, options.keepTrailingNewline), m_text(m_source.text), m_options(options)
    {
    }

    std::vector<Token> run()
    {
        while (root()) { }
        if (m_tokens.empty() || m_tokens.back().type != TokenType::Failure)
            add(TokenType::Eof, {}, m_text.size(), m_text.size());
        return std::move(m_tokens);
    }

private:
    void add(TokenType type, std::string value, std::size_t begin, std::size_t end)
    {
        m_tokens.push_back({type, std::move(value), m_source.original(begin), m_source.original(end)});
    }

    bool fail(std::string message, std::size_t at)
    {
        add(TokenType::Failure, std::move(message), at, at);
        return false;
    }

    bool startsWith(std::size_t at, std::string_view what) const { return m_text.substr(at, what.size()) == what; }

    std::size_t skipSpace(std::size_t at) const
    {
        while (at < m_text.size()) {
            const CodePoint c = decodeUtf8(m_text, at);
            if (!c.valid || !isPythonSpace(c.value))
                break;
            at += c.length;
        }
        return at;
    }

    /// The end of `-X\s*`, `+X` or `X\n?` at a position; npos when none of them stands there.
    std::size_t closing(std::size_t at, std::string_view what, bool plus, bool trimNewline) const
    {
        if (startsWith(at, "-") && startsWith(at + 1, what))
            return skipSpace(at + 1 + what.size());
        if (plus && startsWith(at, "+") && startsWith(at + 1, what))
            return at + 1 + what.size();
        if (!startsWith(at, what))
            return std::string_view::npos;
        at += what.size();
        return trimNewline && m_options.trimBlocks && startsWith(at, "\n") ? at + 1 : at;
    }

    /// Text before a tag, with the whitespace the tag takes away taken away.
    void data(std::size_t begin, std::size_t end, char sign, bool variable)
    {
        const std::string_view text = m_text.substr(begin, end - begin);
        if (sign == '-') {
            end = begin + stripEnd(text);
        } else if (sign != '+' && m_options.lstripBlocks && !variable) {
            const std::size_t newline = text.rfind('\n');
            const std::size_t line = newline == std::string_view::npos ? 0 : newline + 1;
            if ((line > 0 || m_lineStarting) && line < text.size() && skipSpace(begin + line) >= end)
                end = begin + line;
        }
        if (end > begin)
            add(TokenType::Data, std::string(m_text.substr(begin, end - begin)), begin, end);
    }

    void passed(std::size_t begin, std::size_t end)
    {
        m_lineStarting = end > begin && m_text[end - 1] == '\n';
        m_at = end;
    }

    /// One stretch of text and the tag behind it.
    bool root()
    {
        if (m_at >= m_text.size())
            return false;
        const std::size_t begin = m_at;
        std::size_t tag = begin;
        for (;; ++tag) {
            tag = m_text.find('{', tag);
            if (tag == std::string_view::npos || tag + 1 >= m_text.size()) {
                data(begin, m_text.size(), '+', false);
                m_at = m_text.size();
                return false;
            }
            const char next = m_text[tag + 1];
            if (next == '%' || next == '{' || next == '#')
                break;
        }
        std::size_t after = tag + 2;
        char sign = ' ';
        if (after < m_text.size() && (m_text[after] == '-' || m_text[after] == '+'))
            sign = m_text[after++];
        const char type = m_text[tag + 1];
        data(begin, tag, sign, type == '{');
        if (type == '%') {
            if (const std::size_t body = rawBody(after); body != std::string_view::npos) {
                passed(begin, body);
                return raw(tag);
            }
        }
        passed(begin, after);
        if (type == '#')
            return comment(tag);
        add(type == '{' ? TokenType::VariableBegin : TokenType::BlockBegin, {}, tag, after);
        return expression(type == '{');
    }

    /// Where the content of `{% raw %}` begins, when that is what the block start belongs to.
    std::size_t rawBody(std::size_t at) const
    {
        at = skipSpace(at);
        if (!startsWith(at, "raw"))
            return std::string_view::npos;
        return closing(skipSpace(at + 3), "%}", false, false);
    }

    bool raw(std::size_t tag)
    {
        const std::size_t begin = m_at;
        for (std::size_t at = m_text.find("{%", begin); at != std::string_view::npos; at = m_text.find("{%", at + 1)) {
            std::size_t after = at + 2;
            char sign = ' ';
            if (after < m_text.size() && (m_text[after] == '-' || m_text[after] == '+'))
                sign = m_text[after++];
            after = skipSpace(after);
            if (!startsWith(after, "endraw"))
                continue;
            const std::size_t end = closing(skipSpace(after + 6), "%}", true, true);
            if (end == std::string_view::npos)
                continue;
            data(begin, at, sign, false);
            passed(begin, end);
            return true;
        }
        return begin >= m_text.size() ? false : fail("Missing end of raw directive", tag);
    }

    bool comment(std::size_t tag)
    {
        const std::size_t begin = m_at;
        std::size_t at = m_text.find("#}", begin);
        if (at == std::string_view::npos)
            return begin >= m_text.size() ? false : fail("Missing end of comment tag", tag);
        if (at > begin && (m_text[at - 1] == '-' || m_text[at - 1] == '+'))
            --at;
        passed(begin, closing(at, "#}", true, true));
        return true;
    }

    bool expression(bool variable)
    {
        std::string open; // brackets waiting for their partners
        const std::string_view close = variable ? "}}" : "%}";
        while (m_at < m_text.size()) {
            const std::size_t begin = m_at;
            if (open.empty()) {
                if (const std::size_t end = closing(begin, close, !variable, !variable); end != std::string_view::npos) {
                    add(variable ? TokenType::VariableEnd : TokenType::BlockEnd, {}, begin, end);
                    passed(begin, end);
                    return true;
                }
            }
            if (const std::size_t end = skipSpace(begin); end > begin) {
                m_at = end;
                continue;
            }
            if (!number() && !name() && !string() && !punctuation(open)) {
                if (m_tokens.back().type == TokenType::Failure)
                    return false;
                const CodePoint c = decodeUtf8(m_text, begin);
                return fail("unexpected char " + pythonRepr(m_text.substr(begin, c.length)) + " at "
                                + std::to_string(codePointCount(m_text.substr(0, begin))),
                            begin);
            }
            if (m_tokens.back().type == TokenType::Failure)
                return false;
        }
        return false;
    }

    /// Digits with single underscores between them.
    template<class Predicate>
    std::size_t digits(std::size_t at, Predicate good) const
    {
        if (at >= m_text.size() || !good(m_text[at]))
            return at;
        ++at;
        for (;;) {
            std::size_t next = at;
            if (next < m_text.size() && m_text[next] == '_')
                ++next;
            if (next >= m_text.size() || !good(m_text[next]))
                return at;
            at = next + 1;
        }
    }

    bool number()
    {
        const std::size_t begin = m_at;
        if (!isDigit(m_text[begin]))
            return false;
        const std::size_t whole = digits(begin, isDigit);
        if (begin == 0 || m_text[begin - 1] != '.') {
            std::size_t end = whole;
            bool fraction = false, exponent = false;
            if (end + 1 < m_text.size() && m_text[end] == '.' && isDigit(m_text[end + 1])) {
                end = digits(end + 1, isDigit);
                fraction = true;
            }
            if (end < m_text.size() && (m_text[end] == 'e' || m_text[end] == 'E')) {
                std::size_t power = end + 1;
                if (power < m_text.size() && (m_text[power] == '+' || m_text[power] == '-'))
                    ++power;
                if (const std::size_t after = digits(power, isDigit); after > power) {
                    end = after;
                    exponent = true;
                }
            }
            if (fraction || exponent)
                return numberToken(TokenType::Float, begin, end);
        }
        if (m_text[begin] != '0')
            return numberToken(TokenType::Integer, begin, whole);
        const char base = begin + 1 < m_text.size() ? static_cast<char>(m_text[begin + 1] | 0x20) : ' ';
        const auto good = [base](char c) {
            const char lower = static_cast<char>(c | 0x20);
            return base == 'x' ? isDigit(c) || (lower >= 'a' && lower <= 'f') : c >= '0' && c <= (base == 'o' ? '7' : '1');
        };
        if (base == 'x' || base == 'o' || base == 'b') {
            // One underscore may stand behind the prefix.
            std::size_t first = begin + 2;
            if (first < m_text.size() && m_text[first] == '_')
                ++first;
            if (const std::size_t end = digits(first, good); end > first)
                return numberToken(TokenType::Integer, begin, end);
        }
        return numberToken(TokenType::Integer, begin, digits(begin, [](char c) { return c == '0'; }));
    }

    bool numberToken(TokenType type, std::size_t begin, std::size_t end)
    {
        std::string value;
        for (const char c : m_text.substr(begin, end - begin)) {
            if (c != '_')
                value += c;
        }
        add(type, std::move(value), begin, end);
        m_at = end;
        return true;
    }

    bool name()
    {
        const std::size_t begin = m_at;
        std::size_t end = begin;
        bool valid = true;
        while (end < m_text.size()) {
            const CodePoint c = decodeUtf8(m_text, end);
            const auto code = static_cast<UChar32>(c.value);
            if (!c.valid || !(c.value == '_' || u_isalnum(code) || (c.value >= 0x80 && u_hasBinaryProperty(code, UCHAR_XID_CONTINUE))))
                break;
            if (c.value >= 0x80 && !u_hasBinaryProperty(code, end == begin ? UCHAR_XID_START : UCHAR_XID_CONTINUE))
                valid = false;
            end += c.length;
        }
        if (end == begin)
            return false;
        m_at = end;
        if (!valid)
            return fail("Invalid character in identifier", begin);
        add(TokenType::Name, std::string(m_text.substr(begin, end - begin)), begin, end);
        return true;
    }

    bool string()
    {
        const std::size_t begin = m_at;
        const char quote = m_text[begin];
        if (quote != '\'' && quote != '"')
            return false;
        std::size_t end = begin + 1;
        while (end < m_text.size() && m_text[end] != quote)
            end += m_text[end] == '\\' ? 2 : 1;
        if (end >= m_text.size())
            return false;
        m_at = end + 1;
        std::string error;
        std::string value = unescape(m_text.substr(begin + 1, end - begin - 1), error);
        if (!error.empty())
            return fail(std::move(error), begin);
        add(TokenType::String, std::move(value), begin, end + 1);
        return true;
    }

    bool punctuation(std::string &open)
    {
        const std::size_t begin = m_at;
        for (const Operator &candidate : operators) {
            if (!startsWith(begin, candidate.text))
                continue;
            const char c = candidate.text[0];
            if (c == '(' || c == '[' || c == '{') {
                open += c == '(' ? ')' : c == '[' ? ']' : '}';
            } else if (c == ')' || c == ']' || c == '}') {
                if (open.empty())
                    return fail(std::string("unexpected '") + c + "'", begin);
                if (open.back() != c)
                    return fail(std::string("unexpected '") + c + "', expected '" + open.back() + "'", begin);
                open.pop_back();
            }
            add(candidate.type, std::string(candidate.text), begin, begin + candidate.text.size());
            m_at = begin + candidate.text.size();
            return true;
        }
        return false;
    }

    /// Python's unicode-escape codec.
    static std::string unescape(std::string_view literal, std::string &error)
    {
        std::string text;
        for (std::size_t i = 0; i < literal.size(); ++i) {
            if (literal[i] != '\\' || i + 1 >= literal.size()) {
                text += literal[i];
                continue;
            }
            const char c = literal[++i];
            switch (c) {
            case '\n': break;
            case '\\':
            case '\'':
            case '"': text += c; break;
            case 'a': text += '\a'; break;
            case 'b': text += '\b'; break;
            case 'f': text += '\f'; break;
            case 'n': text += '\n'; break;
            case 'r': text += '\r'; break;
            case 't': text += '\t'; break;
            case 'v': text += '\v'; break;
            case 'x': hex(literal, i, 2, "truncated \\xXX escape", text, error); break;
            case 'u': hex(literal, i, 4, "truncated \\uXXXX escape", text, error); break;
            case 'U': hex(literal, i, 8, "truncated \\UXXXXXXXX escape", text, error); break;
            case 'N': named(literal, i, text, error); break;
            default:
                if (c >= '0' && c <= '7') {
                    char32_t code = 0;
                    std::size_t count = 0;
                    while (count < 3 && i < literal.size() && literal[i] >= '0' && literal[i] <= '7') {
                        code = code * 8 + static_cast<char32_t>(literal[i++] - '0');
                        ++count;
                    }
                    --i;
                    appendUtf8(text, code);
                } else {
                    text += '\\';
                    text += c;
                }
            }
            if (!error.empty())
                return {};
        }
        return text;
    }

    static int hexDigit(char c)
    {
        return isDigit(c) ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
    }

    static std::optional<char32_t> hexCode(std::string_view literal, std::size_t at, std::size_t count)
    {
        char32_t code = 0;
        if (at + count > literal.size())
            return std::nullopt;
        for (std::size_t i = at; i < at + count; ++i) {
            if (hexDigit(literal[i]) < 0)
                return std::nullopt;
            code = code * 16 + static_cast<char32_t>(hexDigit(literal[i]));
        }
        return code;
    }

    static void hex(std::string_view literal, std::size_t &i, std::size_t count, const char *message, std::string &text,
                    std::string &error)
    {
        auto code = hexCode(literal, i + 1, count);
        if (!code) {
            error = message;
            return;
        }
        if (*code > 0x10FFFF) {
            error = "illegal Unicode character";
            return;
        }
        i += count;
        // A pair of surrogates becomes the character it stands for: UTF-8 has no halves.
        if (count == 4 && *code >= 0xD800 && *code < 0xDC00 && literal.substr(i + 1, 2) == "\\u") {
            const auto low = hexCode(literal, i + 3, 4);
            if (low && *low >= 0xDC00 && *low < 0xE000) {
                code = 0x10000 + ((*code - 0xD800) << 10) + (*low - 0xDC00);
                i += 6;
            }
        }
        appendUtf8(text, *code);
    }

    static void named(std::string_view literal, std::size_t &i, std::string &text, std::string &error)
    {
        const std::size_t end = i + 1 < literal.size() && literal[i + 1] == '{' ? literal.find('}', i) : std::string_view::npos;
        if (end == std::string_view::npos) {
            error = "malformed \\N character escape";
            return;
        }
        UErrorCode status = U_ZERO_ERROR;
        const std::string name(literal.substr(i + 2, end - i - 2));
        const UChar32 code = u_charFromName(U_EXTENDED_CHAR_NAME, name.c_str(), &status);
        if (U_FAILURE(status)) {
            error = "unknown Unicode character name";
            return;
        }
        appendUtf8(text, static_cast<char32_t>(code));
        i = end;
    }

    Normalised m_source;
    std::string_view m_text;
    LexerOptions m_options;
    std::vector<Token> m_tokens;
    std::size_t m_at = 0;
    bool m_lineStarting = true;
};

} // namespace

std::string_view describe(TokenType type)
{
    for (const Operator &candidate : operators) {
        if (candidate.type == type)
            return candidate.text;
    }
    switch (type) {
    case TokenType::Data: return "template data / text";
    case TokenType::VariableBegin: return "begin of print statement";
    case TokenType::VariableEnd: return "end of print statement";
    case TokenType::BlockBegin: return "begin of statement block";
    case TokenType::BlockEnd: return "end of statement block";
    case TokenType::Name: return "name";
    case TokenType::String: return "string";
    case TokenType::Integer: return "integer";
    case TokenType::Float: return "float";
    default: return "end of template";
    }
}

std::vector<Token> tokenize(std::string_view source, const LexerOptions &options)
{
    return Lexer(source, options).run();
}

} // namespace prosector::jinja
