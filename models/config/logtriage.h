// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/artifacts/artifact.h"
#include "models/core/job.h"
#include "models/facts/logpatterns.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace prosector {

/// A line that a pattern of the log-lines table recognised.
struct LogHit {
    std::uint64_t line = 1;                ///< counted from 1, as in the LogLine anchor
    const LogPattern *pattern = nullptr;   ///< lives as long as the facts
    std::vector<Capture> captures;         ///< offsets count bytes of the line without colour codes
    std::string_view capture(std::string_view name) const; ///< "" when it took no part
    LogLine where() const { return {line, line}; }
};

/// How often a pattern matched in the whole log; hits beyond `LogTriage::keptPerPattern` are counted only.
struct LogCount {
    const LogPattern *pattern = nullptr;
    std::uint64_t count = 0, firstLine = 1, lastLine = 1;
};

/// What a log says, line by line. Plain data.
struct LogTriage {
    static constexpr std::uint64_t keptPerPattern = 1000;
    std::string engine;  ///< whose log it is: "vLLM", "llama.cpp", …; "" when nothing tells
    std::string version; ///< as the log says, without a leading 'v'
    std::uint64_t versionLine = 0;
    std::uint64_t lines = 0;
    std::vector<LogHit> hits;     ///< by line
    std::vector<LogCount> counts; ///< in order of the first line

    const LogHit *first(std::string_view patternId) const;
};

/// Is this artifact a log that is worth reading line by line?
bool isLog(const Artifact &artifact);

/// Reads every line once. Where patterns of several engines fit a line, those of the engine whose log
/// it is count. Cancellable (`Errc::Cancelled`); linear in the size of the text.
Result<LogTriage> triageLog(const TextContent &text, const LogPatterns &patterns, const Job &job);

} // namespace prosector
