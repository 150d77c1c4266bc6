// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/config/effective.h"
#include "models/core/finding.h"
#include "models/runs/run.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace prosector {

/// A number format with the place that names it.
struct NamedDtype {
    std::string name; ///< "float16", "bfloat16", "float32", "fp8_e4m3"
    Evidence where{};
    bool runtime = false; ///< from a flag or a log line, not from the checkpoint
};

/// Largest finite magnitude of a format by the names engines use, or nothing for an unknown name.
/// IEEE 754; OCP 8-bit floating point; the FNUZ variants of AMD's MI300.
std::optional<double> largestOf(std::string_view dtype);
/// "torch.float16", "half", "fp16", "F16" → "float16"; unknown names unchanged.
std::string canonicalDtype(std::string_view name);

/// The configuration that serves a folder, or null when none or several could.
const EffectiveConfig *servingOf(const std::vector<EffectiveConfig> &configs, const Run &run, const ModelFolder &folder);
/// What a setting runs as, from a flag, the environment or a log line; nothing when only files or defaults speak.
std::optional<NamedDtype> runtimeDtype(const EffectiveConfig *config, std::string_view setting);

/// The format weights are computed in: at run time, else as config.json (nested text part first) says.
std::optional<NamedDtype> servingDtype(const EffectiveConfig *config, const Run &run, const ModelFolder &folder);

/// The format of an 8-bit key-value cache: at run time, else as the quantisation config declares it
/// (`kv_cache_scheme`, `kv_cache_quant_algo`). Nothing for wider caches and for scales computed while
/// serving.
std::optional<NamedDtype> eightBitCache(const EffectiveConfig *config, const Run &run, const ModelFolder &folder);

/// The number format that vision_config states for itself; nothing where it is silent.
std::optional<NamedDtype> visionDtype(const Run &run, const ModelFolder &folder);

} // namespace prosector
