// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/prompts/tokenarrays.h"
#include "models/prompts/tokenizerview.h"

#include <optional>
#include <string>
#include <vector>

namespace prosector {

/// A run of tokens without padding: one sequence as the model attends to it.
struct Stretch {
    std::size_t from = 0, to = 0; ///< indices of the array
};

/// An array cut at its padding and at the starts of its segments (the catalogue's "Pads").
struct Stretches {
    std::vector<Stretch> parts;
    std::size_t pads = 0;     ///< positions taken for padding
    bool forgotten = false;   ///< the mask is all ones over runs of padding
    std::string undecidable{}; ///< why padding cannot be told; empty when it can
};

/// Pads are where the mask is 0; numbers above 1 in it are segment numbers. Without a mask: the run of the
/// pad id at the padding side, if pad is neither bos nor eos. `batch` are all rows of the same batch, this
/// one included: under a mask of all ones, unequal runs of at least two pad ids at the edge count as pads.
Stretches stretchesOf(const TokenArray &array, const std::vector<const TokenArray *> &batch, const TokenizerView *view);

} // namespace prosector
