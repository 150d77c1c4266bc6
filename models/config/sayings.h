// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/config/effective.h"
#include "models/config/evidencesets.h"
#include "models/config/logtriage.h"

#include <map>
#include <string>
#include <vector>

namespace prosector {

/// One source's say on one setting, before it is known what wins.
struct Saying {
    enum class Standing : std::uint8_t {
        Candidate, ///< asks for the value
        Loaded,    ///< the checkpoint's value as the engine printed it
        Observed,  ///< saw it run
        Ignored,   ///< said, without effect
    };
    const SettingSpec *setting = nullptr;
    Candidate candidate;
    Standing standing = Standing::Candidate;
    int weight = 0; ///< of observations: a line about this one setting (3) beats a dump (1)
};

/// Everything that was said in one body of evidence, in the order it was read.
struct Sayings {
    std::string engine, version, route; ///< route: "/v1/chat/completions", "/v1/completions", "/generate", "" unknown
    std::optional<std::size_t> model{};
    std::vector<ArtifactId> artifacts;
    std::vector<Saying> all;
    std::size_t requests = 0;                      ///< bodies read
    std::map<std::string, std::size_t> requestsSaying; ///< how many of them name the setting
};

/// Reads one body of evidence. With several logs that each tell a configuration, `log` names the one to
/// read (null: all). At most `requestLimit` request bodies are read.
inline constexpr std::size_t requestLimit = 2000;
Result<Sayings> collectSayings(const Run &run, const Facts &facts, const EvidenceSet &set, const Artifact *log,
                               const std::map<std::uint32_t, LogTriage> &triages, const Job &job);

/// Part of the above: what a log says. Appends to `into`.
void collectLog(Sayings &into, const Artifact &artifact, const LogTriage &triage, const Facts &facts,
                const std::string &servedFile);

/// Adds a saying when the engine's spelling means a setting. `evidence.note` is filled.
void addSaying(Sayings &into, const Facts &facts, Origin origin, Saying::Standing standing, int weight,
               std::string_view spelling, std::string_view raw, Evidence evidence, bool argument = false,
               std::string_view nameSpace = {});

} // namespace prosector
