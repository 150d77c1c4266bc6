// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/config/architecture.h"
#include "models/runs/run.h"

#include <string>
#include <vector>

namespace prosector {

/// One description of a model in the evidence: a config.json or a GGUF file. Valid as long as its run.
struct ModelDescription {
    const Run *run = nullptr;
    Side side = Side::A;
    const ModelFolder *folder = nullptr;
    const Artifact *artifact = nullptr; ///< the config.json or the GGUF
    const GgufContent *gguf = nullptr;  ///< null for a config
    Architecture arch;                  ///< its evidence is of side A; `at` below sets the side
    std::vector<const Artifact *> parts; ///< files that hold the GGUF's tensors: itself, or all shards that are there
    bool complete = true;                ///< no shard is missing

    bool isConfig() const { return gguf == nullptr; }
    /// Path for messages.
    const std::string &path() const { return artifact->path; }
    /// The same place with this description's side and, if given, another note.
    Evidence at(Evidence evidence, std::string note = {}) const;
    /// The file as a whole.
    Evidence whole(std::string note) const;
    struct Tensor {
        const Artifact *file = nullptr;
        const TensorInfo *info = nullptr;
        explicit operator bool() const { return info != nullptr; }
    };
    /// Of a GGUF's shards, or of a config's weight files. False when there is none.
    Tensor tensor(std::string_view name) const;
    /// How many tensors those files list.
    std::size_t tensorCount() const;
    /// A GGUF metadata key, present or not.
    Evidence key(std::string_view name, std::string note) const;
};

/// Every config.json and GGUF with architecture numbers, in order of the run's folders.
std::vector<ModelDescription> describeModels(const Run &run, Side side = Side::A);

/// A source checkpoint and what was converted from it.
struct Conversion {
    const ModelDescription *source = nullptr;
    const ModelDescription *converted = nullptr;
};

/// Which GGUF came from which config.json, wherever they lie: by their numbers (at least three stated
/// by both, most of them equal), then by nearness of their folders; and a quantised folder beside the
/// unquantised one, in the baseline or the same run. Names are not looked at. A GGUF without a fitting config is left out.
std::vector<Conversion> findConversions(const std::vector<ModelDescription> &models);

/// "4096", "0.00001", "1e-06": the shortest text that reads back as the same number.
std::string numberText(double number);

/// A measured number for people: six significant digits.
std::string roundedText(double number);

/// Equal to the precision of float32.
bool sameNumber(double a, double b);

} // namespace prosector
