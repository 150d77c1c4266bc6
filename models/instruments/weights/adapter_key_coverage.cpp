// SPDX-License-Identifier: GPL-3.0-or-later
// W2: did every stored tensor of an adapter land, and did every targeted slot get one?
#include "models/artifacts/tensorname.h"
#include "models/core/wording.h"
#include "models/instruments/instrument.h"
#include "models/instruments/weights/parts/adapter_base.h"

#include <algorithm>
#include <array>
#include <set>

namespace prosector {

namespace {

using namespace std::string_view_literals;
using namespace coverage;

constexpr std::size_t evidenceLimit = 8;

// Lines in which an engine says that parts of an adapter did not land: PEFT, vLLM, TGI.
constexpr std::array lossLines{"missing adapter keys"sv, "unexpected modules"sv, "unused adapter weights"sv,
                               "unexpected keys not found in the model"sv};

std::string lastComponent(std::string_view path)
{
    while (!path.empty() && path.back() == '/')
        path.remove_suffix(1);
    const auto slash = path.rfind('/');
    return std::string(slash == std::string_view::npos ? path : path.substr(slash + 1));
}

class Coverage {
public:
    Coverage(const Inputs &inputs, const Job &job) : m_inputs(inputs), m_job(job) {}

    Result<Report> look()
    {
        const auto adapters = adaptersOf(m_inputs.run);
        bool covered = false;
        for (const Adapter &adapter : adapters) {
            if (m_job.cancelled())
                return Job::cancelledError();
            if (adapter.type != "LORA") {
                m_report.notSeen.push_back(adapter.config->path + ": an adapter of type " + adapter.type + ", whose keys are not checked");
                continue;
            }
            lookAtPairs(adapter);
            auto bases = basesFor(adapter);
            const Base *const base = choose(bases, adapter);
            if (base) {
                covered = true;
                lookAtBase(adapter, *base);
            } else if (!adapter.modules.empty()) {
                m_report.notSeen.push_back(nameOf(adapter) + ": coverage, since no base model is opened beside it");
            }
            lookAtWhole(adapter, base);
        }
        lookAtLogs();
        if (m_job.cancelled())
            return Job::cancelledError();
        if (adapters.empty() && !m_logged)
            m_report.missing = {"adapter_files"};
        else if (!covered && !m_logged)
            m_report.missing = {"weights"};
        return std::move(m_report);
    }

private:
    static std::string nameOf(const Adapter &adapter)
    {
        if (adapter.config)
            return adapter.config->path;
        return adapter.modules.empty() ? "an adapter" : adapter.modules.front().file->path;
    }

    Finding &add(std::string code, Severity severity, std::string title)
    {
        m_report.findings.push_back({.code = std::move(code), .severity = severity, .title = std::move(title)});
        return m_report.findings.back();
    }

    static Evidence placeOf(const AdapterModule &module, std::string note)
    {
        return {module.file->id, TensorBlock{module.a ? module.a->name : module.b->name}, std::move(note)};
    }

    void lookAtPairs(const Adapter &adapter)
    {
        std::vector<const AdapterModule *> halves, ranks;
        for (const AdapterModule &module : adapter.modules) {
            if (!module.a || !module.b) {
                halves.push_back(&module);
                continue;
            }
            const auto &a = module.a->shape, &b = module.b->shape;
            if (a.size() < 2 || b.size() < 2)
                continue;
            const std::uint64_t inner = module.transposed ? b[0] : b[1];
            const auto declared = adapter.rankOf(module.name);
            // One pair for all experts of a layer stores r rows for each of them.
            const bool stacked = declared && module.rank() == inner && inner % *declared == 0 && module.name.find("experts") != std::string::npos;
            if (module.rank() != inner || (declared && module.rank() != declared && !stacked))
                ranks.push_back(&module);
        }
        if (!halves.empty()) {
            Finding &finding = add("adapter.pair.half", Severity::Error,
                                   halves.front()->name + " has only one half of its pair"
                                       + (halves.size() > 1 ? ", and " + std::to_string(halves.size() - 1) + " more" : ""));
            finding.detail = "The product of A and B is the change; with one half the module stays as it was, or loading fails.";
            for (const AdapterModule *const module : halves) {
                if (finding.evidence.size() < evidenceLimit)
                    finding.evidence.push_back(placeOf(*module, module->a ? "A without B" : "B without A"));
            }
            finish(finding, halves.size(), "modules", "the other half lies in a file that is not opened");
        }
        if (!ranks.empty()) {
            const AdapterModule &first = *ranks.front();
            Finding &finding = add("adapter.shape", Severity::Error, "The shapes of " + first.name + " contradict each other or the declared rank");
            const auto declared = adapter.rankOf(first.name);
            finding.detail = "A is " + first.a->shapeText() + ", B is " + first.b->shapeText()
                             + (declared ? ", the configuration says r = " + std::to_string(*declared) + "." : ".");
            for (const AdapterModule *const module : ranks) {
                if (finding.evidence.size() < evidenceLimit)
                    finding.evidence.push_back(placeOf(*module, "A " + module->a->shapeText() + ", B " + module->b->shapeText()));
            }
            if (adapter.config && adapter.root["r"])
                finding.evidence.push_back({adapter.config->id, adapter.root["r"].anchor(), "r = " + std::string(adapter.root["r"].raw())});
            finish(finding, ranks.size(), "modules", "rank_pattern or the engine gives these modules another rank");
        }
    }

    static void finish(Finding &finding, std::uint64_t count, std::string unit, std::string falseIf)
    {
        finding.measure = Measure{.number = static_cast<double>(count), .unit = std::move(unit)};
        finding.falseIf = std::move(falseIf);
        finding.next = {"W1", "F3"};
    }

    // Every checkpoint beside the adapter and in the baseline.
    std::vector<Base> basesFor(const Adapter &adapter) const
    {
        std::vector<Base> bases;
        for (const auto &[run, side] : {std::pair(&m_inputs.run, Side::A), {m_inputs.baseline, Side::B}}) {
            if (!run)
                continue;
            for (const ModelFolder &folder : run->models()) {
                for (WeightSet &set : weightSetsOf(*run, folder)) {
                    Base base(std::move(set), *run, side, spellingOf(adapter));
                    if (!base.modules().empty())
                        bases.push_back(std::move(base));
                }
            }
        }
        return bases;
    }

    // The one the adapter names, else the one on which most of it lands.
    const Base *choose(const std::vector<Base> &bases, const Adapter &adapter) const
    {
        if (adapter.modules.empty() && adapter.whole.empty())
            return nullptr;
        const std::string wanted = lastComponent(adapter.root["base_model_name_or_path"].string(""));
        const Base *best = nullptr;
        std::size_t most = 0;
        for (const Base &base : bases) {
            const bool named = !wanted.empty() && lastComponent(base.set().folder->path) == wanted;
            const std::size_t landed = bestLead(base, adapter).second + (named ? adapter.modules.size() + 1 : 0);
            if (!best || landed > most) {
                best = &base;
                most = landed;
            }
        }
        return best;
    }

    void lookAtBase(const Adapter &adapter, const Base &base)
    {
        const auto [lead, landed] = bestLead(base, adapter);
        Table table{"Modules of " + nameOf(adapter), {"module", "lands on", "A", "B"}, {}};
        std::vector<std::string_view> orphans;
        std::vector<const AdapterModule *> orphanModules;
        for (const AdapterModule &module : adapter.modules) {
            const Landing landing = landingOf(base, lead, module.name);
            if (!landing.exists) {
                orphans.push_back(module.name);
                orphanModules.push_back(&module);
            } else if (landing.module) {
                lookAtShape(adapter, module, *landing.module, base);
            }
            if (table.rows.size() < 10'000) {
                const std::string where = !landing.exists ? "nothing" : landing.fused ? "a fused module" : landing.module ? landing.module->name : "a parameter";
                table.rows.push_back({{module.name, placeOf(module, module.name)},
                                      {where, {}, landing.exists ? Severity::Ok : Severity::Warning},
                                      {module.a ? module.a->shapeText() : "absent"},
                                      {module.b ? module.b->shapeText() : "absent"}});
            }
        }
        if (!adapter.modules.empty())
            m_report.tables.push_back(std::move(table));
        reportOrphans(adapter, base, orphans, orphanModules, landed);
        if (landed > 0)
            lookAtSlots(adapter, base, lead);
    }

    void reportOrphans(const Adapter &adapter, const Base &base, const std::vector<std::string_view> &orphans,
                       const std::vector<const AdapterModule *> &modules, std::size_t landed)
    {
        if (orphans.empty())
            return;
        const BaseModule *example = nullptr;
        const std::string rename = renameFor(base, orphans, example);
        const std::string share = std::to_string(landed) + " of " + counted(adapter.modules.size(), "adapted module");
        Finding &finding = landed == 0 ? add("adapter.match.none", Severity::Error, "No adapted module exists in the base: " + share + " land")
                                       : add("adapter.match.orphan", Severity::Warning,
                                             counted(orphans.size(), "adapted module") + (orphans.size() == 1 ? " does" : " do")
                                                 + " not exist in the base, first " + std::string(orphans.front()));
        finding.detail = landed == 0 ? "Loading is lenient: nothing is applied and the base answers alone."
                                     : "Loading is lenient: these pairs are dropped.";
        if (!rename.empty())
            finding.detail += " A renaming makes all of them land: " + rename + ".";
        for (const AdapterModule *const module : modules) {
            if (finding.evidence.size() + 1 < evidenceLimit)
                finding.evidence.push_back(placeOf(*module, module->name + " is no module of the base"));
        }
        if (example)
            finding.evidence.push_back(base.placeOf(*example, "the module it seems to mean"));
        else if (!base.modules().empty())
            finding.evidence.push_back(base.placeOf(base.modules().front(), "a module of the base, for comparison"));
        finish(finding, orphans.size(), "modules", "the engine renames the keys while loading, or the base is another model");
    }

    void lookAtShape(const Adapter &adapter, const AdapterModule &module, const BaseModule &target, const Base &base)
    {
        if (!target.plain || !module.a || !module.b || module.a->shape.size() != 2 || module.b->shape.size() != 2)
            return;
        const auto &shape = target.row->info->shape;
        std::uint64_t in = module.transposed ? module.a->shape[0] : module.a->shape[1];
        std::uint64_t out = module.transposed ? module.b->shape[1] : module.b->shape[0];
        const bool swapped = adapter.flag("fan_in_fan_out") || module.embedding;
        const std::uint64_t baseIn = swapped ? shape[0] : shape[1], baseOut = swapped ? shape[1] : shape[0];
        if (in == baseIn && out == baseOut)
            return;
        const bool transposes = in == baseOut && out == baseIn;
        Finding &finding = add("adapter.shape", Severity::Error, "The change of " + module.name + " does not fit the base weight");
        finding.detail = "The pair makes " + std::to_string(out) + " × " + std::to_string(in) + ", the base holds " + target.row->info->shapeText() + "."
                         + (transposes ? " Transposed it fits: fan_in_fan_out is set wrongly." : "");
        finding.evidence = {placeOf(module, "A " + module.a->shapeText() + ", B " + module.b->shapeText()),
                            base.placeOf(target, target.row->info->shapeText())};
        if (adapter.config && adapter.root["fan_in_fan_out"])
            finding.evidence.push_back({adapter.config->id, adapter.root["fan_in_fan_out"].anchor(), "fan_in_fan_out"});
        finish(finding, 1, "modules", "the base opened here is not the one the adapter was trained on");
    }

    // Modules of the base that are targeted and got no pair.
    void lookAtSlots(const Adapter &adapter, const Base &base, const Lead &lead)
    {
        const TargetSelection targets(adapter);
        if (!targets.stated() || adapter.underscored || !adapter.listed)
            return;
        std::set<std::string_view> adapted;
        bool experts = false;
        for (const AdapterModule &module : adapter.modules) {
            adapted.insert(module.name);
            experts = experts || module.name.find(".experts.") != std::string::npos;
        }
        std::vector<const BaseModule *> empty;
        std::size_t slots = 0;
        for (const BaseModule &module : base.modules()) {
            const std::string name = lead.reverse(module.name);
            const std::string ended = name + ".";
            const TensorName apart = takeApart(ended);
            // Experts are one parameter in newer code and many linear modules in older.
            if (!module.plain || (!experts && name.find(".experts.") != std::string::npos) || (apart.inLayer() && apart.layer >= base.layers()))
                continue;
            if (targets.allLinear() && (!apart.inLayer() || leafOf(name) == "gate" || leafOf(name).find("norm") != std::string_view::npos))
                continue;
            if (!targets.selects(name))
                continue;
            ++slots;
            if (!adapted.contains(name) && !partsAdapted(adapted, name))
                empty.push_back(&module);
        }
        if (empty.empty())
            return;
        Finding &finding = add("adapter.slot.empty", Severity::Error,
                               counted(empty.size(), "targeted module") + (empty.size() == 1 ? " has" : " have") + " no pair, first "
                                   + empty.front()->name);
        finding.detail = std::to_string(slots - empty.size()) + " of " + std::to_string(slots) + " targeted modules of the base have one.";
        for (const BaseModule *const module : empty) {
            if (finding.evidence.size() < evidenceLimit)
                finding.evidence.push_back(base.placeOf(*module, "targeted, and the adapter holds nothing for it"));
        }
        finding.evidence.push_back({adapter.config->id, adapter.root["target_modules"].anchor(), "target_modules"});
        finish(finding, empty.size(), "modules", "training left these modules out in a way the configuration does not say");
    }

    // A fused base module is covered when the adapter has pairs for its parts.
    static bool partsAdapted(const std::set<std::string_view> &adapted, const std::string &name)
    {
        const auto parent = moduleOf(name);
        const auto it = adapted.lower_bound(parent);
        const auto leaf = leafOf(name);
        return (leaf == "qkv_proj" || leaf == "gate_up_proj") && it != adapted.end() && it->starts_with(parent);
    }

    void lookAtWhole(const Adapter &adapter, const Base *base)
    {
        const auto saved = adapter.list("modules_to_save");
        const std::string task = adapter.root["task_type"].string(""), bias = adapter.root["bias"].string("none");
        std::vector<const AdapterWhole *> lawful, orphans;
        for (const AdapterWhole &whole : adapter.whole) {
            const auto module = moduleOf(whole.name);
            const bool named = std::any_of(saved.begin(), saved.end(), [&](const std::string &name) { return std::string_view(module).ends_with(name); });
            const bool head = (task == "SEQ_CLS" || task == "TOKEN_CLS") && (module.ends_with("score") || module.ends_with("classifier"));
            const auto leaf = leafOf(module);
            const bool embedding = leaf == "embed_tokens" || leaf == "lm_head" || leaf == "wte" || leaf == "word_embeddings" || leaf == "embed_in"
                                   || leaf == "embed_out" || leaf == "tok_embeddings";
            if (leafOf(whole.name) == "bias" && bias != "none")
                continue;
            (named || head || embedding ? lawful : orphans).push_back(&whole);
            if (embedding && base)
                lookAtEmbedding(whole, *base);
        }
        report(adapter, "adapter.whole.saved", Severity::Info, lawful, " saved as a whole",
               "The engine must load these beside the pairs; one that loads pairs only serves the base's.", "the engine loads them");
        report(adapter, "adapter.whole.orphan", Severity::Warning, orphans, " neither a pair nor declared as saved",
               "modules_to_save does not name them: a loader drops them or refuses the file.", "the program that wrote them loads them too");
    }

    void report(const Adapter &adapter, std::string code, Severity severity, const std::vector<const AdapterWhole *> &list, std::string_view what,
                std::string detail, std::string falseIf)
    {
        if (list.empty())
            return;
        Finding &finding = add(std::move(code), severity,
                               list.size() == 1 ? list.front()->name + " is" + std::string(what)
                                                : counted(list.size(), "tensor") + " are" + std::string(what) + ", first " + list.front()->name);
        finding.detail = std::move(detail);
        for (const AdapterWhole *const whole : list) {
            if (finding.evidence.size() < evidenceLimit)
                finding.evidence.push_back({whole->file->id, TensorBlock{whole->info->name}, whole->info->shapeText()});
        }
        if (adapter.config && adapter.root["modules_to_save"])
            finding.evidence.push_back({adapter.config->id, adapter.root["modules_to_save"].anchor(), "modules_to_save"});
        finish(finding, list.size(), "tensors", std::move(falseIf));
    }

    void lookAtEmbedding(const AdapterWhole &whole, const Base &base)
    {
        const auto module = moduleOf(whole.name);
        const BaseModule *target = base.find(module);
        for (const BaseModule &candidate : base.modules()) {
            if (!target && leafOf(candidate.name) == leafOf(module))
                target = &candidate;
        }
        if (!target || !target->plain || whole.info->shape.size() != 2 || whole.info->shape[0] == target->row->info->shape[0])
            return;
        Finding &finding = add("adapter.embedding.rows", Severity::Warning,
                               whole.name + " has " + std::to_string(whole.info->shape[0]) + " rows, the base "
                                   + std::to_string(target->row->info->shape[0]));
        finding.detail = "The adapter was trained with an enlarged vocabulary: base and engine must be resized to it, and its tokenizer used.";
        finding.evidence = {{whole.file->id, TensorBlock{whole.info->name}, whole.info->shapeText()},
                            base.placeOf(*target, target->row->info->shapeText())};
        finish(finding, 1, "tensors", "the engine resizes the base when it loads the adapter");
        finding.next = {"T13", "W8"};
    }

    void lookAtLogs()
    {
        for (const Artifact *const log : m_inputs.run.ofKind(Kind::StartupLog)) {
            const auto *const text = log->as<TextContent>();
            Finding *finding = nullptr;
            for (std::size_t i = 0; text && i < text->lineCount(); ++i) {
                const auto line = text->line(i);
                if (std::none_of(lossLines.begin(), lossLines.end(), [&](auto sign) { return line.find(sign) != std::string_view::npos; }))
                    continue;
                m_logged = true;
                if (!finding) {
                    finding = &add("adapter.log", Severity::Error, "The engine says that parts of an adapter did not land");
                    finding->detail = std::string(line.substr(0, 300));
                    finish(*finding, 1, "lines", "the parts named belong to an adapter that is not served");
                }
                if (finding->evidence.size() < evidenceLimit)
                    finding->evidence.push_back({log->id, LogLine{i + 1, i + 1}, "adapter keys without a place"});
            }
        }
    }

    const Inputs &m_inputs;
    const Job &m_job;
    Report m_report;
    bool m_logged = false;
};

Result<Report> run(const Inputs &inputs, const Params &, const Job &job)
{
    return Coverage(inputs, job).look();
}

constexpr std::array inputKinds{"adapter_files"sv, "weights"sv, "weight_index"sv, "startup_log"sv};

} // namespace

extern constinit const Instrument weights_adapter_key_coverage{
    .id = "W2",
    .name = "Adapter key coverage",
    .question = "Did every stored tensor land, and did every targeted slot get one?",
    .slug = "weights_adapter_key_coverage",
    .inputs = inputKinds,
    .params = {},
    .run = run,
};

} // namespace prosector
