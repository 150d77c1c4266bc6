// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/tokenizers/pretokenizer.h"

#include "models/core/utf8.h"
#include "models/tokenizers/malformedpart.h"
#include "models/tokenizers/normalizer.h"
#include "models/tokenizers/pattern.h"
#include "models/tokenizers/tokenmodel.h"
#include "models/tokenizers/unicode.h"

#include <algorithm>
#include <functional>

namespace prosector {

Segment::Segment(AlignedText t) : text(std::move(t))
{
    if (!text.empty())
        pieces.push_back({0, text.size(), text.origin(0, text.size()).begin});
}

namespace {

using Range = AlignedText::Range;

/// A stretch of a piece, and whether it is what was looked for.
struct Part {
    std::size_t begin, end;
    bool match;
};
using Parts = std::vector<Part>;

enum class Behavior { Removed, Isolated, MergedWithPrevious, MergedWithNext, Contiguous };

/// Puts delimiters where the behaviour wants them. `parts` cover the piece without gaps.
Parts arrange(const Parts &parts, Behavior behavior)
{
    Parts out;
    switch (behavior) {
    case Behavior::Removed:
        for (const Part &part : parts) {
            if (!part.match)
                out.push_back(part);
        }
        break;
    case Behavior::Isolated: out = parts; break;
    case Behavior::Contiguous: {
        bool previous = false;
        for (const Part &part : parts) {
            if (part.match == previous && !out.empty())
                out.back().end = part.end;
            else
                out.push_back(part);
            previous = part.match;
        }
        break;
    }
    case Behavior::MergedWithPrevious: {
        bool previous = false;
        for (const Part &part : parts) {
            if (part.match && !previous && !out.empty())
                out.back().end = part.end;
            else
                out.push_back(part);
            previous = part.match;
        }
        break;
    }
    case Behavior::MergedWithNext: {
        bool previous = false;
        for (auto it = parts.rbegin(); it != parts.rend(); ++it) {
            if (it->match && !previous && !out.empty())
                out.back().begin = it->begin;
            else
                out.push_back(*it);
            previous = it->match;
        }
        std::reverse(out.begin(), out.end());
        break;
    }
    }
    return out;
}

Parts partsOf(std::string_view text, const std::vector<Range> &matches)
{
    Parts parts;
    std::size_t at = 0;
    for (const Range &match : matches) {
        if (match.begin > at)
            parts.push_back({at, match.begin, false});
        parts.push_back({match.begin, match.end, true});
        at = match.end;
    }
    if (at < text.size())
        parts.push_back({at, text.size(), false});
    return parts;
}

/// Single characters that have a property.
Parts partsOf(std::string_view text, bool (*property)(char32_t))
{
    std::vector<Range> matches;
    for (std::size_t i = 0; i < text.size();) {
        const CodePoint c = decodeUtf8(text, i);
        if (property(c.value))
            matches.push_back({i, i + c.length});
        i += c.length;
    }
    return partsOf(text, matches);
}

/// A step that only cuts.
class Cutter final : public PreTokenizer {
public:
    using Find = std::function<Result<Parts>(std::string_view)>;
    Cutter(std::string name, Find find, Behavior behavior)
        : m_name(std::move(name)), m_find(std::move(find)), m_behavior(behavior)
    {
    }

    Result<void> apply(Segment &segment) const override
    {
        std::vector<Segment::Piece> cut;
        cut.reserve(segment.pieces.size());
        for (const auto &piece : segment.pieces) {
            auto parts = m_find(segment.text.text().substr(piece.begin, piece.end - piece.begin));
            if (!parts)
                return parts.error();
            for (const Part &part : arrange(*parts, m_behavior)) {
                if (part.begin == part.end)
                    continue;
                const std::size_t begin = piece.begin + part.begin, end = piece.begin + part.end;
                cut.push_back({begin, end, segment.text.origin(begin, end).begin});
            }
        }
        segment.pieces = std::move(cut);
        return {};
    }
    std::string name() const override { return m_name; }

private:
    std::string m_name;
    Find m_find;
    Behavior m_behavior;
};

/// A step that rewrites each piece.
class Rewriter final : public PreTokenizer {
public:
    /// Appends the new form of `piece` to `out`.
    using Work = std::function<void(const AlignedText &text, const Segment::Piece &piece, AlignedText &out)>;
    Rewriter(std::string name, Work work) : m_name(std::move(name)), m_work(std::move(work)) {}

    Result<void> apply(Segment &segment) const override
    {
        AlignedText whole;
        for (auto &piece : segment.pieces) {
            const std::size_t begin = whole.size();
            m_work(segment.text, piece, whole);
            piece.begin = begin;
            piece.end = whole.size();
        }
        segment.text = std::move(whole);
        return {};
    }
    std::string name() const override { return m_name; }

private:
    std::string m_name;
    Work m_work;
};

/// GPT-2's expression (openai/gpt-2, encoder.py).
constexpr std::string_view gpt2Pattern =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";

Result<Behavior> behaviorOf(Value node, Behavior fallback)
{
    const Value value = node["behavior"];
    if (!value)
        return fallback;
    static constexpr std::pair<std::string_view, Behavior> names[] = {
        {"Removed", Behavior::Removed},
        {"Isolated", Behavior::Isolated},
        {"MergedWithPrevious", Behavior::MergedWithPrevious},
        {"MergedWithNext", Behavior::MergedWithNext},
        {"Contiguous", Behavior::Contiguous},
    };
    for (const auto &[name, behavior] : names) {
        if (value.string("") == name)
            return behavior;
    }
    return malformedPart("pre-tokenizer", value, "Removed, Isolated, MergedWithPrevious, MergedWithNext or Contiguous");
}

Cutter::Find byPattern(Pattern pattern, bool invert = false)
{
    return [p = std::move(pattern), invert](std::string_view text) -> Result<Parts> {
        std::vector<Range> matches;
        if (auto done = p.findAll(text, matches); !done)
            return done.error();
        Parts parts = partsOf(text, matches);
        for (Part &part : parts)
            part.match = part.match != invert;
        return parts;
    };
}

Cutter::Find byProperty(bool (*property)(char32_t))
{
    return [property](std::string_view text) -> Result<Parts> { return partsOf(text, property); };
}

/// `\w+|[^\w\s]+` looked for, all else removed.
Result<Parts> wordsAndSymbols(std::string_view text)
{
    Parts parts;
    const auto classOf = [](char32_t c) { return isWordCharacter(c) ? 0 : isWhiteSpace(c) ? 1 : 2; };
    int previous = -1;
    for (std::size_t i = 0; i < text.size();) {
        const CodePoint c = decodeUtf8(text, i);
        const int kind = classOf(c.value);
        if (kind == previous)
            parts.back().end = i + c.length;
        else
            parts.push_back({i, i + c.length, kind == 1});
        previous = kind;
        i += c.length;
    }
    return parts;
}

Result<Parts> scripts(std::string_view text)
{
    static constexpr int any = -1, noScript = -2;
    Parts parts;
    int last = noScript;
    for (std::size_t i = 0; i < text.size();) {
        const CodePoint c = decodeUtf8(text, i);
        const int script = sentencePieceScript(c.value);
        if (script != any && last != script)
            parts.push_back({i, i + c.length, false});
        else if (!parts.empty()) // blanks in front of the first script belong to nothing
            parts.back().end = i + c.length;
        if (script != any)
            last = script;
        i += c.length;
    }
    return parts;
}

class Factory {
public:
    explicit Factory(std::optional<bool> addPrefixSpace) : m_addPrefixSpace(addPrefixSpace) {}

    Result<void> append(Value node)
    {
        const auto type = node["type"].string();
        if (!type)
            return malformedPart("pre-tokenizer", node, "an object with a `type`");
        if (*type == "Sequence") {
            for (const Value child : node["pretokenizers"]) {
                if (auto done = append(child); !done)
                    return done;
            }
            return {};
        }
        if (m_plan.rawBytes) // a step behind ByteLevel sees its alphabet
            rewriteToAlphabet();
        return step(*type, node);
    }

    PreTokenizerPlan take() { return std::move(m_plan); }

private:
    void cut(std::string name, Cutter::Find find, Behavior behavior)
    {
        m_plan.steps.push_back(std::make_shared<Cutter>(std::move(name), std::move(find), behavior));
    }

    void rewrite(std::string name, Rewriter::Work work)
    {
        m_plan.steps.push_back(std::make_shared<Rewriter>(std::move(name), std::move(work)));
    }

    void rewriteToAlphabet()
    {
        m_plan.rawBytes = false;
        rewrite("ByteLevel", [](const AlignedText &text, const Segment::Piece &piece, AlignedText &out) {
            std::string character;
            for (std::size_t i = piece.begin; i < piece.end; ++i) {
                character.clear();
                appendUtf8(character, byteToCharacter(static_cast<unsigned char>(text.text()[i])));
                out.appendText(character, text.origin(i, i + 1));
            }
        });
    }

    Result<void> byteLevel(Value node)
    {
        if (m_addPrefixSpace.value_or(node["add_prefix_space"].boolean().value_or(true))) {
            rewrite("ByteLevel", [](const AlignedText &text, const Segment::Piece &piece, AlignedText &out) {
                if (text.text()[piece.begin] != ' ')
                    out.appendText(" ", text.origin(piece.begin, piece.begin + 1));
                out.appendPart(text, piece.begin, piece.end);
            });
        }
        if (node["use_regex"].boolean().value_or(true)) {
            auto pattern = Pattern::compile(gpt2Pattern);
            if (!pattern)
                return pattern.error();
            cut("ByteLevel", byPattern(std::move(*pattern)), Behavior::Isolated);
        }
        m_plan.rawBytes = true;
        return {};
    }

    Result<void> metaspace(Value node)
    {
        const std::string replacement = node["replacement"].string("▁");
        std::string scheme = node["prepend_scheme"].string("always");
        if (node["add_prefix_space"].boolean() == false) {
            if (node["prepend_scheme"] && scheme != "never")
                return malformedPart("pre-tokenizer", node, "a prepend_scheme that agrees with add_prefix_space");
            scheme = "never";
        }
        if (scheme != "always" && scheme != "first" && scheme != "never")
            return malformedPart("pre-tokenizer", node["prepend_scheme"], "always, first or never");
        rewrite("Metaspace", [=](const AlignedText &text, const Segment::Piece &piece, AlignedText &out) {
            const auto old = text.text().substr(0, piece.end);
            const auto start = old.substr(piece.begin);
            if (scheme != "never" && !start.starts_with(replacement) && !start.starts_with(' ')
                && (scheme == "always" || piece.inputBegin == 0))
                out.appendText(replacement, text.origin(piece.begin, piece.begin + 1));
            for (std::size_t at = piece.begin; at < piece.end;) {
                const std::size_t blank = std::min(old.find(' ', at), piece.end);
                out.appendPart(text, at, blank);
                if (blank < piece.end)
                    out.appendText(replacement, text.origin(blank, blank + 1));
                at = blank + 1;
            }
        });
        if (node["split"].boolean().value_or(true))
            cut("Metaspace", byPattern(Pattern::literal(replacement)), Behavior::MergedWithNext);
        return {};
    }

    Result<void> split(Value node)
    {
        auto pattern = patternOf(node["pattern"]);
        if (!pattern)
            return pattern.error();
        auto behavior = behaviorOf(node, Behavior::Isolated);
        if (!behavior)
            return behavior.error();
        cut("Split", byPattern(std::move(*pattern), node["invert"].boolean().value_or(false)), *behavior);
        return {};
    }

    Result<void> step(const std::string &type, Value node)
    {
        if (type == "ByteLevel")
            return byteLevel(node);
        if (type == "Metaspace")
            return metaspace(node);
        if (type == "Split")
            return split(node);
        if (type == "Whitespace") {
            cut(type, wordsAndSymbols, Behavior::Removed);
        } else if (type == "WhitespaceSplit") {
            cut(type, byProperty(isWhiteSpace), Behavior::Removed);
        } else if (type == "BertPreTokenizer") {
            cut(type, byProperty(isWhiteSpace), Behavior::Removed);
            cut(type, byProperty(isPunctuation), Behavior::Isolated);
        } else if (type == "Punctuation") {
            auto behavior = behaviorOf(node, Behavior::Isolated);
            if (!behavior)
                return behavior.error();
            cut(type, byProperty(isPunctuation), *behavior);
        } else if (type == "Digits") {
            cut(type, byProperty(isNumeric),
                node["individual_digits"].boolean().value_or(false) ? Behavior::Isolated : Behavior::Contiguous);
        } else if (type == "CharDelimiterSplit") {
            if (!node["delimiter"].isString())
                return malformedPart("pre-tokenizer", node, "a `delimiter`");
            cut(type, byPattern(Pattern::literal(*node["delimiter"].string())), Behavior::Removed);
        } else if (type == "UnicodeScripts") {
            cut(type, scripts, Behavior::Isolated);
        } else if (type == "FixedLength") {
            const auto length = node["length"].integer().value_or(5);
            if (length < 1)
                return malformedPart("pre-tokenizer", node["length"], "a length of at least 1");
            cut(type, [length](std::string_view text) -> Result<Parts> {
                Parts parts;
                std::int64_t count = 0;
                for (std::size_t i = 0; i < text.size(); ++count) {
                    const std::size_t end = i + decodeUtf8(text, i).length;
                    if (count % length == 0)
                        parts.push_back({i, end, false});
                    else
                        parts.back().end = end;
                    i = end;
                }
                return parts;
            }, Behavior::Isolated);
        } else {
            return Error{Errc::Unsupported, "pre-tokenizer", node["type"].anchor(), "a known kind of pre-tokenizer",
                         '"' + toValidUtf8(type) + '"'};
        }
        return {};
    }

    std::optional<bool> m_addPrefixSpace;
    PreTokenizerPlan m_plan;
};

} // namespace

Result<PreTokenizerPlan> makePreTokenizers(Value preTokenizer, std::optional<bool> addPrefixSpace)
{
    Factory factory(addPrefixSpace);
    if (preTokenizer.isSet()) {
        if (auto done = factory.append(preTokenizer); !done)
            return done.error();
    }
    return factory.take();
}

PreTokenizerPlan matchesAsBytes(Pattern pattern)
{
    PreTokenizerPlan plan;
    plan.steps.push_back(std::make_shared<Cutter>("Split", byPattern(std::move(pattern), true), Behavior::Removed));
    plan.rawBytes = true;
    return plan;
}

} // namespace prosector
