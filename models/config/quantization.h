// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/core/document.h"
#include "models/core/finding.h"
#include "models/core/pattern.h"
#include "models/runs/run.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace prosector {

/// One declared value and where it stands.
template<class T>
struct DeclaredValue {
    T value{};
    Evidence where{};
};

/// What one file says of how weights were packed: `quantization_config` of config.json,
/// quantize_config.json (GPTQ), quant_config.json (AWQ), hf_quant_config.json (ModelOpt), whatever
/// the spelling of its keys (bits | w_bit | num_bits, group_size | q_group_size, …).
struct QuantDeclaration {
    ArtifactId artifact{};
    Value root;                ///< the object with the keys
    std::string method;        ///< lower case: "gptq", "awq", "fp8", "compressed-tensors", …
    std::optional<DeclaredValue<std::int64_t>> bits, groupSize; ///< group −1: one group per column
    std::optional<DeclaredValue<bool>> symmetric, actOrder;
    std::optional<DeclaredValue<std::string>> format; ///< checkpoint_format (GPTQ), format (compressed-tensors), version (AWQ)
    std::optional<std::pair<std::int64_t, std::int64_t>> blockSize; ///< weight_block_size: rows × columns
    Evidence where{};          ///< the object itself

    /// Whether the module is left in floats: named by modules_to_not_convert, ignore, exclude_modules,
    /// ignored_layers (whole components, `*`, or "re:"), by a "-:" pattern of GPTQModel's dynamic, or absent
    /// from the modules_in_block_to_quantize of its layer.
    bool ignores(std::string_view module) const;
    /// Whether a pattern of `dynamic` gives the module settings of its own.
    bool overrides(std::string_view module) const;

private:
    friend std::optional<QuantDeclaration> quantDeclarationOf(ArtifactId, Value);
    std::vector<std::string> m_ignored, m_only; ///< m_only, where given: the packed modules, all others are floats
    std::vector<NamePattern> m_ignoredPatterns, m_overridePatterns;
};

/// Reads an object with quantisation keys; nothing when it has none.
std::optional<QuantDeclaration> quantDeclarationOf(ArtifactId artifact, Value object);

/// All declarations of a folder: that of config.json first.
std::vector<QuantDeclaration> quantDeclarationsOf(const Run &run, const ModelFolder &folder);

} // namespace prosector
