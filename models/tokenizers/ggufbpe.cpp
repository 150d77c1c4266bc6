// SPDX-License-Identifier: GPL-3.0-or-later
// "gpt2" and its relatives: llama.cpp's byte-pair encoding over its own pre-tokenizers.
#include "models/core/utf8.h"
#include "models/tokenizers/bpe.h"
#include "models/tokenizers/bytepiece.h"
#include "models/tokenizers/ggufmodel.h"
#include "models/tokenizers/ggufpretokenizer.h"
#include "models/tokenizers/unicode.h"

#include <algorithm>
#include <unicode/uchar.h>

namespace prosector {

namespace {

/// Merges work on spellings there: parts and wholes need not be tokens. Here those that are not get ids behind
/// the vocabulary, and so does everything unknown.
class Bpe final : public GgufModel {
public:
    static Result<GgufModelPtr> make(const GgufVocabulary &vocabulary)
    {
        auto made = std::make_unique<Bpe>(vocabulary);
        const GgufPreTokenizer &pre = *findGgufPreTokenizer(vocabulary.pre);
        auto splitter = GgufSplitter::make(pre.split);
        if (!splitter)
            return splitter.error();
        made->m_splitter = std::move(*splitter);
        made->m_split = pre.split;
        auto model = made->makeModel();
        if (!model)
            return model.error();
        made->m_model = std::move(*model);
        if (vocabulary.ignoreMerges && made->m_splitter.byteAlphabet())
            made->listWholeWords();
        return GgufModelPtr(std::move(made));
    }
    explicit Bpe(const GgufVocabulary &vocabulary) : m_vocabulary(vocabulary) {}

    std::unique_ptr<ModelState> makeState() const override { return m_model->makeState(); }

    Result<void> encode(std::string_view text, std::uint32_t base, bool, ModelState &state, GgufTokens &out) const override
    {
        if (m_vocabulary.modelName != "whitespace")
            return encodeStretch(read(text, base), state, out);
        // This one drops white space and may lower-case what is left.
        for (std::size_t at = 0; at < text.size();) {
            AlignedText stretch;
            while (at < text.size()) {
                const LlamaCharacter c = llamaCharacter(text, at);
                const TextRange origin{base + static_cast<std::uint32_t>(at), base + static_cast<std::uint32_t>(at + c.length)};
                at += c.length;
                if (isWhiteSpace(c.value))
                    break;
                std::string spelt;
                appendUtf8(spelt, m_vocabulary.lowercase ? static_cast<char32_t>(u_tolower(static_cast<UChar32>(c.value))) : c.value);
                stretch.appendText(spelt, origin);
            }
            if (auto done = encodeStretch(stretch, state, out); !done)
                return done;
        }
        return {};
    }

    Result<std::string> normalized(std::string_view text) const override { return std::string(read(text, 0).text()); }

private:
    /// As llama.cpp sees the text: damage as U+FFFD, blanks escaped for those that want it.
    AlignedText read(std::string_view text, std::uint32_t base) const
    {
        const bool escape = m_vocabulary.escapeSpaces && text.find(' ') != std::string_view::npos;
        if (!escape && firstInvalidUtf8(text) == std::string_view::npos)
            return {text, base};
        AlignedText out;
        for (std::size_t at = 0; at < text.size();) {
            const LlamaCharacter c = llamaCharacter(text, at);
            std::string spelt;
            appendUtf8(spelt, escape && c.value == ' ' ? U'▁' : c.value);
            out.appendText(spelt, {base + static_cast<std::uint32_t>(at), base + static_cast<std::uint32_t>(at + c.length)});
            at += c.length;
        }
        return out;
    }

    Result<void> encodeStretch(const AlignedText &text, ModelState &state, GgufTokens &out) const
    {
        std::vector<std::size_t> ends;
        if (auto done = m_splitter.cut(text.text(), ends); !done)
            return done;
        std::vector<ModelToken> tokens;
        std::size_t begin = 0;
        for (const std::size_t end : ends) {
            const auto word = text.text().substr(begin, end - begin);
            tokens.clear();
            if (const auto whole = wholeWord(word)) {
                out.add(*whole, text.origin(begin, end));
            } else {
                if (auto done = m_model->tokenize(word, state, tokens); !done)
                    return done;
                for (const ModelToken &token : tokens)
                    put(token, word, text.origin(begin + token.begin, begin + token.end), out);
            }
            begin = end;
        }
        return {};
    }

    std::optional<std::uint32_t> wholeWord(std::string_view word) const
    {
        if (m_vocabulary.ignoreMerges) {
            const std::uint32_t id = (m_splitter.byteAlphabet() ? m_whole : m_vocabulary.ids).find(word);
            return id == Vocabulary::none ? std::nullopt : std::optional(id);
        }
        if (m_split == GgufSplit::Gemma4 && word.find_first_not_of('\n') == std::string_view::npos)
            return m_vocabulary.find(word);
        return std::nullopt;
    }

    /// A symbol that is no token falls apart into bytes: of its spelling, as it happens.
    void put(const ModelToken &token, std::string_view word, TextRange origin, GgufTokens &out) const
    {
        if (token.id < m_vocabulary.tokens.size()) {
            out.add(token.id, origin);
            return;
        }
        const bool alphabet = m_splitter.byteAlphabet();
        const auto text = word.substr(token.begin, token.end - token.begin);
        for (const char byte : alphabet ? pieceOfBytes(text) : std::string(text)) {
            const auto id = m_vocabulary.find(alphabet ? std::string(1, byte) : bytePiece(static_cast<unsigned char>(byte)));
            if (id)
                out.add(*id, origin);
        }
    }

    Result<TokenModelPtr> makeModel() const
    {
        Vocabulary all = m_vocabulary.ids;
        auto next = static_cast<std::uint32_t>(m_vocabulary.tokens.size());
        const auto need = [&](std::string_view spelling) {
            if (all.find(spelling) == Vocabulary::none)
                all.add(spelling, next++);
        };
        BpeOptions options;
        options.rawBytes = m_splitter.byteAlphabet();
        if (options.rawBytes) {
            for (unsigned int byte = 0; byte < 256; ++byte)
                need(pieceOfBytes(std::string(1, static_cast<char>(byte))));
        } else {
            options.unknown = "\xFF"; // no UTF-8: no token of a text
            need(*options.unknown);
        }
        std::vector<BpeModel::Merge> merges;
        merges.reserve(m_vocabulary.merges.size());
        std::string whole;
        // Of two lines for one pair the first counts there, the last in BpeModel.
        for (auto rank = static_cast<std::uint32_t>(m_vocabulary.merges.size()); rank-- > 0;) {
            const std::string_view line = m_vocabulary.merges[rank];
            const auto blank = line.find(' ', 1);
            if (blank == std::string_view::npos || blank + 1 == line.size())
                continue; // an empty part, which no symbol is
            const auto left = line.substr(0, blank), right = line.substr(blank + 1);
            whole.assign(left).append(right);
            need(left);
            need(right);
            need(whole);
            merges.push_back({left, right, rank});
        }
        auto model = BpeModel::make(std::move(all), merges, std::move(options));
        if (!model)
            return model.error();
        return TokenModelPtr(std::move(*model));
    }

    void listWholeWords()
    {
        m_whole.reserve(m_vocabulary.tokens.size(), m_vocabulary.tokens.size() * 8);
        for (std::uint32_t id = 0; id < m_vocabulary.tokens.size(); ++id) {
            if (const auto bytes = bytesOfPiece(m_vocabulary.tokens[id].text))
                m_whole.add(*bytes, id);
        }
    }

    const GgufVocabulary &m_vocabulary;
    GgufSplitter m_splitter;
    GgufSplit m_split = GgufSplit::Default;
    TokenModelPtr m_model;
    Vocabulary m_whole; ///< tokens by their bytes
};

} // namespace

Result<GgufModelPtr> makeGgufBpe(const GgufVocabulary &vocabulary)
{
    return Bpe::make(vocabulary);
}

} // namespace prosector
