// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace prosector {

/// A piece of a SentencePiece BPE model, which stores scores in the place of merges.
struct ScoredPiece {
    std::string_view text;
    double score = 0;
};
struct ScoredMerge {
    std::string_view left, right; ///< views into the pieces
    double score;                 ///< of the piece they make
};

/// Every way to make a piece of two pieces, in the order in which SentencePiece would merge them: best
/// score first (huggingface/transformers, convert_slow_tokenizer.py, generate_merges). The index of a
/// piece is its id; of equal texts the later counts.
std::vector<ScoredMerge> scoredMerges(const std::vector<ScoredPiece> &pieces);

} // namespace prosector
