// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/runs/run.h"
#include "models/tokenizers/tokenizer.h"

#include <string>
#include <vector>

namespace prosector {

/// A tokenizer as the program that owns its files would call it.
struct OpenedTokenizer {
    TokenizerPtr tokenizer;
    ArtifactId file;                  ///< tokenizer.json, tokenizer.model, GGUF, …
    EncodeOptions options{};          ///< to start from: what the files beside it say of each call
    bool cleanUpSpaces = false;       ///< Transformers' decode would go on with cleanUpSpaces() (decoder.h)
    std::vector<std::string> notes{}; ///< what the files beside it changed, in words
};

/// The tokenizer of a model folder with everything its other files say, as Transformers' fast tokenizers
/// read them (transformers.h), without a tokenizer.json from the older files (slowfiles.h). Else the first of
/// a SentencePiece model, other vocabularies and GGUF files counts. An error names the file or what is missing.
Result<OpenedTokenizer> openTokenizer(const Run &run, const ModelFolder &folder);

/// A file alone, as the library that owns the format reads it. Unsupported when it is no tokenizer.
Result<OpenedTokenizer> openTokenizer(const Artifact &artifact);

/// Whether openTokenizer() would try.
bool isTokenizerFile(const Artifact &artifact);

/// What a user named: one file, or a folder (then its only or first model).
Result<OpenedTokenizer> openTokenizer(const Run &run);

} // namespace prosector
