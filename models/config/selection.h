// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/core/finding.h"
#include "models/runs/run.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace prosector {

enum class Direction : std::uint8_t { Higher, Lower };

/// Whether larger or smaller values of a metric are better, by its name ("eval_loss", "ttft_p95_s",
/// "rougeL"); nothing for names we do not know.
std::optional<Direction> directionOf(std::string_view metric);

/// How a Transformers trainer chose its best checkpoint: trainer_state.json with the evaluations of the
/// metric, and greater_is_better of the training arguments beside it.
struct ModelSelection {
    struct Evaluation {
        double value = 0;
        std::string path; ///< of the value in the state
    };
    const Artifact *state = nullptr;
    std::string metric;                    ///< as logged: "eval_loss"
    std::optional<double> chosen{};        ///< best_metric
    std::optional<Evidence> chosenAt{};
    std::optional<bool> declaredGreater{}; ///< greater_is_better
    Evidence declaredAt{};
    Evaluation lowest{}, highest{};
    std::uint64_t evaluations = 0;
};

/// Selections that name a best metric or checkpoint and have at least one evaluation of it. The metric is
/// metric_for_best_model, else the one logged metric that took the value of best_metric.
std::vector<ModelSelection> modelSelectionsOf(const Run &run);

} // namespace prosector
