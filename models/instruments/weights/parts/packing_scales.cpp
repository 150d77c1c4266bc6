// SPDX-License-Identifier: GPL-3.0-or-later
// W10, FP8 and compressed-tensors, and the scales of any format.
#include "models/artifacts/tensordata.h"
#include "models/core/wording.h"
#include "models/instruments/weights/parts/packing.h"

#include <algorithm>
#include <cmath>

namespace prosector::packing {

namespace {

std::uint64_t divideUp(std::uint64_t a, std::uint64_t b)
{
    return b == 0 ? 0 : a / b + (a % b != 0);
}

Evidence placeOf(const WeightRow &row, std::string note)
{
    return {row.file->id, TensorBlock{std::string(row.name)}, std::move(note)};
}

// One number for all rows is written as [], [1] or [1, 1].
bool isScalar(const TensorInfo &info)
{
    return std::all_of(info.shape.begin(), info.shape.end(), [](std::uint64_t extent) { return extent == 1; });
}

} // namespace

void ScaledCheck::look(const PackedModule &module)
{
    if (module.float8())
        lookAtFloat8(module);
    else if (module.compressed() && m_declaration.method == "compressed-tensors")
        lookAtPacked(module);
}

void ScaledCheck::lookAtFloat8(const PackedModule &module)
{
    const WeightRow *const scale = module.weightScaleInv ? module.weightScaleInv : module.weightScale ? module.weightScale : module.scales;
    if (!scale) {
        m_noScale.add(module.weight->name, placeOf(*module.weight, module.weight->info->dtypeName + " without weight_scale beside it"));
        return;
    }
    const auto &weight = module.weight->info->shape;
    const auto &shape = scale->info->shape;
    if (weight.size() != 2 || isScalar(*scale->info))
        return;
    const auto rows = static_cast<std::uint64_t>(m_declaration.blockSize ? std::max<std::int64_t>(m_declaration.blockSize->first, 1) : 128);
    const auto columns = static_cast<std::uint64_t>(m_declaration.blockSize ? std::max<std::int64_t>(m_declaration.blockSize->second, 1) : 128);
    const std::vector<std::uint64_t> blocks{divideUp(weight[0], rows), divideUp(weight[1], columns)};
    const bool perRow = !m_declaration.blockSize && (shape == std::vector{weight[0]} || shape == std::vector<std::uint64_t>{weight[0], 1});
    if (perRow || shape == blocks)
        return;
    m_scaleShape.add(scale->name, placeOf(*scale, scale->info->shapeText() + " for a weight of " + module.weight->info->shapeText()
                                                      + ", expected " + std::to_string(blocks[0]) + " × " + std::to_string(blocks[1])
                                                      + (m_declaration.blockSize ? "" : ", one per row or one")));
}

void ScaledCheck::lookAtPacked(const PackedModule &module)
{
    const std::string format = m_declaration.format ? m_declaration.format->value : "";
    if (!module.weightScale) {
        m_incomplete.add(module.name, placeOf(*module.weightPacked, "no weight_scale beside it"));
        return;
    }
    if (format.find("pack-quantized") != 0 || !m_declaration.bits)
        return;
    const bool asymmetric = m_declaration.symmetric && !m_declaration.symmetric->value;
    if (asymmetric && !module.weightZeroPoint) {
        m_incomplete.add(module.name, placeOf(*module.weightPacked, "no weight_zero_point beside it, declared asymmetric"));
        return;
    }
    const auto &packed = module.weightPacked->info->shape, &scale = module.weightScale->info->shape;
    const auto bits = static_cast<std::uint64_t>(std::clamp<std::int64_t>(m_declaration.bits->value, 1, 32));
    if (packed.size() != 2 || scale.size() != 2)
        return;
    std::uint64_t in = 0;
    if (module.weightShape) {
        const auto &row = *module.weightShape;
        const auto shape = readTensor<std::int64_t>(*row.file->source, *row.info, Job(), 16);
        if (!shape || shape->size() != 2 || (*shape)[0] < 0 || (*shape)[1] < 0)
            return;
        in = static_cast<std::uint64_t>((*shape)[1]);
        const auto out = static_cast<std::uint64_t>((*shape)[0]);
        if (packed[0] != out || packed[1] != divideUp(in, 32 / bits)) {
            m_shape.add(module.weightPacked->name,
                        placeOf(*module.weightPacked, module.weightPacked->info->shapeText() + " for a weight of " + std::to_string(out)
                                                          + " × " + std::to_string(in) + " in " + std::to_string(bits) + " bits, expected "
                                                          + std::to_string(out) + " × " + std::to_string(divideUp(in, 32 / bits))));
            return;
        }
    }
    const std::int64_t group = m_declaration.groupSize ? m_declaration.groupSize->value : -1;
    const std::uint64_t groups = group > 0 ? divideUp(in, static_cast<std::uint64_t>(group)) : 1;
    if (scale[0] != packed[0] || (in != 0 && scale[1] != groups)) {
        m_scaleShape.add(module.weightScale->name,
                         placeOf(*module.weightScale, module.weightScale->info->shapeText() + ", expected " + std::to_string(packed[0])
                                                          + " × " + std::to_string(groups)));
    }
}

void ScaledCheck::report(Report &report) const
{
    const std::vector<Evidence> declared{m_declaration.groupSize ? m_declaration.groupSize->where : m_declaration.where};
    addOffences(report, "quant.scale.absent", m_noScale, "Eight-bit floats stand for the weights only when multiplied by their scale.",
                "the weights were cast without scaling and the engine knows it", {m_declaration.where});
    addOffences(report, "quant.scale.shape", m_scaleShape, "Each scale would be applied to other weights than it was made for.",
                "the engine lays scales out otherwise and the declaration does not say so", declared);
    addOffences(report, "quant.layout.shape", m_shape, "The packed tensor does not hold the declared number of values.",
                "the tensor is padded and the engine knows it", declared);
    addOffences(report, "quant.layout.part", m_incomplete, "A packed weight needs its scales, and zeros where it is asymmetric.",
                "this format stores none and the declaration does not say so", {m_declaration.where});
}

bool ScaleCheck::look(const WeightRow &scale, double largest)
{
    if (m_job.cancelled())
        return false;
    const std::uint64_t limit = 1ULL << 22;
    if (!hasPlainValues(scale.info->dtype) || scale.info->elements().value_or(limit + 1) > limit || !m_budget.take(scale.info->bytes.size()))
        return true;
    auto values = readTensor<double>(*scale.file->source, *scale.info, m_job, limit);
    if (!values || values->empty())
        return values || values.error().code != Errc::Cancelled;
    std::uint64_t bad = 0, negative = 0, firstBad = 0, firstNegative = 0;
    for (std::uint64_t i = 0; i < values->size(); ++i) {
        const double value = (*values)[i];
        if (!std::isfinite(value) || value == 0) {
            if (bad++ == 0)
                firstBad = i;
        } else if (value < 0 && negative++ == 0) {
            firstNegative = i;
        }
    }
    const auto block = [&](std::uint64_t at, std::string note) {
        TensorBlock anchor{std::string(scale.name)};
        for (auto extent = scale.info->shape.rbegin(); extent != scale.info->shape.rend(); ++extent) {
            anchor.from.insert(anchor.from.begin(), at % *extent);
            anchor.to.insert(anchor.to.begin(), at % *extent + 1);
            at /= *extent;
        }
        return Evidence{scale.file->id, std::move(anchor), std::move(note)};
    };
    if (bad > 0)
        m_bad.add(scale.name, block(firstBad, decimal((*values)[firstBad]) + " (" + counted(bad, "such value") + " of "
                                                  + std::to_string(values->size()) + ")"));
    if (negative > 0)
        m_negative.add(scale.name, block(firstNegative, decimal((*values)[firstNegative]) + " (" + counted(negative, "such value") + " of "
                                                            + std::to_string(values->size()) + ")"));
    std::erase_if(*values, [](double value) { return !std::isfinite(value); });
    if (values->empty())
        return true;
    const auto middle = values->begin() + static_cast<std::ptrdiff_t>(values->size() / 2);
    std::nth_element(values->begin(), middle, values->end());
    m_medians.push_back(std::abs(*middle) * largest);
    if (m_places.size() < evidenceLimit)
        m_places.push_back(placeOf(scale, "median scale " + decimal(*middle) + ", largest weight about " + decimal(m_medians.back())));
    return true;
}

void ScaleCheck::report(Report &report) const
{
    addOffences(report, "quant.scale.value", m_bad, "A weight times such a scale is zero or no number.",
                "the rows concerned are never used", {});
    addOffences(report, "quant.scale.negative", m_negative, "Quantisers of full symmetric range store negative scales on purpose; kernels that take the absolute value turn the signs.",
                "the quantiser is one of those (AutoRound) and the kernel keeps the sign", {});
    if (m_medians.empty())
        return;
    auto medians = m_medians;
    const auto middle = medians.begin() + static_cast<std::ptrdiff_t>(medians.size() / 2);
    std::nth_element(medians.begin(), middle, medians.end());
    if (*middle == 0 || (*middle >= 1e-4 && *middle <= 1e2))
        return;
    Finding finding{.code = "quant.scale.range", .severity = Severity::Warning};
    finding.title = "The largest weights would be about " + decimal(*middle);
    finding.detail = "Largest stored value times scale, median over " + counted(m_medians.size(), "tensor")
                     + ": weights lie between 1e-4 and 100. A reciprocal stored in place of the scale looks like this.";
    finding.evidence = m_places;
    finding.measure = Measure{.number = *middle, .unit = "", .n = m_medians.size()};
    finding.falseIf = "a second scale of the whole tensor brings it back";
    finding.next = {"W4"};
    report.findings.push_back(std::move(finding));
}

} // namespace prosector::packing
