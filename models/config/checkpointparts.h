// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/runs/weightset.h"

#include <string>

namespace prosector {

/// Which of the four things every language model consists of are stored under some published name.
struct PartGroups {
    bool embedding = false, attention = false, feedForward = false, finalNorm = false;
    bool all() const { return embedding && attention && feedForward && finalNorm; }
    std::string absentText() const; ///< "attention and final norm"
};
PartGroups partGroupsOf(const WeightSet &set);

/// The token embedding, the matrix that turns hidden states into logits, the matrix that scores labels;
/// null when none is stored under a known name.
const WeightRow *embeddingOf(const WeightSet &set);
const WeightRow *outputHeadOf(const WeightSet &set);
const WeightRow *labelHeadOf(const WeightSet &set);

} // namespace prosector
