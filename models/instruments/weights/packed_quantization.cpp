// SPDX-License-Identifier: GPL-3.0-or-later
// W10: do the packed numbers mean what the declared format says?
#include "models/artifacts/tensorkinds.h"
#include "models/artifacts/tensorname.h"
#include "models/core/wording.h"
#include "models/instruments/instrument.h"
#include "models/instruments/weights/parts/packing.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>

namespace prosector {

namespace {

using namespace std::string_view_literals;
using namespace packing;

// The type most weights have under general.file_type, by llama.cpp's number (llama.h, enum llama_ftype).
// Mixtures of several types (IQ*_M, Q*_M, Q*_L) are named by their base type.
struct FileType {
    std::int64_t number;
    std::string_view type;
};
constexpr std::array fileTypes = std::to_array<FileType>({
    {0, "F32"},      {1, "F16"},      {2, "Q4_0"},    {3, "Q4_1"},   {7, "Q8_0"},   {8, "Q5_0"},    {9, "Q5_1"},
    {10, "Q2_K"},    {11, "Q3_K"},    {12, "Q3_K"},   {13, "Q3_K"},  {14, "Q4_K"},  {15, "Q4_K"},   {16, "Q5_K"},
    {17, "Q5_K"},    {18, "Q6_K"},    {19, "IQ2_XXS"}, {20, "IQ2_XS"}, {21, "Q2_K"}, {23, "IQ3_XXS"}, {24, "IQ1_S"},
    {25, "IQ4_NL"},  {26, "IQ3_S"},   {30, "IQ4_XS"}, {31, "IQ1_M"}, {32, "BF16"},  {36, "TQ1_0"},  {37, "TQ2_0"},
    {38, "MXFP4"},   {39, "NVFP4"},
});

class Semantics {
public:
    Semantics(const Inputs &inputs, const Job &job) : m_run(inputs.run), m_job(job) {}

    Result<Report> look()
    {
        for (const ModelFolder &folder : m_run.models()) {
            const auto declarations = quantDeclarationsOf(m_run, folder);
            m_declared = m_declared || !declarations.empty();
            lookAtDisagreement(declarations);
            for (const WeightSet &set : weightSetsOf(m_run, folder)) {
                if (set.gguf())
                    lookAtFileType(set);
                else if (!lookAtSet(folder, set, declarations))
                    return Job::cancelledError();
            }
        }
        if (m_job.cancelled())
            return Job::cancelledError();
        if (!m_decided && m_report.findings.empty())
            m_report.missing = {m_declared ? "weights" : "quantization_config"};
        addRepetition();
        return std::move(m_report);
    }

private:
    void lookAtDisagreement(const std::vector<QuantDeclaration> &declarations)
    {
        for (std::size_t i = 1; i < declarations.size(); ++i) {
            const QuantDeclaration &a = declarations[0], &b = declarations[i];
            std::vector<Evidence> places;
            std::string fields;
            const auto differ = [&](std::string_view field, const Evidence &first, const Evidence &second) {
                fields += (fields.empty() ? "" : ", ") + std::string(field);
                places.push_back(first);
                places.push_back(second);
            };
            const auto compare = [&](std::string_view field, const auto &first, const auto &second) {
                if (first && second && first->value != second->value)
                    differ(field, first->where, second->where);
            };
            if (a.method != b.method && a.method != "modelopt" && b.method != "modelopt")
                differ("method", a.where, b.where);
            compare("bits", a.bits, b.bits);
            compare("group size", a.groupSize, b.groupSize);
            compare("symmetry", a.symmetric, b.symmetric);
            compare("act-order", a.actOrder, b.actOrder);
            compare("format", a.format, b.format);
            // Silence about the format means gptq.
            const QuantDeclaration &silent = a.format ? b : a, &said = a.format ? a : b;
            if (a.method == "gptq" && b.method == "gptq" && !silent.format && said.format && said.format->value == "gptq_v2")
                differ("format", said.format->where, silent.where);
            if (places.empty())
                continue;
            m_report.findings.push_back({.code = "quant.config.disagree", .severity = Severity::Error,
                                         .title = "Two files of the folder disagree on the quantisation: " + fields,
                                         .detail = "Engines read one or the other; the weights can be right under one of them only.",
                                         .evidence = std::move(places),
                                         .falseIf = "the engine reads only the file that is right",
                                         .next = {"F1"}});
            m_decided = true;
        }
    }

    // False when cancelled.
    bool lookAtSet(const ModelFolder &folder, const WeightSet &set, const std::vector<QuantDeclaration> &declarations)
    {
        const auto modules = packedModulesOf(set);
        const auto packed = static_cast<std::uint64_t>(std::count_if(modules.begin(), modules.end(), [](auto &m) { return m.packed(); }));
        if (declarations.empty()) {
            if (packed > 0)
                lookAtUndeclared(folder, modules);
            return !m_job.cancelled();
        }
        const QuantDeclaration &declaration = declarations.front();
        const std::string format = declaration.format ? declaration.format->value : "";
        const bool integers = declaration.method.find("gptq") != std::string::npos || declaration.method.find("awq") != std::string::npos;
        m_decided = m_decided || packed > 0;
        if (integers && (format.find("marlin") != std::string::npos || format.find("bitblas") != std::string::npos)) {
            m_report.notSeen.push_back(set.describe() + ": packed for the " + format + " kernel, a layout that is not read");
            return true;
        }
        lookAtSpread(declaration, modules, packed, set);
        if (integers && packed > 0 && !lookAtBits(declaration))
            return true;
        Budget budget;
        IntegerCheck integerCheck(declaration, budget, m_job);
        ScaledCheck scaledCheck(declaration);
        ScaleCheck scaleCheck(budget, m_job);
        const double bits = static_cast<double>(std::clamp<std::int64_t>(declaration.bits ? declaration.bits->value : 4, 1, 16));
        for (const PackedModule &module : modules) {
            if (m_job.cancelled())
                return false;
            if (!module.packed())
                continue;
            if (module.intPacked() && integers && !integerCheck.look(module))
                return false;
            scaledCheck.look(module);
            const double largest = module.float8() ? module.weight->info->dtype->largest : std::exp2(bits - 1);
            for (const WeightRow *const scale : {module.scales, module.weightScale, module.weightScaleInv}) {
                // FP4 formats store the scale of a block relative to a second one of the tensor.
                const bool relative = format.find("fp4") != std::string::npos || declaration.method.find("fp4") != std::string::npos
                                      || (scale && scale->info->dtypeName.starts_with("F8"));
                if (scale && !relative && !scaleCheck.look(*scale, largest))
                    return false;
            }
        }
        integerCheck.report(m_report);
        scaledCheck.report(m_report);
        scaleCheck.report(m_report);
        if (budget.skipped > 0)
            m_report.notSeen.push_back(set.describe() + ": the values of " + counted(budget.skipped, "tensor") + " (64 MiB are read)");
        return true;
    }

    // GPTQ and AWQ pack 2 to 8 bits; without a number that makes sense no layout follows. False when there is none.
    bool lookAtBits(const QuantDeclaration &declaration)
    {
        const Value stated = declaration.root["bits"].isSet() ? declaration.root["bits"] : declaration.root["w_bit"];
        if (declaration.bits && declaration.bits->value >= 2 && declaration.bits->value <= 8)
            return true;
        if (!stated.isSet()) {
            m_report.notSeen.push_back("the packing: " + declaration.where.note + " declares no number of bits");
            m_decided = false;
            return false;
        }
        m_report.findings.push_back({.code = "quant.config.bits", .severity = Severity::Error,
                                     .title = "The declared number of bits, " + std::string(stated.raw().substr(0, 40)) + ", packs nothing",
                                     .detail = "GPTQ and AWQ store 2 to 8 bits a weight; no layout follows from this declaration.",
                                     .evidence = {{declaration.artifact, stated.anchor(), stated.key() + " = " + std::string(stated.raw().substr(0, 60))}},
                                     .falseIf = "the engine takes the number from the tensors",
                                     .next = {"F1"}});
        return false;
    }

    void lookAtUndeclared(const ModelFolder &folder, const std::vector<PackedModule> &modules)
    {
        const Artifact *const config = m_run.find(folder.config);
        if (!config || !config->tree().isObject())
            return; // no file that could declare it: undecidable
        if (!config->problems.empty())
            return; // what is lost of it may be the declaration
        Offences offences{.what = "is packed and nothing declares how"};
        for (const PackedModule &module : modules) {
            const WeightRow *const row = module.intPacked() ? module.qweight : module.weightPacked;
            if (row)
                offences.add(module.name, {row->file->id, TensorBlock{std::string(row->name)}, row->info->dtypeName + ", " + row->info->shapeText()});
        }
        addOffences(m_report, "quant.config.absent", offences, "config.json holds no quantization_config and no other file describes the packing.",
                    "the engine is told the format by a flag", {{config->id, Whole{}, "no quantization_config"}});
        m_decided = true;
    }

    // Packed where floats are declared, floats where packing is declared.
    void lookAtSpread(const QuantDeclaration &declaration, const std::vector<PackedModule> &modules, std::uint64_t packed, const WeightSet &set)
    {
        const bool knows = declaration.method.find("gptq") != std::string::npos || declaration.method.find("awq") != std::string::npos
                           || declaration.method == "fp8" || declaration.method == "compressed-tensors" || declaration.method == "modelopt";
        if (!knows)
            return;
        Offences inIgnored{.what = "is packed, declared as left in floats"}, inFloats{.what = "is stored in floats, declared as packed"};
        std::set<std::string> packedRoles;
        for (const PackedModule &module : modules) {
            const TensorName name = takeApart(module.name);
            if (module.packed() && name.inLayer())
                packedRoles.insert(roleOf(std::string(name.suffix) + ".weight").name);
        }
        for (const PackedModule &module : modules) {
            const bool ignored = declaration.ignores(module.name);
            const WeightRow *const row = module.intPacked() ? module.qweight : module.compressed() ? module.weightPacked : module.weight;
            if (!row)
                continue;
            if (module.packed() && ignored) {
                inIgnored.add(module.name, {row->file->id, TensorBlock{std::string(row->name)}, row->info->dtypeName + ", " + row->info->shapeText()});
                continue;
            }
            const TensorName name = takeApart(module.name);
            const bool isFloat = row->info->dtypeName == "F16" || row->info->dtypeName == "BF16" || row->info->dtypeName == "F32";
            if (!module.packed() && isFloat && !ignored && !declaration.overrides(module.name) && row->info->shape.size() == 2 && name.inLayer()
                && packedRoles.contains(roleOf(std::string(name.suffix) + ".weight").name))
                inFloats.add(module.name, {row->file->id, TensorBlock{std::string(row->name)},
                                           row->info->dtypeName + "; the same module of other layers is packed"});
        }
        addOffences(m_report, "quant.spread.ignored", inIgnored, "A loader builds a float layer there and finds no weight for it.",
                    "the list of exceptions is not read by the engine", {declaration.where});
        addOffences(m_report, "quant.spread.float", inFloats, "A loader builds a packed layer there and finds no packed weight for it.",
                    "the engine decides by the stored tensors and not by the declaration", {declaration.where});
        lookAtUnpacked(declaration, modules, packed, set);
    }

    // Declared as packed as a whole, stored in floats as a whole.
    void lookAtUnpacked(const QuantDeclaration &declaration, const std::vector<PackedModule> &modules, std::uint64_t packed, const WeightSet &set)
    {
        if (packed > 0 || !set.listed() || (declaration.method != "awq" && declaration.method != "gptq"))
            return;
        Offences offences{.what = "is stored in floats, declared as packed"};
        for (const PackedModule &module : modules) {
            const TensorName name = takeApart(module.name);
            if (module.weight && name.inLayer() && leafOf(module.name).find("proj") != std::string_view::npos
                && module.weight->info->shape.size() == 2 && !declaration.ignores(module.name))
                offences.add(module.name, {module.weight->file->id, TensorBlock{std::string(module.weight->name)},
                                           module.weight->info->dtypeName + ", " + module.weight->info->shapeText()});
        }
        m_decided = m_decided || offences.count > 0;
        addOffences(m_report, "quant.spread.float", offences, "No tensor of the folder is packed.",
                    "the engine quantises while loading", {declaration.where});
    }

    void lookAtFileType(const WeightSet &set)
    {
        const auto *const gguf = set.files.empty() ? nullptr : set.files[0]->as<GgufContent>();
        const auto number = gguf ? gguf->integer("general.file_type") : std::nullopt;
        if (!number || !set.absent.empty())
            return;
        m_declared = true;
        const auto *const type = std::find_if(fileTypes.begin(), fileTypes.end(), [&](auto &t) { return t.number == *number; });
        if (type == fileTypes.end())
            return;
        const bool blocks256 = type->type.ends_with("_K") || type->type.starts_with("IQ") || type->type.starts_with("TQ");
        std::map<std::string_view, std::uint64_t> bytes;
        const WeightRow *largest = nullptr;
        for (const WeightRow &row : set.rows) {
            // Vectors stay in floats; rows that are no multiple of a block fall back to other types.
            if (!row.info || row.info->shape.size() < 2 || row.info->shape.back() % (blocks256 ? 256 : 32) != 0
                || !takeApart(row.name).inLayer())
                continue;
            bytes[row.info->dtypeName] += row.info->bytes.size();
            if (!largest || row.info->bytes.size() > largest->info->bytes.size())
                largest = &row;
        }
        if (!largest)
            return;
        m_decided = true;
        if (bytes.contains(type->type))
            return;
        std::string found;
        for (const auto &[name, size] : bytes)
            found += (found.empty() ? "" : ", ") + std::string(name);
        m_report.findings.push_back(
            {.code = "quant.filetype", .severity = Severity::Error,
             .title = "The file declares " + std::string(type->type) + " and holds no such matrix",
             .detail = "general.file_type is " + std::to_string(*number) + ", mostly " + std::string(type->type) + "; its matrices are " + found
                       + ". Tools that show or choose by the declared type are misled.",
             .evidence = {{set.files[0]->id, GgufContent::anchor("general.file_type"), "general.file_type = " + std::to_string(*number)},
                          {largest->file->id, TensorBlock{std::string(largest->name)}, largest->info->dtypeName}},
             .falseIf = "the file is a mixture made on purpose under the nearest name",
             .next = {"W6"}});
    }

    // A reply of one token over and over supports what was found; it proves nothing alone.
    void addRepetition()
    {
        if (m_report.findings.empty() || m_report.worst() != Severity::Error)
            return;
        for (const Artifact *const response : m_run.ofKind(Kind::ResponseBody)) {
            for (const Value choice : response->tree()["choices"]) {
                const Value ids = choice["token_ids"];
                std::uint64_t longest = 0, length = 0;
                std::optional<std::int64_t> last;
                for (const Value id : ids) {
                    const auto number = id.integer();
                    length = number && number == last ? length + 1 : 1;
                    last = number;
                    longest = std::max(longest, length);
                }
                if (longest < 16)
                    continue;
                for (Finding &finding : m_report.findings) {
                    if (finding.severity == Severity::Error)
                        finding.evidence.push_back({response->id, ids.anchor(), "the reply repeats one token " + std::to_string(longest) + " times"});
                }
                return;
            }
        }
    }

    const Run &m_run;
    const Job &m_job;
    Report m_report;
    bool m_declared = false, m_decided = false;
};

Result<Report> run(const Inputs &inputs, const Params &, const Job &job)
{
    return Semantics(inputs, job).look();
}

constexpr std::array inputKinds{"quantization_config"sv, "config_files"sv, "weights"sv, "response_body"sv};

} // namespace

extern constinit const Instrument weights_packed_quantization{
    .id = "W10",
    .name = "Packed-quantization semantics",
    .question = "Do the packed numbers mean what the declared format says?",
    .slug = "weights_packed_quantization",
    .inputs = inputKinds,
    .params = {},
    .run = run,
};

} // namespace prosector
