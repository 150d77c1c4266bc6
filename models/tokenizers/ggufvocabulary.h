// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/artifacts/tensors.h"
#include "models/tokenizers/vocabulary.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace prosector {

/// The tokenizer that a GGUF file describes, with the defaults llama.cpp fills in and the corrections it makes
/// (llama-vocab.cpp, llama_vocab::impl::load).
struct GgufVocabulary {
    enum class Model : std::uint8_t { Spm, Bpe, Wpm, Ugm, Rwkv };
    /// Flags of a token; several may be set.
    enum Attribute : unsigned int {
        Unknown = 1, Unused = 2, Normal = 4, Control = 8, UserDefined = 16, Byte = 32, LeftStrip = 64, RightStrip = 128,
    };
    struct Token {
        std::string text;
        float score = 0;
        unsigned int declared = Normal;   ///< as the file says
        unsigned int attributes = Normal; ///< as llama.cpp corrects it
        bool is(unsigned int any) const { return (attributes & any) != 0; }
    };

    Model model = Model::Spm;
    std::string modelName; ///< tokenizer.ggml.model: "llama"
    std::string pre;       ///< tokenizer.ggml.pre: "llama-bpe", or empty
    std::vector<Token> tokens;
    Vocabulary ids;
    std::size_t longest = 0; ///< bytes of the longest token
    std::vector<std::string> merges;
    std::string charsMap; ///< precompiled_charsmap

    std::optional<std::uint32_t> bos, eos, unknown, separator, pad, mask;
    bool addSpacePrefix = false, addBos = false, addEos = false, addSep = false;
    bool ignoreMerges = false, cleanSpaces = false, removeExtraSpaces = false, escapeSpaces = true;
    bool lowercase = true, stripAccents = true; ///< of Wpm

    /// Errors are those of llama.cpp: an unknown model or pre-tokenizer, a token twice, a special token that is to
    /// be added and is not there.
    static Result<GgufVocabulary> read(const GgufContent &file);

    /// Whether llama.cpp takes a token of this spelling for the end of a generation whatever the metadata say
    /// (llama-vocab.cpp, "special_eog_ids").
    static bool endsByText(std::string_view text);

    std::optional<std::uint32_t> find(std::string_view text) const
    {
        const std::uint32_t id = ids.find(text);
        return id == Vocabulary::none ? std::nullopt : std::optional(id);
    }
};

} // namespace prosector
