// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/core/result.h"
#include "models/facts/enginedefaults.h"
#include "models/facts/knownmodels.h"
#include "models/facts/logpatterns.h"
#include "models/facts/logrules.h"
#include "models/facts/settings.h"

#include <memory>
#include <string>

namespace prosector {

/// The reference book: what is known of engines and models, with sources, from the tables under
/// `resources/facts`. Immutable; safe to read from any thread.
struct Facts {
    EngineDefaults engineDefaults;
    LogPatterns logPatterns;
    KnownModels knownModels;
    SettingsTable settings;
    LogRules logRules;

    /// Reads the tables of a folder. A table that is missing or does not parse is an Error that
    /// names it.
    static Result<std::shared_ptr<const Facts>> load(const std::string &folder);
    /// From `resourceFolder() + "/facts"`.
    static Result<std::shared_ptr<const Facts>> load();
};
using FactsPtr = std::shared_ptr<const Facts>;

} // namespace prosector
