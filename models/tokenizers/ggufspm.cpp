// SPDX-License-Identifier: GPL-3.0-or-later
// "llama": SentencePiece's byte-pair merging by score, as llama.cpp does it, without a normaliser.
#include "models/core/utf8.h"
#include "models/tokenizers/bytepiece.h"
#include "models/tokenizers/ggufmodel.h"

#include <array>
#include <queue>

namespace prosector {

namespace {

class Spm final : public GgufModel {
public:
    explicit Spm(const GgufVocabulary &vocabulary) : m_vocabulary(vocabulary)
    {
        for (unsigned int byte = 0; byte < 256; ++byte) {
            const auto id = vocabulary.find(bytePiece(static_cast<unsigned char>(byte)));
            m_bytes[byte] = id ? id : vocabulary.find(std::string(1, static_cast<char>(byte)));
        }
    }

    Result<void> encode(std::string_view text, std::uint32_t base, bool afterSpecial, ModelState &, GgufTokens &out) const override
    {
        std::vector<TextRange> origins; // of each byte of the escaped text
        const std::string escaped = escape(text, base, afterSpecial && m_vocabulary.addSpacePrefix, origins);
        std::vector<Symbol> symbols = split(escaped);
        merge(escaped, symbols);
        for (const Symbol &symbol : symbols) {
            if (symbol.length == 0)
                continue;
            const TextRange origin{origins[symbol.begin].begin, origins[symbol.begin + symbol.length - 1].end};
            const auto whole = std::string_view(escaped).substr(symbol.begin, symbol.length);
            if (const auto id = m_vocabulary.find(whole)) {
                out.add(*id, origin);
                continue;
            }
            for (const char byte : whole) {
                const auto id = m_bytes[static_cast<unsigned char>(byte)];
                if (!id)
                    return noByte(static_cast<unsigned char>(byte), whole);
                out.add(*id, origin);
            }
        }
        return {};
    }

    Result<std::string> normalized(std::string_view text) const override
    {
        std::vector<TextRange> origins;
        return escape(text, 0, m_vocabulary.addSpacePrefix, origins);
    }

private:
    struct Symbol {
        std::uint32_t begin, length;
        std::uint32_t previous, next;
    };
    static constexpr std::uint32_t end = UINT32_MAX;
    struct Bigram {
        float score;
        std::uint32_t left, right, length;
        bool operator<(const Bigram &other) const { return score < other.score || (score == other.score && left > other.left); }
    };

    static std::string escape(std::string_view text, std::uint32_t base, bool prefix, std::vector<TextRange> &origins)
    {
        static constexpr std::string_view space = "▁";
        std::string escaped;
        if (prefix) {
            escaped = space;
            origins.assign(space.size(), {base, base});
        }
        for (std::uint32_t i = 0; i < text.size();) {
            const auto length = static_cast<std::uint32_t>(llamaLength(text, i));
            escaped += text[i] == ' ' ? space : text.substr(i, length);
            origins.resize(escaped.size(), {base + i, base + i + length});
            i += length;
        }
        return escaped;
    }

    static std::vector<Symbol> split(const std::string &text)
    {
        std::vector<Symbol> symbols;
        for (std::uint32_t at = 0; at < text.size();) {
            const auto length = static_cast<std::uint32_t>(llamaLength(text, at));
            const auto index = static_cast<std::uint32_t>(symbols.size());
            symbols.push_back({at, length, index == 0 ? end : index - 1, at + length == text.size() ? end : index + 1});
            at += length;
        }
        return symbols;
    }

    void merge(std::string_view text, std::vector<Symbol> &symbols) const
    {
        std::priority_queue<Bigram> queue;
        const auto offer = [&](std::uint32_t left, std::uint32_t right) {
            if (left == end || right == end)
                return;
            const std::uint32_t length = symbols[left].length + symbols[right].length;
            if (length > m_vocabulary.longest)
                return;
            if (const auto id = m_vocabulary.find(text.substr(symbols[left].begin, length)))
                queue.push({m_vocabulary.tokens[*id].score, left, right, length});
        };
        for (std::uint32_t i = 1; i < symbols.size(); ++i)
            offer(i - 1, i);
        while (!queue.empty()) {
            const Bigram best = queue.top();
            queue.pop();
            Symbol &left = symbols[best.left];
            Symbol &right = symbols[best.right];
            if (left.length == 0 || right.length == 0 || left.length + right.length != best.length)
                continue; // one of them has merged since
            left.length += right.length;
            right.length = 0;
            left.next = right.next;
            if (right.next != end)
                symbols[right.next].previous = best.left;
            offer(left.previous, best.left);
            offer(best.left, left.next);
        }
    }

    static Error noByte(unsigned char byte, std::string_view text)
    {
        return {Errc::Malformed, "no token for \"" + toValidUtf8(text) + '"', JsonPath{"$[\"tokenizer.ggml.tokens\"]"},
                "a token " + bytePiece(byte), "none"};
    }

    const GgufVocabulary &m_vocabulary;
    std::array<std::optional<std::uint32_t>, 256> m_bytes;
};

} // namespace

Result<GgufModelPtr> makeGgufSpm(const GgufVocabulary &vocabulary)
{
    return GgufModelPtr(std::make_unique<Spm>(vocabulary));
}

} // namespace prosector
