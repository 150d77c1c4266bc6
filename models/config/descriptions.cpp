// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/config/descriptions.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <tuple>

namespace prosector {

namespace {

constexpr std::array coreNumbers{ArchField::Layers, ArchField::Hidden,  ArchField::FeedForward, ArchField::Heads,
                                 ArchField::KvHeads, ArchField::Context, ArchField::Vocab,       ArchField::NormEps};

/// How many of the core numbers both state, and how many of those agree.
std::pair<int, int> agreement(const Architecture &a, const Architecture &b)
{
    int shared = 0, equal = 0;
    for (const ArchField field : coreNumbers) {
        const auto x = a.number(field), y = b.number(field);
        if (!x || !y)
            continue;
        ++shared;
        equal += sameNumber(*x, *y);
    }
    return {shared, equal};
}

std::size_t commonPrefix(const std::string &a, const std::string &b)
{
    std::size_t length = 0;
    while (length < a.size() && length < b.size() && a[length] == b[length])
        ++length;
    return length;
}

/// Split files name how many there are; llama.cpp's tool gives them a common count of tensors.
void addShards(ModelDescription &model)
{
    const auto count = model.gguf->integer("split.count").value_or(1);
    if (count <= 1) {
        model.parts = {model.artifact};
        return;
    }
    const auto tensors = model.gguf->integer("split.tensors.count");
    for (const ArtifactId id : model.folder->gguf) {
        const Artifact &file = model.run->artifact(id);
        const auto *const other = file.as<GgufContent>();
        if (other && other->integer("split.count") == count && other->integer("split.tensors.count") == tensors)
            model.parts.push_back(&file);
    }
    model.complete = static_cast<std::int64_t>(model.parts.size()) == count;
}

bool isQuantised(const ModelDescription &model)
{
    const Value root = model.artifact->tree();
    return root["quantization_config"].isSet() || root["quantization"].isSet() // MLX
           || model.folder->quantizeConfig.valid();
}

} // namespace

Evidence ModelDescription::at(Evidence evidence, std::string note) const
{
    evidence.side = side;
    if (!note.empty())
        evidence.note = std::move(note);
    return evidence;
}

Evidence ModelDescription::whole(std::string note) const
{
    return {artifact->id, Whole{}, std::move(note), side};
}

Evidence ModelDescription::key(std::string_view name, std::string note) const
{
    return {artifact->id, GgufContent::anchor(name), std::move(note), side};
}

ModelDescription::Tensor ModelDescription::tensor(std::string_view name) const
{
    for (const Artifact *const file : parts) {
        const auto *const content = file->as<TensorContent>();
        if (const TensorInfo *const info = content ? content->find(name) : nullptr)
            return {file, info};
    }
    return {};
}

std::size_t ModelDescription::tensorCount() const
{
    std::size_t count = 0;
    for (const Artifact *const file : parts) {
        const auto *const content = file->as<TensorContent>();
        count += content ? content->tensors.size() : 0;
    }
    return count;
}

std::string numberText(double number)
{
    std::array<char, 32> buffer{};
    const bool whole = std::abs(number) < 1e15 && number == std::floor(number);
    const auto result = whole ? std::to_chars(buffer.data(), buffer.data() + buffer.size(), static_cast<std::int64_t>(number))
                              : std::to_chars(buffer.data(), buffer.data() + buffer.size(), number);
    return {buffer.data(), result.ptr};
}

std::string roundedText(double number)
{
    std::array<char, 32> buffer{};
    const auto result = std::to_chars(buffer.data(), buffer.data() + buffer.size(), number, std::chars_format::general, 6);
    return {buffer.data(), result.ptr};
}

bool sameNumber(double a, double b)
{
    return std::abs(a - b) <= 1e-6 * std::max(std::abs(a), std::abs(b));
}

std::vector<ModelDescription> describeModels(const Run &run, Side side)
{
    std::vector<ModelDescription> models;
    for (const ModelFolder &folder : run.models()) {
        if (const Artifact *const config = run.find(folder.config); config && config->tree().isObject()) {
            ModelDescription model{&run, side, &folder, config, nullptr, architectureOfConfig(config->id, config->tree()), {}, true};
            for (const ArtifactId id : folder.weights) {
                model.parts.push_back(&run.artifact(id));
                model.complete = model.complete && run.artifact(id).as<TensorContent>();
            }
            models.push_back(std::move(model));
        }
        for (const ArtifactId id : folder.gguf) {
            const Artifact &file = run.artifact(id);
            const auto *const content = file.as<GgufContent>();
            if (!content || content->architecture().empty())
                continue; // later shards carry tensors only
            ModelDescription model{&run, side, &folder, &file, content, architectureOfGguf(id, *content), {}, true};
            addShards(model);
            models.push_back(std::move(model));
        }
    }
    return models;
}

std::vector<Conversion> findConversions(const std::vector<ModelDescription> &models)
{
    std::vector<Conversion> conversions;
    for (const ModelDescription &converted : models) {
        const ModelDescription *best = nullptr;
        std::tuple<int, bool, std::size_t> bestScore{-1, false, 0};
        for (const ModelDescription &source : models) {
            if (!source.isConfig() || &source == &converted)
                continue;
            if (converted.isConfig() && (source.folder == converted.folder || !isQuantised(converted) || isQuantised(source)))
                continue;
            const auto [shared, equal] = agreement(source.arch, converted.arch);
            if (shared < 3 || equal * 2 <= shared)
                continue;
            // Two releases of one size may lie beside each other; nobody said that one was made from the other.
            const bool beside = converted.isConfig() && source.side == converted.side;
            if (beside && (equal < shared || source.arch.modelType != converted.arch.modelType))
                continue;
            const std::tuple score{equal, source.folder == converted.folder,
                                   commonPrefix(source.folder->path, converted.folder->path)};
            if (score > bestScore) {
                best = &source;
                bestScore = score;
            }
        }
        if (best)
            conversions.push_back({best, &converted});
    }
    return conversions;
}

} // namespace prosector
