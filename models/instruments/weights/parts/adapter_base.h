// SPDX-License-Identifier: GPL-3.0-or-later
// W2 in parts; used by models/instruments/weights/adapter_key_coverage.cpp only.
#pragma once

#include "models/config/adapter.h"
#include "models/core/finding.h"
#include "models/runs/weightset.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace prosector::coverage {

/// A module of the base that has a weight.
struct BaseModule {
    std::string name;             ///< as in Transformers; GGUF names of common models are translated
    const WeightRow *row = nullptr;
    bool plain = false;           ///< the row's shape is that of the weight (not packed)
};

enum class Spelling : std::uint8_t { Dotted, Underscored, Gguf };
Spelling spellingOf(const Adapter &adapter);

/// One checkpoint an adapter could belong to. Rows point into `set`.
class Base {
public:
    /// `style`: how the adapter spells modules.
    Base(WeightSet set, const Run &run, Side side, Spelling style);
    Base(Base &&) = default;

    const WeightSet &set() const { return m_set; }
    Side side() const { return m_side; }
    /// Layers the model's class builds; those behind them (prediction layers) take no part.
    std::uint64_t layers() const { return m_layers; }
    const std::vector<BaseModule> &modules() const { return m_modules; }
    const BaseModule *find(std::string_view name) const;
    /// Whether a tensor or module of that name, or below it, exists.
    bool holds(std::string_view name) const;
    Evidence placeOf(const BaseModule &module, std::string note) const;

private:
    WeightSet m_set;
    Side m_side;
    std::uint64_t m_layers = UINT64_MAX;
    std::vector<BaseModule> m_modules; // by name
};

/// How names of the adapter become names of the base: the name itself, or with the outermost component
/// taken away or added. A base saved without the prefix of its head class (GPT-2's "transformer") and an
/// adapter of a bare encoder are lawful.
struct Lead {
    std::string drop, add;
    std::string apply(std::string_view module) const;
    std::string reverse(std::string_view module) const;
};

/// Where an adapted module lands in the base.
struct Landing {
    const BaseModule *module = nullptr; ///< the module itself
    bool fused = false;                 ///< it is part of a module the base fuses (qkv_proj)
    bool exists = false;
};
Landing landingOf(const Base &base, const Lead &lead, std::string_view module);

/// The lawful lead under which most modules land, and how many do.
std::pair<Lead, std::size_t> bestLead(const Base &base, const Adapter &adapter);

/// A change of one run of path components that makes every module of the list land: "insert
/// \"language_model.\"". Empty when there is none. `example` gets a base module it lands on.
std::string renameFor(const Base &base, const std::vector<std::string_view> &modules, const BaseModule *&example);

} // namespace prosector::coverage
