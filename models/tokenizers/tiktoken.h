// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/core/document.h"
#include "models/tokenizers/tokenizer.h"

namespace prosector {

/// What a rank file does not say of its encoding.
struct TiktokenEncoding {
    std::string name;                       ///< "cl100k_base"
    std::string pattern;                    ///< in the syntax of Rust's fancy-regex
    std::vector<AddedTokenRule> specials{}; ///< with the ids they have
    bool composed = false;                  ///< texts are brought into NFC first (Qwen)
};

/// The published encoding whose file has so many ranks: OpenAI's, Llama 3 and 4, Qwen, Kimi K2, GLM-4,
/// Whisper. `specials` are those of the family's first release; a tokenizer_config.json knows better.
std::optional<TiktokenEncoding> knownTiktokenEncoding(std::size_t ranks);

/// Number of ranks in a rank file: its lines.
std::size_t countTiktokenRanks(std::string_view file);

/// A rank file, one `base64 rank` a line. Without `encoding` it is that of the known file with as many
/// ranks, and Unsupported when there is none. Encodes as tiktoken does with all special tokens allowed
/// (`specialsAsText`: as encode_ordinary does). Spellings are in GPT-2's byte alphabet.
Result<TokenizerPtr> tokenizerFromTiktoken(std::string_view file, std::optional<TiktokenEncoding> encoding = {});

/// Mistral's tekken.json, as mistral-common reads it: special tokens first, then the ranks up to
/// `default_vocab_size`. Special tokens are never found in a text.
Result<TokenizerPtr> tokenizerFromTekken(Value root);

} // namespace prosector
