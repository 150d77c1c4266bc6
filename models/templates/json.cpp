// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/templates/json.h"

#include "models/core/utf8.h"
#include "models/templates/operators.h"
#include "models/templates/pystring.h"
#include "models/templates/raised.h"
#include "models/templates/text.h"

#include <algorithm>
#include <cmath>

namespace prosector::jinja {

namespace {

class Writer {
public:
    explicit Writer(const JsonOptions &options) : m_options(options) {}

    Var write(const Var &value)
    {
        put(value, 0);
        return m_out.build();
    }

private:
    void string(const Var &value)
    {
        const std::string_view text = value.view();
        const SourceId source = sourceOf(value);
        m_out.derived("\"", source);
        std::size_t begin = 0;
        for (std::size_t at = 0; at < text.size();) {
            const auto c = static_cast<unsigned char>(text[at]);
            if (c >= 0x20 && c != '"' && c != '\\' && (!m_options.ensureAscii || c < 0x7F)) {
                ++at;
                continue;
            }
            const CodePoint point = decodeUtf8(text, at);
            m_out.append(value, begin, at);
            m_out.derived(escape(point.value), source);
            begin = at += point.length;
        }
        m_out.append(value, begin, text.size());
        m_out.derived("\"", source);
    }

    static std::string escape(char32_t c)
    {
        switch (c) {
        case '"': return "\\\"";
        case '\\': return "\\\\";
        case '\n': return "\\n";
        case '\r': return "\\r";
        case '\t': return "\\t";
        case '\b': return "\\b";
        case '\f': return "\\f";
        default: break;
        }
        if (c < 0x10000)
            return hexEscape('u', c, 4);
        return hexEscape('u', 0xD7C0 + (c >> 10), 4) + hexEscape('u', 0xDC00 + (c & 0x3FF), 4);
    }

    static std::string number(double value)
    {
        if (std::isnan(value))
            return "NaN";
        if (std::isinf(value))
            return value < 0 ? "-Infinity" : "Infinity";
        return floatRepr(value);
    }

    void newline(int level, SourceId source)
    {
        if (!m_options.indent)
            return;
        std::string text = "\n";
        for (int i = 0; i < level; ++i)
            text += *m_options.indent;
        m_out.derived(text, source);
    }

    void put(const Var &value, int level)
    {
        switch (value.kind()) {
        case Kind::None: return m_out.derived("null", value.source());
        case Kind::Bool: return m_out.derived(value.asBool() ? "true" : "false", value.source());
        case Kind::Int: return m_out.derived(std::to_string(value.asInt()), value.source());
        case Kind::BigInt: return m_out.derived(value.view(), value.source());
        case Kind::Float: return m_out.derived(number(value.asFloat()), value.source());
        case Kind::String: return string(value);
        case Kind::List:
        case Kind::Tuple: return array(value, level);
        case Kind::Dict: return object(value, level);
        default: break;
        }
        raise(Exc::TypeError, "Object of type " + typeName(value) + " is not JSON serializable");
    }

    void array(const Var &value, int level)
    {
        const auto &items = value.sequence().items;
        const SourceId source = value.source();
        if (items.empty())
            return m_out.derived("[]", source);
        const Nesting nesting;
        m_out.derived("[", source);
        bool first = true;
        for (const Var &item : items) {
            if (!first)
                m_out.derived(m_options.itemSeparator, source);
            first = false;
            newline(level + 1, source);
            put(item, level + 1);
        }
        newline(level, source);
        m_out.derived("]", source);
    }

    void key(const Var &value)
    {
        switch (value.kind()) {
        case Kind::String: return string(value);
        case Kind::None:
        case Kind::Bool:
        case Kind::Int:
        case Kind::BigInt:
        case Kind::Float:
            m_out.derived("\"", value.source());
            put(value, 0);
            return m_out.derived("\"", value.source());
        default: break;
        }
        raise(Exc::TypeError, "keys must be str, int, float, bool or None, not " + typeName(value));
    }

    void object(const Var &value, int level)
    {
        const auto &entries = value.dict().entries;
        const SourceId source = value.source();
        if (entries.empty())
            return m_out.derived("{}", source);
        const Nesting nesting;
        std::vector<const Dict::Entry *> order;
        for (const Dict::Entry &entry : entries)
            order.push_back(&entry);
        if (m_options.sortKeys)
            std::stable_sort(order.begin(), order.end(),
                             [](const auto *a, const auto *b) { return ordered(Comparison::Less, a->key, b->key); });
        m_out.derived("{", source);
        bool first = true;
        for (const Dict::Entry *const entry : order) {
            if (!first)
                m_out.derived(m_options.itemSeparator, source);
            first = false;
            newline(level + 1, source);
            key(entry->key);
            m_out.derived(m_options.keySeparator, source);
            put(entry->value, level + 1);
        }
        newline(level, source);
        m_out.derived("}", source);
    }

    const JsonOptions &m_options;
    TextBuilder m_out;
};

} // namespace

Var toJson(const Var &value, const JsonOptions &options)
{
    return Writer(options).write(value);
}

} // namespace prosector::jinja
