// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/artifacts/tensorname.h"

#include <algorithm>
#include <array>
#include <charconv>

namespace prosector {

namespace {

using namespace std::string_view_literals;

constexpr std::array stackNames{"layers"sv, "layer"sv,  "h"sv,      "blk"sv,        "block"sv,
                                "blocks"sv, "resblocks"sv, "stages"sv, "mamba_layers"sv, "enc_blk"sv,
                                "dec.blk"sv, "enc.blk"sv};

// Parts of a packed weight: GPTQ and AWQ; compressed-tensors; FP8; bitsandbytes (its 4-bit parts stand
// below the weight, see roleOf); ModelOpt.
constexpr std::array packedLeaves{
    "qweight"sv, "qzeros"sv, "scales"sv, "g_idx"sv, "weight_packed"sv, "weight_scale"sv, "weight_shape"sv,
    "weight_zero_point"sv, "weight_g_idx"sv, "weight_scale_inv"sv, "weight_scale_2"sv, "weight_global_scale"sv,
    "SCB"sv, "weight_format"sv};

// Stored beside weights in some checkpoints and absent from others without consequence.
constexpr std::array weightless{"inv_freq"sv,    "masked_bias"sv, "input_scale"sv,        "output_scale"sv,
                                "k_scale"sv,     "v_scale"sv,     "q_scale"sv,            "prob_output_scale"sv,
                                "prob_scale"sv,  "position_ids"sv, "input_global_scale"sv, "input_zero_point"sv,
                                "num_batches_tracked"sv};

std::optional<std::uint32_t> asNumber(std::string_view text)
{
    std::uint32_t number = 0;
    if (text.empty() || text.size() > 9)
        return std::nullopt;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    return error == std::errc() && end == text.data() + text.size() ? std::optional(number) : std::nullopt;
}

template<std::size_t N>
bool contains(const std::array<std::string_view, N> &list, std::string_view text)
{
    return std::find(list.begin(), list.end(), text) != list.end();
}

} // namespace

std::string_view moduleOf(std::string_view name)
{
    const auto dot = name.rfind('.');
    return dot == std::string_view::npos ? std::string_view() : name.substr(0, dot);
}

std::string_view leafOf(std::string_view name)
{
    const auto dot = name.rfind('.');
    return dot == std::string_view::npos ? name : name.substr(dot + 1);
}

TensorName takeApart(std::string_view name)
{
    for (std::size_t begin = 0; begin < name.size();) {
        const std::size_t dot = name.find('.', begin);
        if (dot == std::string_view::npos)
            break;
        if (begin > 0 && contains(stackNames, leafOf(name.substr(0, begin - 1)))) {
            if (const auto layer = asNumber(name.substr(begin, dot - begin)))
                return {name.substr(0, begin - 1), *layer, name.substr(dot + 1)};
        }
        begin = dot + 1;
    }
    return {{}, 0, name};
}

WeightRole roleOf(std::string_view suffix)
{
    WeightRole role;
    if (contains(weightless, leafOf(suffix)))
        return role;
    std::string_view rest = suffix;
    if (const auto parts = rest.find(".weight."); parts != std::string_view::npos) // bitsandbytes: weight.absmax
        rest = rest.substr(0, parts + 7);
    for (std::size_t begin = 0; begin <= rest.size();) {
        const std::size_t dot = std::min(rest.find('.', begin), rest.size());
        const auto part = rest.substr(begin, dot - begin);
        const auto number = begin > 0 && leafOf(rest.substr(0, begin - 1)).ends_with("experts") ? asNumber(part) : std::nullopt;
        if (begin > 0)
            role.name += '.';
        if (number && !role.expert) {
            role.expert = number;
            role.name += '*';
        } else if (dot == rest.size() && begin > 0 && contains(packedLeaves, part)) {
            role.name += "weight";
        } else {
            role.name += part;
        }
        begin = dot + 1;
    }
    return role;
}

} // namespace prosector
