// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/config/checkpointparts.h"

#include "models/artifacts/tensorname.h"

#include <algorithm>
#include <array>

namespace prosector {

namespace {

using namespace std::string_view_literals;

// Names in published checkpoints: Transformers' modules, Mistral's and Meta's own files, GGUF.
constexpr std::array embeddingModules{"embed_tokens"sv, "wte"sv, "word_embeddings"sv, "tok_embeddings"sv, "token_embd"sv,
                                      "shared"sv, "embed_in"sv, "word_embedding"sv, "embeddings"sv, "embed"sv, "embedding"sv};
constexpr std::array headModules{"lm_head"sv, "embed_out"sv, "output"sv, "output_layer"sv, "ff_out"sv,
                                 "output_projection"sv, "head"sv, "proj_out"sv};
constexpr std::array labelModules{"score"sv, "classifier"sv, "classifier.out_proj"sv, "classification_head.out_proj"sv,
                                  "logits_proj"sv, "cls"sv};
constexpr std::array attentionWords{"attn"sv, "attention"sv, "Attention"sv, "mixer"sv, "mamba"sv, "ssm"sv, "conv"sv,
                                    "time_mix"sv, "att."sv, "temporal_block"sv, "retention"sv, "qkv"sv, "recurrent"sv};
constexpr std::array feedForwardWords{"mlp"sv, "ffn"sv, "feed_forward"sv, "ff."sv, "fc1"sv, "intermediate"sv,
                                      "dense_h_to_4h"sv, "expert"sv, "moe"sv, "mixer"sv, "mamba"sv, "ssm"sv,
                                      "DenseReluDense"sv, "lin1"sv, "channel_mix"sv, "ff_proj"sv, "feedforward"sv};
constexpr std::array finalNormWords{"norm"sv, "Norm"sv, "ln_f"sv, "ln_out"sv, "ln_final"sv};
// Encoders that normalise after each block have no norm at the end.
constexpr std::array blockEndNorms{"output.LayerNorm"sv, "output_layer_norm"sv, "layer_output_norm"sv, "full_layer_layer_norm"sv};

template<std::size_t N>
bool holdsAny(std::string_view text, const std::array<std::string_view, N> &words)
{
    return std::any_of(words.begin(), words.end(), [&](auto word) { return text.find(word) != std::string_view::npos; });
}

bool isSide(std::string_view name)
{
    constexpr std::array side{"vision"sv, "visual"sv, "audio"sv, "image"sv, "patch"sv, "position"sv, "token_type"sv};
    return holdsAny(name, side);
}

// The weight of the first module in the list that stands outside all layers.
template<std::size_t N>
const WeightRow *moduleOutside(const WeightSet &set, const std::array<std::string_view, N> &modules)
{
    for (const auto module : modules) {
        for (const WeightRow &row : set.rows) {
            if (leafOf(row.name) != "weight" || takeApart(row.name).inLayer() || isSide(row.name))
                continue;
            const auto name = moduleOf(row.name);
            if (name == module || (name.ends_with(module) && name[name.size() - module.size() - 1] == '.'))
                return &row;
        }
    }
    return nullptr;
}

} // namespace

std::string PartGroups::absentText() const
{
    std::string text;
    const std::array<std::pair<bool, std::string_view>, 4> parts{
        {{embedding, "embedding"}, {attention, "attention"}, {feedForward, "feed-forward"}, {finalNorm, "final norm"}}};
    for (const auto &[present, name] : parts) {
        if (!present)
            text += (text.empty() ? "" : ", ") + std::string(name);
    }
    return text;
}

PartGroups partGroupsOf(const WeightSet &set)
{
    PartGroups groups;
    groups.embedding = embeddingOf(set) != nullptr;
    for (const WeightRow &row : set.rows) {
        const TensorName name = takeApart(row.name);
        if (!name.inLayer()) {
            groups.finalNorm = groups.finalNorm || (holdsAny(row.name, finalNormWords) && !isSide(row.name));
            continue;
        }
        if (isSide(name.stack))
            continue;
        // "post_attention_layernorm" is no attention, "ffn_norm" no feed-forward.
        const bool norm = holdsAny(moduleOf(name.suffix), finalNormWords);
        groups.attention = groups.attention || (!norm && holdsAny(name.suffix, attentionWords));
        groups.feedForward = groups.feedForward || (!norm && holdsAny(name.suffix, feedForwardWords));
        groups.finalNorm = groups.finalNorm || holdsAny(name.suffix, blockEndNorms);
        if (groups.all())
            break;
    }
    return groups;
}

const WeightRow *embeddingOf(const WeightSet &set)
{
    return moduleOutside(set, embeddingModules);
}

const WeightRow *outputHeadOf(const WeightSet &set)
{
    if (const WeightRow *const head = moduleOutside(set, headModules))
        return head;
    for (const WeightRow &row : set.rows) { // packed heads
        const auto role = roleOf(row.name).name;
        if (!takeApart(row.name).inLayer() && leafOf(role) == "weight"
            && std::find(headModules.begin(), headModules.end(), leafOf(moduleOf(role))) != headModules.end())
            return &row;
    }
    return nullptr;
}

const WeightRow *labelHeadOf(const WeightSet &set)
{
    // The last projection of a head of two counts, so the longer names first.
    for (const auto module : {"classifier.out_proj"sv, "classification_head.out_proj"sv}) {
        if (const WeightRow *const row = moduleOutside(set, std::array{module}))
            return row;
    }
    return moduleOutside(set, labelModules);
}

} // namespace prosector
