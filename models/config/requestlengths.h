// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/core/finding.h"
#include "models/core/job.h"
#include "models/runs/run.h"

#include <vector>

namespace prosector {

/// One request's length in tokens and where it was read.
struct RequestLength {
    double tokens = 0;
    Evidence where{};
};

/// Prompt lengths that responses, request logs and request traces state (`usage.prompt_tokens`,
/// `prompt_eval_count`, `timings.prompt_n`, `input_length`, …), and the length columns of CSV, JSON Lines and
/// request traces (Mooncake, Azure, BurstGPT), in order of the run.
Result<std::vector<RequestLength>> requestLengths(const Run &run, const Job &job);

} // namespace prosector
