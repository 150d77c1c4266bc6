// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/config/servingdtype.h"

#include "models/config/architecture.h"

#include <algorithm>
#include <array>
#include <utility>

namespace prosector {

std::string canonicalDtype(std::string_view name)
{
    if (name.starts_with("torch."))
        name.remove_prefix(6);
    static constexpr std::array<std::pair<std::string_view, std::string_view>, 14> spellings{{
        {"half", "float16"}, {"fp16", "float16"}, {"F16", "float16"}, {"f16", "float16"}, {"bf16", "bfloat16"}, {"BF16", "bfloat16"},
        {"float", "float32"}, {"fp32", "float32"}, {"F32", "float32"}, {"f32", "float32"}, {"fp8", "fp8_e4m3"},
        {"float8_e4m3fn", "fp8_e4m3"}, {"float8_e5m2", "fp8_e5m2"}, {"fp8_ds_mla", "fp8_e4m3"}}};
    const auto *const it = std::find_if(spellings.begin(), spellings.end(), [&](const auto &s) { return s.first == name; });
    return std::string(it == spellings.end() ? name : it->second);
}

std::optional<double> largestOf(std::string_view dtype)
{
    const std::string name = canonicalDtype(dtype);
    static constexpr std::array<std::pair<std::string_view, double>, 7> formats{{{"float16", 65504},
                                                                                 {"bfloat16", 3.3895313892515355e38},
                                                                                 {"float32", 3.4028234663852886e38},
                                                                                 {"fp8_e4m3", 448},
                                                                                 {"fp8_e5m2", 57344},
                                                                                 {"float8_e4m3fnuz", 240},
                                                                                 {"fp8_e4m3fnuz", 240}}};
    const auto *const it = std::find_if(formats.begin(), formats.end(), [&](const auto &f) { return f.first == name; });
    return it == formats.end() ? std::nullopt : std::optional(it->second);
}

const EffectiveConfig *servingOf(const std::vector<EffectiveConfig> &configs, const Run &run, const ModelFolder &folder)
{
    const EffectiveConfig *found = nullptr;
    for (const EffectiveConfig &config : configs) {
        const bool mine = config.model ? &run.models()[*config.model] == &folder : run.models().size() == 1;
        if (!mine)
            continue;
        if (found)
            return nullptr;
        found = &config;
    }
    return found;
}

std::optional<NamedDtype> runtimeDtype(const EffectiveConfig *config, std::string_view setting)
{
    const EffectiveSetting *const found = config ? config->find(setting) : nullptr;
    if (!found)
        return std::nullopt;
    const Candidate *candidate = found->observed ? &*found->observed : found->chosenBy();
    if (!candidate || !candidate->evidence)
        return std::nullopt;
    const bool runtime = found->observed || candidate->origin == Origin::Flag || candidate->origin == Origin::Environment
                         || candidate->origin == Origin::LogLine || candidate->origin == Origin::EngineOverride
                         || candidate->origin == Origin::Hardware;
    if (!runtime || candidate->value == "auto" || candidate->value == "none")
        return std::nullopt;
    return NamedDtype{canonicalDtype(candidate->value), *candidate->evidence, true};
}

std::optional<NamedDtype> servingDtype(const EffectiveConfig *config, const Run &run, const ModelFolder &folder)
{
    if (auto runtime = runtimeDtype(config, "dtype"))
        return runtime;
    const Artifact *const file = run.find(folder.config);
    if (!file)
        return std::nullopt;
    const Architecture arch = architectureOfConfig(file->id, file->tree());
    const Setting *const declared = arch.get(ArchField::DataType);
    if (!declared || !declared->word || *declared->word == "auto")
        return std::nullopt;
    return NamedDtype{canonicalDtype(*declared->word), declared->where};
}

std::optional<NamedDtype> visionDtype(const Run &run, const ModelFolder &folder)
{
    const Artifact *const file = run.find(folder.config);
    const Value vision = file ? visionPartOf(file->tree()) : Value();
    for (const char *const key : {"dtype", "torch_dtype"}) {
        if (const auto word = vision[key].string(); word && *word != "auto")
            return NamedDtype{canonicalDtype(*word), {file->id, vision[key].anchor(), "vision_config " + vision[key].key() + " = " + *word}};
    }
    return std::nullopt;
}

std::optional<NamedDtype> eightBitCache(const EffectiveConfig *config, const Run &run, const ModelFolder &folder)
{
    const EffectiveSetting *const computed = config ? config->find("calculate_kv_scales") : nullptr;
    if (computed && computed->value() == "true")
        return std::nullopt;
    if (auto runtime = runtimeDtype(config, "kv_cache_dtype"))
        return runtime->name.starts_with("fp8") || runtime->name.starts_with("float8") ? runtime : std::nullopt;
    for (const ArtifactId id : folder.all) {
        const Artifact &file = run.artifact(id);
        const Value root = file.tree();
        for (const Value quantization : {root["quantization_config"], root["quantization"], root["compression_config"], root}) {
            const Value scheme = quantization["kv_cache_scheme"];
            if (scheme.isObject() && scheme["num_bits"].number() == 8.0 && scheme["dynamic"].boolean() != true
                && scheme["type"].string("float") == "float")
                return NamedDtype{"fp8_e4m3", {file.id, scheme.anchor(), "an 8-bit key-value cache is declared"}};
            const Value algorithm = quantization["kv_cache_quant_algo"];
            if (algorithm.string("") == "FP8")
                return NamedDtype{"fp8_e4m3", {file.id, algorithm.anchor(), "kv_cache_quant_algo = FP8"}};
        }
    }
    return std::nullopt;
}

} // namespace prosector
