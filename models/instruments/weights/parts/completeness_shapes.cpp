// SPDX-License-Identifier: GPL-3.0-or-later
// W8, shapes: what is stored against the sizes that the configuration declares.
#include "models/artifacts/tensorname.h"
#include "models/instruments/weights/parts/completeness.h"

#include <algorithm>
#include <array>
#include <optional>

namespace prosector::completeness {

namespace {

/// Types whose every layer has one shape that follows from six numbers (Transformers 4.57, modeling_<type>.py).
/// Others have latent attention, gated or per-layer projections, or embeddings of another width. Sorted.
constexpr auto plainTypes = std::to_array<std::string_view>({"arcee", "code_llama", "gemma", "gemma2", "gemma3_text", "glm", "glm4", "granite", "granitemoe", "llama",
                                                             "ministral", "mistral", "mixtral", "olmo", "olmo2", "olmo3", "olmoe", "phi", "qwen2", "qwen2_moe",
                                                             "qwen3", "qwen3_moe", "seed_oss", "smollm3", "stablelm", "starcoder2"});

struct Sizes {
    std::optional<std::uint64_t> hidden, queries, keys, feedForward;
};

struct Rule {
    std::string_view module;
    std::optional<std::uint64_t> Sizes::*rows, Sizes::*columns;
    std::string_view declared;
};
constexpr auto rules = std::to_array<Rule>({
    {"self_attn.q_proj", &Sizes::queries, &Sizes::hidden, "heads × head_dim and hidden_size"},
    {"self_attn.k_proj", &Sizes::keys, &Sizes::hidden, "key-value heads × head_dim and hidden_size"},
    {"self_attn.v_proj", &Sizes::keys, &Sizes::hidden, "key-value heads × head_dim and hidden_size"},
    {"self_attn.o_proj", &Sizes::hidden, &Sizes::queries, "hidden_size and heads × head_dim"},
    {"mlp.gate_proj", &Sizes::feedForward, &Sizes::hidden, "intermediate_size and hidden_size"},
    {"mlp.up_proj", &Sizes::feedForward, &Sizes::hidden, "intermediate_size and hidden_size"},
    {"mlp.down_proj", &Sizes::hidden, &Sizes::feedForward, "hidden_size and intermediate_size"},
});

std::optional<std::uint64_t> whole(std::optional<double> number)
{
    return number && *number >= 1 && *number < 1e9 ? std::optional(static_cast<std::uint64_t>(*number)) : std::nullopt;
}

Sizes sizesOf(const Architecture &architecture)
{
    Sizes sizes{.hidden = whole(architecture.number(ArchField::Hidden)), .queries = {}, .keys = {}, .feedForward = whole(architecture.number(ArchField::FeedForward))};
    const auto heads = whole(architecture.number(ArchField::Heads)), head = whole(architecture.headDim());
    const auto keys = architecture.get(ArchField::KvHeads) ? whole(architecture.number(ArchField::KvHeads)) : heads;
    if (heads && head)
        sizes.queries = *heads * *head;
    if (keys && head)
        sizes.keys = *keys * *head;
    return sizes;
}

bool isFloat(const TensorInfo &info)
{
    return info.dtypeName == "F16" || info.dtypeName == "BF16" || info.dtypeName == "F32";
}

} // namespace

void lookAtShapes(const WeightSet &set, const Architecture &architecture, Report &report)
{
    if (architecture.gguf || !std::binary_search(plainTypes.begin(), plainTypes.end(), std::string_view(architecture.modelType)))
        return;
    const Sizes sizes = sizesOf(architecture);
    Finding finding{.code = "weights.shape.declared", .severity = Severity::Error, .title = ""};
    std::uint64_t count = 0;
    for (const WeightRow &row : set.rows) {
        if (!row.info || row.info->shape.size() != 2 || !isFloat(*row.info))
            continue;
        const TensorName name = takeApart(row.name);
        const bool layer = name.inLayer() && (name.stack == "model.layers" || name.stack == "layers") && leafOf(name.suffix) == "weight";
        const auto *const rule = layer ? std::find_if(rules.begin(), rules.end(), [&](const Rule &r) { return r.module == moduleOf(name.suffix); }) : rules.end();
        if (rule == rules.end())
            continue;
        const auto rows = sizes.*(rule->rows), columns = sizes.*(rule->columns);
        const auto &shape = row.info->shape;
        if ((!rows || *rows == shape[0]) && (!columns || *columns == shape[1]))
            continue;
        if (count++ == 0) {
            finding.title = std::string(row.name) + " is " + row.info->shapeText() + ", the configuration declares " + (rows ? std::to_string(*rows) : "?") + " × "
                            + (columns ? std::to_string(*columns) : "?");
            finding.detail = "Declared by " + std::string(rule->declared) + ".";
        }
        if (finding.evidence.size() < evidenceLimit)
            finding.evidence.push_back(set.placeOf(row, row.info->shapeText()));
    }
    if (count == 0)
        return;
    for (const ArchField field : {ArchField::Hidden, ArchField::Heads, ArchField::KvHeads, ArchField::HeadDim, ArchField::FeedForward}) {
        if (const Setting *const setting = architecture.get(field))
            finding.evidence.push_back(setting->where);
    }
    if (count > 1)
        finding.title += ", and " + counted(count - 1, "more tensor") + (count == 2 ? " does" : " do") + " not fit either";
    finding.detail += " A loader refuses the pair, or leaves the tensor at random values (ignore_mismatched_sizes).";
    finding.measure = Measure{.number = static_cast<double>(count), .unit = "tensors"};
    finding.falseIf = "the model's own code builds layers of other sizes";
    finding.next = {"F10", "F3"};
    report.findings.push_back(std::move(finding));
}

} // namespace prosector::completeness
