// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/config/quantization.h"

#include "models/artifacts/tensorname.h"
#include "models/core/ascii.h"

#include <algorithm>
#include <charconv>
#include <initializer_list>

namespace prosector {

namespace {

Value firstOf(Value object, std::initializer_list<const char *> keys)
{
    for (const char *const key : keys) {
        if (const Value value = object[key]; value.isSet())
            return value;
    }
    return {};
}

Evidence evidenceOf(ArtifactId artifact, Value value)
{
    return {artifact, value.anchor(), value.key() + " = " + std::string(value.raw().substr(0, 60))};
}

std::optional<DeclaredValue<std::int64_t>> integerOf(ArtifactId artifact, Value value)
{
    auto number = value.integer();
    if (const auto text = value.string(); text && !text->empty()) { // "4": a number between quotes
        std::int64_t parsed = 0;
        const auto end = std::from_chars(text->data(), text->data() + text->size(), parsed);
        if (end.ec == std::errc() && end.ptr == text->data() + text->size())
            number = parsed;
    }
    return number ? std::optional(DeclaredValue<std::int64_t>{*number, evidenceOf(artifact, value)}) : std::nullopt;
}

// The weights' part of the first group of compressed-tensors.
Value groupWeights(Value object)
{
    for (const Value group : object["config_groups"])
        return group["weights"];
    return {};
}

std::string methodOf(Value object)
{
    std::string method = asciiLower(firstOf(object, {"quant_method", "quant_algo"}).string(""));
    if (method.empty())
        method = asciiLower(object["quantization"]["quant_algo"].string(""));
    if (!method.empty())
        return method == "compressed_tensors" ? "compressed-tensors" : method;
    if (object["w_bit"] || object["q_group_size"])
        return "awq";
    if (object["config_groups"])
        return "compressed-tensors";
    if (object["bits"] && (object["desc_act"] || object["sym"] || object["group_size"]))
        return "gptq";
    if (object["load_in_4bit"] || object["load_in_8bit"])
        return "bitsandbytes";
    return {};
}

// `*` stands for anything, also at the ends (ModelOpt).
bool globMatches(std::string_view pattern, std::string_view text)
{
    std::size_t p = 0, t = 0, star = std::string_view::npos, mark = 0;
    while (t < text.size()) {
        if (p < pattern.size() && pattern[p] == '*') {
            star = p++;
            mark = t;
        } else if (p < pattern.size() && pattern[p] == text[t]) {
            ++p;
            ++t;
        } else if (star != std::string_view::npos) {
            p = star + 1;
            t = ++mark;
        } else {
            return false;
        }
    }
    return std::all_of(pattern.begin() + static_cast<std::ptrdiff_t>(p), pattern.end(), [](char c) { return c == '*'; });
}

// The name stands in the module as whole components ("lm_head", "mlp.gate", "model.layers.0").
bool holdsComponents(std::string_view module, std::string_view name)
{
    for (std::size_t at = module.find(name); at != std::string_view::npos; at = module.find(name, at + 1)) {
        const std::size_t end = at + name.size();
        if ((at == 0 || module[at - 1] == '.') && (end == module.size() || module[end] == '.'))
            return true;
    }
    return false;
}

} // namespace

bool QuantDeclaration::ignores(std::string_view module) const
{
    const auto named = [&](const std::string &name) { return holdsComponents(module, name); };
    if (!m_only.empty() && takeApart(module).inLayer() && std::none_of(m_only.begin(), m_only.end(), named))
        return true;
    for (const std::string &name : m_ignored) {
        if (name.find('*') != std::string::npos ? globMatches(name, module) : holdsComponents(module, name))
            return true;
    }
    return std::any_of(m_ignoredPatterns.begin(), m_ignoredPatterns.end(), [&](auto &p) { return p.matches(module); });
}

bool QuantDeclaration::overrides(std::string_view module) const
{
    return std::any_of(m_overridePatterns.begin(), m_overridePatterns.end(), [&](auto &p) { return p.matches(module); });
}

std::optional<QuantDeclaration> quantDeclarationOf(ArtifactId artifact, Value object)
{
    QuantDeclaration declaration;
    declaration.artifact = artifact;
    declaration.root = object;
    declaration.method = methodOf(object);
    if (!object.isObject() || declaration.method.empty())
        return std::nullopt;
    declaration.where = {artifact, object.anchor(), "quantisation method " + declaration.method};
    const Value weights = groupWeights(object);
    const Value source = weights ? weights : object;
    declaration.bits = integerOf(artifact, firstOf(source, {"bits", "w_bit", "num_bits"}));
    declaration.groupSize = integerOf(artifact, firstOf(source, {"group_size", "q_group_size"}));
    if (const Value value = firstOf(source, {"sym", "symmetric"}); value.boolean())
        declaration.symmetric = DeclaredValue<bool>{*value.boolean(), evidenceOf(artifact, value)};
    else if (const Value zero = object["zero_point"]; zero.boolean())
        declaration.symmetric = DeclaredValue<bool>{!*zero.boolean(), evidenceOf(artifact, zero)};
    if (const Value value = object["desc_act"]; value.boolean())
        declaration.actOrder = DeclaredValue<bool>{*value.boolean(), evidenceOf(artifact, value)};
    if (const Value value = firstOf(object, {"checkpoint_format", "format", "version"}); value.isString())
        declaration.format = DeclaredValue<std::string>{asciiLower(value.string("")), evidenceOf(artifact, value)};
    if (const Value size = object["weight_block_size"]; size.size() == 2 && size[0].integer() && size[1].integer())
        declaration.blockSize = std::pair(*size[0].integer(), *size[1].integer());
    if (const Value size = source["block_structure"]; size.size() == 2 && size[0].integer() && size[1].integer())
        declaration.blockSize = std::pair(*size[0].integer(), *size[1].integer());

    const Value inner = object["quantization"];
    for (const Value list : {object["modules_to_not_convert"], object["ignore"], object["exclude_modules"],
                             object["ignored_layers"], inner["exclude_modules"]}) {
        for (const Value element : list) {
            const std::string name = element.string("");
            if (name.starts_with("re:")) {
                if (auto pattern = NamePattern::compile(std::string_view(name).substr(3), NamePattern::Extent::Start))
                    declaration.m_ignoredPatterns.push_back(std::move(*pattern));
            } else if (!name.empty()) {
                declaration.m_ignored.push_back(name);
            }
        }
    }
    // Transformers (GPTQConfig): only these are packed; groups of names that are quantised together.
    for (const Value group : firstOf(object, {"modules_in_block_to_quantize", "inside_layer_modules"})) {
        if (group.isString())
            declaration.m_only.push_back(group.string(""));
        for (const Value name : group) {
            if (name.isString())
                declaration.m_only.push_back(name.string(""));
        }
    }
    for (const Value rule : object["dynamic"]) {
        std::string name = rule.key();
        const bool skips = name.starts_with("-:");
        if (skips || name.starts_with("+:"))
            name.erase(0, 2);
        if (auto pattern = NamePattern::compile(name, NamePattern::Extent::Start))
            (skips ? declaration.m_ignoredPatterns : declaration.m_overridePatterns).push_back(std::move(*pattern));
    }
    return declaration;
}

std::vector<QuantDeclaration> quantDeclarationsOf(const Run &run, const ModelFolder &folder)
{
    std::vector<QuantDeclaration> found;
    const auto add = [&](ArtifactId id, Value object) {
        if (auto declaration = quantDeclarationOf(id, object))
            found.push_back(std::move(*declaration));
    };
    if (const Artifact *const config = run.find(folder.config)) {
        const Value root = config->tree();
        for (const Value object : {root["quantization_config"], root["compression_config"],
                                   root["text_config"]["quantization_config"]})
            add(config->id, object);
    }
    for (const ArtifactId id : folder.all) {
        const Artifact &artifact = run.artifact(id);
        if (artifact.kind != Kind::QuantizationConfig)
            continue;
        const Value root = artifact.tree();
        add(id, root["quantization"].isObject() && !root["bits"] ? root["quantization"] : root);
    }
    return found;
}

} // namespace prosector
