// SPDX-License-Identifier: GPL-3.0-or-later
// F2: per sampling and length setting, who chose the value: the request, the operator, the checkpoint's
// generation_config.json, or the engine.
#include "models/config/effective.h"
#include "models/instruments/instrument.h"

#include <algorithm>
#include <array>

namespace prosector {

namespace {

bool isSampling(const EffectiveSetting &setting)
{
    return setting.category == "sampling" || setting.category == "length";
}

/// Values that change nothing need no author: 1 for a temperature, 0 or -1 for top_k.
bool isNeutral(const SettingSpec &spec, std::string_view value)
{
    if (value == "none" || value.empty())
        return true;
    if (spec.name == "top_k") {
        const auto number = asNumber(value);
        return number && *number <= 0;
    }
    return !spec.neutral.empty() && sameValue(spec.kind, value, spec.neutral);
}

/// One token wins whatever the seed.
struct Greedy {
    bool is = false;
    std::string why;
    std::vector<const EffectiveSetting *> settings;
};

class Audit {
public:
    Audit(const Inputs &inputs, const Job &job) : m_inputs(inputs), m_job(job) {}

    Result<Report> run()
    {
        const auto configs = m_inputs.configs(m_job);
        if (!configs)
            return configs.error();
        bool anything = false;
        for (const EffectiveConfig &config : **configs) {
            bool here = false;
            for (const EffectiveSetting &setting : config.settings)
                here |= isSampling(setting) && speaks(setting);
            if (!here)
                continue;
            anything = true;
            examine(config);
            if (!config.model && config.modelCount > 1)
                m_report.notSeen.push_back("generation_config.json: " + std::to_string(config.modelCount) + " model folders are open and nothing names the one that is served");
        }
        if (!anything)
            return Report::missingInputs({"effective_sampling_params", "request_body", "config_files (generation_config.json)"});
        return std::move(m_report);
    }

private:
    /// Somebody but the table of defaults says something of it.
    static bool speaks(const EffectiveSetting &setting)
    {
        if (setting.observed || !setting.ignored.empty())
            return true;
        return std::any_of(setting.candidates.begin(), setting.candidates.end(), [](const Candidate &c) { return c.evidence.has_value(); });
    }

    const SettingSpec &spec(const EffectiveSetting &setting) const { return *m_inputs.facts.settings.find(setting.name); }

    /// The value of generation_config.json or of a Modelfile; null when the file is silent or not read.
    const Candidate *fileValue(const EffectiveSetting &setting) const
    {
        const auto it = std::find_if(setting.candidates.begin(), setting.candidates.end(), [](const Candidate &c) { return c.origin == Origin::CheckpointFile; });
        return it == setting.candidates.end() ? nullptr : &*it;
    }

    static bool silent(const EffectiveConfig &config, const EffectiveSetting &setting)
    {
        const auto it = config.requestsSaying.find(setting.name);
        return config.requests > 0 && (it == config.requestsSaying.end() || it->second < config.requests);
    }

    /// The file gave the value: it is the first in the order of precedence that fits what ran.
    bool chosenByFile(const EffectiveConfig &config, const EffectiveSetting &setting) const
    {
        const Candidate *const file = fileValue(setting);
        if (!file || isNeutral(spec(setting), file->value))
            return false;
        const Candidate *const by = setting.chosenBy();
        if (by && by->origin == Origin::CheckpointFile)
            return true;
        // Some requests name it, others leave it to the file.
        return by && by->origin == Origin::Request && silent(config, setting) && !setting.observed;
    }

    static Greedy greedy(const EffectiveConfig &config, bool ofFile)
    {
        Greedy result;
        for (const EffectiveSetting &setting : config.settings) {
            std::string value;
            if (ofFile) {
                for (const Candidate &candidate : setting.candidates) {
                    if (candidate.origin == Origin::CheckpointFile)
                        value = candidate.value;
                }
                for (const Candidate &candidate : setting.ignored) {
                    if (value.empty() && candidate.origin == Origin::CheckpointFile)
                        value = candidate.value;
                }
            } else {
                value = setting.value();
            }
            const auto number = asNumber(value);
            if (!number)
                continue;
            const bool hit = (setting.name == "temperature" && *number < 0.01) || (setting.name == "top_k" && *number == 1)
                || (setting.name == "top_p" && *number <= 0.01);
            if (!hit)
                continue;
            result.is = true;
            result.why += (result.why.empty() ? "" : ", ") + setting.name + " " + value;
            result.settings.push_back(&setting);
        }
        return result;
    }

    /// What an operator's flag says of where the defaults come from; null when there is none.
    static const Candidate *namedByOperator(const EffectiveConfig &config)
    {
        for (const std::string_view name : {"override_generation_config", "generation_config"}) {
            const EffectiveSetting *const setting = config.find(name);
            if (!setting)
                continue;
            for (const Candidate &candidate : setting->candidates) {
                if (candidate.origin == Origin::Flag && !leftOpen(candidate.value) && candidate.value != "vllm" && candidate.value != "{}")
                    return &candidate;
            }
        }
        return nullptr;
    }

    void evidence(Finding &finding, const EffectiveConfig &config, const EffectiveSetting &setting) const
    {
        if (const Candidate *const file = fileValue(setting); file && file->evidence)
            finding.evidence.push_back(*file->evidence);
        if (setting.observed && setting.observed->evidence) {
            Evidence seen = *setting.observed->evidence;
            seen.note = "in force: " + seen.note;
            finding.evidence.push_back(std::move(seen));
        }
        (void)config;
    }

    void requestEvidence(Finding &finding, const EffectiveConfig &config, const std::string &what) const
    {
        for (const ArtifactId id : config.artifacts) {
            const Artifact &artifact = m_inputs.run.artifact(id);
            if (artifact.kind == Kind::RequestBody) {
                finding.evidence.push_back({id, Whole{}, "names none of: " + what});
                return;
            }
        }
    }

    void examine(const EffectiveConfig &config)
    {
        table(config);
        std::vector<const EffectiveSetting *> fromFile;
        bool seen = false, read = false;
        for (const EffectiveSetting &setting : config.settings) {
            if (!isSampling(setting) || !chosenByFile(config, setting))
                continue;
            fromFile.push_back(&setting);
            seen |= setting.observed.has_value();
            // The engine printed what it took from the file.
            for (const Candidate &candidate : setting.candidates)
                read |= candidate.origin == Origin::CheckpointFile && candidate.evidence && std::holds_alternative<LogLine>(candidate.evidence->where);
        }
        folderOnly(config);
        if (fromFile.empty())
            return;

        const bool folder = !seen && !read && config.engine.empty();
        const Candidate *const named = namedByOperator(config);
        const Greedy effective = greedy(config, false);
        std::vector<const EffectiveSetting *> ordinary, penalties, decisive;
        for (const EffectiveSetting *const setting : fromFile) {
            const bool makesGreedy = std::find(effective.settings.begin(), effective.settings.end(), setting) != effective.settings.end();
            (makesGreedy ? decisive : spec(*setting).penalty ? penalties : ordinary).push_back(setting);
        }
        // A temperature of 0.1 below top_k 1 is part of the same story.
        if (!decisive.empty()) {
            decisive.insert(decisive.end(), ordinary.begin(), ordinary.end());
            ordinary.clear();
        }
        const bool asked = config.requests > 0;
        const Severity grave = folder || named ? Severity::Info : asked && (seen || read) ? Severity::Error : Severity::Warning;
        const Severity mild = folder || named || !asked || !(seen || read) ? Severity::Info : Severity::Warning;
        if (!decisive.empty())
            report(config, "config.defaults.greedy", grave, decisive, named,
                   "The checkpoint's own defaults make a request that sets nothing greedy: " + effective.why,
                   "Every such request gets the one most likely token at each step, whatever its seed.");
        if (!penalties.empty())
            report(config, "config.defaults.penalty", grave, penalties, named,
                   "A penalty that no request asked for comes from the checkpoint's own defaults",
                   "Penalties bend the distribution: tokens that must repeat (code, numbers, names, JSON) lose.");
        if (!ordinary.empty())
            report(config, "config.defaults.file", mild, ordinary, named,
                   "Sampling values that no request asked for come from the checkpoint's own defaults",
                   "The engine reads them by design, and they are often the vendor's advice; another engine or another revision of "
                   "the folder samples differently.");
    }

    void report(const EffectiveConfig &config, const char *code, Severity severity, const std::vector<const EffectiveSetting *> &settings,
                const Candidate *named, std::string title, const std::string &consequence)
    {
        Finding finding{.code = code, .severity = severity, .title = std::move(title)};
        std::string names;
        for (const EffectiveSetting *const setting : settings) {
            names += (names.empty() ? "" : ", ") + setting->name;
            finding.detail += setting->name + " " + fileValue(*setting)->value + " (API default " + apiDefault(*setting) + "); ";
            evidence(finding, config, *setting);
        }
        finding.detail += consequence;
        if (config.requests > 0)
            requestEvidence(finding, config, names);
        if (named) {
            finding.detail += " The operator named the source: " + named->spelling + " = " + named->value + ".";
            if (named->evidence)
                finding.evidence.push_back(*named->evidence);
        } else if (config.requests == 0) {
            finding.detail += " No request is among the evidence.";
        }
        if (!config.precedence.empty())
            finding.detail += " Order of precedence: " + config.precedenceSource + ".";
        finding.measure = Measure{.number = static_cast<double>(settings.size()), .unit = "settings"};
        finding.falseIf = "The request reached the engine with these fields set (a gateway added them), or the values were taken from another "
                          "file than the one shown.";
        finding.innocent = {"the request"};
        finding.next = {"S1", "F1"};
        m_report.findings.push_back(std::move(finding));
    }

    std::string apiDefault(const EffectiveSetting &setting) const
    {
        for (const Candidate &candidate : setting.candidates) {
            if (candidate.origin == Origin::EngineDefault && candidate.value != "none")
                return candidate.value;
        }
        const SettingSpec &of = spec(setting);
        return of.neutral.empty() ? "none" : of.neutral;
    }

    /// What the file says by itself: possible, not seen.
    void folderOnly(const EffectiveConfig &config)
    {
        const EffectiveSetting *const sample = config.find("do_sample");
        const Greedy file = greedy(config, true);
        if (!sample || !file.is)
            return;
        const auto stated = [&](const std::vector<Candidate> &list) {
            return std::find_if(list.begin(), list.end(), [](const Candidate &c) { return c.origin == Origin::CheckpointFile && c.value == "true"; });
        };
        auto it = stated(sample->candidates);
        if (it == sample->candidates.end()) {
            it = stated(sample->ignored);
            if (it == sample->ignored.end())
                return;
        }
        Finding finding{.code = "config.defaults.sampling_in_name_only", .severity = Severity::Info,
                        .title = "generation_config.json asks for sampling with values that are greedy: " + file.why,
                        .detail = "do_sample is true, yet one token wins at each step. Seen in the file only: whether an engine reads it is "
                                  "another question.",
                        .evidence = {*it->evidence},
                        .falseIf = "No engine reads this file, or every request sets its own values.",
                        .next = {"F2"}};
        for (const EffectiveSetting *const setting : file.settings) {
            for (const auto *list : {&setting->candidates, &setting->ignored}) {
                for (const Candidate &candidate : *list) {
                    if (candidate.origin == Origin::CheckpointFile && candidate.evidence)
                        finding.evidence.push_back(*candidate.evidence);
                }
            }
        }
        m_report.findings.push_back(std::move(finding));
    }

    void table(const EffectiveConfig &config)
    {
        Table table = config.table();
        table.title = config.scope.empty() ? "Who chose each value" : "Who chose each value in " + config.scope;
        std::vector<std::vector<Cell>> rows;
        for (std::vector<Cell> &row : table.rows) {
            const EffectiveSetting *const setting = config.find(row.front().text);
            if (setting && isSampling(*setting))
                rows.push_back(std::move(row));
        }
        table.rows = std::move(rows);
        if (!table.rows.empty())
            m_report.tables.push_back(std::move(table));
    }

    const Inputs &m_inputs;
    const Job &m_job;
    Report m_report;
};

Result<Report> run(const Inputs &inputs, const Params &, const Job &job)
{
    if (job.cancelled())
        return Job::cancelledError();
    return Audit(inputs, job).run();
}

constexpr std::array<std::string_view, 5> usable{"request_body", "effective_sampling_params", "startup_log", "config_files", "engine_args"};

} // namespace

extern constinit const Instrument configuration_default_provenance{
    "F2", "Default-provenance map", "Who chose each value?", "configuration_default_provenance", usable, {}, run};

} // namespace prosector
