// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/core/finding.h"
#include "models/runs/run.h"

#include <string>
#include <string_view>
#include <vector>

namespace prosector {

/// One tensor of a checkpoint: stored in a file, claimed by an index, or both. The name lives as long
/// as the Run.
struct WeightRow {
    std::string_view name;
    const TensorInfo *info = nullptr;   ///< null when no file that could be read holds it
    const Artifact *file = nullptr;     ///< the file that holds it
    std::string_view claimedFile{};     ///< the file the index names for it
};

/// The files that are loaded together as one checkpoint: `model.safetensors`, the shards
/// `model-00001-of-00002.safetensors` … with their index, the parts of a split GGUF. A folder may hold
/// several (the publisher's own format beside that of Transformers).
struct WeightSet {
    const ModelFolder *folder = nullptr;
    std::string name;                       ///< "model", "consolidated", "pytorch_model"
    std::string extension;                  ///< "safetensors", "gguf", "bin"
    const Artifact *index = nullptr;        ///< null when there is none
    std::vector<const Artifact *> files;    ///< present files, in order of path; LFS pointers too
    std::vector<std::string> absent;        ///< file names claimed by the index or by "-of-N", sorted
    std::vector<WeightRow> rows;            ///< sorted by name; a name stored twice appears twice
    std::uint32_t parts = 0;                ///< N of "-of-N" in the names; 0 without

    bool gguf() const { return extension == "gguf"; }
    /// Every file present, none a pointer, all tensor lists readable.
    bool complete() const;
    /// Every file present and its tensors known, be it from damaged files.
    bool listed() const;
    const WeightRow *find(std::string_view name) const; ///< first of that name, or null
    const WeightRow *firstOf(std::string_view prefix) const; ///< first whose name begins so, or null

    /// Where to look at a tensor: in its file, else where the index claims it.
    Evidence placeOf(const WeightRow &row, std::string note) const;
    /// The claim of the index for a tensor.
    static JsonPath claimAnchor(std::string_view tensor);
    /// "models/a.safetensors", "models/a-00001-of-00003.safetensors and its shards".
    std::string describe() const;
};

/// All checkpoints of a folder, adapters left out; training leftovers (optimizer state and the like)
/// are no checkpoints.
std::vector<WeightSet> weightSetsOf(const Run &run, const ModelFolder &folder);

/// Whether tensors of this name are loaded only by a trainer.
bool isTrainingLeftover(std::string_view fileName);

} // namespace prosector
