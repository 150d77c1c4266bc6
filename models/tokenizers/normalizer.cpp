// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/tokenizers/normalizer.h"

#include "models/core/utf8.h"
#include "models/tokenizers/base64.h"
#include "models/tokenizers/malformedpart.h"
#include "models/tokenizers/pattern.h"
#include "models/tokenizers/tokenmodel.h"
#include "models/tokenizers/unicode.h"

#include <algorithm>
#include <functional>
#include <map>

namespace prosector {

namespace {

using Change = AlignedText::Change;

/// A step whose work is one function.
class Step final : public Normalizer {
public:
    Step(std::string name, std::function<Result<void>(AlignedText &)> work)
        : m_name(std::move(name)), m_work(std::move(work))
    {
    }
    Result<void> apply(AlignedText &text) const override { return m_work(text); }
    std::string name() const override { return m_name; }

private:
    std::string m_name;
    std::function<Result<void>(AlignedText &)> m_work;
};

bool isChinese(char32_t c) // BERT's blocks (google-research/bert, tokenization.py)
{
    return (c >= 0x4E00 && c <= 0x9FFF) || (c >= 0x3400 && c <= 0x4DBF) || (c >= 0x20000 && c <= 0x2A6DF)
        || (c >= 0x2A700 && c <= 0x2B73F) || (c >= 0x2B740 && c <= 0x2B81F) || (c >= 0x2B920 && c <= 0x2CEAF)
        || (c >= 0xF900 && c <= 0xFAFF) || (c >= 0x2F800 && c <= 0x2FA1F);
}

void bert(AlignedText &text, bool clean, bool chinese, bool stripAccents, bool lower)
{
    const auto isBlank = [](char32_t c) { return c == '\t' || c == '\n' || c == '\r' || isWhiteSpace(c); };
    if (clean) {
        text.filter([](char32_t c) {
            const bool blank = c == '\t' || c == '\n' || c == '\r';
            return c != 0 && c != 0xFFFD && (blank || !isOther(c));
        });
        text.map([&](char32_t c) { return isBlank(c) ? U' ' : c; });
    }
    if (chinese) {
        std::vector<Change> changes;
        bool any = false;
        for (const char32_t c : text.characters()) {
            if (!isChinese(c)) {
                changes.push_back({c, 0});
                continue;
            }
            any = true;
            changes.insert(changes.end(), {{' ', 0}, {c, 1}, {' ', 1}});
        }
        if (any)
            text.transform(changes);
    }
    if (stripAccents) {
        normalize(text, NormalForm::Nfd);
        text.filter([](char32_t c) { return !isNonSpacingMark(c); });
    }
    if (lower)
        lowercase(text);
}

void nmt(AlignedText &text)
{
    text.filter([](char32_t c) {
        return !((c >= 1 && c <= 8) || c == 0x0B || (c >= 0x0E && c <= 0x1F) || c == 0x7F || c == 0x8F || c == 0x9F);
    });
    text.map([](char32_t c) {
        const bool blank = c == 9 || c == 0x0A || c == 0x0C || c == 0x0D || c == 0x1680 || (c >= 0x200B && c <= 0x200F)
            || c == 0x2028 || c == 0x2029 || c == 0x2581 || c == 0xFEFF || c == 0xFFFD;
        return blank ? U' ' : c;
    });
}

std::vector<char32_t> charactersOf(std::string_view text)
{
    return AlignedText(text, 0).characters();
}

/// Whole grapheme clusters first when they are short, then single characters: what SentencePiece does,
/// as Hugging Face re-created it.
void precompiled(AlignedText &text, const PrecompiledMap &map)
{
    std::vector<Change> changes;
    bool any = false;
    const auto put = [&](std::string_view old, std::string_view fresh) {
        any = true;
        const auto to = charactersOf(fresh);
        const auto difference = static_cast<int>(to.size()) - static_cast<int>(charactersOf(old).size());
        for (const char32_t c : to)
            changes.push_back({c, 0});
        for (int i = 0; i < difference; ++i)
            changes[changes.size() - 1 - static_cast<std::size_t>(i)].change = 1;
        if (difference < 0 && !changes.empty())
            changes.back().change += difference;
    };
    static constexpr std::size_t shortCluster = 6;
    const auto all = text.text();
    if (map.leavesAlone(all))
        return;
    std::size_t begin = 0;
    for (const std::size_t end : graphemeEnds(all)) {
        const auto cluster = all.substr(begin, end - begin);
        begin = end;
        if (cluster.size() > 1 && cluster.size() < shortCluster) { // of one byte: asked below
            if (const auto fresh = map.find(cluster)) {
                put(cluster, *fresh);
                continue;
            }
        }
        for (std::size_t i = 0; i < cluster.size();) {
            const CodePoint c = decodeUtf8(cluster, i);
            const auto part = cluster.substr(i, c.length);
            i += c.length;
            if (const auto fresh = map.find(part))
                put(part, *fresh);
            else
                changes.push_back({c.value, 0});
        }
    }
    if (any)
        text.transform(changes);
}

Result<void> replace(AlignedText &text, const Pattern &pattern, const std::string &content)
{
    std::vector<AlignedText::Range> ranges;
    if (auto done = pattern.findAll(text.text(), ranges); !done)
        return done;
    text.replace(ranges, content);
    return {};
}

void toByteAlphabet(AlignedText &text)
{
    std::vector<Change> changes;
    for (const char byte : text.text())
        changes.push_back({byteToCharacter(static_cast<unsigned char>(byte)), isContinuationByte(byte) ? 1 : 0});
    text.transform(changes);
}

Result<void> append(Value node, Normalizers &list);

using Work = std::function<Result<void>(AlignedText &)>;

Work plain(void (*work)(AlignedText &))
{
    return [work](AlignedText &text) -> Result<void> {
        work(text);
        return {};
    };
}

template<NormalForm form>
Work formWork()
{
    return plain([](AlignedText &text) { normalize(text, form); });
}

Result<Work> makeWork(const std::string &type, Value node)
{
    static const std::map<std::string, Work, std::less<>> simple{
        {"NFC", formWork<NormalForm::Nfc>()},   {"NFD", formWork<NormalForm::Nfd>()},
        {"NFKC", formWork<NormalForm::Nfkc>()}, {"NFKD", formWork<NormalForm::Nfkd>()},
        {"Lowercase", plain(lowercase)},     {"Nmt", plain(nmt)},
        {"ByteLevel", plain(toByteAlphabet)},
        {"StripAccents", plain([](AlignedText &text) { text.filter([](char32_t c) { return !isCombiningMark(c); }); })},
    };
    if (const auto found = simple.find(type); found != simple.end())
        return found->second;
    if (type == "Strip") {
        const bool left = node["strip_left"].boolean().value_or(true), right = node["strip_right"].boolean().value_or(true);
        return Work([left, right](AlignedText &text) -> Result<void> {
            text.strip(left, right);
            return {};
        });
    }
    if (type == "Prepend" || type == "Append") {
        const Value field = node[type == "Prepend" ? "prepend" : "append"];
        if (!field.isString())
            return malformedPart("normalizer", field ? field : node, "a text to insert");
        return Work([content = *field.string(), front = type == "Prepend"](AlignedText &text) -> Result<void> {
            if (front)
                text.prepend(content);
            else
                text.append(content);
            return {};
        });
    }
    if (type == "Replace") {
        auto pattern = patternOf(node["pattern"]);
        if (!pattern)
            return pattern.error();
        return Work([p = std::move(*pattern), content = node["content"].string("")](AlignedText &text) {
            return replace(text, p, content);
        });
    }
    if (type == "BertNormalizer") {
        const bool lower = node["lowercase"].boolean().value_or(true);
        const bool clean = node["clean_text"].boolean().value_or(true);
        const bool chinese = node["handle_chinese_chars"].boolean().value_or(true);
        const bool strip = node["strip_accents"].boolean().value_or(lower);
        return Work([=](AlignedText &text) -> Result<void> {
            bert(text, clean, chinese, strip, lower);
            return {};
        });
    }
    if (type == "Precompiled") {
        const Value charsmap = node["precompiled_charsmap"];
        if (!charsmap.isSet() || charsmap.string("x").empty())
            return Work([](AlignedText &) -> Result<void> { return {}; });
        auto blob = decodeBase64(charsmap.string(""));
        if (!blob)
            return malformedPart("normalizer", charsmap, "base64 text");
        auto map = PrecompiledMap::make(std::move(*blob), charsmap.anchor());
        if (!map)
            return map.error();
        return Work([m = std::make_shared<const PrecompiledMap>(std::move(*map))](AlignedText &text) -> Result<void> {
            precompiled(text, *m);
            return {};
        });
    }
    return Error{Errc::Unsupported, "normalizer", node["type"].anchor(), "a known kind of normalizer",
                 '"' + toValidUtf8(type) + '"'};
}

Result<void> append(Value node, Normalizers &list)
{
    const auto type = node["type"].string();
    if (!type)
        return malformedPart("normalizer", node, "an object with a `type`");
    if (*type == "Sequence") {
        for (const Value child : node["normalizers"]) {
            if (auto done = append(child, list); !done)
                return done;
        }
        return {};
    }
    auto work = makeWork(*type, node);
    if (!work)
        return work.error();
    list.push_back(std::make_shared<Step>(*type, std::move(*work)));
    return {};
}

} // namespace

Result<Normalizers> makeNormalizers(Value normalizer)
{
    Normalizers list;
    if (normalizer.isSet()) {
        if (auto done = append(normalizer, list); !done)
            return done.error();
    }
    return list;
}

Result<Pattern> patternOf(Value pattern)
{
    if (const auto text = pattern["String"].string())
        return Pattern::literal(*text);
    if (const auto expression = pattern["Regex"].string()) {
        auto compiled = Pattern::compile(*expression);
        if (!compiled) {
            Error error = compiled.error();
            error.where = pattern["Regex"].anchor();
            return error;
        }
        return compiled;
    }
    return malformedPart("normalizer", pattern, "{\"String\": …} or {\"Regex\": …}");
}

Result<PrecompiledMap> PrecompiledMap::make(std::string blob, const Anchor &where)
{
    const auto word = [&](std::size_t at) {
        std::uint32_t value = 0;
        for (std::size_t i = 4; i-- > 0;)
            value = value << 8 | static_cast<unsigned char>(blob[at + i]);
        return value;
    };
    const std::uint32_t trieBytes = blob.size() < 4 ? 0 : word(0);
    if (blob.size() < 4 || trieBytes == 0 || trieBytes % 4 != 0 || trieBytes > blob.size() - 4 || blob.back() != '\0') {
        return Error{Errc::Malformed, "precompiled character map", where,
                     "a trie of whole 4-byte units within " + std::to_string(blob.size()) + " bytes and texts that end in NUL",
                     std::to_string(trieBytes) + " bytes of trie"};
    }
    PrecompiledMap map;
    map.m_trie.resize(trieBytes / 4);
    for (std::size_t i = 0; i < map.m_trie.size(); ++i)
        map.m_trie[i] = word(4 + 4 * i);
    map.m_strings = blob.substr(4 + trieBytes);
    for (std::size_t c = 0; c < map.m_asciiMapped.size(); ++c)
        map.m_asciiMapped[c] = c != 0 && map.find(std::string(1, static_cast<char>(c))).has_value();
    return map;
}

bool PrecompiledMap::leavesAlone(std::string_view text) const
{
    // A CR LF pair is one cluster, which may be mapped as such.
    return std::none_of(text.begin(), text.end(), [&](char c) {
        const auto byte = static_cast<unsigned char>(c);
        return byte >= m_asciiMapped.size() || m_asciiMapped[byte] || c == '\r';
    });
}

namespace {

// Units of darts-clone: bit 8 has-leaf, bits 0-7 and 31 label, the rest offset.
std::uint32_t trieOffset(std::uint32_t unit)
{
    return (unit >> 10) << ((unit & (1U << 9)) >> 6);
}

bool trieLabel(std::uint32_t unit, unsigned int byte)
{
    return (unit & (1U << 31 | 0xFF)) == byte;
}

} // namespace

Result<void> PrecompiledMap::check(const Anchor &where) const
{
    std::vector<bool> seen(m_trie.size());
    std::vector<std::size_t> todo{trieOffset(m_trie[0])};
    const auto wrong = [&](std::size_t node) {
        return Error{Errc::Malformed, "precompiled character map", where,
                     "paths within the trie's " + std::to_string(m_trie.size()) + " units and texts within "
                         + std::to_string(m_strings.size()) + " bytes", "unit " + std::to_string(node)};
    };
    while (!todo.empty()) {
        const std::size_t base = todo.back();
        todo.pop_back();
        if ((base | 0xFF) >= m_trie.size()) // any byte may follow
            return wrong(base);
        for (unsigned int byte = 1; byte < 256; ++byte) {
            const std::size_t node = base ^ byte;
            if (!trieLabel(m_trie[node], byte) || seen[node])
                continue;
            seen[node] = true;
            const std::size_t next = node ^ trieOffset(m_trie[node]);
            if (next >= m_trie.size())
                return wrong(next);
            if ((m_trie[node] >> 8 & 1) != 0 && (m_trie[next] & 0x7FFFFFFF) >= m_strings.size())
                return wrong(next);
            todo.push_back(next);
        }
    }
    return {};
}

std::optional<std::pair<std::string_view, std::size_t>> PrecompiledMap::findLongest(std::string_view text) const
{
    std::optional<std::pair<std::string_view, std::size_t>> longest;
    std::size_t node = trieOffset(m_trie[0]);
    for (std::size_t i = 0; i < text.size(); ++i) {
        const auto byte = static_cast<unsigned char>(text[i]);
        node ^= byte;
        if (byte == 0 || node >= m_trie.size() || !trieLabel(m_trie[node], byte))
            break;
        const bool leaf = (m_trie[node] >> 8 & 1) != 0;
        node ^= trieOffset(m_trie[node]);
        if (node >= m_trie.size())
            break;
        const std::uint32_t at = m_trie[node] & 0x7FFFFFFF;
        if (leaf && at < m_strings.size())
            longest = {std::string_view(m_strings.c_str() + at), i + 1};
    }
    return longest;
}

std::optional<std::string_view> PrecompiledMap::find(std::string_view text) const
{
    std::size_t node = trieOffset(m_trie[0]);
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (byte == 0)
            return std::nullopt;
        node ^= byte;
        if (node >= m_trie.size())
            return std::nullopt;
        const std::uint32_t unit = m_trie[node];
        if (!trieLabel(unit, byte))
            return std::nullopt;
        node ^= trieOffset(unit);
        if (node >= m_trie.size())
            return std::nullopt;
        if ((unit >> 8 & 1) != 0) {
            const std::uint32_t at = m_trie[node] & 0x7FFFFFFF;
            if (at >= m_strings.size())
                return std::nullopt;
            return std::string_view(m_strings.c_str() + at);
        }
    }
    return std::nullopt;
}

} // namespace prosector
