// SPDX-License-Identifier: GPL-3.0-or-later
// W8 in parts; used by models/instruments/weights/checkpoint_completeness.cpp only.
#pragma once

#include "models/config/architecture.h"
#include "models/core/finding.h"
#include "models/core/wording.h"
#include "models/runs/weightset.h"

#include <string>
#include <string_view>

namespace prosector::completeness {

inline constexpr std::size_t evidenceLimit = 8;

/// Model files of which only the Git-LFS pointer is there.
void lookAtPointers(const Run &run, const ModelFolder &folder, Report &report);
/// Files that end inside their header: what follows it is not even listed.
void lookAtCutHeaders(const Run &run, Report &report);
/// Shards that are absent, tensors that are not where the index says, data that leaves its file, a
/// total size that is another.
void lookAtFiles(const WeightSet &set, Report &report);
/// Absent layers, holes, absent experts, layers behind the declared number. `config` may be null.
void lookAtLayers(const WeightSet &set, const Architecture &architecture, const Artifact *config, Report &report);
/// Projections and embedding against the declared sizes, for model types whose layers are all alike.
void lookAtShapes(const WeightSet &set, const Architecture &architecture, Report &report);

inline Finding &add(Report &report, std::string code, Severity severity, std::string title)
{
    report.findings.push_back({.code = std::move(code), .severity = severity, .title = std::move(title)});
    return report.findings.back();
}

} // namespace prosector::completeness
