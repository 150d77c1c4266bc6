// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/artifacts/tensors.h"
#include "models/core/finding.h"
#include "models/runs/run.h"

#include <optional>

namespace prosector {

/// The input embedding of a model: one row an id.
struct EmbeddingTable {
    const Artifact *file = nullptr;
    const TensorInfo *tensor = nullptr;
    std::uint64_t rows = 0, columns = 0;

    Evidence at(std::string note) const { return {file->id, TensorBlock{tensor->name, {}, {}}, std::move(note)}; }
    Evidence row(std::uint64_t id, std::string note) const
    {
        return {file->id, TensorBlock{tensor->name, {id, 0}, {id + 1, columns}}, std::move(note)};
    }
};

/// Of a folder's weights by its usual names, in any shard; of a GGUF by `token_embd.weight`. Nothing when
/// it is not there (an LFS pointer, a missing shard) or is no matrix. Reads headers only.
std::optional<EmbeddingTable> embeddingOf(const Run &run, const ModelFolder &folder);
std::optional<EmbeddingTable> embeddingOf(const Artifact &gguf);

} // namespace prosector
