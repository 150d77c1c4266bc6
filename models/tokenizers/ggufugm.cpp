// SPDX-License-Identifier: GPL-3.0-or-later
// "t5": SentencePiece's unigram model and normaliser, as llama.cpp re-created them.
#include "models/tokenizers/ggufmodel.h"
#include "models/tokenizers/normalizer.h"

#include <algorithm>
#include <limits>

namespace prosector {

namespace {

class Ugm final : public GgufModel {
public:
    static Result<GgufModelPtr> make(const GgufVocabulary &vocabulary)
    {
        auto made = std::make_unique<Ugm>(vocabulary);
        if (!vocabulary.charsMap.empty()) {
            const Anchor where = GgufContent::anchor("tokenizer.ggml.precompiled_charsmap");
            auto map = PrecompiledMap::make(vocabulary.charsMap, where);
            if (!map)
                return map.error();
            if (auto sound = map->check(where); !sound)
                return sound.error();
            made->m_map = std::move(*map);
        }
        if (!vocabulary.unknown) {
            return Error{Errc::Malformed, "tokenizer.ggml.unknown_token_id", GgufContent::anchor("tokenizer.ggml.unknown_token_id"),
                         "an id", "none"};
        }
        return GgufModelPtr(std::move(made));
    }

    explicit Ugm(const GgufVocabulary &vocabulary) : m_vocabulary(vocabulary)
    {
        using V = GgufVocabulary;
        float least = std::numeric_limits<float>::max();
        for (std::uint32_t id = 0; id < vocabulary.tokens.size(); ++id) {
            const auto &token = vocabulary.tokens[id]; // the types of the file: this is built before they are corrected
            if ((token.declared & V::Normal) != 0)
                least = std::min(least, token.score);
            if ((token.declared & (V::Normal | V::UserDefined | V::Unused)) != 0)
                m_trie.insert(token.text, id);
            if ((token.declared & V::UserDefined) != 0)
                m_userDefined.insert(token.text, id);
        }
        m_unknownScore = least - 10.0F;
    }

    Result<void> encode(std::string_view text, std::uint32_t base, bool, ModelState &, GgufTokens &out) const override
    {
        std::vector<TextRange> origins;
        const std::string normal = normalize(text, base, origins);
        if (normal.empty())
            return {};
        const std::vector<Best> best = search(normal);
        std::vector<ModelToken> path;
        const std::uint32_t unknown = *m_vocabulary.unknown;
        for (auto end = static_cast<std::uint32_t>(normal.size());; end = path.back().begin) {
            const Best &step = best[end];
            if (!path.empty() && path.back().id == unknown && step.id == unknown)
                path.back().begin = step.begin; // unknowns fuse
            else
                path.push_back({step.id, step.begin, end});
            if (step.begin == 0)
                break;
        }
        for (auto token = path.rbegin(); token != path.rend(); ++token)
            out.add(token->id, {origins[token->begin].begin, origins[token->end - 1].end});
        return {};
    }

    Result<std::string> normalized(std::string_view text) const override
    {
        std::vector<TextRange> origins;
        return normalize(text, 0, origins);
    }

private:
    struct Best {
        double score = -std::numeric_limits<double>::max();
        std::uint32_t begin = 0, id = 0;
    };

    std::vector<Best> search(std::string_view text) const
    {
        std::vector<Best> best(text.size() + 1, Best{.id = *m_vocabulary.unknown});
        best[0].score = 0;
        const auto reach = [&](std::size_t begin, std::size_t end, std::uint32_t id, double score) {
            score += best[begin].score;
            if (score > best[end].score)
                best[end] = {score, static_cast<std::uint32_t>(begin), id};
        };
        for (std::size_t begin = 0; begin < text.size();) {
            const std::size_t single = llamaLength(text, begin);
            bool hasSingle = false;
            std::uint32_t node = 0;
            for (std::size_t end = begin; end < text.size() && (node = m_trie.child(node, text[end])) != 0;) {
                ++end;
                const std::uint32_t id = m_trie.value(node);
                if (id == Vocabulary::none)
                    continue;
                hasSingle = hasSingle || end - begin == single;
                const auto &token = m_vocabulary.tokens[id];
                reach(begin, end, id, token.is(GgufVocabulary::UserDefined) ? 0.0 : static_cast<double>(token.score));
            }
            if (!hasSingle)
                reach(begin, begin + single, *m_vocabulary.unknown, static_cast<double>(m_unknownScore));
            begin += single;
        }
        return best;
    }

    struct Prefix {
        std::string_view text;
        std::size_t length;
    };
    /// What the beginning of `text` becomes.
    Prefix normalizePrefix(std::string_view text) const
    {
        // As far as any user-defined token goes along, whole or not.
        std::size_t along = 0;
        for (std::uint32_t node = 0; along < text.size() && (node = m_userDefined.child(node, text[along])) != 0;)
            ++along;
        if (along > 0)
            return {text.substr(0, along), along};
        if (m_map) {
            if (const auto mapped = m_map->findLongest(text))
                return {mapped->first, mapped->second};
        }
        const LlamaCharacter c = llamaCharacter(text, 0);
        return c.valid ? Prefix{text.substr(0, c.length), c.length} : Prefix{"\xEF\xBF\xBD", 1};
    }

    std::string normalize(std::string_view text, std::uint32_t base, std::vector<TextRange> &origins) const
    {
        const std::string_view space = m_vocabulary.escapeSpaces ? "▁" : " ";
        const bool merge = m_vocabulary.removeExtraSpaces;
        bool prepended = !m_vocabulary.addSpacePrefix, inWord = false;
        std::string out;
        const auto put = [&](std::string_view piece, TextRange origin) {
            out += piece;
            origins.resize(out.size(), origin);
        };
        for (std::size_t at = 0; at < text.size();) {
            const Prefix prefix = normalizePrefix(text.substr(at));
            const TextRange origin{base + static_cast<std::uint32_t>(at), base + static_cast<std::uint32_t>(at + prefix.length)};
            at += prefix.length;
            for (std::size_t i = 0; i < prefix.text.size(); ++i) {
                if (prefix.text[i] == ' ') {
                    inWord = false;
                    if (!merge)
                        put(space, origin);
                    continue;
                }
                if (!inWord && (!prepended || merge)) {
                    put(space, {origin.begin, origin.begin});
                    prepended = true;
                }
                inWord = true;
                put(prefix.text.substr(i, 1), origin);
            }
        }
        return out;
    }

    const GgufVocabulary &m_vocabulary;
    ByteTrie m_trie, m_userDefined;
    std::optional<PrecompiledMap> m_map;
    float m_unknownScore = 0;
};

} // namespace

Result<GgufModelPtr> makeGgufUgm(const GgufVocabulary &vocabulary)
{
    return Ugm::make(vocabulary);
}

} // namespace prosector
