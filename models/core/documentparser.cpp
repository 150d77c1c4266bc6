// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/core/document.h"
#include "models/core/hex.h"
#include "models/core/utf8.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <span>
#include <tuple>

namespace prosector {

/// One pass over the text without recursion: the open containers are a stack of node indices.
class DocumentParser {
public:
    DocumentParser(Document &document, const std::stop_token &stop) : m_document(document), m_text(document.literals()), m_stop(stop) {}

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
        // Growing step by step would hold the old nodes and the new at once.
        const auto values = std::count_if(m_text.begin(), m_text.end(), [](char c) { return c == ',' || c == '[' || c == '{'; });
        m_document.m_nodes.reserve(std::min(static_cast<std::size_t>(values) + 1, Document::maxNodes));
        while (step()) { }
        closeAll();
        if (m_document.m_nodes.capacity() > m_document.m_nodes.size() * 2)
            m_document.m_nodes.shrink_to_fit();
        m_document.m_containers.shrink_to_fit();
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
        return "byte 0x" + upperHex(c);
    }

    void skipSpace()
    {
        while (m_at < m_text.size()
               && (m_text[m_at] == ' ' || m_text[m_at] == '\n' || m_text[m_at] == '\r' || m_text[m_at] == '\t'))
            ++m_at;
    }

    std::uint32_t at32() const { return static_cast<std::uint32_t>(m_at); }

    /// Asks rarely: a question to the token costs as much as a short value.
    bool stopped()
    {
        if ((++m_steps & 0xFFF) != 0 || !m_stop.stop_requested())
            return false;
        m_document.m_problem = Error{Errc::Cancelled, "cancelled", ByteRange{m_at, m_at}};
        return true;
    }

    /// Reads one value (or opens a container) and what follows it, up to the next value.
    bool step()
    {
        if (stopped())
            return false;
        std::optional<std::uint32_t> key;
        if (!m_open.empty() && m_document.m_nodes[m_open.back()].type() == Type::Object) {
            key = at32();
            bool escaped = false;
            if (m_at >= m_text.size() || m_text[m_at] != '"')
                return fail(m_at >= m_text.size() ? Errc::Truncated : Errc::Malformed, "a key in quotes", seen());
            if (!string(escaped))
                return false;
            skipSpace();
            if (m_at >= m_text.size() || m_text[m_at] != ':')
                return fail(m_at >= m_text.size() ? Errc::Truncated : Errc::Malformed, "':'", seen());
            ++m_at;
            skipSpace();
        }
        const auto index = static_cast<std::uint32_t>(m_document.m_nodes.size());
        if (index == Document::maxNodes)
            return fail(Errc::TooLarge, "at most " + std::to_string(Document::maxNodes) + " values", "more");
        Node node{at32(), at32(), key.value_or(at32()), (m_open.empty() ? index : m_open.back()) & 0x1FFFFFFU, 0, 0};
        if (m_at < m_text.size() && (m_text[m_at] == '{' || m_text[m_at] == '[')) {
            if (m_open.size() >= static_cast<std::size_t>(Document::maxDepth))
                return fail(Errc::TooLarge, "at most " + std::to_string(Document::maxDepth) + " levels", "one more");
            const Type type = m_text[m_at] == '{' ? Type::Object : Type::Array;
            node.kind = static_cast<std::uint32_t>(type) & 7U;
            node.end = static_cast<std::uint32_t>(m_document.m_containers.size());
            add(node);
            m_document.m_containers.push_back({at32(), index + 1, 0});
            m_open.push_back(index);
            ++m_at;
            skipSpace();
            if (m_at < m_text.size() && m_text[m_at] == (type == Type::Object ? '}' : ']'))
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
            ++m_document.m_containers[m_document.m_nodes[m_open.back()].end].count;
        m_document.m_nodes.push_back(node);
    }

    /// Behind a complete value: closes containers, or steps over one comma.
    bool closeAndContinue()
    {
        while (!m_open.empty()) {
            skipSpace();
            if (m_at >= m_text.size())
                return fail(Errc::Truncated, "',' or the end of the container", "the end of the file");
            const char closer = m_document.m_nodes[m_open.back()].type() == Type::Object ? '}' : ']';
            if (m_text[m_at] == closer) {
                ++m_at;
                close();
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
        while (!m_open.empty())
            close();
    }

    void close()
    {
        auto &holder = m_document.m_containers[m_document.m_nodes[m_open.back()].end];
        holder.end = at32();
        holder.next = static_cast<std::uint32_t>(m_document.m_nodes.size());
        m_open.pop_back();
    }

    bool scalar(Node &node)
    {
        if (m_at >= m_text.size())
            return fail(Errc::Truncated, "a value", "the end of the file");
        if (m_text[m_at] == '"') {
            node.kind = static_cast<std::uint32_t>(Type::String) & 7U;
            bool escaped = false;
            const bool whole = string(escaped);
            node.escaped = escaped ? 1U : 0U;
            return whole;
        }
        const char first = m_text[m_at];
        const auto rest = std::string_view(m_text).substr(m_at);
        if ((first >= '0' && first <= '9') || (first == '-' && !rest.starts_with("-I"))) {
            node.kind = static_cast<std::uint32_t>(Type::Number) & 7U;
            return number();
        }
        for (const std::string_view word : {"true", "false", "null", "NaN", "Infinity", "-Infinity"}) {
            if (!rest.starts_with(word))
                continue;
            const ByteRange literal{m_at, m_at + word.size()};
            m_at += word.size();
            const Type type = word == "null" ? Type::Null : word[0] == 't' || word[0] == 'f' ? Type::Boolean : Type::Number;
            node.kind = static_cast<std::uint32_t>(type) & 7U;
            if (type == Type::Number)
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
            if (stopped())
                return;
            if (m_document.m_nodes[i].type() == Type::Object && m_document.container(i)->count > 1)
                remarkOnDuplicates(Value(&m_document, i));
        }
    }

    struct Key {
        std::uint64_t hash;
        std::uint32_t node;
        bool operator<(const Key &other) const { return std::tie(hash, node) < std::tie(other.hash, other.node); }
    };

    std::string keyOf(std::uint32_t node) const { return Value(&m_document, node).key(); }

    /// FNV-1a of the key as it is read, escapes resolved.
    std::uint64_t hashOf(std::uint32_t node) const
    {
        auto text = m_document.keyLiteral(node);
        std::string decoded;
        if (text.find('\\') != std::string_view::npos)
            text = decoded = unescapeJson(text);
        std::uint64_t hash = 14695981039346656037U;
        for (const char c : text)
            hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211U;
        return hash;
    }

    /// Sorted by a hash, not by the keys, whose comparison is a step to a far place in the text.
    void remarkOnDuplicates(Value object)
    {
        m_keys.clear();
        for (const Value child : object) {
            if (stopped())
                return;
            m_keys.push_back({hashOf(child.m_node), child.m_node});
        }
        if (!sortKeys())
            return;
        std::vector<std::pair<std::uint32_t, std::uint32_t>> twice; // the later, the earlier
        for (std::size_t begin = 0, end = 0; begin < m_keys.size(); begin = end) {
            for (end = begin + 1; end < m_keys.size() && m_keys[end].hash == m_keys[begin].hash;)
                ++end;
            if (end - begin > 1)
                findTwins(std::span(m_keys).subspan(begin, end - begin), twice);
        }
        std::sort(twice.begin(), twice.end());
        for (const auto &[later, earlier] : twice) {
            if (!count(Remark::Kind::DuplicateKey))
                return;
            const Value wins(&m_document, later), loses(&m_document, earlier);
            m_document.m_remarks.push_back({Remark::Kind::DuplicateKey, {wins.path()}, loses.range(),
                                            "key \"" + toValidUtf8(keyOf(later).substr(0, 100)) + "\" stands twice; the last value, "
                                                + toValidUtf8(wins.raw().substr(0, 60)) + ", wins over "
                                                + toValidUtf8(loses.raw().substr(0, 60))});
        }
    }

    /// False when stopped. Large sets are sorted in parts, so that a stop is heard.
    bool sortKeys()
    {
        constexpr std::size_t parts = 256;
        if (m_keys.size() <= 0xFFFF) {
            std::sort(m_keys.begin(), m_keys.end());
            return true;
        }
        std::array<std::size_t, parts + 1> begins{};
        for (const Key &key : m_keys)
            ++begins[(key.hash >> 56) + 1];
        for (std::size_t i = 1; i <= parts; ++i)
            begins[i] += begins[i - 1];
        std::vector<Key> sorted(m_keys.size());
        auto next = begins;
        for (const Key &key : m_keys)
            sorted[next[key.hash >> 56]++] = key;
        for (std::size_t i = 0; i < parts; ++i) {
            if (m_stop.stop_requested()) {
                m_document.m_problem = Error{Errc::Cancelled, "cancelled"};
                return false;
            }
            std::sort(sorted.begin() + static_cast<std::ptrdiff_t>(begins[i]), sorted.begin() + static_cast<std::ptrdiff_t>(begins[i + 1]));
        }
        m_keys = std::move(sorted);
        return true;
    }

    /// Keys of one hash, in the order of the text: equal ones are the same key, others met by chance or malice.
    void findTwins(std::span<const Key> alike, std::vector<std::pair<std::uint32_t, std::uint32_t>> &twice) const
    {
        std::vector<std::pair<std::string, std::uint32_t>> keys;
        for (const Key &key : alike)
            keys.emplace_back(keyOf(key.node), key.node);
        std::sort(keys.begin(), keys.end());
        for (std::size_t i = 1; i < keys.size(); ++i) {
            if (keys[i].first == keys[i - 1].first)
                twice.emplace_back(keys[i].second, keys[i - 1].second);
        }
    }

    Document &m_document;
    const std::string &m_text;
    const std::stop_token &m_stop;
    std::size_t m_at = 0, m_steps = 0;
    std::vector<std::uint32_t> m_open;
    std::vector<std::pair<std::uint32_t, Remark>> m_pending;
    std::vector<Key> m_keys;
    std::array<std::size_t, 4> m_remarked{};
};

std::shared_ptr<const Document> Document::parseJson(std::string text, const std::stop_token &stop)
{
    std::shared_ptr<Document> document(new Document);
    document->m_text = std::move(text);
    document->build(stop);
    return document;
}

void Document::build(const std::stop_token &stop)
{
    DocumentParser(*this, stop).parse();
}

} // namespace prosector
