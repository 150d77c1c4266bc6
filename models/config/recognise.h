// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/config/architecture.h"
#include "models/config/tokenizerfacts.h"
#include "models/facts/knownmodels.h"

#include <optional>
#include <vector>

namespace prosector {

/// What a folder or a GGUF is, by what it holds: never by its name. Rows live as long as the book.
struct Recognition {
    /// Tokenizers that fit best: by the hash of the vocabulary, or by size and special ids where the
    /// book has no hash. Several when nothing tells them apart.
    std::vector<const KnownRow *> tokenizers;
    /// All with the same vocabulary, whatever their special tokens are called.
    std::vector<const KnownRow *> sameVocabulary;
    bool byVocabulary = false;    ///< the hash decided
    std::size_t renamed = 0;      ///< special tokens of the best row that stand for another text here
    /// Models whose shape this is and whose tokenizer fits. Collisions are all listed.
    std::vector<const KnownRow *> models;
};

/// `arch` and `tokenizer` are null when there is none.
Recognition recognise(const KnownModels &book, const Architecture *arch, const TokenizerFacts *tokenizer);

/// Names and ids of the special tokens that the book gives a tokenizer.
std::vector<std::pair<std::string, std::int64_t>> specialIds(const KnownModels &book, const KnownRow &tokenizer);

} // namespace prosector
