// SPDX-License-Identifier: GPL-3.0-or-later
// W10, GPTQ and AWQ. Layouts as AutoGPTQ and GPTQModel (nn_modules/qlinear) and AutoAWQ (WQLinear_GEMM) store them.
#include "models/core/wording.h"
#include "models/instruments/weights/parts/packing.h"

#include <algorithm>
#include <cmath>

namespace prosector::packing {

namespace {

constexpr std::uint64_t centreWords = 65'536;   // read per module for the centre test
constexpr std::uint64_t centreWeights = 2'048;  // fewer say nothing
constexpr double centreOff = 0.6, centreGain = 0.5;

std::uint64_t divideUp(std::uint64_t a, std::uint64_t b)
{
    return b == 0 ? 0 : a / b + (a % b != 0);
}

std::string shapeNote(const WeightRow &row, const std::string &expected)
{
    return row.info->shapeText() + ", expected " + expected;
}

Evidence placeOf(const WeightRow &row, std::string note)
{
    return {row.file->id, TensorBlock{std::string(row.name)}, std::move(note)};
}

double median(std::vector<double> values)
{
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

} // namespace

void addOffences(Report &report, std::string code, const Offences &offences, std::string detail, std::string falseIf,
                 std::vector<Evidence> declared)
{
    if (offences.count == 0)
        return;
    Finding finding{.code = std::move(code), .severity = offences.severity};
    finding.title = offences.count == 1 ? offences.first + " " + offences.what
                                        : std::to_string(offences.count) + " tensors: each " + offences.what + ", first " + offences.first;
    finding.detail = std::move(detail);
    finding.evidence = offences.evidence;
    finding.evidence.insert(finding.evidence.end(), declared.begin(), declared.end());
    finding.measure = Measure{.number = static_cast<double>(offences.count), .unit = "tensors"};
    finding.falseIf = std::move(falseIf);
    finding.next = {"F3", "W4"};
    report.findings.push_back(std::move(finding));
}

IntegerCheck::IntegerCheck(const QuantDeclaration &declaration, Budget &budget, const Job &job)
    : m_declaration(declaration), m_budget(budget), m_job(job), m_awq(declaration.method.find("awq") != std::string::npos)
{
    const std::string format = declaration.format ? declaration.format->value : "";
    m_plusOne = !m_awq && format != "gptq_v2";
    // AutoAWQ 0.2.9, awq/modules/linear: gemv packs [out, in / 8] in plain order, marlin and gemv_fast otherwise again;
    // GPTQModel's marlin, bitblas and awq formats are kernels' own. None is looked into.
    if (m_awq ? format.starts_with("gemv") || format == "marlin" : format == "marlin" || format == "bitblas" || format.starts_with("awq"))
        m_kernelFormat = format;
}

std::uint32_t IntegerCheck::effective(std::uint32_t stored, unsigned bits, bool plusOne) const
{
    return plusOne ? (stored + 1) & ((1U << bits) - 1) : stored;
}

bool IntegerCheck::layoutOf(const PackedModule &module, Layout &layout)
{
    if (!module.scales || !module.qzeros) {
        m_incomplete.add(module.name, placeOf(*module.qweight, module.scales ? "no qzeros beside it" : "no scales beside it"));
        return false;
    }
    const auto &weights = module.qweight->info->shape, &scales = module.scales->info->shape, &zeros = module.qzeros->info->shape;
    if (weights.size() != 2 || scales.size() != 2 || zeros.size() != 2) {
        m_shape.add(module.name, placeOf(*module.qweight, shapeNote(*module.qweight, "two dimensions")));
        return false;
    }
    const std::uint64_t bits = layout.bits;
    layout.out = scales[1];
    layout.groups = scales[0];
    const std::uint64_t gptqIn = weights[0] > (1ULL << 40) ? 0 : weights[0] * 32 / bits;
    const std::uint64_t packedOut = layout.out > (1ULL << 40) ? 0 : divideUp(layout.out * bits, 32);
    const auto groupsOf = [&](std::uint64_t in) { return layout.group == 0 ? 1 : divideUp(in, layout.group); };
    const bool fitsGptq = weights[1] == layout.out && zeros[0] == layout.groups && zeros[1] == packedOut
                          && groupsOf(gptqIn) == layout.groups && (!module.gIdx || module.gIdx->info->elements() == gptqIn);
    const bool fitsAwq = weights[1] == packedOut && zeros[0] == layout.groups && zeros[1] == packedOut
                         && groupsOf(weights[0]) == layout.groups && weights[1] != layout.out;
    layout.in = m_awq ? weights[0] : gptqIn;
    layout.packing = m_awq ? Packing::Awq : Packing::Sequential;
    if (m_awq ? fitsAwq : fitsGptq)
        return true;
    if (m_awq ? fitsGptq && weights[0] != 0 : fitsAwq) {
        m_swapped.add(module.name, placeOf(*module.qweight, module.qweight->info->shapeText()
                                                                + (m_awq ? " packs rows as GPTQ does" : " packs columns as AWQ does")));
        return false;
    }
    const std::string out = std::to_string(layout.out);
    const std::string expected = m_awq ? "[in, " + std::to_string(packedOut) + "]" : "[in × " + std::to_string(bits) + " / 32, " + out + "]";
    const WeightRow &wrong = weights[1] != (m_awq ? packedOut : layout.out) ? *module.qweight
                             : zeros[0] != layout.groups || zeros[1] != packedOut ? *module.qzeros
                             : module.gIdx && module.gIdx->info->elements() != layout.in && groupsOf(layout.in) == layout.groups
                                 ? *module.gIdx
                                 : *module.scales;
    m_shape.add(module.name,
                placeOf(wrong, &wrong == module.qweight  ? shapeNote(wrong, expected)
                               : &wrong == module.qzeros ? shapeNote(wrong, std::to_string(layout.groups) + " × " + std::to_string(packedOut))
                               : &wrong == module.gIdx   ? shapeNote(wrong, std::to_string(layout.in))
                                                         : shapeNote(wrong, std::to_string(groupsOf(layout.in)) + " groups of "
                                                                                + (layout.group ? std::to_string(layout.group) : "the whole column")
                                                                                + " for " + std::to_string(layout.in) + " inputs")));
    return false;
}

bool IntegerCheck::look(const PackedModule &module)
{
    if (m_job.cancelled())
        return false;
    if (!m_declaration.bits || m_declaration.overrides(module.name) || !m_kernelFormat.empty())
        return true;
    Layout layout;
    const std::int64_t bits = m_declaration.bits->value, group = m_declaration.groupSize ? m_declaration.groupSize->value : -1;
    if (bits < 2 || bits > 8)
        return true;
    layout.bits = static_cast<unsigned>(bits);
    layout.group = group > 0 ? static_cast<std::uint64_t>(group) : 0;
    if (!layoutOf(module, layout) || (bits != 2 && bits != 4 && bits != 8))
        return true;
    lookAtZeros(module, layout);
    std::vector<std::uint32_t> order;
    if (module.gIdx && !m_awq && m_budget.take(module.gIdx->info->bytes.size())) {
        if (auto words = readWords(*module.gIdx, 1ULL << 28); words && words->size() == layout.in) {
            order = std::move(*words);
            lookAtOrder(module, layout, order);
        }
    }
    if (m_declaration.symmetric && !m_declaration.symmetric->value && bits <= 4)
        lookAtCentre(module, layout, order);
    return true;
}

void IntegerCheck::lookAtZeros(const PackedModule &module, const Layout &layout)
{
    if (!m_declaration.symmetric || !m_declaration.symmetric->value || !m_budget.take(module.qzeros->info->bytes.size()))
        return;
    const auto words = readWords(*module.qzeros, 1ULL << 28);
    const std::uint64_t perRow = module.qzeros->info->shape[1];
    if (!words || words->size() != layout.groups * perRow)
        return;
    const std::uint32_t centre = 1U << (layout.bits - 1);
    std::uint64_t wrong = 0, firstWrong = 0, otherwise = 0;
    std::uint32_t found = 0;
    const std::uint64_t total = layout.groups * layout.out;
    for (std::uint64_t i = 0; i < total; ++i) {
        const std::uint32_t stored = unpack(&(*words)[i / layout.out * perRow], i % layout.out, layout.bits, layout.packing);
        otherwise += effective(stored, layout.bits, !m_plusOne) == centre;
        if (effective(stored, layout.bits, m_plusOne) != centre && wrong++ == 0) {
            firstWrong = i;
            found = stored;
        }
    }
    m_zeros += total;
    m_wrongZeros += wrong;
    m_rightOtherwise += otherwise;
    if (wrong == 0)
        return;
    const std::uint64_t row = firstWrong / layout.out, word = firstWrong % layout.out * layout.bits / 32;
    m_zeroFault.add(module.qzeros->name,
                    {module.qzeros->file->id, TensorBlock{std::string(module.qzeros->name), {row, word}, {row + 1, word + 1}},
                     "stored zero " + std::to_string(found) + " stands for " + std::to_string(effective(found, layout.bits, m_plusOne))
                         + ", the centre is " + std::to_string(centre) + " (" + std::to_string(wrong) + " of " + std::to_string(total) + " zeros)"});
}

void IntegerCheck::lookAtOrder(const PackedModule &module, const Layout &layout, const std::vector<std::uint32_t> &order)
{
    const bool acts = m_declaration.actOrder && m_declaration.actOrder->value;
    const std::uint64_t group = layout.group ? layout.group : layout.in;
    std::vector<std::uint64_t> sizes(layout.groups);
    for (std::uint64_t i = 0; i < order.size(); ++i) {
        const std::uint64_t expected = i / group;
        if (order[i] >= layout.groups || (!acts && order[i] != expected)) {
            m_orderFault.add(module.gIdx->name, {module.gIdx->file->id, TensorBlock{std::string(module.gIdx->name), {i}, {i + 1}},
                                                 "row " + std::to_string(i) + " is in group " + std::to_string(order[i])
                                                     + (acts ? " of " + std::to_string(layout.groups) : ", expected " + std::to_string(expected))});
            return;
        }
        ++sizes[order[i]];
    }
    for (std::uint64_t g = 0; acts && g < sizes.size(); ++g) {
        // The last rows share a shorter group when the input is no multiple of it.
        const std::uint64_t rest = layout.in % group;
        if (sizes[g] != group && !(rest != 0 && sizes[g] == rest)) {
            m_orderFault.add(module.gIdx->name, placeOf(*module.gIdx, "group " + std::to_string(g) + " has " + std::to_string(sizes[g])
                                                                          + " rows, expected " + std::to_string(group)));
            return;
        }
    }
}

void IntegerCheck::lookAtCentre(const PackedModule &module, const Layout &layout, const std::vector<std::uint32_t> &order)
{
    if (layout.in == 0 || layout.out == 0 || layout.in * layout.out < centreWeights)
        return;
    const std::uint64_t perZeroRow = module.qzeros->info->shape[1], perRow = module.qweight->info->shape[1];
    const std::uint64_t rows = std::min(module.qweight->info->shape[0], std::max<std::uint64_t>(1, centreWords / std::max<std::uint64_t>(perRow, 1)));
    if (!m_budget.take(module.qzeros->info->bytes.size() + rows * perRow * 4))
        return;
    const auto zeros = readWords(*module.qzeros, 1ULL << 28);
    const auto weights = readWords(*module.qweight, rows * perRow * 4);
    if (!zeros || !weights || weights->size() != rows * perRow || zeros->size() != layout.groups * perZeroRow)
        return;
    const unsigned perWord = 32 / layout.bits;
    const std::uint64_t group = layout.group ? layout.group : layout.in;
    double sum = 0, sumOtherwise = 0;
    std::uint64_t count = 0;
    for (std::uint64_t row = 0; row < rows; ++row) {
        for (std::uint64_t i = 0; i < perRow * perWord; ++i) {
            // GPTQ packs down the input, AWQ along the output.
            const std::uint64_t in = m_awq ? row : row * perWord + i / perRow, out = m_awq ? i : i % perRow;
            if (out >= layout.out || in >= layout.in)
                continue;
            const std::uint64_t g = order.empty() ? in / group : order[in];
            if (g >= layout.groups)
                return;
            const std::uint32_t q = m_awq ? unpack(&(*weights)[row * perRow], out, layout.bits, Packing::Awq)
                                          : ((*weights)[row * perRow + out] >> (i / perRow * layout.bits)) & ((1U << layout.bits) - 1);
            const std::uint32_t stored = unpack(&(*zeros)[g * perZeroRow], out, layout.bits, layout.packing);
            sum += static_cast<double>(q) - effective(stored, layout.bits, m_plusOne);
            sumOtherwise += static_cast<double>(q) - effective(stored, layout.bits, !m_plusOne);
            ++count;
        }
    }
    if (count < centreWeights)
        return;
    if (m_centre.empty())
        m_centreAt = placeOf(*module.qzeros, "weights lie " + decimal(sum / static_cast<double>(count), 3) + " steps from the zeros on average");
    m_centre.push_back(std::abs(sum / static_cast<double>(count)));
    m_centreOtherwise.push_back(std::abs(sumOtherwise / static_cast<double>(count)));
}

void IntegerCheck::report(Report &report) const
{
    if (!m_kernelFormat.empty())
        report.notSeen.push_back("packed weights: the format \"" + m_kernelFormat + "\" is the layout of one kernel and was not looked into");
    const auto declared = [](const auto &value) { return value ? std::vector<Evidence>{value->where} : std::vector<Evidence>{}; };
    std::vector<Evidence> layout{m_declaration.bits ? m_declaration.bits->where : m_declaration.where};
    if (m_declaration.groupSize)
        layout.push_back(m_declaration.groupSize->where);
    addOffences(report, "quant.layout.shape", m_shape, "The packed tensors do not have the shape that the declared bits and group size give.",
                "the tensors are packed for one kernel (Marlin, ExLlama) and the declaration does not say so", layout);
    addOffences(report, "quant.layout.other", m_swapped,
                "GPTQ packs down the input dimension, AWQ along the output; read as declared every weight is another.",
                "the engine recognises the layout by itself", {m_declaration.where});
    addOffences(report, "quant.layout.part", m_incomplete, "A packed weight needs its scales and zeros.",
                "this format stores none and the declaration does not say so", {m_declaration.where});
    addOffences(report, "quant.group.order", m_orderFault,
                m_declaration.actOrder && m_declaration.actOrder->value ? "With act-order every group has the same number of rows."
                                                                       : "Without act-order row i belongs to group i / group size.",
                "the engine ignores g_idx", m_declaration.actOrder ? declared(m_declaration.actOrder) : std::vector<Evidence>{m_declaration.where});
    std::vector<Evidence> convention = declared(m_declaration.symmetric);
    convention.push_back(m_declaration.format ? m_declaration.format->where : m_declaration.where);
    const std::string as = m_awq ? "AWQ stores the zero itself" : m_plusOne ? "this format stores zero − 1" : "this format stores the zero itself";
    std::string detail = "Declared symmetric, and " + as + ": every zero must stand for the centre. "
                         + std::to_string(m_wrongZeros) + " of " + std::to_string(m_zeros) + " do not.";
    if (m_zeros > 0 && m_rightOtherwise == m_zeros)
        detail += m_plusOne ? " Read as gptq_v2 all of them do: the declared format is wrong and every weight is one scale off."
                            : " Read as gptq all of them do: the declared format is wrong and every weight is one scale off.";
    addOffences(report, "quant.zero.convention", m_zeroFault, detail, "the engine detects the convention from the stored zeros", convention);
    if (m_centre.empty())
        return;
    const double off = median(m_centre), other = median(m_centreOtherwise);
    if (off < centreOff || off - other < centreGain)
        return;
    Finding finding{.code = "quant.zero.centre", .severity = Severity::Error};
    finding.title = "Read as declared the weights lie " + decimal(off, 3) + " steps off their zeros";
    finding.detail = "Weights are centred on their zero point. " + as + "; under the other convention they lie "
                     + decimal(other, 3) + " steps off (median over " + std::to_string(m_centre.size()) + " tensors).";
    finding.evidence = {m_centreAt};
    finding.evidence.insert(finding.evidence.end(), convention.begin(), convention.end());
    finding.measure = Measure{.number = off, .unit = "steps", .n = m_centre.size()};
    finding.falseIf = "the weights are not centred by nature, or the engine detects the convention";
    finding.next = {"F3", "W4"};
    report.findings.push_back(std::move(finding));
}

} // namespace prosector::packing
