// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/config/effective.h"

#include "models/config/evaluation.h"
#include "models/config/sayings.h"

#include <algorithm>
#include <array>
#include <set>

namespace prosector {

namespace {

using Standing = Saying::Standing;

constexpr auto categories = std::to_array<std::string_view>({"sampling", "length", "stop", "position", "precision", "quantization",
                                                              "cache", "template", "architecture", "other"});

std::size_t categoryRank(std::string_view category)
{
    return static_cast<std::size_t>(std::find(categories.begin(), categories.end(), category) - categories.begin());
}

/// Settings that a request may carry; the rest belongs to the server.
bool ofRequest(std::string_view category)
{
    return category == "sampling" || category == "length" || category == "stop";
}

/// Id of the precedence list that holds for the engine and the route.
std::string precedenceId(const Sayings &sayings)
{
    if (sayings.engine == "vLLM")
        return "vllm.openai";
    if (sayings.engine == "SGLang")
        return sayings.route == "/generate" ? "sglang.native" : "sglang.openai";
    if (sayings.engine == "Ollama")
        return sayings.route.starts_with("/v1") ? "ollama.openai" : "ollama.native";
    if (sayings.engine == "llama.cpp")
        return "llama.cpp";
    if (sayings.engine == "TGI")
        return "tgi";
    return sayings.engine == "Transformers" ? "transformers" : "";
}

/// Lower is stronger. The lists in the facts are prose; this is their order by origin.
int rankOf(Origin origin, const Sayings &sayings, const SettingSpec &spec)
{
    switch (origin) {
    case Origin::EngineOverride:
    case Origin::Hardware:
    case Origin::LogLine: return 0;
    case Origin::Request: return 1;
    case Origin::Gateway: return 2;
    case Origin::Flag: return 3;
    // Ollama: a Modelfile's PARAMETER stands above the environment.
    case Origin::Environment: return sayings.engine == "Ollama" && spec.name == "context_length" ? 6 : 4;
    case Origin::CheckpointFile: {
        // Ollama's OpenAI routes fill these two in before the Modelfile is looked at.
        const bool fixedFirst = sayings.engine == "Ollama" && sayings.route.starts_with("/v1") && (spec.name == "temperature" || spec.name == "top_p");
        return fixedFirst ? 8 : 5;
    }
    case Origin::EngineDefault: return 7;
    }
    return 8;
}

bool isFileOfGenerationDefaults(const Saying &saying, const Run &run)
{
    if (saying.candidate.origin != Origin::CheckpointFile || !saying.candidate.evidence)
        return false;
    return run.artifact(saying.candidate.evidence->artifact).path.ends_with("generation_config.json");
}

/// The last word of the operator on a word-like setting, "" when silent.
std::string flagValue(const Sayings &sayings, std::string_view name)
{
    for (const Saying &saying : sayings.all) {
        if (saying.setting->name == name && (saying.candidate.origin == Origin::Flag || saying.standing == Standing::Observed))
            return saying.candidate.value;
    }
    return {};
}

/// Why a value of generation_config.json does not act here; "" when it does.
std::string whyFileIsIdle(const Saying &saying, const Sayings &sayings)
{
    if (!ofRequest(saying.setting->category))
        return {};
    const std::string &name = saying.candidate.spelling;
    if (sayings.engine == "vLLM") {
        if (saying.setting->category == "stop")
            return {};
        const std::string mode = flagValue(sayings, "generation_config");
        if (mode == "vllm")
            return "--generation-config vllm leaves the file's sampling values out";
        if (!sayings.version.empty() && compareVersions(sayings.version, "0.8.0") < 0 && mode.empty())
            return "before v0.8.0 the file is read only when --generation-config asks for it";
        constexpr auto read = std::to_array<std::string_view>({"repetition_penalty", "temperature", "top_k", "top_p", "min_p", "max_new_tokens"});
        if (std::find(read.begin(), read.end(), name) == read.end())
            return "vLLM does not read this key of the file";
    } else if (sayings.engine == "SGLang") {
        if (saying.setting->category == "stop")
            return {};
        if (flagValue(sayings, "sampling_defaults") == "openai")
            return "--sampling-defaults openai leaves the file out";
        if (sayings.route == "/v1/completions" || sayings.route == "/generate")
            return "only the chat route reads the file";
        if (!sayings.version.empty() && compareVersions(sayings.version, "0.5.4") < 0)
            return "before v0.5.4 the chat route does not read the file";
        constexpr auto read = std::to_array<std::string_view>({"repetition_penalty", "temperature", "top_k", "top_p", "min_p"});
        if (std::find(read.begin(), read.end(), name) == read.end())
            return "SGLang does not read this key of the file";
    } else if (sayings.engine == "TGI") {
        if (saying.setting->name != "eos_token_id")
            return "TGI reads only the end-of-text ids of the file";
    } else if (sayings.engine == "llama.cpp" || sayings.engine == "Ollama") {
        return sayings.engine + " does not read this file";
    }
    return {};
}

std::optional<Candidate> engineDefault(const SettingSpec &spec, const Sayings &sayings, const Facts &facts)
{
    if (sayings.engine.empty() || spec.category == "architecture" || spec.category == "other")
        return std::nullopt;
    std::vector<std::string> components;
    const bool request = ofRequest(spec.category);
    if (sayings.engine == "vLLM")
        components = request ? std::vector<std::string>{sayings.route, "SamplingParams"} : std::vector<std::string>{"server flag"};
    else if (sayings.engine == "SGLang")
        components = request ? std::vector<std::string>{sayings.route, "sampling_params"} : std::vector<std::string>{"server flag"};
    else if (sayings.engine == "Ollama")
        components = sayings.route.starts_with("/v1") ? std::vector<std::string>{"/v1/chat", "Modelfile", "runner", "environment"}
                                                      : std::vector<std::string>{"Modelfile", "runner", "environment"};
    else if (sayings.engine == "TGI")
        components = request ? std::vector<std::string>{sayings.route == "/generate" ? "/generate" : "/v1/chat", "/generate"}
                             : std::vector<std::string>{"launcher flag"};
    else if (sayings.engine == "llama.cpp")
        components = {"llama-server / llama-cli"};
    else
        components = {"generate()", "from_pretrained()"};

    std::optional<Candidate> found;
    for (const std::string &component : components) {
        if (component.empty())
            continue;
        for (std::size_t i = 0; i <= spec.names.size(); ++i) {
            const std::string &spelling = i == 0 ? spec.name : spec.names[i - 1];
            const auto inForce = facts.engineDefaults.inForce(sayings.engine, spelling, sayings.version, component);
            if (!inForce)
                continue;
            const DefaultRow &row = *inForce->row;
            Candidate candidate{Origin::EngineDefault, normalValue(spec.kind, row.value), row.value, row.setting, {}, row.citation(), inForce->remark};
            const bool open = candidate.value == "none";
            if (!found || found->value == "none")
                found = std::move(candidate);
            // A route that states no limit has none, whatever the class behind it starts from (vLLM: 16).
            if (!open || (component == sayings.route && spec.category == "length"))
                return found;
            break;
        }
    }
    return found;
}

/// The request's spelling is none of the engine's own, while the engine has the setting under another.
std::string whyRequestIsIdle(const Saying &saying, const Sayings &sayings, const Facts &facts)
{
    if (sayings.engine.empty() || saying.candidate.origin != Origin::Request || !saying.candidate.evidence)
        return {};
    if (!facts.engineDefaults.find(sayings.engine, saying.candidate.spelling).empty())
        return {};
    for (const std::string &name : saying.setting->names) {
        for (const DefaultRow *const row : facts.engineDefaults.find(sayings.engine, name))
            return sayings.engine + " has no such field; its name there is " + row->setting + " (" + row->citation() + ")";
    }
    return {};
}

class Merge {
public:
    Merge(const Run &run, const Facts &facts, const Sayings &sayings) : m_run(run), m_facts(facts), m_sayings(sayings) {}

    std::vector<EffectiveSetting> settings() const
    {
        std::vector<EffectiveSetting> result;
        for (const SettingSpec &spec : m_facts.settings.all()) {
            EffectiveSetting setting = merge(spec);
            if (!setting.candidates.empty() || setting.observed || !setting.ignored.empty())
                result.push_back(std::move(setting));
        }
        std::stable_sort(result.begin(), result.end(), [](const EffectiveSetting &a, const EffectiveSetting &b) {
            return std::pair(categoryRank(a.category), std::string_view(a.name)) < std::pair(categoryRank(b.category), std::string_view(b.name));
        });
        return result;
    }

private:
    EffectiveSetting merge(const SettingSpec &spec) const
    {
        EffectiveSetting setting;
        setting.name = spec.name;
        setting.category = spec.category;
        int observedWeight = -1;
        for (const Saying &saying : m_sayings.all) {
            if (saying.setting != &spec)
                continue;
            switch (saying.standing) {
            case Standing::Observed:
                observe(setting, spec, saying, observedWeight);
                break;
            case Standing::Ignored:
                setting.ignored.push_back(saying.candidate);
                break;
            case Standing::Loaded:
                if (!setting.loaded)
                    setting.loaded = saying.candidate;
                else if (!setting.taken && setting.loaded->note != saying.candidate.note && !sameValue(spec.kind, setting.loaded->value, saying.candidate.value))
                    setting.taken = saying.candidate;
                break;
            case Standing::Candidate: {
                Candidate candidate = saying.candidate;
                std::string idle = isFileOfGenerationDefaults(saying, m_run) ? whyFileIsIdle(saying, m_sayings) : whyRequestIsIdle(saying, m_sayings, m_facts);
                if (!idle.empty()) {
                    candidate.note = std::move(idle);
                    setting.ignored.push_back(std::move(candidate));
                } else {
                    setting.candidates.push_back(std::move(candidate));
                }
                break;
            }
            }
        }
        const bool declared = std::any_of(setting.candidates.begin(), setting.candidates.end(), [](const Candidate &c) { return c.origin == Origin::CheckpointFile; });
        if (setting.loaded && !declared)
            setting.candidates.push_back(*setting.loaded);
        if (auto byDefault = engineDefault(spec, m_sayings, m_facts)) {
            if (byDefault->value != "none" || !setting.candidates.empty() || setting.observed)
                setting.candidates.push_back(std::move(*byDefault));
        }
        std::stable_sort(setting.candidates.begin(), setting.candidates.end(), [&](const Candidate &a, const Candidate &b) {
            return rankOf(a.origin, m_sayings, spec) < rankOf(b.origin, m_sayings, spec);
        });
        choose(setting, spec);
        return setting;
    }

    static void observe(EffectiveSetting &setting, const SettingSpec &spec, const Saying &saying, int &weight)
    {
        const bool open = leftOpen(saying.candidate.value);
        // "auto" in a dump says less than any line that says what it became.
        const int own = open ? 0 : saying.weight;
        if (!setting.observed || own > weight) {
            setting.observed = saying.candidate;
            weight = own;
        } else if (!open && !sameValue(spec.kind, setting.observed->value, saying.candidate.value) && setting.observed->note.empty() && own == weight
                   && saying.candidate.evidence) {
            setting.observed->note = "elsewhere " + saying.candidate.value + " (" + describe(saying.candidate.evidence->where) + ")";
        }
    }

    static void choose(EffectiveSetting &setting, const SettingSpec &spec)
    {
        if (setting.candidates.empty())
            return;
        if (!setting.observed) {
            // Requests that differ have no one value.
            const Candidate &first = setting.candidates.front();
            for (const Candidate &other : setting.candidates) {
                if (other.origin == first.origin && other.origin == Origin::Request && !sameValue(spec.kind, first.value, other.value))
                    return;
            }
            const auto it = std::find_if(setting.candidates.begin(), setting.candidates.end(), [](const Candidate &c) { return c.value != "auto"; });
            setting.chosen = static_cast<int>((it == setting.candidates.end() ? setting.candidates.begin() : it) - setting.candidates.begin());
            return;
        }
        for (std::size_t i = 0; i < setting.candidates.size(); ++i) {
            if (sameValue(spec.kind, setting.candidates[i].value, setting.observed->value)) {
                setting.chosen = static_cast<int>(i);
                break;
            }
        }
        if (setting.chosen < 0)
            return;
        std::set<std::string> also;
        for (std::size_t i = static_cast<std::size_t>(setting.chosen) + 1; i < setting.candidates.size(); ++i) {
            const Candidate &other = setting.candidates[i];
            if (other.origin != setting.candidates[static_cast<std::size_t>(setting.chosen)].origin
                && sameValue(spec.kind, other.value, setting.observed->value))
                also.insert(std::string(nameOf(other.origin)));
        }
        if (!also.empty()) {
            std::string &note = setting.candidates[static_cast<std::size_t>(setting.chosen)].note;
            note += note.empty() ? "the same value also from: " : "; the same value also from: ";
            bool firstName = true;
            for (const std::string &name : also) {
                note += (firstName ? "" : ", ") + name;
                firstName = false;
            }
        }
    }

    const Run &m_run;
    const Facts &m_facts;
    const Sayings &m_sayings;
};

std::string describeCandidate(const Candidate &candidate)
{
    std::string text = candidate.value + " (" + std::string(nameOf(candidate.origin));
    if (!candidate.spelling.empty())
        text += " " + candidate.spelling;
    text += ")";
    if (!candidate.note.empty())
        text += ": " + candidate.note;
    return text;
}

/// Does this log tell a configuration of its own?
bool tellsConfiguration(const LogTriage &triage, const Facts &facts)
{
    return std::any_of(triage.hits.begin(), triage.hits.end(), [&](const LogHit &hit) {
        for (const LogValue *const value : facts.settings.logValues(hit.pattern->id)) {
            if (value->role == LogValue::Role::FlagsDump || value->role == LogValue::Role::ConfigDump || value->role == LogValue::Role::ArgsDump
                || value->role == LogValue::Role::Command || value->role == LogValue::Role::GgufPair)
                return true;
        }
        return false;
    });
}

} // namespace

std::string_view nameOf(Origin origin)
{
    switch (origin) {
    case Origin::Request: return "request";
    case Origin::Gateway: return "gateway";
    case Origin::Flag: return "flag";
    case Origin::Environment: return "environment";
    case Origin::LogLine: return "seen running";
    case Origin::CheckpointFile: return "checkpoint file";
    case Origin::EngineDefault: return "engine default";
    case Origin::EngineOverride: return "engine override";
    case Origin::Hardware: return "hardware";
    }
    return "";
}

std::string EffectiveSetting::value() const
{
    if (observed)
        return observed->value;
    const Candidate *const by = chosenBy();
    return by ? by->value : std::string();
}

const EffectiveSetting *EffectiveConfig::find(std::string_view name) const
{
    const auto it = std::find_if(settings.begin(), settings.end(), [&](const EffectiveSetting &s) { return s.name == name; });
    return it == settings.end() ? nullptr : &*it;
}

Table EffectiveConfig::table() const
{
    Table table{.title = scope.empty() ? "Effective configuration" : "Effective configuration of " + scope,
                .columns = {"Setting", "Value", "Set by", "Where", "Overrode", "Ignored"},
                .rows = {}};
    for (const EffectiveSetting &setting : settings) {
        const Candidate *const by = setting.chosenBy();
        const Candidate *const shown = setting.observed ? &*setting.observed : by;
        std::string origin = by ? std::string(nameOf(by->origin)) : setting.observed ? std::string(nameOf(setting.observed->origin)) : "";
        if (by && !by->spelling.empty())
            origin += ": " + by->spelling;
        std::string where;
        const Candidate *const placed = by && by->evidence ? by : shown;
        if (placed)
            where = placed->evidence ? describe(placed->evidence->where) : placed->source;
        std::string overrode, ignored;
        for (std::size_t i = 0; i < setting.candidates.size(); ++i) {
            if (static_cast<int>(i) != setting.chosen)
                overrode += (overrode.empty() ? "" : "; ") + describeCandidate(setting.candidates[i]);
        }
        for (const Candidate &candidate : setting.ignored)
            ignored += (ignored.empty() ? "" : "; ") + describeCandidate(candidate);
        std::vector<Cell> row;
        row.push_back({.text = setting.name});
        row.push_back({.text = setting.value(), .source = shown ? shown->evidence : std::nullopt, .numeric = asNumber(setting.value()).has_value()});
        row.push_back({.text = std::move(origin), .source = by ? by->evidence : std::nullopt});
        row.push_back({.text = std::move(where), .source = placed ? placed->evidence : std::nullopt});
        row.push_back({.text = std::move(overrode)});
        row.push_back({.text = std::move(ignored)});
        table.rows.push_back(std::move(row));
    }
    return table;
}

Result<std::vector<EffectiveConfig>> effectiveConfigs(const Run &run, const Facts &facts, const Job &job)
{
    const auto triages = triageLogs(run, facts, job);
    if (!triages)
        return triages.error();
    return effectiveConfigs(run, facts, *triages, job);
}

Result<std::vector<EffectiveConfig>> effectiveConfigs(const Run &run, const Facts &facts,
                                                      const std::map<std::uint32_t, LogTriage> &triages, const Job &job)
{
    std::vector<EffectiveConfig> configs;
    for (const EvidenceSet &set : evidenceSets(run)) {
        std::map<std::uint32_t, LogTriage> own;
        std::vector<const Artifact *> telling;
        for (const ArtifactId id : set.artifacts) {
            const auto it = triages.find(id.index);
            if (it == triages.end())
                continue;
            own.emplace(it->first, it->second);
            if (tellsConfiguration(it->second, facts))
                telling.push_back(&run.artifact(id));
        }
        if (telling.size() < 2)
            telling = {nullptr}; // one server: whatever the logs say belongs together
        for (const Artifact *const log : telling) {
            if (job.cancelled())
                return Job::cancelledError();
            auto sayings = collectSayings(run, facts, set, log, own, job);
            if (!sayings)
                return sayings.error();
            EffectiveConfig config;
            config.scope = log ? log->path : set.scope;
            config.engine = sayings->engine;
            config.version = sayings->version;
            config.model = sayings->model;
            config.modelCount = set.models.size();
            config.artifacts = sayings->artifacts;
            config.route = sayings->route;
            config.requests = sayings->requests;
            config.requestsSaying = sayings->requestsSaying;
            if (const Precedence *const order = facts.engineDefaults.precedence(precedenceId(*sayings))) {
                config.precedence = order->order;
                config.precedenceSource = order->source;
            }
            config.settings = Merge(run, facts, *sayings).settings();
            if (!config.artifacts.empty())
                configs.push_back(std::move(config));
        }
    }
    return configs;
}

Result<EffectiveConfig> declaredConfig(const Run &run, const Facts &facts, std::size_t model, const Job &job)
{
    const EvidenceSet alone{run.models()[model].path, {}, {model}};
    const auto sayings = collectSayings(run, facts, alone, nullptr, {}, job);
    if (!sayings)
        return sayings.error();
    EffectiveConfig config;
    config.scope = alone.scope;
    config.model = model;
    config.modelCount = 1;
    config.artifacts = sayings->artifacts;
    config.settings = Merge(run, facts, *sayings).settings();
    return config;
}

} // namespace prosector
