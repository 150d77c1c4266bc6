// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/config/architecture.h"
#include "models/core/job.h"
#include "models/runs/weightset.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace prosector {

/// What one layer's stored numbers say of its keys in an 8-bit cache.
struct KeyRange {
    std::uint32_t layer = 0;
    double bound = 0;             ///< keys reach at least this: the largest pair of the key bias, by hypot
    std::optional<double> scale;  ///< k_scale as stored; nothing when there is none, which means 1
    Evidence bias{}, scaleAt{};   ///< scaleAt is of the bias when no scale is stored
    double stored() const { return bound / scale.value_or(1); } ///< what the 8-bit format must hold
};

/// Per layer with a key bias. A rotation turns each pair (i, i + half of the rotated part) without
/// changing its length, so the longest pair of the bias is a lower bound of the largest key: some
/// position turns it into one component. `notSeen` gets what could not be read.
Result<std::vector<KeyRange>> keyRanges(const std::vector<WeightSet> &sets, const Architecture &arch, const Job &job,
                                        std::vector<std::string> &notSeen);

} // namespace prosector
