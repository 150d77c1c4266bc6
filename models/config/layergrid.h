// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/core/document.h"
#include "models/core/finding.h"
#include "models/runs/weightset.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace prosector {

/// What each layer of a model is declared to be, one text per layer; equal texts mean layers built
/// alike. Read from per-layer lists (`layer_types`, `block_configs`, head counts), pattern strings
/// (`hybrid_override_pattern`), index lists (`mlp_only_layers`) and periods (`full_attention_interval`,
/// `first_k_dense_replace`) of a config.json.
std::vector<std::string> declaredLayerKinds(Value config, std::uint32_t layers);
/// The same from GGUF metadata: arrays with one value per layer.
std::vector<std::string> declaredLayerKinds(const GgufContent &gguf, std::uint32_t layers);

/// A tensor that its layer should hold and does not.
struct LayerHole {
    std::string tensor;                ///< its full name
    std::uint32_t layer = 0;
    const WeightRow *neighbour = nullptr; ///< a tensor the layer does hold, of the same module if there is one
    const WeightRow *model = nullptr;  ///< the like of it in the layer taken as pattern; null when a rule asks for it
    std::uint32_t patternLayer = 0;
};

/// Experts that a layer should hold and does not.
struct ExpertHole {
    std::string tensor; ///< of the first absent expert
    std::uint32_t layer = 0;
    std::uint64_t absent = 0, expected = 0;
    const WeightRow *neighbour = nullptr;
};

/// The layers of one stack, compared with each other.
struct LayerGrid {
    std::string stack;                         ///< "model.layers"
    std::vector<std::uint32_t> layers;         ///< numbers that occur, ascending
    std::vector<LayerHole> holes;              ///< by layer, then name; at most `holeLimit`
    std::vector<ExpertHole> expertHoles;       ///< by layer
    std::size_t holeCount = 0;                 ///< all, also those beyond the limit
    Grid picture{};                            ///< layers × tensors, empty above `pictureLimit` cells
    static constexpr std::size_t holeLimit = 1000, pictureLimit = 40'000;

    std::uint32_t end() const { return layers.empty() ? 0 : layers.back() + 1; }
    /// Numbers below `count` that do not occur; at most `limit` of them, `total` counts all.
    std::vector<std::uint32_t> absentBelow(std::uint32_t count, std::size_t limit, std::uint64_t &total) const;
};

/// Compares the layers of each stack. A layer may lack what another one holds when it is built
/// differently by design: another block stands in its place (attention and state space, dense and
/// experts), its declared kind lacks it throughout, or every k-th layer does. `kinds` are those of the
/// main stack (may be empty); `experts` is the declared number of experts (0: unknown). Linear in the
/// number of tensors but for models of very many kinds of layers, where only the commonest is compared.
std::vector<LayerGrid> layerGridsOf(const WeightSet &set, const std::vector<std::string> &kinds,
                                    std::string_view mainStack, std::uint64_t experts);

/// The stack that holds the text model's layers: the one with most
/// tensors, vision, audio and prediction stacks left out. Empty when the set has no layers.
std::string mainStackOf(const WeightSet &set);

} // namespace prosector
