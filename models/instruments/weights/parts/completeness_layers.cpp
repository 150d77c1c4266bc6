// SPDX-License-Identifier: GPL-3.0-or-later
// W8, layers: the grid of each stack against itself and against the declared number.
#include "models/config/layergrid.h"
#include "models/instruments/weights/parts/completeness.h"

#include <algorithm>
#include <array>

namespace prosector::completeness {

namespace {

constexpr std::uint32_t layerLimit = 10'000; // ten times the deepest published model

std::uint32_t boundedLayers(double number)
{
    return static_cast<std::uint32_t>(std::clamp(number, 0.0, static_cast<double>(layerLimit)));
}

struct Declared {
    std::uint32_t layers = 0; ///< 0: nobody says
    Evidence where{};
};

Declared declaredLayers(const Architecture &architecture, const Artifact *config, const std::string &stack)
{
    // Encoder and decoder count by themselves; T5's num_layers is the encoder's.
    const bool decoder = stack.find("decoder") != std::string::npos;
    if (config && !architecture.gguf && (decoder || stack.find("encoder") != std::string::npos)) {
        for (const char *const key : decoder ? std::array{"num_decoder_layers", "decoder_layers"}
                                             : std::array{"num_encoder_layers", "encoder_layers"}) {
            const Value value = config->tree()[key];
            if (const auto number = value.integer()) {
                const std::uint32_t layers = boundedLayers(static_cast<double>(*number));
                return {layers, {config->id, value.anchor(), std::string(key) + " = " + std::to_string(layers)}};
            }
        }
    }
    const Setting *const setting = architecture.get(ArchField::Layers);
    if (!setting || !setting->number)
        return {};
    return {boundedLayers(*setting->number), setting->where};
}

void reportAbsentLayers(const WeightSet &set, const LayerGrid &grid, std::uint32_t expected, const Evidence *declaredAt,
                        Report &report)
{
    std::uint64_t total = 0;
    const auto absent = grid.absentBelow(expected, 16, total);
    if (total == 0)
        return;
    std::string list;
    for (const std::uint32_t layer : absent)
        list += (list.empty() ? "" : ", ") + std::to_string(layer);
    if (total > absent.size())
        list += ", …";
    Finding &finding = add(report, "weights.layer.absent", Severity::Error,
                           total == 1 ? "Layer " + list + " of " + grid.stack + " has no tensor"
                                      : std::to_string(total) + " layers of " + grid.stack + " have no tensor: " + list);
    finding.detail = counted(expected, "layer") + (expected == 1 ? " is" : " are") + (declaredAt ? " declared, " : " numbered, ")
                     + std::to_string(grid.layers.size()) + " are stored.";
    if (declaredAt)
        finding.evidence.push_back(*declaredAt);
    const auto at = std::upper_bound(grid.layers.begin(), grid.layers.end(), absent.front());
    const std::uint32_t beside = at != grid.layers.begin() ? *std::prev(at) : *at;
    if (const WeightRow *const row = set.firstOf(grid.stack + "." + std::to_string(beside) + "."))
        finding.evidence.push_back(set.placeOf(*row, "layer " + std::to_string(beside) + " is the nearest that is stored"));
    finding.measure = Measure{.number = static_cast<double>(total), .unit = "layers"};
    finding.falseIf = "the code that loads this model skips these layers on purpose";
    finding.next = {"F3"};
}

void reportHoles(const WeightSet &set, const LayerGrid &grid, Report &report)
{
    if (grid.holes.empty())
        return;
    const LayerHole &first = grid.holes.front();
    Finding &finding = add(report, "weights.layer.hole", Severity::Error,
                           grid.holeCount == 1
                               ? first.tensor + " is absent"
                               : counted(grid.holeCount, "tensor") + " are absent in " + grid.stack + ", first " + first.tensor);
    finding.detail = "Layers built alike hold the same tensors. A loader that is not strict fills the gap with random or zero values.";
    for (const LayerHole &hole : grid.holes) {
        if (finding.evidence.size() + 2 > evidenceLimit)
            break;
        finding.evidence.push_back(set.placeOf(*hole.neighbour, "layer " + std::to_string(hole.layer)
                                                                    + " has this but not " + hole.tensor));
        if (hole.model)
            finding.evidence.push_back(set.placeOf(*hole.model, "layer " + std::to_string(hole.patternLayer) + " has it"));
    }
    finding.measure = Measure{.number = static_cast<double>(grid.holeCount), .unit = "tensors"};
    finding.falseIf = "this layer is built without the tensor by design and no configuration says so";
    finding.next = {"F3", "W1"};
}

void reportExperts(const WeightSet &set, const LayerGrid &grid, Report &report)
{
    if (grid.expertHoles.empty())
        return;
    std::uint64_t total = 0;
    for (const ExpertHole &hole : grid.expertHoles)
        total += hole.absent;
    const ExpertHole &first = grid.expertHoles.front();
    Finding &finding = add(report, "weights.expert.absent", Severity::Error,
                           counted(total, "expert tensor") + (total == 1 ? " is" : " are") + " absent in " + grid.stack
                               + ", first " + first.tensor);
    finding.detail = "Layer " + std::to_string(first.layer) + " should hold it for " + counted(first.expected, "expert") + "; "
                     + std::to_string(first.absent) + (first.absent == 1 ? " lacks it." : " lack it.");
    for (const ExpertHole &hole : grid.expertHoles) {
        if (finding.evidence.size() >= evidenceLimit)
            break;
        finding.evidence.push_back(set.placeOf(*hole.neighbour, "layer " + std::to_string(hole.layer)
                                                                    + " has this but not " + hole.tensor));
    }
    finding.measure = Measure{.number = static_cast<double>(total), .unit = "tensors"};
    finding.falseIf = "experts were pruned on purpose and the engine knows which";
    finding.next = {"F3"};
}

void reportLayersBeyond(const WeightSet &set, const LayerGrid &grid, const Declared &declared,
                        const Architecture &architecture, Report &report)
{
    const std::uint32_t lawful =
        declared.layers + (architecture.gguf ? 0 : boundedLayers(architecture.number(ArchField::NextnLayers).value_or(0)));
    const auto beyond = std::lower_bound(grid.layers.begin(), grid.layers.end(), lawful);
    if (beyond == grid.layers.end())
        return;
    const auto count = static_cast<std::uint64_t>(grid.layers.end() - beyond);
    Finding &finding = add(report, "weights.layer.beyond", Severity::Warning,
                           counted(count, "stored layer") + " of " + grid.stack + (count == 1 ? " lies" : " lie")
                               + " behind the " + std::to_string(declared.layers) + " declared");
    finding.detail = "Loaders build the declared layers only and drop the rest: the served model is shallower than the stored one.";
    finding.evidence.push_back(declared.where);
    if (const WeightRow *const row = set.firstOf(grid.stack + "." + std::to_string(*beyond) + "."))
        finding.evidence.push_back(set.placeOf(*row, "layer " + std::to_string(*beyond) + " is stored"));
    finding.measure = Measure{.number = static_cast<double>(count), .unit = "layers"};
    finding.falseIf = "they are prediction layers that the engine loads for drafting, or the model was cut on purpose";
    finding.next = {"F10"};
}

} // namespace

void lookAtLayers(const WeightSet &set, const Architecture &architecture, const Artifact *config, Report &report)
{
    const std::string main = mainStackOf(set);
    const Declared declared = declaredLayers(architecture, config, main);
    if (declared.layers == 0)
        report.notSeen.push_back(set.describe() + ": the declared number of layers (no configuration says it)");
    std::vector<std::string> kinds;
    if (architecture.gguf)
        kinds = declaredLayerKinds(*set.files.front()->as<GgufContent>(), declared.layers);
    else if (config)
        kinds = declaredLayerKinds(textPartOf(config->tree()), declared.layers);
    const auto experts = static_cast<std::uint64_t>(std::clamp(architecture.number(ArchField::Experts).value_or(0), 0.0, 1e6));
    for (LayerGrid &grid : layerGridsOf(set, kinds, main, experts)) {
        const bool known = grid.stack == main && declared.layers > 0;
        reportAbsentLayers(set, grid, known ? declared.layers : std::min(grid.end(), layerLimit),
                           known ? &declared.where : nullptr, report);
        reportHoles(set, grid, report);
        reportExperts(set, grid, report);
        if (known)
            reportLayersBeyond(set, grid, declared, architecture, report);
        if (!grid.picture.cells.empty() && (!grid.holes.empty() || grid.stack == main))
            report.grids.push_back(std::move(grid.picture));
    }
}

} // namespace prosector::completeness
