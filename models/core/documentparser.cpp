// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/core/document.h"
#include "models/core/utf8.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <deque>

namespace prosector {

/// One pass over the text without recursion: the open containers are a stack of node indices.
class DocumentParser {
public:
    explicit DocumentParser(Document &document) : m_document(document), m_text(document.literals()) {}

    void parse()
    {
        if (m_text.starts_with("\xEF\xBB\xBF")) {
            m_document.m_remarks.push_back({Remark::Kind::ByteOrderMark, {"$"}, {0, 3}, "byte order mark"});
            m_at = 3;
        }
        if (m_text.size() >= UINT32_MAX) {
            fail(Errc::TooLarge, "fewer than 4 GiB of JSON", std::to_string(m_text.size()) + " bytes");
            return;
        }
        skipSpace();
        if (m_at == m_text.size()) {
            fail(Errc::Truncated, "a JSON value", "nothing but white space");
            return;
        }
        m_document.m_nodes.reserve(std::min(m_text.size() / 32 + 4, Document::maxNodes));
        while (step()) { }
        closeAll();
        if (m_document.m_nodes.capacity() > m_document.m_nodes.size() * 2)
            m_document.m_nodes.shrink_to_fit();
        if (!m_document.m_problem) {
            skipSpace();
            if (m_at != m_text.size())
                fail(Errc::Malformed, "the end of the file", seen());
        }
        finishRemarks();
    }

private:
    using Node = Document::Node;
    using Type = Value::Type;

    bool fail(Errc code, std::string expected, std::string found)
    {
        m_document.m_problem =
            Error{code, "not valid JSON", ByteRange{m_at, m_at}, std::move(expected), std::move(found)};
        return false;
    }

    std::string seen() const
    {
        if (m_at >= m_text.size())
            return "the end of the file";
        const auto c = static_cast<unsigned char>(m_text[m_at]);
        if (c >= 0x20 && c < 0x7F)
            return '\'' + std::string(1, m_text[m_at]) + '\'';
        static constexpr std::string_view digits = "0123456789ABCDEF";
        return std::string("byte 0x") + digits[c >> 4] + digits[c & 15];
    }

    void skipSpace()
    {
        while (m_at < m_text.size()
               && (m_text[m_at] == ' ' || m_text[m_at] == '\n' || m_text[m_at] == '\r' || m_text[m_at] == '\t'))
            ++m_at;
    }

    std::uint32_t at32() const { return static_cast<std::uint32_t>(m_at); }

    /// Reads one value (or opens a container) and what follows it, up to the next value.
    bool step()
    {
        std::uint32_t keyBegin = 0, keyEnd = 0;
        if (!m_open.empty() && m_document.m_nodes[m_open.back()].type == Type::Object) {
            keyBegin = at32();
            bool escaped = false;
            if (m_at >= m_text.size() || m_text[m_at] != '"')
                return fail(m_at >= m_text.size() ? Errc::Truncated : Errc::Malformed, "a key in quotes", seen());
            if (!string(escaped))
                return false;
            keyEnd = at32();
            skipSpace();
            if (m_at >= m_text.size() || m_text[m_at] != ':')
                return fail(m_at >= m_text.size() ? Errc::Truncated : Errc::Malformed, "':'", seen());
            ++m_at;
            skipSpace();
        }
        const auto index = static_cast<std::uint32_t>(m_document.m_nodes.size());
        if (index == Document::maxNodes)
            return fail(Errc::TooLarge, "at most " + std::to_string(Document::maxNodes) + " values", "more");
        Node node{at32(), at32(), keyBegin, keyEnd, m_open.empty() ? index : m_open.back(), index + 1, 0, Type::Null,
                  false};
        if (m_at < m_text.size() && (m_text[m_at] == '{' || m_text[m_at] == '[')) {
            if (m_open.size() >= static_cast<std::size_t>(Document::maxDepth))
                return fail(Errc::TooLarge, "at most " + std::to_string(Document::maxDepth) + " levels", "one more");
            node.type = m_text[m_at] == '{' ? Type::Object : Type::Array;
            add(node);
            m_open.push_back(index);
            ++m_at;
            skipSpace();
            if (m_at < m_text.size() && m_text[m_at] == (node.type == Type::Object ? '}' : ']'))
                return closeAndContinue();
            return true;
        }
        if (!scalar(node))
            return false;
        node.end = at32();
        add(node);
        return closeAndContinue();
    }

    void add(const Node &node)
    {
        if (!m_open.empty())
            ++m_document.m_nodes[m_open.back()].count;
        m_document.m_nodes.push_back(node);
    }

    /// Behind a complete value: closes containers, or steps over one comma.
    bool closeAndContinue()
    {
        while (!m_open.empty()) {
            skipSpace();
            if (m_at >= m_text.size())
                return fail(Errc::Truncated, "',' or the end of the container", "the end of the file");
            Node &holder = m_document.m_nodes[m_open.back()];
            const char closer = holder.type == Type::Object ? '}' : ']';
            if (m_text[m_at] == closer) {
                ++m_at;
                holder.end = at32();
                holder.next = static_cast<std::uint32_t>(m_document.m_nodes.size());
                m_open.pop_back();
                continue;
            }
            if (m_text[m_at] != ',')
                return fail(Errc::Malformed, std::string("',' or '") + closer + '\'', seen());
            ++m_at;
            skipSpace();
            if (m_at < m_text.size() && m_text[m_at] == closer)
                return fail(Errc::Malformed, "a value after ','", seen());
            return true;
        }
        return false;
    }

    /// Containers still open when the text broke off keep what they have.
    void closeAll()
    {
        while (!m_open.empty()) {
            Node &holder = m_document.m_nodes[m_open.back()];
            holder.end = at32();
            holder.next = static_cast<std::uint32_t>(m_document.m_nodes.size());
            m_open.pop_back();
        }
    }

    bool scalar(Node &node)
    {
        if (m_at >= m_text.size())
            return fail(Errc::Truncated, "a value", "the end of the file");
        if (m_text[m_at] == '"') {
            node.type = Type::String;
            return string(node.escaped);
        }
        const char first = m_text[m_at];
        const auto rest = std::string_view(m_text).substr(m_at);
        if ((first >= '0' && first <= '9') || (first == '-' && !rest.starts_with("-I"))) {
            node.type = Type::Number;
            return number();
        }
        for (const std::string_view word : {"true", "false", "null", "NaN", "Infinity", "-Infinity"}) {
            if (!rest.starts_with(word))
                continue;
            const ByteRange literal{m_at, m_at + word.size()};
            m_at += word.size();
            node.type = word == "null" ? Type::Null : word[0] == 't' || word[0] == 'f' ? Type::Boolean : Type::Number;
            if (node.type == Type::Number)
                remark(Remark::Kind::NonFiniteNumber, literal, std::string(word));
            return true;
        }
        return fail(Errc::Malformed, "a value", seen());
    }

    bool number()
    {
        const auto digit = [&] { return m_at < m_text.size() && m_text[m_at] >= '0' && m_text[m_at] <= '9'; };
        if (m_text[m_at] == '-')
            ++m_at;
        if (!digit())
            return fail(m_at >= m_text.size() ? Errc::Truncated : Errc::Malformed, "a value", seen());
        const bool zero = m_text[m_at] == '0';
        ++m_at;
        if (zero && digit())
            return fail(Errc::Malformed, "no digit after a leading zero", seen());
        while (digit())
            ++m_at;
        if (m_at < m_text.size() && m_text[m_at] == '.') {
            ++m_at;
            if (!digit())
                return fail(Errc::Malformed, "a digit after '.'", seen());
            while (digit())
                ++m_at;
        }
        if (m_at < m_text.size() && (m_text[m_at] == 'e' || m_text[m_at] == 'E')) {
            ++m_at;
            if (m_at < m_text.size() && (m_text[m_at] == '+' || m_text[m_at] == '-'))
                ++m_at;
            if (!digit())
                return fail(Errc::Malformed, "a digit in the exponent", seen());
            while (digit())
                ++m_at;
        }
        return true;
    }

    /// From one quote to behind the other.
    bool string(bool &escaped)
    {
        const std::size_t begin = m_at++;
        bool ascii = true;
        while (m_at < m_text.size()) {
            const auto c = static_cast<unsigned char>(m_text[m_at]);
            if (c == '"') {
                ++m_at;
                if (!ascii)
                    remarkOnUtf8(begin);
                return true;
            }
            if (c == '\\') {
                escaped = true;
                if (!escape())
                    return false;
                continue;
            }
            if (c < 0x20)
                return fail(Errc::Malformed, "no control character inside a string", seen());
            ascii = ascii && c < 0x80;
            ++m_at;
        }
        return fail(Errc::Truncated, "'\"' at the end of the string that began at " + std::to_string(begin),
                    "the end of the file");
    }

    bool escape()
    {
        ++m_at;
        if (m_at >= m_text.size())
            return fail(Errc::Truncated, "an escape", "the end of the file");
        if (m_text[m_at] == 'u') {
            for (int i = 1; i <= 4; ++i) {
                const std::size_t at = m_at + static_cast<std::size_t>(i);
                if (at >= m_text.size() || !std::isxdigit(static_cast<unsigned char>(m_text[at]))) {
                    m_at = std::min(at, m_text.size());
                    return fail(Errc::Malformed, "four hexadecimal digits after \\u", seen());
                }
            }
            m_at += 5;
            return true;
        }
        if (std::string_view("\"\\/bfnrt").find(m_text[m_at]) == std::string_view::npos)
            return fail(Errc::Malformed, "one of \" \\ / b f n r t u after \\", seen());
        ++m_at;
        return true;
    }

    void remarkOnUtf8(std::size_t begin)
    {
        const auto bad = firstInvalidUtf8(std::string_view(m_text).substr(begin, m_at - begin));
        if (bad != std::string_view::npos)
            remark(Remark::Kind::InvalidUtf8, {begin + bad, begin + bad + 1}, "not UTF-8");
    }

    /// About the value that is being read. Its path exists only once the tree is whole.
    void remark(Remark::Kind kind, ByteRange bytes, std::string text)
    {
        if (count(kind))
            m_pending.push_back({static_cast<std::uint32_t>(m_document.m_nodes.size()), {kind, {}, bytes, std::move(text)}});
    }

    /// A path costs as much as its array is long, so a hostile file must not ask for many.
    bool count(Remark::Kind kind) { return ++m_remarked[static_cast<std::size_t>(kind)] <= Document::maxRemarks; }

    void finishRemarks()
    {
        for (auto &[node, remark] : m_pending) {
            if (node < m_document.m_nodes.size()) {
                const Value value(&m_document, node);
                remark.where.path = value.path();
                if (!m_document.m_spans.empty())
                    remark.bytes = value.range();
            }
            m_document.m_remarks.push_back(std::move(remark));
        }
        for (std::uint32_t i = 0; i < m_document.m_nodes.size(); ++i) {
            if (m_document.m_nodes[i].type == Type::Object && m_document.m_nodes[i].count > 1)
                remarkOnDuplicates(Value(&m_document, i));
        }
    }

    struct Key {
        std::string_view text;
        std::uint32_t node;
    };

    void remarkOnDuplicates(Value object)
    {
        m_keys.clear();
        m_decodedKeys.clear();
        for (const Value child : object) {
            const auto &node = m_document.m_nodes[child.m_node];
            auto text = std::string_view(m_text).substr(node.keyBegin + 1, node.keyEnd - node.keyBegin - 2);
            if (text.find('\\') != std::string_view::npos)
                text = m_decodedKeys.emplace_back(unescapeJson(text));
            m_keys.push_back({text, child.m_node});
        }
        std::sort(m_keys.begin(), m_keys.end(), [](const Key &a, const Key &b) {
            // Length first: a vocabulary's keys differ in it more cheaply than in their text.
            if (a.text.size() != b.text.size())
                return a.text.size() < b.text.size();
            const int order = a.text.compare(b.text);
            return order != 0 ? order < 0 : a.node < b.node;
        });
        for (std::size_t i = 1; i < m_keys.size(); ++i) {
            if (m_keys[i].text != m_keys[i - 1].text || !count(Remark::Kind::DuplicateKey))
                continue;
            const Value earlier(&m_document, m_keys[i - 1].node), later(&m_document, m_keys[i].node);
            m_document.m_remarks.push_back({Remark::Kind::DuplicateKey, {later.path()}, earlier.range(),
                                            "key \"" + toValidUtf8(m_keys[i].text.substr(0, 100)) + "\" stands twice; the last value, "
                                                + toValidUtf8(later.raw().substr(0, 60)) + ", wins over "
                                                + toValidUtf8(earlier.raw().substr(0, 60))});
        }
    }

    Document &m_document;
    const std::string &m_text;
    std::size_t m_at = 0;
    std::vector<std::uint32_t> m_open;
    std::vector<std::pair<std::uint32_t, Remark>> m_pending;
    std::vector<Key> m_keys;
    std::deque<std::string> m_decodedKeys;
    std::array<std::size_t, 4> m_remarked{};
};

std::shared_ptr<const Document> Document::parseJson(std::string text)
{
    std::shared_ptr<Document> document(new Document);
    document->m_text = std::move(text);
    document->build();
    return document;
}

void Document::build()
{
    DocumentParser(*this).parse();
}

} // namespace prosector
