// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/core/finding.h"
#include "models/core/job.h"
#include "models/runs/run.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace prosector {

/// What a table of weight statistics says of one tensor.
struct TensorStatistics {
    std::string name;
    std::string dtype; ///< canonical ("bfloat16"), "" when not said
    std::optional<double> largest{}; ///< magnitude; infinite when the table says inf
    double notFinite = 0;            ///< counted NaN and infinities
    Evidence where{};
};

/// A magnitude written as text: "70000", "-inf", "+Infinity", "NaN" (which is no magnitude, and given back as NaN).
std::optional<double> magnitudeOf(std::string_view text);

/// Rows of every `weight_stats` artifact (JSON, JSON Lines, CSV; `tensor` or `name`, `min`, `max`,
/// `abs_max`, `inf`, `nan`, `dtype`), in order of the run. Error only when cancelled.
Result<std::vector<TensorStatistics>> weightStatistics(const Run &run, const Job &job);

} // namespace prosector
