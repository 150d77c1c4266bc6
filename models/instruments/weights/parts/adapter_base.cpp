// SPDX-License-Identifier: GPL-3.0-or-later
// W2, the base: its modules, and how an adapter's names reach them.
#include "models/instruments/weights/parts/adapter_base.h"

#include "models/artifacts/tensorname.h"
#include "models/config/architecture.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace prosector::coverage {

namespace {

using namespace std::string_view_literals;

// base_model_prefix of Transformers' classes.
constexpr std::array leads{"model"sv, "transformer"sv, "bert"sv, "roberta"sv, "distilbert"sv, "gpt_neox"sv, "electra"sv,
                           "deberta"sv, "albert"sv, "backbone"sv, "mpnet"sv, "xlm"sv, "rwkv"sv, "esm"sv};

// GGUF names of Llama-like models (gguf-py, tensor_mapping.py).
constexpr std::array ggufModules = std::to_array<std::pair<std::string_view, std::string_view>>({
    {"attn_q", "self_attn.q_proj"}, {"attn_k", "self_attn.k_proj"}, {"attn_v", "self_attn.v_proj"},
    {"attn_output", "self_attn.o_proj"}, {"attn_qkv", "self_attn.qkv_proj"}, {"ffn_gate", "mlp.gate_proj"},
    {"ffn_up", "mlp.up_proj"}, {"ffn_down", "mlp.down_proj"},
});

struct Fused {
    std::string_view part;
    std::array<std::string_view, 4> whole;
};
constexpr std::array fusedModules = std::to_array<Fused>({
    {"q_proj", {"qkv_proj", "Wqkv", "query_key_value", "c_attn"}}, {"k_proj", {"qkv_proj", "Wqkv", "query_key_value", "c_attn"}},
    {"v_proj", {"qkv_proj", "Wqkv", "query_key_value", "c_attn"}}, {"gate_proj", {"gate_up_proj", "", "", ""}},
    {"up_proj", {"gate_up_proj", "", "", ""}}, {"in_proj_qkv", {"in_proj_qkvz", "", "", ""}},
});

std::string moduleName(const WeightRow &row, bool translate)
{
    const auto role = roleOf(row.name);
    std::string_view name = row.name;
    if (leafOf(role.name) != "weight")
        return {};
    if (const auto parts = name.find(".weight."); parts != std::string_view::npos)
        return {};
    name = moduleOf(name);
    if (translate) {
        const TensorName apart = takeApart(row.name);
        const auto *const known = std::find_if(ggufModules.begin(), ggufModules.end(), [&](auto &m) { return m.first == moduleOf(apart.suffix); });
        if (apart.inLayer() && known != ggufModules.end())
            return "model.layers." + std::to_string(apart.layer) + "." + std::string(known->second);
        if (name == "token_embd")
            return "model.embed_tokens";
        if (name == "output")
            return "lm_head";
    }
    return std::string(name);
}

std::vector<std::string_view> componentsOf(std::string_view name)
{
    std::vector<std::string_view> parts;
    for (std::size_t begin = 0; begin <= name.size();) {
        const std::size_t dot = std::min(name.find('.', begin), name.size());
        parts.push_back(name.substr(begin, dot - begin));
        begin = dot + 1;
    }
    return parts;
}

std::string joined(const std::vector<std::string_view> &parts, std::size_t from, std::size_t to)
{
    std::string text;
    for (std::size_t i = from; i < to; ++i)
        text += (i == from ? "" : ".") + std::string(parts[i]);
    return text;
}

} // namespace

Spelling spellingOf(const Adapter &adapter)
{
    if (adapter.underscored)
        return Spelling::Underscored;
    return !adapter.modules.empty() && adapter.modules.front().file->format == "gguf" ? Spelling::Gguf : Spelling::Dotted;
}

Base::Base(WeightSet set, const Run &run, Side side, Spelling style) : m_set(std::move(set)), m_side(side)
{
    const Artifact *const config = run.find(m_set.folder->config);
    if (config && config->tree() && !m_set.gguf()) {
        const auto layers = architectureOfConfig(config->id, config->tree()).number(ArchField::Layers);
        if (layers && *layers > 0 && *layers < 1e6)
            m_layers = static_cast<std::uint64_t>(*layers);
    }
    for (const WeightRow &row : m_set.rows) {
        std::string name = moduleName(row, m_set.gguf() && style != Spelling::Gguf);
        if (name.empty() || (!m_modules.empty() && m_modules.back().name == name))
            continue;
        const bool plain = row.info && leafOf(row.name) == "weight" && row.info->dtypeName != "U8" && row.info->shape.size() == 2;
        if (style == Spelling::Underscored)
            std::replace(name.begin(), name.end(), '.', '_');
        m_modules.push_back({std::move(name), &row, plain});
    }
    std::stable_sort(m_modules.begin(), m_modules.end(), [](auto &a, auto &b) { return a.name < b.name; });
}

const BaseModule *Base::find(std::string_view name) const
{
    const auto it = std::lower_bound(m_modules.begin(), m_modules.end(), name,
                                     [](const BaseModule &module, std::string_view n) { return module.name < n; });
    return it != m_modules.end() && it->name == name ? &*it : nullptr;
}

bool Base::holds(std::string_view name) const
{
    return find(name) || m_set.find(name) || m_set.firstOf(std::string(name) + ".");
}

Evidence Base::placeOf(const BaseModule &module, std::string note) const
{
    Evidence evidence = m_set.placeOf(*module.row, std::move(note));
    evidence.side = m_side;
    return evidence;
}

std::string Lead::apply(std::string_view module) const
{
    if (!drop.empty() && module.starts_with(drop + "."))
        return std::string(module.substr(drop.size() + 1));
    return add.empty() ? std::string(module) : add + "." + std::string(module);
}

std::string Lead::reverse(std::string_view module) const
{
    if (!add.empty() && module.starts_with(add + "."))
        return std::string(module.substr(add.size() + 1));
    return drop.empty() ? std::string(module) : drop + "." + std::string(module);
}

Landing landingOf(const Base &base, const Lead &lead, std::string_view module)
{
    const std::string name = lead.apply(module);
    if (const BaseModule *const found = base.find(name))
        return {found, false, true};
    if (base.holds(name))
        return {nullptr, false, true};
    for (const Fused &fused : fusedModules) {
        if (leafOf(name) != fused.part)
            continue;
        for (const auto whole : fused.whole) {
            if (!whole.empty() && base.find(std::string(moduleOf(name)) + "." + std::string(whole)))
                return {nullptr, true, true};
        }
    }
    return {};
}

std::pair<Lead, std::size_t> bestLead(const Base &base, const Adapter &adapter)
{
    std::vector<Lead> candidates{{}};
    // The file may lack the prefix of the class; the adapter may lack it only if made for the bare model.
    for (const auto lead : leads)
        candidates.push_back({std::string(lead), ""});
    if (adapter.root["task_type"].string("") == "FEATURE_EXTRACTION" || adapter.root["auto_mapping"]["base_model_class"].string("").ends_with("Model")) {
        for (const auto lead : leads)
            candidates.push_back({"", std::string(lead)});
    }
    std::pair<Lead, std::size_t> best;
    for (const Lead &lead : candidates) {
        const auto landed = static_cast<std::size_t>(std::count_if(
            adapter.modules.begin(), adapter.modules.end(), [&](auto &module) { return landingOf(base, lead, module.name).exists; }));
        if (landed > best.second)
            best = {lead, landed};
    }
    return best;
}

std::string renameFor(const Base &base, const std::vector<std::string_view> &modules, const BaseModule *&example)
{
    if (modules.empty())
        return {};
    const auto wanted = componentsOf(modules.front());
    int tried = 0;
    for (const BaseModule &candidate : base.modules()) {
        // Same last component, so that a prefix or an inner component is what differs.
        if (leafOf(candidate.name) != wanted.back())
            continue;
        const auto parts = componentsOf(candidate.name);
        std::size_t front = 0, back = 0;
        const std::size_t shorter = std::min(parts.size(), wanted.size());
        while (front < shorter && parts[front] == wanted[front])
            ++front;
        while (back < shorter - front && parts[parts.size() - 1 - back] == wanted[wanted.size() - 1 - back])
            ++back;
        const std::string dropped = joined(wanted, front, wanted.size() - back), inserted = joined(parts, front, parts.size() - back);
        const bool single = wanted.size() - back - front <= 2 && parts.size() - back - front <= 2;
        // A change of the layer's number is no renaming.
        const bool numbers = (!dropped.empty() && std::isdigit(static_cast<unsigned char>(dropped.front())))
                             || (!inserted.empty() && std::isdigit(static_cast<unsigned char>(inserted.front())));
        if (!single || numbers || ++tried > 32)
            continue;
        const std::string before = joined(wanted, 0, front);
        const bool all = std::all_of(modules.begin(), modules.end(), [&](std::string_view module) {
            const auto names = componentsOf(module);
            const std::size_t taken = wanted.size() - back - front;
            if (names.size() < front + taken || joined(names, front, front + taken) != dropped)
                return false;
            std::string name = joined(names, 0, front);
            for (const std::string &part : {inserted, joined(names, front + taken, names.size())}) {
                if (!part.empty())
                    name += (name.empty() ? "" : ".") + part;
            }
            return base.holds(name);
        });
        if (!all)
            continue;
        example = &candidate;
        if (dropped.empty())
            return "insert \"" + inserted + ".\"" + (before.empty() ? " in front" : " behind \"" + before + ".\"");
        if (inserted.empty())
            return "drop \"" + dropped + ".\"";
        return "replace \"" + dropped + "\" by \"" + inserted + "\"";
    }
    return {};
}

} // namespace prosector::coverage
