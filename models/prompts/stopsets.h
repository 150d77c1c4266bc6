// SPDX-License-Identifier: GPL-3.0-or-later
// What can end a generation: by the files as each family of engines reads them, by a log, by a request.
#pragma once

#include "models/config/logtriage.h"
#include "models/prompts/proberender.h"
#include "models/wire/bodies.h"

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace prosector {

/// Ids and texts that end a generation, and where they stand.
struct StopSet {
    std::set<std::int64_t> ids{};
    std::set<std::string> tokens{}; ///< spellings of tokens whose id no file tells
    std::set<std::string> strings{}; ///< stop strings: looked for in the text
    std::vector<Evidence> evidence{};

    bool empty() const { return ids.empty() && tokens.empty() && strings.empty(); }
    void add(const StopSet &other);
    /// Whether the marker ends a generation. A stop string counts when the marker's spelling holds it.
    bool holds(const PrintedMarker &marker) const;
    bool holdsAny(const std::vector<PrintedMarker> &markers) const;
};

/// How one family of engines reads the files.
struct StopReading {
    std::string engines; ///< "vLLM and SGLang"
    StopSet set;
    /// llama.cpp ends at these spellings although the metadata do not name them.
    bool byText = false;
};

/// The readings of a folder's files (Transformers, TGI and MLX; vLLM and SGLang) or of a GGUF file (llama.cpp
/// and Ollama; with the tokens that a log lists, those). Only that of `engine` when it is known. Empty when
/// no file says what ends a generation: neither generation_config.json, config.json nor GGUF.
std::vector<StopReading> stopReadings(const TokenizerView &view, std::string_view engine, const std::map<std::uint32_t, LogTriage> &logs,
                                      const std::vector<const Artifact *> &shown);

/// What a request says of stopping.
struct RequestStops {
    StopSet set;
    std::optional<Evidence> ignoresEnd{}; ///< ignore_eos
    std::optional<std::int64_t> least{}, most{}; ///< tokens to generate
    std::optional<Evidence> leastAt{};
    bool synthetic = false; ///< marked as a benchmark's, or least = most: it ignores the end on purpose
};
RequestStops requestStops(const WireBody &request);

} // namespace prosector
