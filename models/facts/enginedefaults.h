// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/core/document.h"

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace prosector {

/// One setting of one engine with the default it had over a range of versions.
struct DefaultRow {
    std::string id, engine;
    std::string component; ///< where it belongs: "/v1/chat/completions", "server flag"
    std::string setting, category;
    std::vector<std::string> names; ///< every spelling: request fields, flags, environment, GGUF keys, Python names
    std::string value;              ///< the default as text: "0.8", "auto", "none" for unset
    std::string from, to;           ///< versions at which it was seen; labels of the engine's version points
    bool current = false;           ///< still so at the last look
    std::string precedence;         ///< id of the precedence list
    std::string ignored;            ///< how the engine clamps, refuses or ignores it; empty when it does not
    std::string note;
    std::string source; ///< "repo path@commit:line"
    bool verified = false;          ///< read there; else recalled, and shown as such

    /// The source for people, marked where it is only recalled.
    std::string citation() const { return verified ? source : source + " (recalled)"; }
};

/// What wins over what, strongest first.
struct Precedence {
    std::string id;
    std::vector<std::string> order;
    std::string skippedWhen, beneath, note, source;
};

/// Table `resources/facts/engine-defaults.json`. Immutable; safe to read from any thread.
class EngineDefaults {
public:
    static Result<EngineDefaults> parse(DocumentPtr table);

    std::span<const DefaultRow> rows() const { return m_rows; }

    /// Rows of an engine that carry this name (any spelling, see `canonicalName`), in table order.
    std::vector<const DefaultRow *> find(std::string_view engine, std::string_view name) const;

    /// The default in force and how sure that is.
    struct InForce {
        const DefaultRow *row = nullptr;
        bool versionKnown = false; ///< the version was given and lies inside the row's range
        std::string remark;        ///< when the default changed over time or the version is not covered: says so
    };
    /// For a component that contains `component` (empty: any). Of several versions' defaults the one
    /// for `version`; without a version, or with one that no row covers, the latest, and says so.
    std::optional<InForce> inForce(std::string_view engine, std::string_view name, std::string_view version = {},
                                   std::string_view component = {}) const;

    /// Null when there is none of that id ("vllm.openai").
    const Precedence *precedence(std::string_view id) const;

private:
    std::vector<DefaultRow> m_rows;
    std::vector<Precedence> m_precedence;
    std::map<std::string, std::vector<std::size_t>, std::less<>> m_byName; ///< "engine\nname" to rows
};

/// One spelling for a name wherever it stands: "--max-model-len", "max_model_len" and
/// "options.max_model_len" are the same. Lower case, '_' for '-', without leading dashes and
/// without the sections "options.", "parameters.", "sampling_params.".
std::string canonicalName(std::string_view name);

/// Orders version labels: "v0.9.2", "~0.10.0", "4.57-main", "b8985" by their numbers; dates
/// ("2026-05-29", "main-2026-04-07") come after every number. Negative, zero, positive.
int compareVersions(std::string_view a, std::string_view b);

} // namespace prosector
