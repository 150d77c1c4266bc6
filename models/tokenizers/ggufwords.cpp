// SPDX-License-Identifier: GPL-3.0-or-later
// "bert" and "rwkv": longest match first.
#include "models/core/utf8.h"
#include "models/tokenizers/ggufmodel.h"
#include "models/tokenizers/unicode.h"

#include <algorithm>
#include <unicode/uchar.h>
#include <unicode/unorm2.h>

namespace prosector {

namespace {

Error noUnknown()
{
    return {Errc::Malformed, "text that no token stands for", JsonPath{"$[\"tokenizer.ggml.unknown_token_id\"]"}, "an unknown token", "none"};
}

/// The first character of the canonical decomposition: all that llama.cpp keeps of it.
char32_t firstDecomposed(char32_t c)
{
    UErrorCode error = U_ZERO_ERROR;
    UChar buffer[32];
    const int32_t length = unorm2_getDecomposition(unorm2_getNFDInstance(&error), static_cast<UChar32>(c), buffer, 32, &error);
    if (length <= 0 || U_FAILURE(error))
        return c;
    UChar32 first = 0;
    U16_GET(buffer, 0, 0, length, first);
    return static_cast<char32_t>(first);
}

class Wpm final : public GgufModel {
public:
    explicit Wpm(const GgufVocabulary &vocabulary) : m_vocabulary(vocabulary) {}

    Result<void> encode(std::string_view text, std::uint32_t base, bool, ModelState &, GgufTokens &out) const override
    {
        for (const Word &word : words(text, base)) {
            if (auto done = encodeWord(word, out); !done)
                return done;
        }
        return {};
    }

    Result<std::string> normalized(std::string_view text) const override
    {
        std::string all;
        for (const Word &word : words(text, 0))
            all += (all.empty() ? "" : " ") + word.text;
        return all;
    }

private:
    struct Word {
        std::string text;
        std::vector<TextRange> origins; // of each byte
    };

    std::vector<Word> words(std::string_view text, std::uint32_t base) const
    {
        std::vector<Word> list(1);
        const auto begin = [&] {
            if (!list.back().text.empty())
                list.emplace_back();
        };
        for (std::size_t at = 0; at < text.size();) {
            const LlamaCharacter read = llamaCharacter(text, at);
            const TextRange origin{base + static_cast<std::uint32_t>(at), base + static_cast<std::uint32_t>(at + read.length)};
            at += read.length;
            const char32_t c = m_vocabulary.stripAccents ? firstDecomposed(read.value) : read.value;
            if (isWhiteSpace(c)) {
                begin();
                continue;
            }
            const Category category = categoryOf(c);
            if (c == 0 || c == 0xFFFD || category == Category::Control || (m_vocabulary.stripAccents && category == Category::Mark))
                continue;
            const bool alone = category == Category::Punctuation || (c < 0x7F && category == Category::Symbol) || isChinese(c);
            if (alone)
                begin();
            appendUtf8(list.back().text, m_vocabulary.lowercase ? static_cast<char32_t>(u_tolower(static_cast<UChar32>(c))) : c);
            list.back().origins.resize(list.back().text.size(), origin);
            if (alone)
                list.emplace_back();
        }
        if (list.back().text.empty())
            list.pop_back();
        return list;
    }

    Result<void> encodeWord(const Word &word, GgufTokens &out) const
    {
        static constexpr std::string_view space = "▁"; // in front of every word
        const std::string text = std::string(space) + word.text;
        const auto origin = [&](std::size_t begin, std::size_t end) {
            return TextRange{word.origins[begin > space.size() ? begin - space.size() : 0].begin,
                          word.origins[end > space.size() ? end - 1 - space.size() : 0].end};
        };
        const std::size_t before = out.ids.size();
        for (std::size_t begin = 0; begin < text.size();) {
            std::size_t end = std::min(text.size(), begin + m_vocabulary.longest + 1);
            std::optional<std::uint32_t> id;
            while (end > begin && !(id = m_vocabulary.find(std::string_view(text).substr(begin, end - begin))))
                --end;
            if (!id) {
                out.ids.resize(before);
                out.origins.resize(before);
                break;
            }
            out.add(*id, origin(begin, end));
            begin = end;
        }
        if (out.ids.size() > before)
            return {};
        if (!m_vocabulary.unknown)
            return noUnknown();
        out.add(*m_vocabulary.unknown, origin(0, text.size()));
        return {};
    }

    static bool isChinese(char32_t c) // of BERT, with the gap that Hugging Face has
    {
        return (c >= 0x4E00 && c <= 0x9FFF) || (c >= 0x3400 && c <= 0x4DBF) || (c >= 0x20000 && c <= 0x2A6DF)
            || (c >= 0x2A700 && c <= 0x2B73F) || (c >= 0x2B740 && c <= 0x2B81F) || (c >= 0x2B920 && c <= 0x2CEAF)
            || (c >= 0xF900 && c <= 0xFAFF) || (c >= 0x2F800 && c <= 0x2FA1F);
    }

    const GgufVocabulary &m_vocabulary;
};

class Rwkv final : public GgufModel {
public:
    explicit Rwkv(const GgufVocabulary &vocabulary) : m_vocabulary(vocabulary)
    {
        for (std::uint32_t id = 0; id < vocabulary.tokens.size(); ++id)
            m_trie.insert(unescapeRwkv(vocabulary.tokens[id].text), id);
    }

    Result<void> encode(std::string_view text, std::uint32_t base, bool, ModelState &, GgufTokens &out) const override
    {
        for (std::size_t at = 0; at < text.size();) {
            std::uint32_t node = 0, id = Vocabulary::none;
            std::size_t end = at;
            for (std::size_t i = at; i < text.size() && (node = m_trie.child(node, text[i])) != 0; ++i) {
                if (m_trie.value(node) != Vocabulary::none) {
                    id = m_trie.value(node);
                    end = i + 1;
                }
            }
            if (id == Vocabulary::none) {
                if (!m_vocabulary.unknown)
                    return noUnknown();
                id = *m_vocabulary.unknown;
                end = at + 1;
            }
            out.add(id, {base + static_cast<std::uint32_t>(at), base + static_cast<std::uint32_t>(end)});
            at = end;
        }
        return {};
    }

private:
    const GgufVocabulary &m_vocabulary;
    ByteTrie m_trie;
};

} // namespace

std::string unescapeRwkv(std::string_view escaped)
{
    std::string bytes;
    const auto digit = [](char c) { return static_cast<unsigned char>(c >= 'a' ? c - 'a' + 10 : c - '0'); };
    for (std::size_t i = 0; i < escaped.size(); ++i) {
        if (escaped[i] != '\\' || i + 1 >= escaped.size()) {
            if (escaped[i] != '\\')
                bytes += escaped[i];
            continue;
        }
        switch (const char c = escaped[++i]) {
        case 't': bytes += '\t'; break;
        case 'n': bytes += '\n'; break;
        case 'r': bytes += '\r'; break;
        case 'x':
            if (i + 2 < escaped.size())
                bytes += static_cast<char>(digit(escaped[i + 1]) << 4 | digit(escaped[i + 2]));
            i = std::min(i + 2, escaped.size());
            break;
        default: bytes += c;
        }
    }
    return bytes;
}

Result<GgufModelPtr> makeGgufWpm(const GgufVocabulary &vocabulary)
{
    return GgufModelPtr(std::make_unique<Wpm>(vocabulary));
}

Result<GgufModelPtr> makeGgufRwkv(const GgufVocabulary &vocabulary)
{
    return GgufModelPtr(std::make_unique<Rwkv>(vocabulary));
}

} // namespace prosector
