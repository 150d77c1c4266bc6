// SPDX-License-Identifier: GPL-3.0-or-later
// F5: do window, base and scaling agree, and were they carried over?
#include "models/config/effective.h"
#include "models/config/requestlengths.h"
#include "models/config/ropescaling.h"
#include "models/instruments/instrument.h"

#include <algorithm>
#include <array>
#include <iterator>

namespace prosector {

namespace {

using Type = RopeSettings::Type;

constexpr std::string_view codeOf(RopeFault::Kind kind)
{
    switch (kind) {
    case RopeFault::Kind::UnknownType: return "rope.scaling.unknown_type";
    case RopeFault::Kind::MissingKey: return "rope.scaling.missing_key";
    case RopeFault::Kind::WrongValue: return "rope.scaling.wrong_value";
    case RopeFault::Kind::TypesDisagree: return "rope.scaling.types_disagree";
    case RopeFault::Kind::Lost: return "rope.scaling.lost";
    case RopeFault::Kind::Changed: return "rope.scaling.changed";
    case RopeFault::Kind::BaseChanged: return "rope.base.changed";
    }
    return {};
}

constexpr std::string_view falseIfOf(RopeFault::Kind kind)
{
    switch (kind) {
    case RopeFault::Kind::UnknownType: return "The model's own code defines this type and is what serves it.";
    case RopeFault::Kind::MissingKey: case RopeFault::Kind::WrongValue: case RopeFault::Kind::TypesDisagree:
        return "The serving program overrides the scaling and never reads these keys.";
    case RopeFault::Kind::Lost: case RopeFault::Kind::Changed:
        return "The file was not converted from this source, or the server is given the scaling by flags.";
    case RopeFault::Kind::BaseChanged: return "The file was not converted from this source, or the base was changed on purpose.";
    }
    return {};
}

/// Scaling that the family was trained with, so that it is no addition for long prompts.
bool isTrainedIn(const ModelDescription &model, const KnownModels &known)
{
    const Type type = model.arch.rope.front().type;
    if (type == Type::LongRope || type == Type::Llama3 || type == Type::Proportional)
        return true;
    if (model.arch.rope.size() > 1)
        return true; // per layer type: part of the architecture (Gemma 3)
    // Of the same model type and scaling type: DeepSeek and gpt-oss were trained with YaRN.
    return std::any_of(known.models().begin(), known.models().end(), [&](const KnownRow &row) {
        const auto modelType = known.fact(row, "model_type"), text = known.fact(row, "text_model_type"),
                   scaling = known.fact(row, "rope_scaling");
        const bool same = (modelType && modelType->accepts(std::string_view(model.arch.modelType)))
                          || (text && text->accepts(std::string_view(model.arch.modelType)));
        if (!same || !scaling)
            return false;
        const Value knownType = scaling->value["rope_type"].isSet() ? scaling->value["rope_type"] : scaling->value["type"];
        return knownType.string() == model.arch.rope.front().typeName->word;
    });
}

Cell cell(const ModelDescription &model, const std::optional<Setting> &setting)
{
    if (!setting)
        return {"–"};
    return {setting->number ? numberText(*setting->number) : setting->text, model.at(setting->where), Severity::Ok,
            setting->number.has_value()};
}

/// Models with learned, relative or no positions: nothing is rotated. Types as Transformers and llama.cpp name them.
bool countsPositions(std::string_view modelType)
{
    constexpr auto types = std::to_array<std::string_view>({"albert", "bart", "bert", "bloom", "camembert", "clip", "deberta", "deberta-v2", "distilbert", "electra", "gpt2", "gpt_bigcode",
                                                            "jais", "jina-bert-v2", "longformer", "mamba", "mamba2", "marian", "mbart", "mpnet", "mpt", "mt5", "opt", "pegasus", "refact",
                                                            "roberta", "rwkv", "starcoder", "t5", "t5encoder", "vit", "whisper", "xlm-roberta"});
    return std::find(types.begin(), types.end(), modelType) != types.end();
}

class Audit {
public:
    Audit(const Inputs &inputs, const Job &job) : m_inputs(inputs), m_job(job), m_models(describeModels(inputs.run))
    {
        if (inputs.baseline) {
            auto others = describeModels(*inputs.baseline, Side::B);
            std::move(others.begin(), others.end(), std::back_inserter(m_models));
        }
    }

    Result<Report> run()
    {
        for (const ModelFolder &folder : m_inputs.run.models()) {
            const Artifact *const config = m_inputs.run.find(folder.config);
            if (config && !config->tree().isObject())
                m_report.notSeen.push_back(config->path + ": not readable as an object");
        }
        // A file that states no position at all agrees with everything.
        std::erase_if(m_models, [&](const ModelDescription &model) {
            if (statesPositions(model.arch))
                return false;
            if (model.side == Side::A)
                m_report.notSeen.push_back(model.path() + ": states no rotary base, no scaling and no window that these would have to fit");
            return true;
        });
        if (m_models.empty())
            return Report{.missing = {"config_files"}, .notSeen = std::move(m_report.notSeen)};
        for (const ModelDescription &model : m_models) {
            if (model.side == Side::A) {
                for (RopeFault &fault : ropeFaults(model))
                    add(std::move(fault), isOwnCode(model, fault.kind) ? Severity::Info : Severity::Error);
            }
        }
        for (const Conversion &conversion : findConversions(m_models)) {
            if (m_job.cancelled())
                return Job::cancelledError();
            auto carriage = ropeCarriage(conversion, m_job);
            for (RopeFault &fault : carriage.faults)
                add(std::move(fault), Severity::Error);
            m_report.notSeen.insert(m_report.notSeen.end(), carriage.notSeen.begin(), carriage.notSeen.end());
        }
        if (auto done = serving(); !done)
            return done.error();
        if (auto done = requests(); !done)
            return done.error();
        table();
        return std::move(m_report);
    }

private:
    /// A window alone says something where positions are rotated, or where something shows how the model is served.
    bool statesPositions(const Architecture &arch) const
    {
        const auto served = [&] {
            constexpr std::array kinds{Kind::StartupLog, Kind::EngineArgs, Kind::EffectiveConfig, Kind::RequestLog};
            return std::any_of(kinds.begin(), kinds.end(), [&](Kind kind) { return !m_inputs.run.ofKind(kind).empty(); });
        };
        const auto states = [](const RopeSettings &rope) { return rope.theta || rope.scaling; };
        const auto concerns = [](const SettingRemark &remark) {
            return remark.where.note.starts_with("rope_") || remark.where.note.starts_with("max_position_embeddings");
        };
        return (arch.number(ArchField::Context) && (!countsPositions(arch.modelType) || served())) || std::any_of(arch.remarks.begin(), arch.remarks.end(), concerns) || std::any_of(arch.rope.begin(), arch.rope.end(), states);
    }

    static bool isOwnCode(const ModelDescription &model, RopeFault::Kind kind)
    {
        return kind == RopeFault::Kind::UnknownType && model.artifact->tree()["auto_map"].isSet();
    }

    void add(RopeFault fault, Severity severity)
    {
        Finding finding{std::string(codeOf(fault.kind)), severity, std::move(fault.title), std::move(fault.detail)};
        finding.evidence = std::move(fault.evidence);
        finding.falseIf = falseIfOf(fault.kind);
        if (fault.kind == RopeFault::Kind::Lost || fault.kind == RopeFault::Kind::Changed
            || fault.kind == RopeFault::Kind::BaseChanged)
            finding.next = {"F9", "M3"};
        else
            finding.next = {"F1", "F10"};
        m_report.findings.push_back(std::move(finding));
    }

    /// The serving window against what the declaration reaches, and the base that runs against the file's.
    Result<void> serving()
    {
        const auto configs = m_inputs.configs(m_job);
        if (!configs)
            return configs.error();
        for (const EffectiveConfig &config : **configs) {
            const ModelDescription *const model = served(config);
            if (!model)
                continue;
            window(config, *model);
            base(config);
        }
        return {};
    }

    const ModelDescription *served(const EffectiveConfig &config) const
    {
        const ModelDescription *found = nullptr;
        for (const ModelDescription &model : m_models) {
            const bool same = model.side == Side::A
                              && (!config.model || &m_inputs.run.models()[*config.model] == model.folder);
            if (!same)
                continue;
            if (found)
                return nullptr; // several models and nothing says which
            found = &model;
        }
        return found;
    }

    /// What runs, if something other than the checkpoint says so.
    static const Candidate *runtimeOf(const EffectiveSetting *setting)
    {
        if (!setting)
            return nullptr;
        if (setting->observed)
            return &*setting->observed;
        const Candidate *const chosen = setting->chosenBy();
        const bool runtime = chosen && (chosen->origin == Origin::Flag || chosen->origin == Origin::Environment
                                        || chosen->origin == Origin::LogLine);
        return runtime ? chosen : nullptr;
    }

    static std::optional<double> numberIn(const std::string &text)
    {
        return Document::parseJson(text)->root().number();
    }

    /// Whether the checkpoint uses biases by distance, which have no longest position (Press et al. 2022).
    static bool hasAlibi(const ModelDescription &model)
    {
        if (model.arch.modelType == "bloom")
            return true;
        if (model.gguf)
            return false;
        const Value root = model.artifact->tree();
        return root["alibi"].boolean() == true || root["attn_config"]["alibi"].boolean() == true
               || root["position_embedding_type"].string("") == "alibi";
    }

    /// The overrides as an object: JSON, or JSON in a JSON string; null when neither (a log prints Python).
    static DocumentPtr overridesIn(const std::string &text)
    {
        DocumentPtr document = Document::parseJson(text);
        if (document->root().isString())
            document = Document::parseJson(document->root().string(""));
        return document->root().isObject() ? document : nullptr;
    }

    void window(const EffectiveConfig &config, const ModelDescription &model)
    {
        if (hasAlibi(model))
            return;
        const Candidate *const length = runtimeOf(config.find("context_length"));
        const auto window = length ? numberIn(length->value) : std::nullopt;
        if (!window || !length->evidence)
            return;
        Architecture arch = model.arch;
        const Candidate *scaling = runtimeOf(config.find("rope_scaling"));
        DocumentPtr override;
        if (const Candidate *const overrides = runtimeOf(config.find("hf_overrides"));
            !scaling && overrides && overrides->raw.find("rope_") != std::string::npos) {
            override = overridesIn(overrides->raw);
            if (!override) {
                m_report.notSeen.push_back("the position settings of " + overrides->spelling
                                           + " are not readable, so the serving window was not judged");
                return;
            }
            const Value root = override->root();
            if (root["rope_scaling"].isObject() || root["rope_parameters"].isObject()) {
                arch.rope = architectureOfConfig(model.artifact->id, root).rope;
                scaling = overrides;
            }
        } else if (scaling) {
            override = Document::parseJson(scaling->raw);
            if (!override->root().isObject()) {
                m_report.notSeen.push_back("the scaling set by " + scaling->spelling + " is not readable, so the serving window was not judged");
                return;
            }
            const std::string wrapped = "{\"rope_scaling\":" + scaling->raw + '}';
            override = Document::parseJson(wrapped);
            arch.rope = architectureOfConfig(model.artifact->id, override->root()).rope;
        }
        const auto reach = reachOf(arch);
        if (!reach || *window <= *reach)
            return;
        Finding finding{"rope.window.beyond_reach", Severity::Error,
                        "The server's window of " + numberText(*window) + " tokens is more than the model's "
                            + numberText(*reach),
                        "Position scaling: " + describe(arch.rope.front())
                            + ". Positions beyond that were never trained and no scaling brings them back."};
        finding.measure = Measure{*window - *reach, "tokens"};
        finding.evidence.push_back(*length->evidence);
        if (const Setting *const context = model.arch.get(ArchField::Context))
            finding.evidence.push_back(model.at(context->where));
        if (scaling && scaling->evidence)
            finding.evidence.push_back(*scaling->evidence);
        finding.falseIf = "No request comes near the window, or the model extrapolates without scaling (ALiBi, no positions).";
        finding.next = {"M6", "F1"};
        m_report.findings.push_back(std::move(finding));
    }

    void base(const EffectiveConfig &config)
    {
        const EffectiveSetting *const setting = config.find("rope_theta");
        if (!setting || !setting->observed || !setting->observed->evidence)
            return;
        const auto runs = numberIn(setting->observed->value);
        const Candidate *declared = nullptr;
        for (const Candidate &candidate : setting->candidates) {
            if (candidate.origin == Origin::Flag || candidate.origin == Origin::Environment || candidate.origin == Origin::Request)
                return; // someone asked for it
            if (candidate.origin == Origin::CheckpointFile && !declared)
                declared = &candidate;
        }
        const auto states = declared ? numberIn(declared->value) : std::nullopt;
        if (!runs || !states || !declared->evidence || sameNumber(*runs, *states))
            return;
        add({RopeFault::Kind::BaseChanged,
             "The RoPE base is " + numberText(*states) + " in the file and " + numberText(*runs) + " in the running server",
             "No flag asks for another base. Every rotation differs from the one the weights were trained with.",
             {*declared->evidence, *setting->observed->evidence}},
            Severity::Error);
    }

    Result<void> requests()
    {
        const bool anyScaling = std::any_of(m_models.begin(), m_models.end(), [](const ModelDescription &model) {
            const Type type = model.arch.rope.front().type;
            return model.side == Side::A && (type == Type::Yarn || type == Type::Linear || type == Type::Dynamic);
        });
        if (!anyScaling)
            return {};
        auto lengths = requestLengths(m_inputs.run, m_job);
        if (!lengths)
            return lengths.error();
        std::sort(lengths->begin(), lengths->end(), [](auto &a, auto &b) { return a.tokens < b.tokens; });
        for (const ModelDescription &model : m_models) {
            if (model.side == Side::A)
                judgeLengths(model, *lengths);
        }
        return {};
    }

    void judgeLengths(const ModelDescription &model, const std::vector<RequestLength> &lengths)
    {
        const RopeSettings &rope = model.arch.rope.front();
        const auto original = rope.original && rope.original->number ? rope.original->number : model.arch.number(ArchField::Context);
        if (!original || !rope.typeName)
            return;
        const Evidence declared = model.at(rope.typeName->where);
        if (rope.type == Type::Dynamic) {
            Finding finding{"rope.dynamic", Severity::Info, "Dynamic scaling: the base changes once a sequence passes "
                                + numberText(*original) + " tokens",
                            "Keys cached before that point were rotated with another base."};
            finding.evidence.push_back(declared);
            finding.falseIf = "No sequence ever passes that length.";
            if (!lengths.empty() && lengths.back().tokens > *original) {
                finding.severity = Severity::Warning;
                finding.title = "Dynamic scaling met a request of " + numberText(lengths.back().tokens) + " tokens, beyond "
                                + numberText(*original);
                finding.evidence.push_back(lengths.back().where);
                finding.falseIf = "The cache is recomputed when the base changes, or the length counts more than one sequence.";
            }
            m_report.findings.push_back(std::move(finding));
            return;
        }
        constexpr std::size_t enough = 100;
        if ((rope.type != Type::Yarn && rope.type != Type::Linear) || lengths.size() < enough
            || isTrainedIn(model, m_inputs.facts.knownModels))
            return;
        const RequestLength &p95 = lengths[(lengths.size() * 95 + 99) / 100 - 1];
        if (p95.tokens >= *original)
            return;
        Finding finding{"rope.scaling.for_nothing", Severity::Warning,
                        "Static " + std::string(nameOf(rope.type)) + " scaling is on, but 95 % of requests have at most "
                            + numberText(p95.tokens) + " tokens",
                        "Below " + numberText(*original)
                            + " tokens the model needs no scaling, and static scaling costs quality there."};
        finding.measure = Measure{p95.tokens, "tokens", {}, {}, lengths.size()};
        finding.evidence = {declared, p95.where, lengths.back().where};
        finding.evidence[2].note = "the longest: " + finding.evidence[2].note;
        finding.falseIf = "The scaling was trained in, or the long requests are served elsewhere and not in this log.";
        finding.next = {"M6"};
        m_report.findings.push_back(std::move(finding));
        Series series{"Request lengths", "request, by length", "tokens"};
        for (std::size_t i = 0; i < lengths.size(); ++i) {
            series.x.push_back(static_cast<double>(i));
            series.y.push_back(lengths[i].tokens);
        }
        series.marks.push_back({0, *original, "original length"});
        m_report.series.push_back(std::move(series));
    }

    void table()
    {
        Table table{"Positions", {"file", "layers", "window", "base", "scaling", "factor", "original", "reach", "rotated"}, {}};
        for (const ModelDescription &model : m_models) {
            for (const RopeSettings &rope : model.arch.rope) {
                const Setting *const context = model.arch.get(ArchField::Context);
                const auto reach = reachOf(model.arch), rotary = model.arch.rotaryDim();
                if (!context && !rope.theta && !rope.scaling)
                    continue;
                std::vector<Cell> row{{model.path(), model.whole("described here")},
                                      {rope.layerType.empty() ? "all" : rope.layerType}};
                row.push_back(cell(model, context ? std::optional(*context) : std::nullopt));
                row.push_back(cell(model, rope.theta));
                row.push_back({std::string(nameOf(rope.type)),
                               rope.scaling ? std::optional(model.at(rope.scaling->where)) : std::nullopt});
                row.push_back(cell(model, rope.factor));
                row.push_back(cell(model, rope.original));
                row.push_back({reach ? numberText(*reach) : "–", {}, Severity::Ok, true});
                row.push_back({rotary ? numberText(*rotary) : "–", {}, Severity::Ok, true});
                table.rows.push_back(std::move(row));
            }
        }
        if (!table.rows.empty())
            m_report.tables.push_back(std::move(table));
    }

    const Inputs &m_inputs;
    const Job &m_job;
    std::vector<ModelDescription> m_models;
    Report m_report;
};

Result<Report> run(const Inputs &inputs, const Params &, const Job &job)
{
    if (job.cancelled())
        return Job::cancelledError();
    return Audit(inputs, job).run();
}

constexpr std::array<std::string_view, 5> usable{"config_files", "weights", "startup_log", "engine_args", "request_log"};

} // namespace

extern constinit const Instrument configuration_position_scaling{
    "F5", "Position-scaling audit", "Do window, base and scaling agree, and were they carried over?",
    "configuration_position_scaling", usable, {}, run};

} // namespace prosector
