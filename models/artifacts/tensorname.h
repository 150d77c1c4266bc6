// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace prosector {

/// A tensor's name taken apart. The views point into the name that was given.
///   model.layers.12.mlp.down_proj.weight → stack "model.layers", layer 12, suffix "mlp.down_proj.weight"
///   blk.12.ffn_down.weight               → stack "blk", layer 12, suffix "ffn_down.weight"
///   encoder.block.3.layer.0.k.weight     → stack "encoder.block", layer 3, suffix "layer.0.k.weight"
///   model.embed_tokens.weight            → no stack; suffix is the whole name
/// A layer number is the first numeric component that follows a name which stands for a stack of layers
/// in some published model ("layers", "layer", "h", "blk", "block", "blocks", …).
struct TensorName {
    std::string_view stack{};
    std::uint32_t layer = 0;
    std::string_view suffix{};
    bool inLayer() const { return !stack.empty(); }
};
TensorName takeApart(std::string_view name);

/// What a stored tensor stands for within its layer, spelled alike for every layer and packing:
/// expert numbers become `*` ("mlp.experts.*.up_proj.weight"; the number is handed out), the parts of a
/// packed weight (qweight, scales, weight_packed, weight.absmax, …) become "weight". Empty for tensors
/// that carry no weights: rotary tables, masks, activation scales.
struct WeightRole {
    std::string name{};
    std::optional<std::uint32_t> expert{};
};
WeightRole roleOf(std::string_view suffix);

/// Name without its last component, e.g. the module of a weight; empty when there is no dot.
std::string_view moduleOf(std::string_view name);
/// The last component.
std::string_view leafOf(std::string_view name);

} // namespace prosector
