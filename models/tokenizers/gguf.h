// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/artifacts/tensors.h"
#include "models/tokenizers/tokenizer.h"

namespace prosector {

/// The vocabulary of a GGUF file with llama.cpp's semantics: `addSpecialTokens` is its add_special,
/// `specialsAsText` the contrary of its parse_special. decode() is its detokenize: skipping special tokens is
/// remove_special, not skipping unparse_special. Offsets are ours: llama.cpp has none.
Result<TokenizerPtr> tokenizerFromGguf(const GgufContent &file);

} // namespace prosector
