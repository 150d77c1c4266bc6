// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/core/document.h"

#include "models/core/utf8.h"

#include <algorithm>
#include <charconv>
#include <limits>

namespace prosector {

namespace {

constexpr bool isIdentifier(std::string_view key)
{
    if (key.empty() || (key[0] >= '0' && key[0] <= '9'))
        return false;
    for (const char c : key) {
        if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'))
            return false;
    }
    return true;
}

} // namespace

void appendPathKey(std::string &path, std::string_view key)
{
    if (isIdentifier(key)) {
        path += '.';
        path += key;
        return;
    }
    path += "[\"";
    for (const char c : key) {
        if (c == '"' || c == '\\')
            path += '\\';
        path += c;
    }
    path += "\"]";
}

const Document::Container *Document::container(std::uint32_t node) const
{
    const Node &n = m_nodes[node];
    return n.type() == Value::Type::Array || n.type() == Value::Type::Object ? &m_containers[n.end] : nullptr;
}

std::uint32_t Document::endOf(std::uint32_t node) const
{
    const Container *const holder = container(node);
    return holder ? holder->end : m_nodes[node].end;
}

std::uint32_t Document::next(std::uint32_t node) const
{
    const Container *const holder = container(node);
    return holder ? holder->next : node + 1;
}

std::uint32_t Document::keyEnd(std::uint32_t node) const
{
    const Node &n = m_nodes[node];
    if (n.keyBegin == n.begin)
        return n.begin;
    // Between key and value stand a colon and white space, and nothing else.
    const std::string &text = literals();
    std::uint32_t at = n.begin;
    while (text[at - 1] != '"')
        --at;
    return at;
}

std::string_view Document::keyLiteral(std::uint32_t node) const
{
    const std::uint32_t begin = m_nodes[node].keyBegin;
    const std::uint32_t end = keyEnd(node);
    return begin == end ? std::string_view() : std::string_view(literals()).substr(begin + 1, end - begin - 2);
}

Value Document::root() const
{
    return m_nodes.empty() ? Value() : Value(this, 0);
}

Value Document::at(std::string_view path) const
{
    if (path.empty() || path[0] != '$')
        return {};
    Value value = root();
    std::size_t i = 1;
    while (i < path.size() && value) {
        if (path[i] == '.') {
            const auto end = std::min(path.find_first_of(".[", i + 1), path.size());
            value = value[path.substr(i + 1, end - i - 1)];
            i = end;
        } else if (path.substr(i).starts_with("[\"")) {
            std::string key;
            for (i += 2; i < path.size() && path[i] != '"'; ++i) {
                if (path[i] == '\\' && i + 1 < path.size())
                    ++i;
                key += path[i];
            }
            if (path.substr(i, 2) != "\"]")
                return {};
            value = value[key];
            i += 2;
        } else if (path[i] == '[') {
            std::size_t index = 0;
            const char *const last = path.data() + path.size();
            const auto [stop, error] = std::from_chars(path.data() + i + 1, last, index);
            if (error != std::errc() || stop == last || *stop != ']')
                return {};
            value = value[index];
            i = static_cast<std::size_t>(stop - path.data()) + 1;
        } else {
            return {};
        }
    }
    return value;
}

Value::Type Value::type() const
{
    return m_document ? m_document->m_nodes[m_node].type() : Type::Missing;
}

Value Value::operator[](std::string_view key) const
{
    Value found;
    if (type() != Type::Object)
        return found;
    for (const Value child : *this) {
        const auto literal = m_document->keyLiteral(child.m_node);
        // Most keys hold no escape and can be compared as they stand.
        if (literal == key || (literal.find('\\') != std::string_view::npos && child.key() == key))
            found = child;
    }
    return found;
}

Value Value::operator[](std::size_t index) const
{
    if (type() == Type::Array && index < size()) {
        auto it = begin();
        while (index--)
            ++it;
        return *it;
    }
    return {};
}

std::size_t Value::size() const
{
    const auto *const holder = m_document ? m_document->container(m_node) : nullptr;
    return holder ? holder->count : 0;
}

std::string Value::key() const
{
    return m_document ? unescapeJson(m_document->keyLiteral(m_node)) : std::string();
}

std::optional<std::string> Value::string() const
{
    if (!isString())
        return std::nullopt;
    const auto literal = raw();
    const auto inner = literal.substr(1, literal.size() - 2);
    return m_document->m_nodes[m_node].escaped ? unescapeJson(inner) : std::string(inner);
}

std::string Value::string(std::string_view fallback) const
{
    auto text = string();
    return text ? std::move(*text) : std::string(fallback);
}

std::optional<double> Value::number() const
{
    if (!isNumber())
        return std::nullopt;
    const auto literal = raw();
    if (literal == "NaN")
        return std::numeric_limits<double>::quiet_NaN();
    if (literal.ends_with("Infinity"))
        return literal[0] == '-' ? -std::numeric_limits<double>::infinity() : std::numeric_limits<double>::infinity();
    double number = 0;
    const auto parsed = std::from_chars(literal.data(), literal.data() + literal.size(), number);
    if (parsed.ec == std::errc::result_out_of_range) // 1e999 is infinite, 1e-999 is zero, as in Python
        return literal.find("e-") == std::string_view::npos && literal.find("E-") == std::string_view::npos
                   ? (literal[0] == '-' ? -1 : 1) * std::numeric_limits<double>::infinity()
                   : 0.0;
    return number;
}

std::optional<std::int64_t> Value::integer() const
{
    if (!isNumber())
        return std::nullopt;
    const auto literal = raw();
    std::int64_t number = 0;
    const auto parsed = std::from_chars(literal.data(), literal.data() + literal.size(), number);
    if (parsed.ec != std::errc() || parsed.ptr != literal.data() + literal.size())
        return std::nullopt;
    return number;
}

std::optional<bool> Value::boolean() const
{
    if (type() != Type::Boolean)
        return std::nullopt;
    return raw() == "true";
}

std::string_view Value::raw() const
{
    if (!m_document)
        return {};
    const auto begin = m_document->m_nodes[m_node].begin;
    return std::string_view(m_document->literals()).substr(begin, m_document->endOf(m_node) - begin);
}

ByteRange Value::range() const
{
    if (!m_document)
        return {};
    if (!m_document->m_spans.empty())
        return {m_document->m_spans[m_node].begin, m_document->m_spans[m_node].end};
    return {m_document->m_nodes[m_node].begin, m_document->endOf(m_node)};
}

ByteRange Value::keyRange() const
{
    if (!m_document)
        return {};
    if (!m_document->m_spans.empty())
        return {m_document->m_spans[m_node].keyBegin, m_document->m_spans[m_node].keyEnd};
    const auto begin = m_document->m_nodes[m_node].keyBegin, end = m_document->keyEnd(m_node);
    return {begin, end};
}

Value Value::parent() const
{
    if (!m_document || m_node == 0)
        return {};
    return {m_document, m_document->m_nodes[m_node].parent};
}

std::string Value::path() const
{
    if (!m_document)
        return {};
    std::vector<Value> chain;
    for (Value value = *this; value; value = value.parent())
        chain.push_back(value);
    std::string path = "$";
    for (std::size_t i = chain.size() - 1; i-- > 0;) {
        const Value &holder = chain[i + 1];
        if (holder.isObject()) {
            appendPathKey(path, chain[i].key());
            continue;
        }
        std::size_t index = 0;
        for (const Value element : holder) {
            if (element == chain[i])
                break;
            ++index;
        }
        path += '[' + std::to_string(index) + ']';
    }
    return path;
}

Value::Iterator Value::begin() const
{
    if (size() == 0)
        return end();
    return {m_document, m_node + 1};
}

Value::Iterator Value::end() const
{
    if (!m_document)
        return {};
    return {m_document, m_document->next(m_node)};
}

Value::Iterator &Value::Iterator::operator++()
{
    m_node = m_document->next(m_node); // NOLINT(clang-analyzer-core.CallAndMessage): an end has no successor
    return *this;
}

} // namespace prosector
