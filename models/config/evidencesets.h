// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/runs/run.h"

#include <string>
#include <vector>

namespace prosector {

/// Artifacts and model folders that belong together: what one server was started with and answered.
struct EvidenceSet {
    std::string scope; ///< directory, "" for the top
    std::vector<ArtifactId> artifacts;
    std::vector<std::size_t> models; ///< indices into Run::models()
};

/// The run as bodies of evidence. All of it is one, unless two sibling folders each hold their own start-up
/// log, arguments, effective parameters or status page, or (with none of these above them) their own model. Files beside
/// such folders belong to each. Several opened inputs are siblings.
std::vector<EvidenceSet> evidenceSets(const Run &run);

/// Engine arguments, start-up logs, effective parameters, status pages: what only one server writes.
bool isServerEvidence(const Artifact &artifact);

} // namespace prosector
