// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/config/effective.h"

#include <algorithm>

namespace prosector {

std::string_view nameOf(Origin origin)
{
    switch (origin) {
    case Origin::Request: return "request";
    case Origin::Gateway: return "gateway";
    case Origin::Flag: return "flag";
    case Origin::Environment: return "environment";
    case Origin::LogLine: return "log line";
    case Origin::CheckpointFile: return "checkpoint file";
    case Origin::EngineDefault: return "engine default";
    case Origin::EngineOverride: return "engine override";
    case Origin::Hardware: return "hardware";
    }
    return "";
}

std::string EffectiveSetting::value() const
{
    if (observed)
        return observed->value;
    const Candidate *const by = chosenBy();
    return by ? by->value : std::string();
}

const EffectiveSetting *EffectiveConfig::find(std::string_view name) const
{
    const auto it = std::find_if(settings.begin(), settings.end(), [&](const EffectiveSetting &s) { return s.name == name; });
    return it == settings.end() ? nullptr : &*it;
}

Table EffectiveConfig::table() const
{
    return {.title = scope.empty() ? "Effective configuration" : "Effective configuration of " + scope,
            .columns = {"Setting", "Value", "Set by", "Where", "Overrode", "Ignored"},
            .rows = {}};
}

Result<std::vector<EffectiveConfig>> effectiveConfigs(const Run &, const Facts &, const Job &)
{
    return std::vector<EffectiveConfig>();
}

} // namespace prosector
