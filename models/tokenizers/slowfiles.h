// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/artifacts/artifact.h"
#include "models/artifacts/sentencepiecemodel.h"
#include "models/core/result.h"

namespace prosector {

/// The files of a folder without a tokenizer.json; null or missing where there is no such file.
struct SlowFiles {
    Value config;     ///< tokenizer_config.json
    Value vocabulary; ///< vocab.json
    const TextContent *merges = nullptr, *wordPieces = nullptr;
    const SentencePieceContent *sentencePiece = nullptr;
};

/// The tokenizer.json that Transformers makes of them (version 4, convert_slow_tokenizer.py): byte-level
/// BPE of vocab.json and merges.txt (GPT-2, RoBERTa and Qwen2 classes), WordPiece of vocab.txt (BERT
/// classes), and of a SentencePiece model where `tokenizer_class` is Llama's, by its `legacy` and
/// `add_prefix_space`. NotFound when the files are none of these.
Result<DocumentPtr> tokenizerJsonOf(const SlowFiles &files);

} // namespace prosector
