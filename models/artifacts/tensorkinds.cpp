// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/artifacts/tensorkinds.h"

#include <algorithm>
#include <array>

namespace prosector {

namespace {

// What captures call their tensors; layers follow behind a dot: "hidden_states.3".
constexpr std::array captureNames = std::to_array<std::string_view>({
    "input_ids", "attention_mask", "position_ids", "token_type_ids", "cache_position", "logits", "logprobs", "labels",
    "loss_mask", "hidden_states", "attentions", "past_key_values", "inputs_embeds", "output_ids", "sequences",
});
constexpr std::array modelFileBegins = std::to_array<std::string_view>({
    "model", "pytorch_model", "consolidated", "diffusion_pytorch_model", "tf_model", "flax_model", "non_lora_trainables",
});
constexpr std::array adapterMarks = std::to_array<std::string_view>({
    "lora_A", "lora_B", "lora_embedding_A", "lora_embedding_B", "lora_down", "lora_up", "lora_magnitude_vector", "ia3_l",
    "prompt_embeddings",
});

template<std::size_t n>
bool holdsAny(std::string_view name, const std::array<std::string_view, n> &marks)
{
    return std::any_of(marks.begin(), marks.end(), [&](auto mark) { return name.find(mark) != std::string_view::npos; });
}

bool isParameter(std::string_view name)
{
    return name.ends_with("weight") || name.ends_with("bias") || name.ends_with("weight_scale") || name.ends_with("weight_packed");
}

} // namespace

std::string_view fileNameOf(std::string_view sourceName)
{
    const auto at = sourceName.find_last_of("/!");
    return at == std::string_view::npos ? sourceName : sourceName.substr(at + 1);
}

Kind kindOfTensors(std::string_view fileName, std::span<const TensorInfo> tensors)
{
    if (fileName.starts_with("adapter_model"))
        return Kind::AdapterFiles;
    bool capture = false, parameter = false;
    for (const TensorInfo &tensor : tensors) {
        const std::string_view name = tensor.name;
        if (holdsAny(name, adapterMarks))
            return Kind::AdapterFiles;
        const auto first = name.substr(0, name.find('.'));
        capture = capture || std::find(captureNames.begin(), captureNames.end(), first) != captureNames.end();
        parameter = parameter || isParameter(name);
    }
    if (parameter)
        return Kind::Weights;
    if (capture)
        return Kind::Tensors;
    const bool modelName = std::any_of(modelFileBegins.begin(), modelFileBegins.end(),
                                       [&](auto begin) { return fileName.starts_with(begin); });
    return modelName ? Kind::Weights : Kind::Tensors;
}

Kind kindOfArray(std::string_view fileName)
{
    if (fileName.find("mask") != std::string_view::npos && fileName.find("loss") == std::string_view::npos)
        return Kind::AttentionMask;
    if (fileName.find("position") != std::string_view::npos)
        return Kind::PositionIds;
    if (fileName.find("logit") != std::string_view::npos && fileName.find("bias") == std::string_view::npos)
        return Kind::Logits;
    return Kind::Tensors;
}

} // namespace prosector
