// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/core/result.h"
#include "models/tokenizers/pattern.h"

#include <string_view>
#include <vector>

namespace prosector {

/// How llama.cpp cuts a text before byte-pair merging; names behind each other have rules of their own.
enum class GgufSplit : std::uint8_t {
    Default, Llama3, Jais2, DeepSeekLlm, DeepSeekCoder, DeepSeek3, Spark25, Youtu, Falcon, StarCoder, Gpt2, Qwen2, Qwen35,
    Poro, Viking, Tekken, Chameleon, Gpt4o, GraniteMulti, TinyAya, KimiK2, SuperBpe, BailingMoe, SeedCoder, Ufakzeka, Afmoe,
    Laguna, ExaoneMoe, Gemma4, SarvamMoe, MiniCpm5, Whitespace,
};

/// A value of tokenizer.ggml.pre and what it changes (llama-vocab.cpp).
struct GgufPreTokenizer {
    std::string_view name;
    GgufSplit split;
    bool cleanSpaces = true, ignoreMerges = false, addBos = false, addSep = false, escapeSpaces = false, noBos = false;
};
/// Null for a name llama.cpp does not know. An empty name is "default".
const GgufPreTokenizer *findGgufPreTokenizer(std::string_view name);

/// llama.cpp's unicode_regex_split: each expression cuts the pieces that those before it left. Immutable.
class GgufSplitter {
public:
    static Result<GgufSplitter> make(GgufSplit split);

    /// Whether pieces are spelt in GPT-2's byte alphabet; else as they are.
    bool byteAlphabet() const { return m_byteAlphabet; }

    /// Appends the ends of the pieces, in bytes. `text` must be UTF-8.
    Result<void> cut(std::string_view text, std::vector<std::size_t> &ends) const;

private:
    enum class Subject : std::uint8_t { Categories, Text, Digits };
    struct Step {
        Subject subject;
        Pattern pattern;
    };
    std::vector<Step> m_steps;
    bool m_byteAlphabet = true;
    bool m_hanApart = false;
};

} // namespace prosector
