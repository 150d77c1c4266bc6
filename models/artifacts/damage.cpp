// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/artifacts/damage.h"

#include "models/artifacts/shapes.h"
#include "models/artifacts/tensors.h"

#include <array>

namespace prosector {

bool holdsNothing(const Artifact &artifact)
{
    if (const auto *const tree = artifact.as<TreeContent>())
        return !tree->root();
    if (const auto *const lines = artifact.as<LinesContent>())
        return lines->lines.empty();
    if (const auto *const gguf = artifact.as<GgufContent>())
        return gguf->entries.empty() && gguf->tensors.empty();
    if (const auto *const tensors = artifact.as<TensorContent>())
        return tensors->tensors.empty() && tensors->metadata.empty() && !artifact.problems.empty();
    return !artifact.content;
}

bool gaveNothing(const Artifact &artifact)
{
    if (artifact.problems.empty())
        return false;
    const Value root = artifact.tree(); // an empty object before the damage is as good as nothing
    return holdsNothing(artifact) || ((root.isObject() || root.isArray()) && root.size() == 0);
}

Kind kindByName(std::string_view path)
{
    const auto cut = path.find_last_of("/!"); // below a folder or inside an archive
    const auto name = cut == std::string_view::npos ? path : path.substr(cut + 1);
    if (const Shape *const shape = shapeByName(name))
        return shape->kind;
    struct Named {
        std::string_view names;
        Kind kind;
    };
    static constexpr std::array table = std::to_array<Named>({
        {"*.safetensors.index.json *.bin.index.json", Kind::WeightIndex},
        {"*.safetensors *.gguf *.bin *.pt *.pth *.ckpt", Kind::Weights},
        {"tokenizer.model *.tiktoken spiece.model vocab.txt merges.txt", Kind::TokenizerFiles},
        {"*.jinja", Kind::ChatTemplate},
        {"*.log", Kind::StartupLog},
        {"trace.json", Kind::TraceManifest},
    });
    for (const Named &row : table) {
        if (matchesAny(name, row.names))
            return row.kind;
    }
    return Kind::Unknown;
}

} // namespace prosector
