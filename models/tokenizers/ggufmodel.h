// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/tokenizers/ggufvocabulary.h"
#include "models/tokenizers/tokenmodel.h"

#include "models/tokenizers/alignedtext.h"

#include <memory>

namespace prosector {

/// Ids of a text and the input bytes each stands for.
struct GgufTokens {
    std::vector<std::uint32_t> ids;
    std::vector<TextRange> origins;
    void add(std::uint32_t id, TextRange origin)
    {
        ids.push_back(id);
        origins.push_back(origin);
    }
};

/// What a GGUF vocabulary does with the text between special tokens. Immutable; each thread has a state.
class GgufModel {
public:
    virtual ~GgufModel() = default;
    virtual std::unique_ptr<ModelState> makeState() const { return std::make_unique<ModelState>(); }
    /// `text` begins at `base` of the input and may be no UTF-8. `afterSpecial`: behind a special token, or first.
    virtual Result<void> encode(std::string_view text, std::uint32_t base, bool afterSpecial, ModelState &state,
                                GgufTokens &out) const = 0;
    /// The text as the vocabulary sees it.
    virtual Result<std::string> normalized(std::string_view text) const { return std::string(text); }
};
using GgufModelPtr = std::unique_ptr<const GgufModel>;

/// For the model of the vocabulary, which must outlive the result (llama-vocab.cpp, the llm_tokenizer_… classes).
Result<GgufModelPtr> makeGgufModel(const GgufVocabulary &vocabulary);

// One file each.
Result<GgufModelPtr> makeGgufSpm(const GgufVocabulary &vocabulary);
Result<GgufModelPtr> makeGgufBpe(const GgufVocabulary &vocabulary);
Result<GgufModelPtr> makeGgufWpm(const GgufVocabulary &vocabulary);
Result<GgufModelPtr> makeGgufUgm(const GgufVocabulary &vocabulary);
Result<GgufModelPtr> makeGgufRwkv(const GgufVocabulary &vocabulary);

/// One character as llama.cpp decodes it, leniently; U+FFFD, one byte long, where that fails.
struct LlamaCharacter {
    char32_t value;
    std::uint32_t length;
    bool valid;
};
LlamaCharacter llamaCharacter(std::string_view text, std::size_t at);

/// Length of a character by its first byte alone, within the text.
std::size_t llamaLength(std::string_view text, std::size_t at);

/// Bytes of a token of an RWKV vocabulary, which spells them with backslashes.
std::string unescapeRwkv(std::string_view escaped);

/// Texts and their ids in a tree over bytes, for finding the tokens that begin somewhere.
class ByteTrie {
public:
    ByteTrie() : m_values(1, Vocabulary::none) {}
    /// Of equal texts the later counts.
    void insert(std::string_view text, std::uint32_t value);
    /// The node behind a byte; 0 when there is none. The root is 0.
    std::uint32_t child(std::uint32_t node, char byte) const;
    std::uint32_t value(std::uint32_t node) const { return m_values[node]; } ///< or none

private:
    struct Edge {
        std::uint64_t key = UINT64_MAX; ///< node << 8 | byte
        std::uint32_t child = 0;
    };
    static std::size_t slotOf(std::uint64_t key) { return key * 0x9E3779B97F4A7C15ULL >> 24; }
    void grow();

    std::vector<Edge> m_edges = std::vector<Edge>(1024); ///< open addressing
    std::size_t m_edgeCount = 0;
    std::vector<std::uint32_t> m_values;
};

} // namespace prosector
