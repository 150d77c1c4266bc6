// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/config/pyrepr.h"

#include "models/core/utf8.h"

#include <algorithm>

namespace prosector {

namespace {

constexpr int maxDepth = 64;

bool isSpace(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}
bool isNameStart(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
bool isNamePart(char c)
{
    return isNameStart(c) || (c >= '0' && c <= '9') || c == '.';
}
char closing(char open)
{
    return open == '(' ? ')' : open == '[' ? ']' : open == '{' ? '}' : '>';
}
bool isClosing(char c)
{
    return c == ')' || c == ']' || c == '}';
}

class Parser {
public:
    Parser(std::string_view text, std::size_t offset) : m_text(text), m_at(std::min(offset, text.size())) {}

    ReprValue value(int depth)
    {
        skipSpace();
        if (atEnd())
            return wordFrom(m_at);
        const char c = peek();
        if (c == '\'' || c == '"')
            return string(m_at);
        if (depth >= maxDepth)
            return raw();
        if (c == '{' || c == '[' || c == '(')
            return group(m_at, {}, depth);
        if (c == '<') // <Enum.X: 'x'>, <class 'x'>
            return angle();
        if (isNameStart(c)) {
            const std::size_t begin = m_at;
            std::size_t end = m_at;
            while (end < m_text.size() && isNamePart(m_text[end]))
                ++end;
            if (end < m_text.size() && (m_text[end] == '\'' || m_text[end] == '"') && end - begin <= 2) {
                m_at = end; // b'…', r'…'
                return string(begin);
            }
            std::size_t open = end;
            while (open < m_text.size() && m_text[open] == ' ')
                ++open;
            // Name(…), Rust's `Name { … }`, Go's map[…].
            const bool call = end < m_text.size() && m_text[end] == '(';
            const bool rust = open < m_text.size() && m_text[open] == '{' && open > end;
            const bool go = m_text.substr(begin, end - begin) == "map" && end < m_text.size() && m_text[end] == '[';
            if (call || rust || go) {
                m_at = rust ? open : end;
                ReprValue made = group(begin, std::string(m_text.substr(begin, end - begin)), depth, go);
                // Rust's Some(x) is x.
                if (made.name == "Some" && made.members.size() == 1) {
                    ReprValue inner = std::move(made.members[0].value[0]);
                    inner.begin = made.begin;
                    inner.end = made.end;
                    return inner;
                }
                return made;
            }
        }
        return wordFrom(m_at);
    }

    void members(ReprValue &into, char end, int depth, bool go)
    {
        for (;;) {
            skipSpace();
            while (!atEnd() && (peek() == ',' || peek() == ';')) {
                ++m_at;
                skipSpace();
            }
            if (atEnd() || (end && peek() == end))
                return;
            if (end && isClosing(peek()))
                return; // a stray closing bracket ends this group; the caller sees it
            if (!end && isClosing(peek())) {
                ++m_at;
                continue;
            }
            const std::size_t before = m_at;
            into.members.push_back(member(depth, go));
            if (m_at == before)
                ++m_at;
        }
    }

    std::size_t position() const { return m_at; }

private:
    bool atEnd() const { return m_at >= m_text.size(); }
    char peek() const { return m_text[m_at]; }
    void skipSpace()
    {
        while (!atEnd() && isSpace(peek()))
            ++m_at;
    }

    ReprValue::Member member(int depth, bool go)
    {
        ReprValue::Member result;
        result.keyBegin = m_at;
        if (go) { // OLLAMA_HOST:http://127.0.0.1:11434 NEXT:…
            const std::size_t colon = m_text.find(':', m_at);
            const std::size_t stop = std::min(m_text.find(']', m_at), m_text.size());
            if (colon != std::string_view::npos && colon < stop) {
                result.key = std::string(m_text.substr(m_at, colon - m_at));
                m_at = colon + 1;
                std::size_t end = m_at;
                int brackets = 0;
                for (; end < m_text.size(); ++end) {
                    const char c = m_text[end];
                    if (c == '[')
                        ++brackets;
                    else if (c == ']' && brackets-- == 0)
                        break;
                    else if (c == ' ' && brackets == 0)
                        break;
                }
                ReprValue word;
                word.begin = m_at;
                word.end = end;
                word.text = std::string(m_text.substr(m_at, end - m_at));
                m_at = end;
                result.value.push_back(std::move(word));
                return result;
            }
        }
        ReprValue first = value(depth);
        skipSpace();
        // key=value of calls and key: value of dictionaries.
        const bool keyLike = first.kind == ReprValue::Kind::Word || first.kind == ReprValue::Kind::String;
        if (keyLike && !atEnd() && (peek() == '=' || peek() == ':')) {
            ++m_at;
            result.key = std::move(first.text);
            result.value.push_back(value(depth));
        } else {
            result.value.push_back(std::move(first));
        }
        return result;
    }

    ReprValue group(std::size_t begin, std::string name, int depth, bool go = false)
    {
        ReprValue made;
        made.begin = begin;
        const char open = peek();
        made.kind = open == '{' || !name.empty() ? ReprValue::Kind::Record : ReprValue::Kind::List;
        made.name = std::move(name);
        ++m_at;
        members(made, closing(open), depth + 1, go);
        if (!atEnd() && peek() == closing(open))
            ++m_at;
        made.end = m_at;
        made.text = std::string(m_text.substr(made.begin, std::min<std::size_t>(made.end - made.begin, 4096)));
        // {'a', 'b'} is a set.
        if (made.kind == ReprValue::Kind::Record && made.name.empty() && !made.members.empty()
            && std::all_of(made.members.begin(), made.members.end(), [](const ReprValue::Member &m) { return m.key.empty(); }))
            made.kind = ReprValue::Kind::List;
        return made;
    }

    ReprValue angle()
    {
        const std::size_t begin = m_at;
        const std::size_t end = m_text.find('>', m_at);
        m_at = end == std::string_view::npos ? m_text.size() : end + 1;
        ReprValue made;
        made.begin = begin;
        made.end = m_at;
        made.text = std::string(m_text.substr(begin, m_at - begin));
        // <CompilationMode.NONE: 0> and <Backend.X: 'x'>: the value behind the colon is what counts.
        const std::size_t colon = made.text.find(": ");
        if (colon != std::string::npos && made.text.back() == '>') {
            std::string inner = made.text.substr(colon + 2, made.text.size() - colon - 3);
            if (inner.size() >= 2 && (inner.front() == '\'' || inner.front() == '"'))
                inner = inner.substr(1, inner.size() - 2);
            made.text = std::move(inner);
        }
        return made;
    }

    ReprValue string(std::size_t begin)
    {
        ReprValue made;
        made.kind = ReprValue::Kind::String;
        made.begin = begin;
        const char quote = peek();
        ++m_at;
        while (!atEnd() && peek() != quote) {
            if (peek() != '\\' || m_at + 1 >= m_text.size()) {
                made.text.push_back(m_text[m_at++]);
                continue;
            }
            const char c = m_text[m_at + 1];
            m_at += 2;
            switch (c) {
            case 'n': made.text.push_back('\n'); break;
            case 't': made.text.push_back('\t'); break;
            case 'r': made.text.push_back('\r'); break;
            case 'x': hex(2, made.text); break;
            case 'u': hex(4, made.text); break;
            case 'U': hex(8, made.text); break;
            default: made.text.push_back(c);
            }
        }
        if (!atEnd())
            ++m_at;
        made.end = m_at;
        return made;
    }

    void hex(std::size_t digits, std::string &out)
    {
        char32_t code = 0;
        for (std::size_t i = 0; i < digits && !atEnd(); ++i) {
            const char c = peek();
            const int digit = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
            if (digit < 0)
                break;
            code = code * 16 + static_cast<char32_t>(digit);
            ++m_at;
        }
        appendUtf8(out, code > 0x10FFFF || (code >= 0xD800 && code < 0xE000) ? 0xFFFD : code);
    }

    /// Up to a comma, a closing bracket, or the end of a key.
    ReprValue wordFrom(std::size_t begin)
    {
        std::size_t end = begin;
        while (end < m_text.size()) {
            const char c = m_text[end];
            if (c == ',' || c == ';' || isClosing(c) || c == '=' || c == '\n')
                break;
            if (c == ':' && (end + 1 >= m_text.size() || m_text[end + 1] == ' '))
                break;
            ++end;
        }
        m_at = end;
        ReprValue made;
        made.begin = begin;
        while (end > begin && isSpace(m_text[end - 1]))
            --end;
        made.end = end;
        made.text = std::string(m_text.substr(begin, end - begin));
        return made;
    }

    /// Too deep: the rest of this group as text, brackets balanced.
    ReprValue raw()
    {
        ReprValue made;
        made.begin = m_at;
        std::size_t depth = 0;
        while (!atEnd()) {
            const char c = peek();
            if (c == '(' || c == '[' || c == '{')
                ++depth;
            else if (isClosing(c)) {
                if (depth == 0)
                    break;
                --depth;
            } else if (c == ',' && depth == 0)
                break;
            ++m_at;
        }
        made.end = m_at;
        made.text = std::string(m_text.substr(made.begin, std::min<std::size_t>(made.end - made.begin, 4096)));
        return made;
    }

    std::string_view m_text;
    std::size_t m_at;
};

} // namespace

const ReprValue *ReprValue::get(std::string_view key) const
{
    for (const Member &member : members) {
        if (member.key == key)
            return &member.value[0];
    }
    return nullptr;
}

ReprValue parseRepr(std::string_view text, std::size_t offset)
{
    return Parser(text, offset).value(0);
}

ReprValue parseReprMembers(std::string_view text, std::size_t offset)
{
    Parser parser(text, offset);
    ReprValue made;
    made.kind = ReprValue::Kind::Record;
    made.begin = std::min(offset, text.size());
    parser.members(made, 0, 0, false);
    made.end = parser.position();
    return made;
}

} // namespace prosector
