// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/core/finding.h"
#include "models/core/job.h"
#include "models/facts/facts.h"
#include "models/runs/run.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace prosector {

struct LogTriage;

/// Who chose a value.
enum class Origin : std::uint8_t {
    Request,        ///< a field of a request body
    Gateway,        ///< a proxy that rewrote the request
    Flag,           ///< the operator's command line, or a dump of what it said
    Environment,    ///< an environment variable
    LogLine,        ///< a line (or a status page) says it runs, not who chose it
    CheckpointFile, ///< config.json, generation_config.json, GGUF metadata
    EngineDefault,  ///< nobody asked: from the table of engine defaults
    EngineOverride, ///< the engine changed what was asked or what the file says
    Hardware,       ///< the device decided
};
std::string_view nameOf(Origin origin); ///< "request", "flag", "checkpoint file", …

/// One source's say on one setting.
struct Candidate {
    Origin origin = Origin::EngineDefault;
    std::string value;    ///< normalised: "131072" for "128k", "float16" for "half", "none", "true"
    std::string raw;      ///< as it stands there
    std::string spelling; ///< the name used there: "--max-model-len", "num_ctx"
    std::optional<Evidence> evidence{}; ///< where it stands; absent only for an engine default
    std::string source{}; ///< for a fact: "repo path@commit:line", with "(recalled)" where not verified
    std::string note{};   ///< "changed in v0.9.0", "clamped above the training context"
};

/// One setting: what runs, who chose it, what it overrode. The candidates stand in the engine's
/// order of precedence, strongest first.
struct EffectiveSetting {
    std::string name;     ///< canonical: "temperature", "context_length", "rope_theta"
    std::string category; ///< sampling, length, position, precision, quantization, cache, template,
                          ///< stop, architecture, other
    std::vector<Candidate> candidates;
    /// Index of the candidate that gave the value, or -1 when it is not known.
    int chosen = -1;
    /// The value in force was read from something that saw it run (log line, effective parameters,
    /// status page), as opposed to worked out from the precedence.
    std::optional<Candidate> observed{};
    /// The checkpoint's value as the engine printed it while loading; it differs from the file's own
    /// when another file was loaded.
    std::optional<Candidate> loaded{};
    /// What the engine printed as its own reading of the checkpoint, where that is another number than `loaded`,
    /// which it listed from the file.
    std::optional<Candidate> taken{};
    std::vector<Candidate> ignored; ///< said, but without effect: unknown field, idle mode, clamped, dropped

    /// In force as far as known: what was observed, else the chosen candidate's value; "" when unknown.
    std::string value() const;
    const Candidate *chosenBy() const { return chosen < 0 ? nullptr : &candidates[static_cast<std::size_t>(chosen)]; }
};

/// What one served model runs with. Every sampling, length, position, precision, quantisation, cache,
/// template and stop setting that anything in the evidence speaks of.
struct EffectiveConfig {
    std::string scope;   ///< directory of the evidence it was made from, "" for the top
    std::string engine;  ///< "vLLM", "SGLang", "llama.cpp", "Ollama", "TGI", "Transformers" or ""
    std::string version; ///< as the log says, "" when unknown
    std::optional<std::size_t> model{};    ///< index into Run::models() of the folder that was served
    std::size_t modelCount = 0; ///< model folders of the evidence; with several and no `model` none of them is named by the arguments
    std::vector<ArtifactId> artifacts;     ///< everything that had a say
    std::string route;        ///< of the requests: "/v1/chat/completions", "/generate", …; "" when there are none
    std::size_t requests = 0; ///< request bodies that were read
    std::map<std::string, std::size_t> requestsSaying; ///< how many of them name the setting
    std::vector<std::string> precedence;   ///< the engine's order, strongest first, as the table words it
    std::string precedenceSource;
    std::vector<EffectiveSetting> settings;         ///< by category, then name

    const EffectiveSetting *find(std::string_view name) const;
    /// Columns: setting, value, set by, where, overrode, ignored. Sources are evidence of the cells.
    Table table() const;
};

/// One configuration per served model in the run: the whole of an input is one body of evidence,
/// unless sibling folders each hold their own start-up log, arguments, effective parameters or (where
/// there is nothing but model folders) model. Deterministic; linear in the size of the evidence.
Result<std::vector<EffectiveConfig>> effectiveConfigs(const Run &run, const Facts &facts, const Job &job);
/// The same where the run's logs are triaged already (by index of the artifact).
Result<std::vector<EffectiveConfig>> effectiveConfigs(const Run &run, const Facts &facts,
                                                      const std::map<std::uint32_t, LogTriage> &triages, const Job &job);
/// What the files of one model folder set by themselves, whatever serves it: no engine, no defaults.
/// For folders that no evidence says were served.
Result<EffectiveConfig> declaredConfig(const Run &run, const Facts &facts, std::size_t model, const Job &job);

} // namespace prosector
