// SPDX-License-Identifier: GPL-3.0-or-later
// F1: what was requested, what the checkpoint declares, what runs; and keys that one file sets twice.
#include "models/config/effective.h"
#include "models/config/pyrepr.h"
#include "models/core/utf8.h"
#include "models/instruments/instrument.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>

namespace prosector {

namespace {

/// Most findings about keys that stand twice, per file.
constexpr std::size_t duplicatesPerFile = 20;

enum class Class : std::uint8_t { Equal, Derived, Overridden, Ignored, Contradicted, Unseen };

std::string_view nameOf(Class of)
{
    switch (of) {
    case Class::Equal: return "equal";
    case Class::Derived: return "derived";
    case Class::Overridden: return "changed by the engine";
    case Class::Ignored: return "ignored";
    case Class::Contradicted: return "contradicted";
    case Class::Unseen: return "not seen running";
    }
    return "";
}

bool isOperatorsWish(const Candidate &candidate)
{
    return candidate.origin == Origin::Request || candidate.origin == Origin::Gateway || candidate.origin == Origin::Flag
        || candidate.origin == Origin::Environment;
}

const Candidate *strongest(const EffectiveSetting &setting, bool wish)
{
    for (const Candidate &candidate : setting.candidates) {
        if (wish ? isOperatorsWish(candidate) : candidate.origin == Origin::CheckpointFile)
            return &candidate;
    }
    return nullptr;
}

/// A number printed with few digits ("6.2e-02", "1000000.0") stands for all that round to it.
bool samePrinted(const Candidate &a, const Candidate &b)
{
    const auto x = asNumber(a.value), y = asNumber(b.value);
    if (!x || !y)
        return false;
    double tolerance = 1e-6 * std::max(std::abs(*x), std::abs(*y));
    for (const Candidate *const side : {&a, &b}) {
        const auto dot = side->raw.find('.');
        if (dot == std::string::npos)
            continue;
        const auto exponentAt = side->raw.find_first_of("eE", dot);
        const std::size_t end = std::min(exponentAt, side->raw.size());
        int decimals = 0;
        for (std::size_t i = dot + 1; i < end && std::isdigit(static_cast<unsigned char>(side->raw[i])); ++i)
            ++decimals;
        double exponent = 0;
        if (exponentAt != std::string::npos)
            exponent = asNumber(std::string_view(side->raw).substr(exponentAt + 1)).value_or(0);
        tolerance = std::max(tolerance, 0.5 * std::pow(10.0, exponent - decimals) * (1 + 1e-9));
    }
    return std::abs(*x - *y) <= tolerance;
}

/// "32k" is 32000 to one program and 32768 to another.
bool sameThousands(const Candidate &wish, const Candidate &seen)
{
    if (wish.raw.empty() || (wish.raw.back() != 'k' && wish.raw.back() != 'K'))
        return false;
    const auto count = asNumber(std::string_view(wish.raw).substr(0, wish.raw.size() - 1)), runs = asNumber(seen.value);
    return count && runs && (*runs == *count * 1000 || *runs == *count * 1024);
}

/// A value on one line, for sentences.
std::string inLine(std::string_view text)
{
    std::string result;
    for (const char c : text) {
        const bool blank = c == ' ' || c == '\n' || c == '\t' || c == '\r';
        if (!blank || (!result.empty() && result.back() != ' '))
            result.push_back(blank ? ' ' : c);
    }
    return result;
}

/// The texts of a printed list, or of a single value; nothing for something else.
std::optional<std::vector<std::string>> entriesOf(std::string_view text)
{
    const ReprValue value = parseRepr(text);
    std::vector<std::string> entries;
    if (value.isNone())
        return entries;
    if (value.kind == ReprValue::Kind::Word || value.kind == ReprValue::Kind::String)
        return std::vector{value.text};
    if (value.kind != ReprValue::Kind::List)
        return std::nullopt;
    for (const ReprValue::Member &member : value.members) {
        const ReprValue &entry = member.value.front();
        if (entry.kind != ReprValue::Kind::Word && entry.kind != ReprValue::Kind::String)
            return std::nullopt;
        entries.push_back(entry.text);
    }
    return entries;
}

/// Engines add stops of their own; what was asked for may not be missing.
bool loses(const Candidate &wish, const Candidate &seen)
{
    const auto asked = entriesOf(wish.raw), runs = entriesOf(seen.raw);
    return asked && runs && std::any_of(asked->begin(), asked->end(), [&](const std::string &entry) {
        return std::find(runs->begin(), runs->end(), entry) == runs->end();
    });
}

class Audit {
public:
    Audit(const Inputs &inputs, const Job &job) : m_inputs(inputs), m_job(job) {}

    Result<Report> run()
    {
        const auto configs = m_inputs.configs(m_job);
        if (!configs)
            return configs.error();
        bool seen = false;
        for (const EffectiveConfig &config : **configs) {
            seen |= examine(withSlotContext(config));
            if (!config.model && config.modelCount > 1)
                m_report.notSeen.push_back("what the checkpoint declares: " + std::to_string(config.modelCount) + " model folders are open and nothing names the one that is served");
        }
        if (auto done = duplicates(); !done)
            return done.error();
        if (!seen) {
            if (m_report.findings.empty())
                return Report::missingInputs({"startup_log", "effective_config"});
            m_report.notSeen.push_back("what runs: no startup_log, effective_config or effective_sampling_params is among the evidence");
        }
        return std::move(m_report);
    }

private:
    const SettingSpec &spec(const EffectiveSetting &setting) const { return *m_inputs.facts.settings.find(setting.name); }

    static std::optional<double> number(const EffectiveConfig &config, std::string_view name, bool observed)
    {
        const EffectiveSetting *const setting = config.find(name);
        if (!setting)
            return std::nullopt;
        if (observed)
            return setting->observed ? asNumber(setting->observed->value) : std::nullopt;
        const Candidate *const wish = strongest(*setting, true);
        return wish ? asNumber(wish->value) : std::nullopt;
    }

    /// Two values that are one for the engine, though they are written differently.
    bool same(const EffectiveConfig &config, const SettingSpec &of, const Candidate &wish, const Candidate &seen) const
    {
        if (sameValue(of.kind, wish.value, seen.value) || samePrinted(wish, seen) || sameThousands(wish, seen))
            return true;
        const auto asked = asNumber(wish.value), runs = asNumber(seen.value);
        if (of.name == "top_k" && asked && runs)
            return *asked <= 0 && *runs <= 0; // -1 and 0 both switch it off
        if (of.name == "context_total" && asked && runs) {
            // llama.cpp pads the context to a multiple of 256; Ollama multiplies it by the slots.
            const double slots = number(config, "n_parallel", true).value_or(1);
            return (*runs >= *asked && *runs < *asked + 256) || std::abs(*runs - *asked * slots) < 256;
        }
        if (of.name == "context_length" && asked && runs && config.engine == "llama.cpp")
            return *runs >= *asked && *runs < *asked + 256;
        return false;
    }

    /// The wish leaves the value to the engine.
    static bool open(const SettingSpec &of, const Candidate &wish)
    {
        if (leftOpen(wish.value))
            return true;
        const auto asked = asNumber(wish.value);
        if (!asked)
            return false;
        if (of.name == "context_total" || of.name == "context_length")
            return *asked <= 0;
        if (of.name == "max_tokens" || of.name == "seed" || of.name == "n_parallel" || of.name == "repeat_last_n")
            return *asked < 0;
        return false;
    }

    /// Values that an idle mode resets: the sampler reads none of them when decoding is greedy.
    static bool idle(const EffectiveConfig &config, const EffectiveSetting &setting)
    {
        const auto asked = number(config, "temperature", false), runs = number(config, "temperature", true);
        const bool greedy = (asked && *asked < 1e-5) || (runs && *runs < 1e-5);
        return greedy && setting.category == "sampling";
    }

    /// A value of a request seen in a log belongs to that request only when there is one of each.
    static bool ofAnotherRequest(const EffectiveConfig &config, const EffectiveSetting &setting, const Candidate &wish)
    {
        if (wish.origin != Origin::Request || !setting.observed->evidence)
            return false;
        if (!std::holds_alternative<LogLine>(setting.observed->evidence->where))
            return false;
        return config.requests != 1 || !setting.observed->note.empty();
    }

    /// A flag that replaces parts of config.json or GGUF metadata speaks for the setting.
    static const Candidate *replacedByFlag(const EffectiveConfig &config, const SettingSpec &of)
    {
        const auto mentions = [&](const std::string &text) {
            if (text.find(of.name) != std::string::npos)
                return true;
            for (const std::string &name : of.names) {
                if (text.find(name) != std::string::npos)
                    return true;
            }
            return false;
        };
        for (const std::string_view name : {"hf_overrides", "override_kv", "rope_scaling"}) {
            const EffectiveSetting *const setting = config.find(name);
            if (!setting)
                continue;
            for (const Candidate &candidate : setting->candidates) {
                if (isOperatorsWish(candidate) && !leftOpen(candidate.value) && (mentions(candidate.raw) || (name == "rope_scaling" && of.name.starts_with("rope_"))))
                    return &candidate;
            }
        }
        // --rope-scale, --rope-scaling and the YaRN flags act on the scale together.
        if (of.name == "rope_freq_scale") {
            for (const std::string_view name : {"rope_factor", "rope_scaling_type", "rope_original_context"}) {
                const EffectiveSetting *const setting = config.find(name);
                if (setting && strongest(*setting, true))
                    return strongest(*setting, true);
            }
        }
        return nullptr;
    }

    /// Ollama's runner is told the context of all slots together; a request asks for that of one.
    static EffectiveConfig withSlotContext(EffectiveConfig config)
    {
        const EffectiveSetting *const whole = config.find("context_total");
        const auto total = whole && whole->observed ? asNumber(whole->observed->value) : std::nullopt;
        const auto slots = number(config, "n_parallel", true).value_or(1);
        if (config.engine != "Ollama" || !total || slots < 1)
            return config;
        Candidate seen = *whole->observed;
        seen.value = std::to_string(static_cast<std::uint64_t>(*total / slots));
        for (EffectiveSetting &setting : config.settings) {
            if (setting.name == "context_length" && !setting.observed)
                setting.observed = seen;
        }
        return config;
    }

    /// The number formats of weights and cache and the adapter: "none" and "auto" in an engine's own listing mean that
    /// what was asked for is not in use.
    static bool isDropped(const SettingSpec &of, const Candidate &seen)
    {
        const bool listed = of.name == "quantization" || of.name == "kv_cache_dtype" || of.name == "lora";
        return listed && leftOpen(seen.value);
    }

    /// A name or path of one line, as against a template's own text.
    static bool isOtherFile(const SettingSpec &of, const Candidate &wish, const Candidate &seen)
    {
        const auto plain = [](const std::string &text) { return !text.empty() && text.size() < 256 && text.find_first_of("{}\n ") == std::string::npos; };
        const auto last = [](std::string_view text) { return text.substr(text.find_last_of("/\\") + 1); };
        if (!plain(wish.raw) || !plain(seen.raw))
            return false;
        return (of.name == "chat_template" && last(wish.raw) != last(seen.raw) && wish.raw.find('.') != std::string::npos && seen.raw.find('.') != std::string::npos)
            || (of.name == "revision" && wish.value != seen.value);
    }

    bool examine(const EffectiveConfig &config)
    {
        bool seen = false;
        std::vector<const EffectiveSetting *> derived;
        Table table{.title = config.scope.empty() ? "Requested, declared, effective" : "Requested, declared, effective in " + config.scope,
                    .columns = {"Setting", "Requested", "Declared by the file", "Effective", "Class"},
                    .rows = {}};
        for (const EffectiveSetting &setting : config.settings) {
            const Candidate *const wish = strongest(setting, true);
            const Candidate *const file = strongest(setting, false);
            seen |= setting.observed.has_value() || setting.loaded.has_value();
            const Class of = classify(config, setting, wish, file, derived);
            if (!wish && !file && !setting.observed && setting.ignored.empty())
                continue;
            row(table, setting, wish, file, of);
        }
        if (!derived.empty())
            resolved(derived);
        if (seen && !table.rows.empty())
            m_report.tables.push_back(std::move(table));
        return seen;
    }

    Class classify(const EffectiveConfig &config, const EffectiveSetting &setting, const Candidate *wish, const Candidate *file,
                   std::vector<const EffectiveSetting *> &derived)
    {
        const SettingSpec &of = spec(setting);
        ignored(config, setting);
        loaded(config, setting, file);
        taken(config, setting);
        if (!setting.observed)
            return setting.ignored.empty() || wish ? Class::Unseen : Class::Ignored;
        const Candidate &seen = *setting.observed;
        const bool overridden = seen.origin == Origin::EngineOverride || seen.origin == Origin::Hardware;
        const bool text = of.kind == ValueKind::Text || of.kind == ValueKind::List;
        if (wish) {
            if (open(of, *wish)) {
                if (!leftOpen(seen.value) && !text)
                    derived.push_back(&setting);
                return Class::Derived;
            }
            if (isDropped(of, seen) || isOtherFile(of, *wish, seen)) {
                contradicted(config, setting, *wish, "requested");
                return Class::Contradicted;
            }
            if (leftOpen(seen.value) || (!text && same(config, of, *wish, seen)))
                return Class::Equal;
            const bool stops = of.name == "stop" || of.name == "stop_token_ids";
            if (text && (!stops || !loses(*wish, seen)))
                return Class::Equal;
            if (idle(config, setting) || ofAnotherRequest(config, setting, *wish))
                return Class::Derived;
            // gptq runs as gptq_marlin: the same weights by a faster kernel.
            if (of.name == "quantization" && (seen.value.find(wish->value) != std::string::npos || wish->value.find(seen.value) != std::string::npos)) {
                derived.push_back(&setting);
                return Class::Derived;
            }
            const auto asked = asNumber(wish->value), runs = asNumber(seen.value);
            const bool lower = asked && runs && *runs < *asked && (of.name == "max_tokens" || of.name == "context_length" || of.name == "context_total");
            if (overridden || lower || of.name == "attention_backend" || of.name == "flash_attention") {
                changed(config, setting, *wish);
                return Class::Overridden;
            }
            contradicted(config, setting, *wish, "requested");
            return Class::Contradicted;
        }
        if (file && of.architecture && !text) {
            if (samePrinted(*file, seen) || sameValue(of.kind, file->value, seen.value) || leftOpen(file->value))
                return Class::Equal;
            if (replacedByFlag(config, of)) {
                derived.push_back(&setting);
                return Class::Derived;
            }
            if (overridden) {
                changed(config, setting, *file);
                return Class::Overridden;
            }
            // Words ("linear" where nothing is scaled) are the engine's own way to say it.
            if (!asNumber(file->value) || !asNumber(seen.value))
                return Class::Derived;
            contradicted(config, setting, *file, "declared by the file");
            return Class::Contradicted;
        }
        if (file && overridden && !text && !leftOpen(file->value) && !sameValue(of.kind, file->value, seen.value)) {
            changed(config, setting, *file);
            return Class::Overridden;
        }
        return file && sameValue(of.kind, file->value, seen.value) ? Class::Equal : Class::Derived;
    }

    Finding begin(const char *code, Severity severity, std::string title) const
    {
        return {.code = code, .severity = severity, .title = std::move(title), .next = {"F2", "F3"}};
    }

    void point(Finding &finding, const Candidate &candidate, std::string_view what) const
    {
        if (!candidate.evidence)
            return;
        Evidence evidence = *candidate.evidence;
        evidence.note = std::string(what) + ": " + evidence.note;
        finding.evidence.push_back(std::move(evidence));
    }

    void contradicted(const EffectiveConfig &config, const EffectiveSetting &setting, const Candidate &wish, std::string_view what)
    {
        const Candidate &seen = *setting.observed;
        Finding finding = begin("config.contradicted", Severity::Error,
                                setting.name + " is " + inLine(wish.value) + " as " + std::string(what) + ", and " + inLine(seen.value) + " is what runs");
        finding.detail = "Nobody asked for the change: no request, flag or environment variable names " + seen.value + ", and no line says that the engine changed it.";
        if (wish.origin != Origin::CheckpointFile)
            finding.detail = "The " + std::string(nameOf(wish.origin)) + " says " + wish.spelling + " = " + wish.raw + "; no line says that the engine changed it.";
        if (!seen.source.empty())
            finding.detail += " The wording of the line is that of " + seen.source + ".";
        point(finding, wish, what);
        point(finding, seen, "in force");
        finding.falseIf = "The two belong to different servers, models or times, or a flag that is not among the evidence asked for it.";
        if (config.find("rope_theta") == &setting || spec(setting).architecture)
            finding.next = {"F5", "F9"};
        m_report.findings.push_back(std::move(finding));
    }

    void changed(const EffectiveConfig &, const EffectiveSetting &setting, const Candidate &wish)
    {
        const Candidate &seen = *setting.observed;
        Finding finding = begin("config.changed", Severity::Warning, "The engine runs " + setting.name + " with " + seen.value + " instead of " + wish.value);
        finding.detail = std::string(nameOf(wish.origin)) + " " + wish.spelling + " = " + wish.raw + " did not hold.";
        if (!seen.note.empty())
            finding.detail += " " + setting.name + ": " + seen.note + ".";
        point(finding, wish, "asked");
        point(finding, seen, "in force");
        finding.falseIf = "A later line sets the value that was asked for.";
        m_report.findings.push_back(std::move(finding));
    }

    /// Fields and flags that were given and do not act. What a file says in vain is F2's.
    void ignored(const EffectiveConfig &config, const EffectiveSetting &setting)
    {
        for (const Candidate &candidate : setting.ignored) {
            if (!isOperatorsWish(candidate) || !candidate.evidence)
                continue;
            // The change itself is told with the value that runs.
            if (setting.observed && (setting.observed->origin == Origin::EngineOverride || setting.observed->origin == Origin::Hardware) && strongest(setting, true))
                continue;
            Finding finding = begin("config.ignored", Severity::Warning,
                                    candidate.spelling + (candidate.raw.empty() ? "" : " = " + candidate.raw) + " was given and does not act"
                                        + (setting.observed && !leftOpen(setting.observed->value) ? ": " + setting.observed->value + " runs" : ""));
            finding.detail = candidate.note + ".";
            point(finding, candidate, "given");
            if (setting.observed)
                point(finding, *setting.observed, "in force");
            finding.falseIf = "The body was rewritten before it reached " + (config.engine.empty() ? std::string("the engine") : config.engine) + ".";
            finding.next = {"F2", "R5"};
            m_report.findings.push_back(std::move(finding));
        }
    }

    /// The engine printed another number while loading than the file holds: it loaded another file.
    void loaded(const EffectiveConfig &config, const EffectiveSetting &setting, const Candidate *file)
    {
        const SettingSpec &of = spec(setting);
        if (!setting.loaded || !file || !of.architecture || file->evidence == std::nullopt)
            return;
        if (std::holds_alternative<LogLine>(file->evidence->where) || replacedByFlag(config, of) || strongest(setting, true))
            return;
        if (!asNumber(setting.loaded->value) || !asNumber(file->value) || samePrinted(*file, *setting.loaded))
            return;
        Finding finding = begin("config.other_file", Severity::Error,
                                setting.name + " is " + file->value + " in the file here, and " + setting.loaded->value + " in the file that the log loads");
        finding.detail = "The numbers describe one architecture; with either of them the same weights compute something else.";
        point(finding, *file, "declared");
        point(finding, *setting.loaded, "loaded");
        finding.falseIf = "The log belongs to another model than the folder.";
        finding.next = {"F6", "F9"};
        m_report.findings.push_back(std::move(finding));
    }

    /// The engine lists one number of the file and takes another for it.
    void taken(const EffectiveConfig &config, const EffectiveSetting &setting)
    {
        const SettingSpec &of = spec(setting);
        if (!setting.taken || !of.architecture || replacedByFlag(config, of) || strongest(setting, true))
            return;
        const auto listed = asNumber(setting.loaded->value), takes = asNumber(setting.taken->value);
        const bool told = setting.observed && !samePrinted(*setting.loaded, *setting.observed); // by what runs
        // A window of 0 is one that the engine does not apply: F3 has its line.
        if (!listed || !takes || told || samePrinted(*setting.loaded, *setting.taken) || (of.name == "sliding_window" && *takes == 0))
            return;
        Finding finding = begin("config.contradicted", Severity::Error,
                                setting.name + " is " + setting.loaded->value + " as listed from the file, and the engine takes " + setting.taken->value);
        finding.detail = "Both lines are of one load; no flag asks for the change.";
        point(finding, *setting.loaded, "listed");
        point(finding, *setting.taken, "taken");
        finding.falseIf = "The two lines belong to different models in one log, or the engine states another quantity under that name.";
        finding.next = {"F9", "F10"};
        m_report.findings.push_back(std::move(finding));
    }

    void resolved(const std::vector<const EffectiveSetting *> &derived)
    {
        Finding finding = begin("config.derived", Severity::Info,
                                std::to_string(derived.size()) + (derived.size() == 1 ? " setting was" : " settings were") + " left to the engine, which chose");
        for (const EffectiveSetting *const setting : derived) {
            finding.detail += (finding.detail.empty() ? "" : ", ") + setting->name + " " + setting->observed->value;
            if (const Candidate *const wish = strongest(*setting, true))
                point(finding, *wish, "left open");
            point(finding, *setting->observed, "in force");
        }
        finding.detail += ".";
        finding.measure = Measure{.number = static_cast<double>(derived.size()), .unit = "settings"};
        finding.falseIf = "A value named here was given in a way that is not among the evidence.";
        m_report.findings.push_back(std::move(finding));
    }

    static void row(Table &table, const EffectiveSetting &setting, const Candidate *wish, const Candidate *file, Class of)
    {
        const auto cell = [](const Candidate *candidate) {
            return candidate ? Cell{.text = candidate->value, .source = candidate->evidence, .numeric = asNumber(candidate->value).has_value()} : Cell{};
        };
        const Severity severity = of == Class::Contradicted ? Severity::Error
            : of == Class::Overridden || of == Class::Ignored ? Severity::Warning : Severity::Ok;
        table.rows.push_back({{.text = setting.name}, cell(wish), cell(file), cell(setting.observed ? &*setting.observed : nullptr),
                              {.text = std::string(nameOf(of)), .severity = severity}});
    }

    /// One key, two values in one file: readers differ in which they take.
    Result<void> duplicates()
    {
        for (const Artifact &artifact : m_inputs.run.artifacts()) {
            if (m_job.cancelled())
                return Job::cancelledError();
            const auto *const tree = artifact.as<TreeContent>();
            if (!tree || !isConfiguration(artifact.kind))
                continue;
            std::size_t told = 0, more = 0;
            for (const Remark &remark : tree->document->remarks()) {
                if (remark.kind != Remark::Kind::DuplicateKey)
                    continue;
                const Value counted = tree->document->at(remark.where.path);
                const std::string_view earlier = std::string_view(tree->document->text()).substr(remark.bytes.from, remark.bytes.size());
                if (withoutBlanks(earlier) == withoutBlanks(counted.raw()))
                    continue;
                if (told++ >= duplicatesPerFile) {
                    ++more;
                    continue;
                }
                Finding finding = begin("config.duplicate_key", Severity::Warning,
                                        remark.where.path.substr(0, 120) + " stands twice in " + artifact.path + " with different values: "
                                            + shortened(earlier) + " and " + shortened(counted.raw()));
                finding.detail = "The later one wins in Python's json and in the program here; readers that stop at the first key take the other.";
                finding.evidence.push_back({artifact.id, remark.bytes, "the earlier value: " + shortened(earlier)});
                finding.evidence.push_back({artifact.id, remark.where, "the value that counts: " + shortened(counted.raw())});
                finding.falseIf = "Every program that reads this file takes the later value.";
                finding.next = {"F9"};
                m_report.findings.push_back(std::move(finding));
            }
            if (more > 0)
                m_report.notSeen.push_back(std::to_string(more) + " further keys that stand twice in " + artifact.path);
        }
        return {};
    }

    static bool isConfiguration(Kind kind)
    {
        constexpr auto kinds = std::to_array<Kind>({Kind::ConfigFiles, Kind::TokenizerFiles, Kind::ChatTemplate, Kind::AdapterFiles,
                                                    Kind::QuantizationConfig, Kind::WeightIndex, Kind::RequestBody, Kind::EngineArgs,
                                                    Kind::EffectiveConfig, Kind::EffectiveSamplingParams, Kind::TraceManifest});
        return std::find(kinds.begin(), kinds.end(), kind) != kinds.end();
    }

    static std::string withoutBlanks(std::string_view text)
    {
        std::string result;
        bool string = false;
        for (std::size_t i = 0; i < text.size(); ++i) {
            const char c = text[i];
            if (c == '"' && (i == 0 || text[i - 1] != '\\'))
                string = !string;
            if (string || (c != ' ' && c != '\n' && c != '\t' && c != '\r'))
                result.push_back(c);
        }
        return result;
    }

    static std::string shortened(std::string_view text)
    {
        constexpr std::size_t longest = 60;
        return toValidUtf8(text.substr(0, longest)) + (text.size() > longest ? "…" : "");
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

constexpr std::array<std::string_view, 6> usable{"startup_log", "effective_config", "effective_sampling_params", "engine_args", "config_files", "request_body"};

} // namespace

extern constinit const Instrument configuration_declared_effective{
    "F1", "Declared-versus-effective diff", "What is the server really running with?", "configuration_declared_effective", usable, {}, run};

} // namespace prosector
