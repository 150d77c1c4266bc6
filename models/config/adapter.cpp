// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/config/adapter.h"

#include "models/artifacts/tensorname.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <map>

namespace prosector {

namespace {

using namespace std::string_view_literals;

enum class Part : std::uint8_t { A, B, Other };

// Names of the two halves: PEFT, kohya, MLX, llama.cpp. `Other` are lawful companions.
struct Mark {
    std::string_view text;
    Part part;
    bool transposed = false, embedding = false;
};
constexpr std::array marks = std::to_array<Mark>({
    {".lora_A", Part::A}, {".lora_B", Part::B}, {".lora_embedding_A", Part::A, false, true},
    {".lora_embedding_B", Part::B, false, true}, {".lora_down", Part::A}, {".lora_up", Part::B},
    {".lora_magnitude_vector", Part::Other}, {".alpha", Part::Other}, {".dora_scale", Part::Other},
    {".trainable_tokens_delta", Part::Other}, {".trainable_tokens_index", Part::Other}, {".lora_bias", Part::Other},
});

std::string_view withoutPrefix(std::string_view name, std::string_view prefix)
{
    return name.starts_with(prefix) ? name.substr(prefix.size()) : name;
}

std::string cleaned(std::string_view name)
{
    std::string text(withoutPrefix(name, "base_model.model."));
    for (const std::string_view wrapper : {".base_layer"sv, ".modules_to_save.default"sv, ".modules_to_save"sv, ".original_module"sv}) {
        if (const auto at = text.find(wrapper); at != std::string::npos)
            text.erase(at, wrapper.size());
    }
    return text;
}

void addTensor(std::map<std::string, AdapterModule> &modules, Adapter &adapter, const TensorInfo &info, const Artifact &file)
{
    const std::string_view name = info.name;
    const bool gguf = file.format == "gguf", mlx = !gguf && (name.ends_with(".lora_a") || name.ends_with(".lora_b"));
    if (gguf || mlx) {
        if (name.ends_with(".lora_a") || name.ends_with(".lora_b")) {
            std::string module = cleaned(name.substr(0, name.size() - 7));
            if (module.ends_with(".weight"))
                module.resize(module.size() - 7);
            AdapterModule &entry = modules[module];
            (name.ends_with("a") ? entry.a : entry.b) = &info;
            entry.file = &file;
            entry.transposed = mlx;
            return;
        }
    }
    for (const Mark &mark : marks) {
        const auto at = name.rfind(mark.text);
        if (at == std::string_view::npos || at == 0)
            continue;
        const auto behind = name.substr(at + mark.text.size());
        if (!behind.empty() && behind.front() != '.')
            continue; // lora_A of lora_Another
        if (mark.part == Part::Other)
            return;
        std::string module = cleaned(name.substr(0, at));
        for (const std::string_view prefix : {"lora_unet_"sv, "lora_te_"sv, "lora_te1_"sv, "lora_te2_"sv}) {
            if (module.starts_with(prefix)) {
                module.erase(0, prefix.size());
                adapter.underscored = true;
                break;
            }
        }
        AdapterModule &entry = modules[module];
        (mark.part == Part::A ? entry.a : entry.b) = &info;
        entry.file = &file;
        entry.embedding = mark.embedding;
        return;
    }
    adapter.whole.push_back({cleaned(name), &info, &file});
}

} // namespace

std::optional<std::uint64_t> AdapterModule::rank() const
{
    const TensorInfo *const info = a ? a : b;
    if (!info || info->shape.size() < 2)
        return std::nullopt;
    return (a != nullptr) != transposed ? info->shape[0] : info->shape[1];
}

std::vector<std::string> Adapter::list(const char *key) const
{
    std::vector<std::string> texts;
    const Value value = root[key];
    if (value.isString())
        texts.push_back(value.string(""));
    for (const Value element : value) {
        if (value.isArray() && element.isString())
            texts.push_back(element.string(""));
    }
    return texts;
}

std::optional<std::uint64_t> Adapter::rankOf(std::string_view module) const
{
    for (const Value entry : root["rank_pattern"]) {
        // PEFT: re.match(rf"(.*\.)?({key})$", module)
        const auto pattern = NamePattern::compile("(?:.*\\.)?(?:" + entry.key() + ")", NamePattern::Extent::Full);
        if (pattern && pattern->matches(module) && entry.integer() && *entry.integer() > 0)
            return static_cast<std::uint64_t>(*entry.integer());
    }
    const auto r = root["r"].integer();
    return r && *r > 0 ? std::optional(static_cast<std::uint64_t>(*r)) : std::nullopt;
}

std::vector<Adapter> adaptersOf(const Run &run)
{
    std::vector<Adapter> adapters;
    for (const ModelFolder &folder : run.models()) {
        Adapter adapter;
        adapter.folder = &folder;
        adapter.config = run.find(folder.adapterConfig);
        if (adapter.config)
            adapter.root = adapter.config->tree();
        std::map<std::string, AdapterModule> modules;
        bool any = false;
        for (const ArtifactId id : folder.all) {
            const Artifact &file = run.artifact(id);
            const auto *const content = file.as<TensorContent>();
            const auto *const gguf = file.as<GgufContent>();
            const bool named = file.path.find("adapter_model") != std::string::npos;
            const bool isAdapter = gguf ? gguf->string("general.type") == "adapter" : file.kind == Kind::AdapterFiles;
            if (named && !content)
                adapter.listed = false;
            if (!isAdapter || !content)
                continue;
            any = true;
            for (const TensorInfo &info : content->tensors)
                addTensor(modules, adapter, info, file);
        }
        if (!any && !adapter.config)
            continue;
        for (auto &[name, module] : modules) {
            module.name = name;
            adapter.modules.push_back(std::move(module));
        }
        std::stable_sort(adapter.whole.begin(), adapter.whole.end(), [](auto &a, auto &b) { return a.name < b.name; });
        adapter.type = adapter.root["peft_type"].string("LORA");
        std::transform(adapter.type.begin(), adapter.type.end(), adapter.type.begin(),
                       [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
        adapters.push_back(std::move(adapter));
    }
    return adapters;
}

bool endsWithModule(std::string_view name, std::string_view suffix)
{
    return name == suffix || (name.size() > suffix.size() && name.ends_with(suffix) && name[name.size() - suffix.size() - 1] == '.');
}

TargetSelection::TargetSelection(const Adapter &adapter)
{
    const Value targets = adapter.root["target_modules"];
    if (targets.isString()) {
        const std::string text = targets.string("");
        m_allLinear = text == "all-linear";
        if (!m_allLinear) {
            if (auto pattern = NamePattern::compile(text, NamePattern::Extent::Full))
                m_pattern = std::move(*pattern);
        }
    } else {
        m_names = adapter.list("target_modules");
    }
    const Value excluded = adapter.root["exclude_modules"];
    if (excluded.isString()) {
        if (auto pattern = NamePattern::compile(excluded.string(""), NamePattern::Extent::Full))
            m_excludePattern = std::move(*pattern);
    } else {
        m_excluded = adapter.list("exclude_modules");
    }
    const Value layers = adapter.root["layers_to_transform"];
    if (const auto one = layers.integer())
        m_layers.push_back(*one);
    for (const Value layer : layers) {
        if (const auto number = layer.integer())
            m_layers.push_back(*number);
    }
}

bool TargetSelection::selects(std::string_view module) const
{
    const auto named = [&](const std::vector<std::string> &names) {
        return std::any_of(names.begin(), names.end(), [&](const std::string &name) { return endsWithModule(module, name); });
    };
    if (named(m_excluded) || (m_excludePattern && m_excludePattern->matches(module)))
        return false;
    if (!m_allLinear && !named(m_names) && !(m_pattern && m_pattern->matches(module)))
        return false;
    if (m_layers.empty())
        return true;
    const std::string ended = std::string(module) + ".";
    const TensorName name = takeApart(ended);
    return name.inLayer() && std::find(m_layers.begin(), m_layers.end(), name.layer) != m_layers.end();
}

} // namespace prosector
