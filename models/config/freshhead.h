// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/core/job.h"
#include "models/runs/weightset.h"

#include <span>

namespace prosector {

/// D'Agostino and Pearson's omnibus test of normality: p of K² = Z(skewness)² + Z(kurtosis)²
/// (D'Agostino 1970; Anscombe and Glynn 1983). For 20 values and more.
double normalityP(std::span<const double> values);

/// What a weight drawn from N(0, range²) and never trained looks like.
struct Freshness {
    std::uint64_t n = 0;
    double mean = 0, deviation = 0, p = 0;
    bool biasSilent = false; ///< absent or all exactly zero
    /// |mean| ≤ 3 σ/√n, |σ/range − 1| ≤ 3/√(2n), p > 0.01, silent bias, at least 500 values.
    bool fresh(double range) const;
};
/// Reads the weight and its bias; nothing when they cannot be read as numbers or are larger than
/// 4 million values. Error only when cancelled.
Result<std::optional<Freshness>> freshnessOf(const WeightSet &set, const WeightRow &weight, const Job &job);

} // namespace prosector
