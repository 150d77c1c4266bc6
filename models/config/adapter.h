// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/core/document.h"
#include "models/core/pattern.h"
#include "models/runs/run.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace prosector {

/// The low-rank pair of one module, as stored.
struct AdapterModule {
    std::string name;                 ///< the module in the base, wrappers stripped: "model.layers.0.self_attn.q_proj"
    const TensorInfo *a = nullptr, *b = nullptr; ///< A [r, in], B [out, r] (MLX: [in, r], [r, out])
    const Artifact *file = nullptr;
    bool transposed = false;          ///< MLX order
    bool embedding = false;           ///< lora_embedding_A [r, tokens], lora_embedding_B [width, r]
    std::optional<std::uint64_t> rank() const; ///< of A, of B where A is absent
};

/// A whole weight saved beside the pairs.
struct AdapterWhole {
    std::string name;  ///< "classifier.weight"
    const TensorInfo *info = nullptr;
    const Artifact *file = nullptr;
};

/// An adapter of PEFT, MLX, kohya or llama.cpp: its configuration and its tensors by module.
struct Adapter {
    const ModelFolder *folder = nullptr;
    const Artifact *config = nullptr; ///< null when there is none
    Value root;                       ///< of the configuration
    std::string type;                 ///< peft_type in capitals, "LORA" where nothing says otherwise
    std::vector<AdapterModule> modules; ///< by name
    std::vector<AdapterWhole> whole;    ///< by name
    bool underscored = false;         ///< kohya: the dots of module names are underscores
    bool listed = true;               ///< false when a tensor file could not be read

    /// r of a module: the matching rank_pattern, else r; nothing when neither is stated.
    std::optional<std::uint64_t> rankOf(std::string_view module) const;
    bool flag(const char *key) const { return root[key].boolean().value_or(false); }
    std::vector<std::string> list(const char *key) const; ///< strings of a list, or the string alone
};

/// The adapters of a run, in order of folder.
std::vector<Adapter> adaptersOf(const Run &run);

/// Which modules an adapter's target_modules select, as PEFT selects them.
class TargetSelection {
public:
    explicit TargetSelection(const Adapter &adapter);
    /// Whether anything says what is targeted.
    bool stated() const { return m_allLinear || m_pattern || !m_names.empty(); }
    bool allLinear() const { return m_allLinear; }
    bool selects(std::string_view module) const;

private:
    std::vector<std::string> m_names, m_excluded;
    std::optional<NamePattern> m_pattern, m_excludePattern;
    bool m_allLinear = false;
    std::vector<std::int64_t> m_layers; ///< layers_to_transform; empty: all
};

/// The name equals the suffix or ends with "." and the suffix.
bool endsWithModule(std::string_view name, std::string_view suffix);

} // namespace prosector
