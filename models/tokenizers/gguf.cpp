// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/tokenizers/gguf.h"

#include "models/core/hex.h"
#include "models/core/utf8.h"
#include "models/tokenizers/ggufmodel.h"

#include <algorithm>
#include <charconv>

namespace prosector {

namespace {

using V = GgufVocabulary;

/// A stretch of the input: a special token or text.
struct Fragment {
    std::size_t begin, end;
    std::uint32_t id = Vocabulary::none;
};

bool isBlank(char c) // isspace of the C locale
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

std::string replaceAll(std::string text, std::string_view what, std::string_view with)
{
    for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + with.size()))
        text.replace(at, what.size(), with);
    return text;
}

/// Text of a spelling in the byte alphabet; what is outside it shows as llama.cpp shows it.
std::string decodeAlphabet(const std::string &spelling)
{
    std::string bytes;
    for (std::size_t i = 0; i < spelling.size();) {
        const CodePoint c = decodeUtf8(spelling, i);
        if (const int byte = c.valid ? characterToByte(c.value) : -1; byte >= 0) {
            bytes += static_cast<char>(byte);
        } else {
            bytes += "[UNK_BYTE_0x";
            for (const char b : std::string_view(spelling).substr(i, c.length))
                bytes += lowerHex(static_cast<unsigned char>(b));
            bytes += spelling + ']';
        }
        i += c.length;
    }
    return bytes;
}

/// llama.cpp's clean_up_tokenization_spaces: three passes, each over what the one before left.
std::string cleanUp(const std::string &text)
{
    const auto pass = [](const std::string &in, auto dropsBlank) {
        std::string out;
        for (std::size_t i = 0; i < in.size(); ++i) {
            if (i > 0 && in[i - 1] == ' ' && dropsBlank(in, i))
                out.pop_back();
            out += in[i];
        }
        return out;
    };
    std::string clean = pass(text, [](const std::string &in, std::size_t i) {
        return in[i] == '?' || in[i] == '!' || in[i] == '.' || in[i] == ',';
    });
    std::string apart; // " ' " loses both blanks
    for (std::size_t i = 0; i < clean.size(); ++i) {
        apart += clean[i];
        if (i > 0 && clean[i] == '\'' && i + 1 < clean.size() && clean[i - 1] == ' ' && clean[i + 1] == ' ') {
            apart.pop_back();
            apart.back() = '\'';
            clean[++i] = '\0'; // no blank for an apostrophe behind
        }
    }
    return pass(apart, [](const std::string &in, std::size_t i) {
        if (in[i] != '\'' || i + 1 >= in.size())
            return false;
        const char a = in[i + 1];
        const char b = i + 2 < in.size() ? in[i + 2] : '\0';
        return a == 's' || a == 'm' || (b == 'e' && (a == 'r' || a == 'v'));
    });
}

class GgufTokenizer final : public Tokenizer {
public:
    static Result<TokenizerPtr> make(const GgufContent &file)
    {
        auto vocabulary = GgufVocabulary::read(file);
        if (!vocabulary)
            return vocabulary.error();
        auto made = std::make_shared<GgufTokenizer>();
        made->m_vocabulary = std::move(*vocabulary);
        auto model = makeGgufModel(made->m_vocabulary);
        if (!model)
            return model.error();
        made->m_model = std::move(*model);
        made->listSpecials();
        return TokenizerPtr(std::move(made));
    }

    std::string kind() const override
    {
        return "GGUF " + m_vocabulary.modelName
            + (m_vocabulary.model == V::Model::Bpe ? " (" + (m_vocabulary.pre.empty() ? "default" : m_vocabulary.pre) + ')' : "");
    }

    std::unique_ptr<EncoderState> makeState() const override
    {
        auto state = std::make_unique<State>();
        state->model = m_model->makeState();
        return state;
    }

    Result<Encoding> encode(std::string_view text, const EncodeOptions &options, EncoderState &kept) const override
    {
        if (text.size() >= UINT32_MAX)
            return Error{Errc::TooLarge, "text to encode", Whole{}, "fewer than 4 GiB", std::to_string(text.size()) + " bytes"};
        auto &state = static_cast<State &>(kept);
        GgufTokens tokens;
        bool afterSpecial = true;
        for (const Fragment &fragment : partition(text, options.specialsAsText)) {
            const auto begin = static_cast<std::uint32_t>(fragment.begin);
            if (fragment.id != Vocabulary::none) {
                tokens.add(fragment.id, {begin, static_cast<std::uint32_t>(fragment.end)});
                afterSpecial = true;
                continue;
            }
            const auto stretch = text.substr(fragment.begin, fragment.end - fragment.begin);
            if (auto done = m_model->encode(stretch, begin, afterSpecial, *state.model, tokens); !done)
                return done.error();
            afterSpecial = false;
        }
        Encoding out;
        out.ids = std::move(tokens.ids);
        out.offsets = std::move(tokens.origins);
        out.inserted.assign(out.ids.size(), false);
        if (options.tokens) {
            for (const std::uint32_t id : out.ids)
                out.tokens.push_back(m_vocabulary.tokens[id].text);
        }
        if (options.addSpecialTokens)
            frame(out);
        return out;
    }

    Result<std::string> decode(std::span<const std::uint32_t> ids, bool skipSpecialTokens) const override
    {
        bool stripBlank = m_vocabulary.addSpacePrefix;
        if (skipSpecialTokens && m_vocabulary.addBos && !ids.empty() && ids.front() == m_vocabulary.bos) {
            stripBlank = false;
            ids = ids.subspan(1);
        }
        if (skipSpecialTokens && m_vocabulary.addEos && !ids.empty() && ids.back() == m_vocabulary.eos)
            ids = ids.first(ids.size() - 1);
        std::string text;
        for (const std::uint32_t id : ids) {
            if (id >= size())
                return Error{Errc::OutOfRange, "id to decode", Whole{}, "an id below " + std::to_string(size()), std::to_string(id)};
            if (skipSpecialTokens && m_vocabulary.tokens[id].is(V::Unknown | V::Control)) {
                stripBlank = false;
                continue;
            }
            const std::string piece = pieceOf(id);
            text += stripBlank && piece.starts_with(' ') ? std::string_view(piece).substr(1) : std::string_view(piece);
            stripBlank = false;
        }
        return m_vocabulary.cleanSpaces ? cleanUp(text) : text;
    }

    Result<std::string> normalized(std::string_view text) const override { return m_model->normalized(text); }
    std::uint32_t size() const override { return static_cast<std::uint32_t>(m_vocabulary.tokens.size()); }

    std::optional<std::string> spelling(std::uint32_t id) const override
    {
        return id < size() ? std::optional(m_vocabulary.tokens[id].text) : std::nullopt;
    }
    std::optional<std::string> bytes(std::uint32_t id) const override
    {
        return id < size() ? std::optional(pieceOf(id)) : std::nullopt;
    }
    std::optional<std::uint32_t> find(std::string_view spelling) const override { return m_vocabulary.find(spelling); }

private:
    struct State final : EncoderState {
        std::unique_ptr<ModelState> model;
    };

    void listSpecials()
    {
        std::vector<AddedTokenRule> tokens;
        for (std::uint32_t id = 0; id < size(); ++id) {
            const auto &token = m_vocabulary.tokens[id];
            if (!token.is(V::Control | V::UserDefined | V::Unknown))
                continue;
            m_specials.push_back(id);
            tokens.push_back({.content = token.text, .id = id, .special = token.is(V::Control | V::Unknown), .normalized = false,
                              .leftStrip = token.is(V::LeftStrip), .rightStrip = token.is(V::RightStrip)});
            m_specialTrie.insert(token.text, id);
        }
        std::stable_sort(m_specials.begin(), m_specials.end(), [&](auto a, auto b) {
            return m_vocabulary.tokens[a].text.size() > m_vocabulary.tokens[b].text.size();
        });
        m_added = AddedTokens::of(std::move(tokens), AddedTokens::Found::Never);
    }

    /// Which special tokens occur in the text at all, in the order they are looked for.
    std::vector<std::uint32_t> occurring(std::string_view text, bool specialsAsText) const
    {
        std::vector<bool> seen(size());
        for (std::size_t begin = 0; begin < text.size(); ++begin) {
            std::uint32_t node = 0;
            for (std::size_t i = begin; i < text.size() && (node = m_specialTrie.child(node, text[i])) != 0; ++i) {
                if (m_specialTrie.value(node) != Vocabulary::none)
                    seen[m_specialTrie.value(node)] = true;
            }
        }
        std::vector<std::uint32_t> list;
        for (const std::uint32_t id : m_specials) {
            if (seen[id] && !(specialsAsText && m_vocabulary.tokens[id].is(V::Control | V::Unknown)))
                list.push_back(id);
        }
        return list;
    }

    /// Cuts the special tokens out, the longest first, each wherever it stands in what is left.
    std::vector<Fragment> partition(std::string_view text, bool specialsAsText) const
    {
        std::vector<Fragment> fragments;
        if (!text.empty())
            fragments.push_back({0, text.size()});
        for (const std::uint32_t id : occurring(text, specialsAsText)) {
            const auto &token = m_vocabulary.tokens[id];
            std::vector<Fragment> next;
            for (const Fragment &fragment : fragments) {
                std::size_t begin = fragment.begin;
                while (fragment.id == Vocabulary::none) {
                    const auto match = text.substr(0, fragment.end).find(token.text, begin);
                    if (match == std::string_view::npos)
                        break;
                    std::size_t left = match;
                    while (token.is(V::LeftStrip) && left > begin && isBlank(text[left - 1]))
                        --left;
                    if (left > begin)
                        next.push_back({begin, left});
                    next.push_back({match, match + token.text.size(), id});
                    begin = match + token.text.size();
                    while (token.is(V::RightStrip) && begin < fragment.end && isBlank(text[begin]))
                        ++begin;
                }
                if (begin < fragment.end)
                    next.push_back({begin, fragment.end, fragment.id});
            }
            fragments.swap(next);
        }
        return fragments;
    }

    /// BOS in front, EOS or a separator behind, as each model has it.
    void frame(Encoding &out) const
    {
        const auto insert = [&](std::size_t at, std::optional<std::uint32_t> id) {
            if (!id)
                return;
            out.insert(at, 1, *id, m_vocabulary.tokens[*id].text);
        };
        switch (m_vocabulary.model) {
        case V::Model::Wpm:
            insert(0, m_vocabulary.bos);
            insert(out.size(), m_vocabulary.separator);
            break;
        case V::Model::Rwkv: break;
        default:
            if (m_vocabulary.addBos)
                insert(0, m_vocabulary.bos);
            if (m_vocabulary.addEos)
                insert(out.size(), m_vocabulary.eos);
        }
    }

    /// llama.cpp's token_to_piece with special tokens shown.
    std::string pieceOf(std::uint32_t id) const
    {
        const auto &token = m_vocabulary.tokens[id];
        if (m_vocabulary.model == V::Model::Rwkv)
            return unescapeRwkv(token.text);
        if (token.is(V::Unknown | V::Control | V::UserDefined))
            return token.text;
        if (token.is(V::Normal)) {
            return m_vocabulary.model == V::Model::Bpe && !m_vocabulary.escapeSpaces ? decodeAlphabet(token.text)
                                                                                      : replaceAll(token.text, "▁", " ");
        }
        if (!token.is(V::Byte) || token.text.size() < 5)
            return {};
        int byte = 0;
        std::from_chars(token.text.data() + 3, token.text.data() + 5, byte, 16);
        return {static_cast<char>(byte)};
    }

    GgufVocabulary m_vocabulary;
    GgufModelPtr m_model;
    std::vector<std::uint32_t> m_specials; ///< the longest first
    ByteTrie m_specialTrie;
};

} // namespace

Result<TokenizerPtr> tokenizerFromGguf(const GgufContent &file)
{
    return GgufTokenizer::make(file);
}

} // namespace prosector
