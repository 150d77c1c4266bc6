// SPDX-License-Identifier: GPL-3.0-or-later
// What files, arguments, requests and status pages say of settings.
#include "models/config/sayings.h"

#include "models/config/architecture.h"
#include "models/config/commandline.h"
#include "models/core/ascii.h"

#include <algorithm>
#include <array>
#include <set>

namespace prosector {

namespace {

using Standing = Saying::Standing;

/// Longest value kept: a template or a schema is shown by its beginning.
constexpr std::size_t longestValue = 200;
/// Most lines and bytes of a text that are looked at for a command line.
constexpr std::size_t commandLines = 400;
constexpr std::size_t longestCommand = 64 * 1024;

std::string shortened(std::string text)
{
    if (text.size() > longestValue) {
        std::size_t cut = longestValue;
        while (cut > 0 && (static_cast<unsigned char>(text[cut]) & 0xC0) == 0x80)
            --cut;
        text.resize(cut);
        text += "…";
    }
    return text;
}

std::string rawText(Value value)
{
    if (auto text = value.string())
        return *text;
    return std::string(value.raw().substr(0, 4 * longestValue));
}

Evidence at(const Artifact &artifact, Value value)
{
    return {artifact.id, value.anchor(), {}};
}

class Collector {
public:
    Collector(const Run &run, const Facts &facts, const EvidenceSet &set, Sayings &into)
        : m_run(run), m_facts(facts), m_set(set), m_into(into)
    {
    }

    void engineAndModel(const std::map<std::uint32_t, LogTriage> &triages, const Artifact *log)
    {
        for (const ArtifactId id : m_set.artifacts) {
            const Artifact &artifact = m_run.artifact(id);
            if (artifact.kind == Kind::TraceManifest) {
                const Value engine = artifact.tree()["engine"];
                setEngine(engineByName(engine["name"].string("")), engine["version"].string(""));
            }
        }
        for (const auto &[index, triage] : triages) {
            if (log && log->id.index != index)
                continue;
            setEngine(triage.engine, triage.version);
        }
        for (const ArtifactId id : m_set.artifacts) {
            const Artifact &artifact = m_run.artifact(id);
            if (artifact.kind == Kind::EngineArgs)
                setEngine(engineByArguments(artifact.tree()), {});
            else if (artifact.format == "llamacpp_props")
                setEngine("llama.cpp", {});
            else if (artifact.format == "ollama_show" || artifact.format == "ollama_ps")
                setEngine("Ollama", {});
            else if (artifact.format == "server_info")
                setEngine(artifact.tree()["model_id"] ? "TGI" : "SGLang", artifact.tree()["version"].string(""));
        }
    }

    void model()
    {
        if (m_set.models.empty())
            return;
        m_into.model = m_set.models.front();
        if (m_set.models.size() > 1) {
            // The one that the arguments name; when none is named nobody knows which was served.
            const Saying *named = nullptr;
            for (const Saying &saying : m_into.all) {
                if (saying.setting->name == "model" && !named)
                    named = &saying;
            }
            m_into.model.reset();
            for (const std::size_t index : m_set.models) {
                const std::string &path = m_run.models()[index].path;
                if (named && !path.empty() && named->candidate.value.ends_with(path.substr(path.rfind('/') + 1)))
                    m_into.model = index;
            }
        }
    }

    /// A log of llama.cpp names the GGUF file it loads.
    std::string servedFile() const
    {
        for (const std::size_t index : m_set.models) {
            if (!m_run.models()[index].gguf.empty())
                return m_run.artifact(m_run.models()[index].gguf.front()).path;
        }
        return {};
    }

    void checkpoint()
    {
        if (!m_into.model)
            return;
        const ModelFolder &folder = m_run.models()[*m_into.model];
        const Artifact *const config = m_run.find(folder.config);
        const bool ggufServed = !folder.gguf.empty() && (!config || m_into.engine == "llama.cpp" || m_into.engine == "Ollama");
        if (ggufServed) {
            const Artifact &file = m_run.artifact(folder.gguf.front());
            if (const auto *gguf = file.as<GgufContent>()) {
                architecture(architectureOfGguf(file.id, *gguf));
                samplingOfGguf(file, *gguf);
            }
        } else if (config && config->tree()) {
            architecture(architectureOfConfig(config->id, config->tree()));
            const Value method = config->tree()["quantization_config"]["quant_method"];
            if (method.isSet())
                say(Origin::CheckpointFile, Standing::Candidate, "quantization", rawText(method), at(*config, method));
        }
        if (const Artifact *const generation = m_run.find(folder.generationConfig)) {
            use(*generation);
            for (const Value value : generation->tree()) {
                if (value.isSet())
                    say(Origin::CheckpointFile, Standing::Candidate, value.key(), rawText(value), at(*generation, value));
            }
        }
    }

    void statusPages()
    {
        for (const ArtifactId id : m_set.artifacts) {
            const Artifact &artifact = m_run.artifact(id);
            const Value root = artifact.tree();
            switch (artifact.kind) {
            case Kind::EffectiveSamplingParams: {
                const DocumentPtr first = root ? nullptr : firstLine(artifact);
                observeAll(artifact, first ? first->root() : root, 1);
                break;
            }
            case Kind::EffectiveConfig:
                if (artifact.format == "ollama_show")
                    ollamaShow(artifact, root);
                else if (artifact.format == "ollama_ps")
                    observe(artifact, "context_length", root["models"][0]["context_length"]);
                else if (artifact.format == "served_models")
                    observe(artifact, "max_model_len", root["data"][0]["max_model_len"]);
                else if (artifact.format == "llamacpp_props")
                    props(artifact, root);
                else
                    observeAll(artifact, root, 0);
                break;
            case Kind::EngineArgs: engineArguments(artifact, root); break;
            case Kind::KernelTrace: observeAll(artifact, root, 0); break;
            case Kind::ResponseBody: observeAll(artifact, root["generation_settings"], 1); break;
            default: break;
            }
        }
    }

    Result<void> requests(const Job &job)
    {
        for (const ArtifactId id : m_set.artifacts) {
            const Artifact &artifact = m_run.artifact(id);
            if (artifact.kind != Kind::RequestBody)
                continue;
            if (artifact.tree()) {
                request(artifact, artifact.tree(), artifact.tree().anchor());
            } else if (const auto *lines = artifact.as<LinesContent>()) {
                for (std::size_t i = 0; i < lines->lines.size() && m_into.requests < requestLimit; ++i) {
                    if (job.cancelled())
                        return Job::cancelledError();
                    const DocumentPtr document = lines->document(i);
                    request(artifact, document->root(), LogLine{lines->lines[i].line, lines->lines[i].line});
                }
            }
        }
        return {};
    }

    /// Command lines that stand in a log or a script.
    void commands(const Artifact &artifact)
    {
        const auto *const text = artifact.as<TextContent>();
        if (!text)
            return;
        for (std::size_t i = 0; i < std::min(text->lineCount(), commandLines); ++i) {
            if (!looksLikeServerCommand(text->line(i)))
                continue;
            std::string whole(text->line(i));
            std::size_t last = i;
            while (whole.ends_with('\\') && last + 1 < text->lineCount() && whole.size() < longestCommand)
                whole.append("\n").append(text->line(++last));
            const CommandLine command = parseCommandLine(std::string_view(whole).substr(0, longestCommand));
            if (command.engine.empty())
                continue;
            setEngine(command.engine, {});
            use(artifact);
            for (const Argument &argument : command.arguments) {
                addSaying(m_into, m_facts, argument.environment ? Origin::Environment : Origin::Flag, Standing::Candidate, 0,
                          argument.spelling, argument.value, {artifact.id, LogLine{i + 1, last + 1}, {}}, !argument.environment);
            }
            return;
        }
    }

    void use(const Artifact &artifact)
    {
        if (std::find(m_into.artifacts.begin(), m_into.artifacts.end(), artifact.id) == m_into.artifacts.end())
            m_into.artifacts.push_back(artifact.id);
    }

private:
    void setEngine(std::string_view engine, std::string_view version)
    {
        if (m_into.engine.empty() && !engine.empty())
            m_into.engine = engine;
        if (m_into.version.empty() && !version.empty() && engine == m_into.engine)
            m_into.version = version;
    }

    static std::string engineByName(std::string_view name)
    {
        const std::string low = asciiLower(name);
        struct Spelling {
            std::string_view spelling, engine;
        };
        constexpr auto known = std::to_array<Spelling>({{"vllm", "vLLM"}, {"sglang", "SGLang"}, {"llama.cpp", "llama.cpp"},
                                                        {"llamacpp", "llama.cpp"}, {"llama-server", "llama.cpp"}, {"ollama", "Ollama"},
                                                        {"tgi", "TGI"}, {"text-generation-inference", "TGI"},
                                                        {"transformers", "Transformers"}});
        for (const auto &[spelling, engine] : known) {
            if (low == spelling)
                return std::string(engine);
        }
        return {};
    }

    /// The engine that knows most of the names; nobody when two know equally many.
    std::string engineByArguments(Value object) const
    {
        std::string best;
        std::size_t most = 0;
        bool tie = false;
        for (const std::string_view engine : {"vLLM", "SGLang", "llama.cpp", "TGI"}) {
            std::size_t known = 0;
            for (const Value member : object) {
                for (const DefaultRow *const row : m_facts.engineDefaults.find(engine, member.key())) {
                    if (row->component.find("flag") != std::string::npos || row->component.find("llama-server /") != std::string::npos) {
                        ++known;
                        break;
                    }
                }
            }
            tie = known == most && known > 0 ? true : known > most ? false : tie;
            if (known > most) {
                most = known;
                best = engine;
            }
        }
        return tie ? std::string() : best;
    }

    static DocumentPtr firstLine(const Artifact &artifact)
    {
        const auto *const lines = artifact.as<LinesContent>();
        return lines && !lines->lines.empty() ? lines->document(0) : nullptr;
    }

    void say(Origin origin, Standing standing, std::string_view spelling, std::string_view raw, Evidence evidence, int weight = 0,
             std::string_view nameSpace = {})
    {
        use(m_run.artifact(evidence.artifact));
        addSaying(m_into, m_facts, origin, standing, weight, spelling, raw, std::move(evidence), false, nameSpace);
    }

    void observe(const Artifact &artifact, std::string_view spelling, Value value)
    {
        if (value.isSet())
            say(Origin::LogLine, Standing::Observed, spelling, rawText(value), at(artifact, value), 2);
    }

    void observeAll(const Artifact &artifact, Value object, int depth)
    {
        for (const Value value : object) {
            const std::string raw = value.isSet() ? rawText(value) : "none";
            if (value.isObject() && depth < 3 && (value.key() == "params" || value.key() == "internal_states"))
                observeAll(artifact, value, depth + 1);
            else
                say(Origin::LogLine, Standing::Observed, value.key(), raw, at(artifact, value),
                    leftOpen(normalValue(ValueKind::Word, raw)) ? 0 : 2);
        }
    }

    void architecture(const Architecture &file)
    {
        use(m_run.artifact(file.artifact));
        const auto declare = [&](std::string_view name, const Setting &setting) {
            Evidence evidence = setting.where;
            say(Origin::CheckpointFile, Standing::Candidate, name, setting.word ? *setting.word : setting.text, std::move(evidence));
        };
        for (const auto &[field, setting] : file.settings) {
            if (field == ArchField::SlidingWindow && !file.slidingWindow())
                continue; // declared, and switched off
            if (setting.number || setting.word)
                declare(nameOf(field), setting);
        }
        if (file.rope.empty())
            return;
        const RopeSettings &rope = file.rope.front();
        if (rope.theta)
            declare("rope_theta", *rope.theta);
        const bool scaled = rope.type == RopeSettings::Type::Linear || rope.type == RopeSettings::Type::Yarn;
        if (rope.typeName && (scaled || rope.type == RopeSettings::Type::LongRope))
            declare("rope_scaling.type", *rope.typeName);
        if (rope.factor)
            declare("rope_factor", *rope.factor);
        if (rope.original)
            declare("rope_scaling.original_max_position_embeddings", *rope.original);
    }

    void samplingOfGguf(const Artifact &artifact, const GgufContent &gguf)
    {
        for (const GgufEntry &entry : gguf.entries) {
            if (!entry.key.starts_with("general.sampling."))
                continue;
            const auto setting = settingOf(artifact.id, gguf, entry.key);
            if (setting)
                say(Origin::CheckpointFile, Standing::Candidate, entry.key, setting->word ? *setting->word : setting->text, setting->where);
        }
    }

    void ollamaShow(const Artifact &artifact, Value root)
    {
        const Value parameters = root["parameters"];
        const std::string text = parameters.string("");
        for (std::size_t from = 0; from < text.size();) {
            const std::size_t end = std::min(text.find('\n', from), text.size());
            const std::string_view line = std::string_view(text).substr(from, end - from);
            from = end + 1;
            const auto space = line.find(' ');
            if (space == std::string_view::npos)
                continue;
            std::string_view value = line.substr(space);
            while (value.starts_with(' '))
                value.remove_prefix(1);
            if (value.size() >= 2 && value.front() == '"' && value.back() == '"')
                value = value.substr(1, value.size() - 2);
            say(Origin::CheckpointFile, Standing::Candidate, line.substr(0, space), value, at(artifact, parameters));
        }
        for (const Value value : root["model_info"]) {
            const std::string key = value.key();
            const auto dot = key.find('.');
            if (dot == std::string::npos || key.starts_with("tokenizer.") || key.starts_with("general.") || !value.isNumber())
                continue;
            say(Origin::CheckpointFile, Standing::Candidate, std::string_view(key).substr(dot + 1), rawText(value), at(artifact, value), 0, "GGUF");
        }
    }

    void props(const Artifact &artifact, Value root)
    {
        const Value defaults = root["default_generation_settings"];
        observe(artifact, "n_ctx_slot", defaults["n_ctx"]);
        observe(artifact, "n_slots", root["total_slots"]);
        observe(artifact, "model_path", root["model_path"]);
        for (const Value object : {defaults, defaults["params"]}) {
            for (const Value value : object) {
                const SettingSpec *const spec = m_facts.settings.resolve("llama.cpp", value.key());
                if (spec && (spec->category == "sampling" || spec->category == "length" || spec->category == "stop"))
                    observe(artifact, value.key(), value);
            }
        }
    }

    void engineArguments(const Artifact &artifact, Value root)
    {
        for (const Value value : root) {
            if (!value.isSet())
                continue;
            use(artifact);
            addSaying(m_into, m_facts, Origin::Flag, Standing::Candidate, 0, value.key(), rawText(value), at(artifact, value), true);
        }
        commands(artifact);
    }

    void request(const Artifact &artifact, Value body, const Anchor &whole)
    {
        if (!body.isObject())
            return;
        use(artifact);
        ++m_into.requests;
        if (m_into.route.empty()) {
            m_into.route = body["messages"] ? "/v1/chat/completions"
                : body["inputs"] || body["text"] || body["input_ids"] || body["sampling_params"] ? "/generate"
                : body["options"] || body["raw"] ? "/api"
                : body["prompt"] ? "/v1/completions" : "";
            if (body["options"])
                m_into.route = "/api";
        }
        std::vector<const SettingSpec *> named;
        const auto read = [&](Value object) {
            for (const Value value : object) {
                const SettingSpec *const spec = m_facts.settings.resolve(m_into.engine, value.key());
                if (!spec || !value.isSet() || value.key() == "model" || value.key() == "messages")
                    continue;
                if (std::find(named.begin(), named.end(), spec) == named.end()) {
                    named.push_back(spec);
                    ++m_into.requestsSaying[spec->name];
                }
                const Anchor where = std::holds_alternative<LogLine>(whole) ? whole : value.anchor();
                sayRequest(value.key(), rawText(value), {artifact.id, where, {}});
            }
        };
        for (const char *const section : {"options", "parameters", "sampling_params", "extra_body", "generation_config", "generationConfig"})
            read(body[section]);
        read(body);
    }

    /// One saying per value, however many requests repeat it.
    void sayRequest(const std::string &spelling, const std::string &raw, Evidence evidence)
    {
        const SettingSpec *const spec = m_facts.settings.resolve(m_into.engine, spelling);
        const std::string value = normalValue(spec->kind, shortened(raw));
        if (!m_seenRequests.insert(spec->name + '\n' + value).second)
            return;
        say(Origin::Request, Standing::Candidate, spelling, raw, std::move(evidence));
    }

    const Run &m_run;
    const Facts &m_facts;
    const EvidenceSet &m_set;
    Sayings &m_into;
    std::set<std::string> m_seenRequests;
};

/// A script or unit that starts a server, by its name: other texts only speak of commands.
bool isStartScript(const Artifact &artifact)
{
    if (artifact.kind != Kind::Text || !artifact.as<TextContent>())
        return false;
    const std::string_view path = artifact.path, name = path.substr(path.rfind('/') + 1);
    constexpr auto ends = std::to_array<std::string_view>({".sh", ".bash", ".service", ".cmd", ".bat", ".ps1"});
    constexpr auto begins = std::to_array<std::string_view>({"command", "cmdline", "launch", "Dockerfile"});
    return std::any_of(ends.begin(), ends.end(), [&](std::string_view end) { return name.ends_with(end); })
        || std::any_of(begins.begin(), begins.end(), [&](std::string_view begin) { return name.starts_with(begin); });
}

} // namespace

void addSaying(Sayings &into, const Facts &facts, Origin origin, Saying::Standing standing, int weight, std::string_view spelling,
               std::string_view raw, Evidence evidence, bool argument, std::string_view nameSpace)
{
    const SettingSpec *const spec = facts.settings.resolve(nameSpace.empty() ? std::string_view(into.engine) : nameSpace, spelling, argument);
    if (!spec)
        return;
    Candidate candidate{origin, normalValue(spec->kind, raw), std::string(raw), std::string(spelling), {}, {}, {}};
    candidate.value = shortened(std::move(candidate.value));
    candidate.raw = shortened(std::move(candidate.raw));
    if (evidence.note.empty())
        evidence.note = candidate.raw.empty() ? candidate.spelling : candidate.spelling + " = " + candidate.raw;
    candidate.evidence = std::move(evidence);
    into.all.push_back({spec, std::move(candidate), standing, weight});
}

Result<Sayings> collectSayings(const Run &run, const Facts &facts, const EvidenceSet &set, const Artifact *log,
                               const std::map<std::uint32_t, LogTriage> &triages, const Job &job)
{
    Sayings sayings;
    Collector collector(run, facts, set, sayings);
    collector.engineAndModel(triages, log);
    for (const ArtifactId id : set.artifacts) {
        const Artifact &artifact = run.artifact(id);
        if ((isLog(artifact) || artifact.kind == Kind::EngineArgs || isStartScript(artifact)) && (!log || !isLog(artifact) || log->id == id))
            collector.commands(artifact);
    }
    for (const ArtifactId id : set.artifacts) {
        const auto triage = triages.find(id.index);
        if (triage == triages.end() || (log && log->id != id))
            continue;
        collector.use(run.artifact(id));
        collectLog(sayings, run.artifact(id), triage->second, facts, collector.servedFile());
    }
    collector.statusPages();
    if (auto done = collector.requests(job); !done)
        return done.error();
    collector.model();
    collector.checkpoint();
    return sayings;
}

} // namespace prosector
