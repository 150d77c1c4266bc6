// SPDX-License-Identifier: GPL-3.0-or-later
// YAML as a Document: libyaml's events are written as JSON text beside the byte ranges they came from,
// and that text is parsed like any other. So there is one tree, one path syntax and one set of remarks.
#include "models/core/document.h"
#include "models/core/hex.h"
#include "models/core/utf8.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <yaml.h>

namespace prosector {

namespace {

constexpr std::size_t maxYamlBytes = 16 << 20;
/// What aliases may add, all together: a few nested ones would otherwise unfold to gigabytes.
constexpr std::size_t maxAliasBytes = 1 << 20;

void appendQuoted(std::string &json, std::string_view text)
{
    json += '"';
    for (const char c : text) {
        if (c == '"' || c == '\\') {
            json += '\\';
            json += c;
        } else if (static_cast<unsigned char>(c) < 0x20) {
            json += "\\u00" + lowerHex(static_cast<unsigned char>(c));
        } else {
            json += c;
        }
    }
    json += '"';
}

bool isOneOf(std::string_view text, std::initializer_list<std::string_view> words)
{
    return std::find(words.begin(), words.end(), text) != words.end();
}

/// The JSON literal of a whole number as PyYAML reads it (0x, 0b, leading 0 for octal, `_` ignored), or "".
std::string integerLiteral(std::string_view text)
{
    const bool negative = text.starts_with('-');
    if (negative || text.starts_with('+'))
        text.remove_prefix(1);
    std::string digits;
    std::copy_if(text.begin(), text.end(), std::back_inserter(digits), [](char c) { return c != '_'; });
    if (digits.empty() || text[0] == '_')
        return {};
    int base = 10;
    if (digits.size() > 2 && digits[0] == '0' && (digits[1] == 'x' || digits[1] == 'b')) {
        base = digits[1] == 'x' ? 16 : 2;
        digits.erase(0, 2);
    } else if (digits.size() > 1 && digits[0] == '0') {
        base = 8;
        digits.erase(0, 1);
    }
    if (base == 10)
        return std::all_of(digits.begin(), digits.end(), [](char c) { return c >= '0' && c <= '9'; }) ? (negative ? "-" : "") + digits : "";
    std::uint64_t value = 0;
    const auto parsed = std::from_chars(digits.data(), digits.data() + digits.size(), value, base);
    if (parsed.ec != std::errc() || parsed.ptr != digits.data() + digits.size())
        return {};
    return (negative ? "-" : "") + std::to_string(value);
}

/// The JSON literal of a fraction as PyYAML reads it: with a point, and a sign in the exponent. Or "".
std::string realLiteral(std::string_view text)
{
    std::string sign = text.starts_with('-') ? "-" : "";
    const auto bare = text.substr(text.starts_with('-') || text.starts_with('+') ? 1 : 0);
    if (isOneOf(bare, {".inf", ".Inf", ".INF"}))
        return sign + "Infinity";
    if (isOneOf(text, {".nan", ".NaN", ".NAN"}))
        return "NaN";
    std::string whole, fraction, exponent;
    std::string *part = &whole;
    for (std::size_t i = 0; i < bare.size(); ++i) {
        const char c = bare[i];
        if (c >= '0' && c <= '9')
            *part += c;
        else if (c == '.' && part == &whole)
            part = &fraction;
        else if ((c == 'e' || c == 'E') && part == &fraction && i + 2 < bare.size() && (bare[i + 1] == '+' || bare[i + 1] == '-')) {
            part = &exponent;
            exponent += bare[++i];
        } else if (c != '_' || i == 0)
            return {};
    }
    if (part == &whole || (whole.empty() && fraction.empty()))
        return {};
    whole.erase(0, std::min(whole.find_first_not_of('0'), whole.size()));
    return sign + (whole.empty() ? "0" : whole) + '.' + (fraction.empty() ? "0" : fraction) + (exponent.empty() ? "" : 'e' + exponent);
}

/// A plain scalar by YAML 1.1's rules, which PyYAML (and so Transformers and lm-eval) follows: `no` is false.
std::string plainLiteral(std::string_view text)
{
    if (isOneOf(text, {"", "~", "null", "Null", "NULL"}))
        return "null";
    if (isOneOf(text, {"true", "True", "TRUE", "yes", "Yes", "YES", "on", "On", "ON"}))
        return "true";
    if (isOneOf(text, {"false", "False", "FALSE", "no", "No", "NO", "off", "Off", "OFF"}))
        return "false";
    if (auto literal = integerLiteral(text); !literal.empty())
        return literal;
    if (auto literal = realLiteral(text); !literal.empty())
        return literal;
    std::string quoted;
    appendQuoted(quoted, text);
    return quoted;
}

} // namespace

/// Writes the JSON text and, for each value in its order, where it stands in the YAML.
class YamlConverter {
public:
    using Span = Document::Span;

    YamlConverter(std::string_view text, std::size_t offset) : m_text(text), m_offset(offset)
    {
        if (std::any_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) >= 0x80; }))
            indexCharacters();
    }

    void run(const std::stop_token &stop)
    {
        yaml_parser_t parser;
        if (!yaml_parser_initialize(&parser))
            return fail(Errc::Malformed, 0, "a YAML parser", "no memory");
        yaml_parser_set_encoding(&parser, YAML_UTF8_ENCODING);
        yaml_parser_set_input_string(&parser, reinterpret_cast<const unsigned char *>(m_text.data()), m_text.size());
        while (!problem && !m_done) {
            if (stop.stop_requested()) {
                fail(Errc::Cancelled, 0, "", "");
                break;
            }
            yaml_event_t event;
            if (!yaml_parser_parse(&parser, &event)) {
                const auto at = parser.error == YAML_READER_ERROR ? parser.problem_offset : byteOf(parser.problem_mark.index);
                fail(Errc::Malformed, at, "YAML", parser.problem ? parser.problem : "something else");
                break;
            }
            handle(event);
            yaml_event_delete(&event);
        }
        yaml_parser_delete(&parser);
        closeAll();
    }

    std::string json;
    std::vector<Span> spans;
    std::optional<Error> problem;

private:
    struct Level {
        bool mapping;
        bool awaitsKey;
        bool empty = true;
        std::size_t span;
        std::string anchor;
        std::size_t jsonBegin;
    };
    struct Anchored {
        std::size_t jsonBegin, jsonEnd, spanBegin, spanEnd;
    };

    void indexCharacters()
    {
        for (std::size_t i = 0; i < m_text.size(); i += decodeUtf8(m_text, i).length)
            m_characters.push_back(static_cast<std::uint32_t>(i));
    }

    /// libyaml counts characters.
    std::size_t byteOf(std::size_t character) const
    {
        if (m_characters.empty())
            return std::min(character, m_text.size());
        return character < m_characters.size() ? m_characters[character] : m_text.size();
    }

    std::uint32_t at(const yaml_mark_t &mark) const { return static_cast<std::uint32_t>(byteOf(mark.index) + m_offset); }

    void fail(Errc code, std::size_t byte, std::string expected, std::string found)
    {
        const auto offset = m_offset + byte;
        problem = Error{code, "not valid YAML", ByteRange{offset, offset}, std::move(expected), std::move(found)};
    }

    static std::string_view textOf(const yaml_char_t *text) { return text ? reinterpret_cast<const char *>(text) : std::string_view(); }

    void handle(const yaml_event_t &event)
    {
        switch (event.type) {
        case YAML_SCALAR_EVENT:
            scalar(event);
            break;
        case YAML_ALIAS_EVENT:
            alias(event);
            break;
        case YAML_SEQUENCE_START_EVENT:
            open(event, false, textOf(event.data.sequence_start.anchor));
            break;
        case YAML_MAPPING_START_EVENT:
            open(event, true, textOf(event.data.mapping_start.anchor));
            break;
        case YAML_SEQUENCE_END_EVENT:
        case YAML_MAPPING_END_EVENT:
            close(at(event.end_mark));
            break;
        case YAML_DOCUMENT_START_EVENT:
            if (!json.empty()) {
                fail(Errc::Unsupported, byteOf(event.start_mark.index), "one document", "another one, which is not read");
                m_done = true;
            }
            break;
        case YAML_STREAM_END_EVENT:
            m_done = true;
            break;
        default:
            break;
        }
    }

    void scalar(const yaml_event_t &event)
    {
        const auto &data = event.data.scalar;
        const std::string_view text(reinterpret_cast<const char *>(data.value), data.length);
        const auto begin = at(event.start_mark), end = at(event.end_mark);
        if (!m_levels.empty() && m_levels.back().mapping && m_levels.back().awaitsKey) {
            Level &level = m_levels.back();
            json += level.empty ? "" : ",";
            level.empty = level.awaitsKey = false;
            appendQuoted(json, text);
            json += ':';
            m_keyBegin = begin;
            m_keyEnd = end;
            return;
        }
        const auto jsonBegin = beginValue();
        spans.push_back({begin, end, m_keyBegin, m_keyEnd});
        const bool string = data.style != YAML_PLAIN_SCALAR_STYLE || textOf(data.tag) == "tag:yaml.org,2002:str";
        if (string)
            appendQuoted(json, text);
        else
            json += plainLiteral(text);
        remember(textOf(data.anchor), jsonBegin, spans.size() - 1);
        endValue();
    }

    void open(const yaml_event_t &event, bool mapping, std::string_view anchor)
    {
        if (!m_levels.empty() && m_levels.back().mapping && m_levels.back().awaitsKey)
            return fail(Errc::Unsupported, byteOf(event.start_mark.index), "a key that is text", "a list or mapping as key");
        if (m_levels.size() >= static_cast<std::size_t>(Document::maxDepth))
            return fail(Errc::TooLarge, byteOf(event.start_mark.index), "at most " + std::to_string(Document::maxDepth) + " levels", "one more");
        const auto jsonBegin = beginValue();
        spans.push_back({at(event.start_mark), at(event.end_mark), m_keyBegin, m_keyEnd});
        m_levels.push_back({mapping, mapping, true, spans.size() - 1, std::string(anchor), jsonBegin});
        json += mapping ? '{' : '[';
        m_keyBegin = m_keyEnd = 0;
    }

    void close(std::uint32_t end)
    {
        const Level level = std::move(m_levels.back());
        m_levels.pop_back();
        if (level.mapping && !level.awaitsKey) {
            json += "null"; // a key whose value the damage took
            spans.push_back({end, end, m_keyBegin, m_keyEnd});
        }
        json += level.mapping ? '}' : ']';
        spans[level.span].end = end;
        remember(level.anchor, level.jsonBegin, level.span);
        endValue();
    }

    void closeAll()
    {
        const auto end = problem ? std::get<ByteRange>(problem->where).from : m_offset + m_text.size();
        while (!m_levels.empty())
            close(static_cast<std::uint32_t>(end));
    }

    std::size_t beginValue()
    {
        if (!m_levels.empty() && !m_levels.back().mapping) {
            json += m_levels.back().empty ? "" : ",";
            m_levels.back().empty = false;
        }
        return json.size();
    }

    void endValue()
    {
        m_keyBegin = m_keyEnd = 0;
        if (!m_levels.empty() && m_levels.back().mapping)
            m_levels.back().awaitsKey = true;
    }

    void remember(std::string_view anchor, std::size_t jsonBegin, std::size_t span)
    {
        if (!anchor.empty())
            m_anchors[std::string(anchor)] = {jsonBegin, json.size(), span, spans.size()};
    }

    void alias(const yaml_event_t &event)
    {
        const std::string name(textOf(event.data.alias.anchor));
        const auto known = m_anchors.find(name);
        const auto byte = byteOf(event.start_mark.index);
        if (known == m_anchors.end())
            return fail(Errc::Malformed, byte, "an anchor &" + name + " that is complete before *" + name, "none");
        if (!m_levels.empty() && m_levels.back().mapping && m_levels.back().awaitsKey)
            return fail(Errc::Unsupported, byte, "a key that is text", "an alias as key");
        const Anchored anchored = known->second;
        m_aliasBytes += anchored.jsonEnd - anchored.jsonBegin;
        if (m_aliasBytes > maxAliasBytes)
            return fail(Errc::TooLarge, byte, "aliases that add at most " + std::to_string(maxAliasBytes) + " bytes", "more");
        const auto copy = json.substr(anchored.jsonBegin, anchored.jsonEnd - anchored.jsonBegin);
        beginValue();
        json += copy;
        for (std::size_t i = anchored.spanBegin; i < anchored.spanEnd; ++i)
            spans.push_back(Span(spans[i]));
        spans[spans.size() - (anchored.spanEnd - anchored.spanBegin)] = {at(event.start_mark), at(event.end_mark), m_keyBegin, m_keyEnd};
        endValue();
    }

    std::string_view m_text;
    std::size_t m_offset;
    std::vector<std::uint32_t> m_characters; ///< byte of each character; empty when all are ASCII
    std::vector<Level> m_levels;
    std::map<std::string, Anchored> m_anchors;
    std::uint32_t m_keyBegin = 0, m_keyEnd = 0;
    std::size_t m_aliasBytes = 0;
    bool m_done = false;
};

std::shared_ptr<const Document> Document::parseYaml(std::string text, std::optional<ByteRange> part, const std::stop_token &stop)
{
    std::shared_ptr<Document> document(new Document);
    document->m_text = std::move(text);
    const auto range = part.value_or(ByteRange{0, document->m_text.size()});
    const auto yaml = std::string_view(document->m_text).substr(range.from, range.size());
    if (yaml.size() > maxYamlBytes) {
        document->m_problem = Error{Errc::TooLarge, "too much YAML for a tree", ByteRange{range.from, range.from},
                                    "at most " + std::to_string(maxYamlBytes) + " bytes", std::to_string(yaml.size())};
        return document;
    }
    YamlConverter converter(yaml, range.from);
    converter.run(stop);
    document->m_spans = std::move(converter.spans);
    document->m_literals = std::move(converter.json);
    if (!document->m_literals.empty())
        document->build(stop);
    if (converter.problem)
        document->m_problem = converter.problem;
    return document;
}

} // namespace prosector
