// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/config/evidencesets.h"
#include "models/config/logtriage.h"
#include "models/core/finding.h"
#include "models/facts/facts.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace prosector {

/// What another artifact says of a warning in a log.
struct Clearing {
    enum class Verdict : std::uint8_t { Clears, Confirms };
    Verdict verdict = Verdict::Clears;
    std::string why; ///< "config.json says model_type qwen3"
    Evidence evidence;
};

/// The line in question: where it stands, and what its pattern captured (null for a general wording).
struct JudgedLine {
    const Artifact *log = nullptr;
    std::uint64_t line = 1;
    const LogHit *hit = nullptr;
};

/// Asks the other artifacts of the same body of evidence about one condition of log-rules.json: "not_mistral",
/// "equal_encodings", "new_head", "tied_head", "gguf_has_pre", "kv_not_e4m3", "latent_attention", "encoder",
/// "mrope_section". Nothing when none of them can tell, or the condition is not known.
std::optional<Clearing> judge(std::string_view condition, const JudgedLine &line, const Run &run, const EvidenceSet &set);

} // namespace prosector
