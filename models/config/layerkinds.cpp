// SPDX-License-Identifier: GPL-3.0-or-later
// What a configuration declares each layer to be.
#include "models/config/layergrid.h"

#include <algorithm>
#include <array>

namespace prosector {

namespace {

using namespace std::string_view_literals;

// Integers that split the layers: by what rule, and where they are found.
enum class Split : std::uint8_t {
    Below,     ///< layers below the number (DeepSeek first_k_dense_replace)
    LastOf,    ///< the last so many layers (Gemma 3n num_kv_shared_layers)
    Multiple,  ///< layer % number == 0
    NextMultiple, ///< (layer + 1) % number == 0
    Remainder, ///< layer % number (Hunyuan cla_share_factor)
};
struct SplitKey {
    std::string_view key;
    Split split;
};
// Keys as the configuration classes of Transformers and the models' own code name them.
constexpr std::array splitKeys = std::to_array<SplitKey>({
    {"first_k_dense_replace", Split::Below},       {"num_dense_layers", Split::Below},
    {"n_dense_layers", Split::Below},              {"moe_layer_start_index", Split::Below},
    {"num_kv_shared_layers", Split::LastOf},       {"moe_layer_freq", Split::Multiple},
    {"decoder_sparse_step", Split::NextMultiple},  {"full_attention_interval", Split::NextMultiple},
    {"interleave_moe_layer_step", Split::NextMultiple}, {"sliding_window_pattern", Split::NextMultiple},
    {"layer_group_size", Split::NextMultiple},     {"cla_share_factor", Split::Remainder},
    {"attn_layer_period", Split::Remainder},       {"expert_layer_period", Split::Remainder},
    {"moe_every_n_layers", Split::Remainder},      {"no_rope_layer_interval", Split::NextMultiple},
});

std::string splitText(Split split, std::uint64_t number, std::uint64_t layer, std::uint64_t layers)
{
    switch (split) {
    case Split::Below: return layer < number ? "<" : ">";
    case Split::LastOf: return layer + number >= layers ? "l" : "f";
    case Split::Multiple: return layer % number == 0 ? "m" : "-";
    case Split::NextMultiple: return (layer + 1) % number == 0 ? "n" : "-";
    case Split::Remainder: return std::to_string(layer % number);
    }
    return {};
}

bool listsLayers(std::string_view key)
{
    return key.find("layer") != std::string_view::npos || key.find("idx") != std::string_view::npos
           || key.find("indices") != std::string_view::npos;
}

// A list of layer numbers, ascending, fewer than there are layers.
bool isIndexList(Value list, std::uint32_t layers)
{
    std::int64_t last = -1;
    for (const Value element : list) {
        const auto number = element.integer();
        if (!number || *number <= last || *number >= static_cast<std::int64_t>(layers))
            return false;
        last = *number;
    }
    return last >= 0;
}

void addMember(std::vector<std::string> &kinds, Value member)
{
    const auto layers = static_cast<std::uint32_t>(kinds.size());
    const std::string key = member.key();
    if (member.isArray() && key.find("rope") == std::string::npos && key.find("factor") == std::string::npos) {
        // A list of 0 and 1 of full length is per layer, so length decides first.
        if (member.size() == layers) {
            std::size_t layer = 0;
            for (const Value element : member)
                kinds[layer++] += std::string(element.raw()) + ";";
        } else if (listsLayers(key) && isIndexList(member, layers)) {
            for (const Value element : member)
                kinds[static_cast<std::size_t>(*element.integer())] += key + ";";
        }
    } else if (member.isString() && key.find("pattern") != std::string::npos) {
        const std::string pattern = member.string("");
        for (std::size_t layer = 0; pattern.size() == layers && layer < layers; ++layer)
            kinds[layer] += std::string(1, pattern[layer]) + ";";
    } else if (const auto number = member.integer(); number && *number > 0) {
        const auto *const it = std::find_if(splitKeys.begin(), splitKeys.end(), [&](auto &s) { return s.key == key; });
        for (std::uint32_t layer = 0; it != splitKeys.end() && layer < layers; ++layer)
            kinds[layer] += splitText(it->split, static_cast<std::uint64_t>(*number), layer, layers) + ";";
    }
}

} // namespace

std::vector<std::string> declaredLayerKinds(Value config, std::uint32_t layers)
{
    std::vector<std::string> kinds(layers);
    for (const Value member : config)
        addMember(kinds, member);
    return kinds;
}

std::vector<std::string> declaredLayerKinds(const GgufContent &gguf, std::uint32_t layers)
{
    std::vector<std::string> kinds(layers);
    const std::string prefix = gguf.architecture() + ".";
    for (const GgufEntry &entry : gguf.entries) {
        if (!entry.key.starts_with(prefix) || entry.value.numbers.size() != layers || layers == 0)
            continue;
        for (std::uint32_t layer = 0; layer < layers; ++layer)
            kinds[layer] += std::to_string(entry.value.numbers[layer]) + ";";
    }
    return kinds;
}

} // namespace prosector
