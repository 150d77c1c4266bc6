// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/core/finding.h"

#include <vector>

namespace prosector {

/// One selectable place: an anchor in an artifact of run A or of its baseline, B.
struct Place {
    Side side = Side::A;
    ArtifactId artifact;
    Anchor where = Whole{};
    auto operator<=>(const Place &) const = default;
};

/// What is selected or hovered: the first place leads, the others go with it. Empty: nothing.
using Selection = std::vector<Place>;

inline Place placeOf(const Evidence &evidence)
{
    return {evidence.side, evidence.artifact, evidence.where};
}

/// All places a finding points at, in its order.
inline Selection placesOf(const Finding &finding)
{
    Selection places;
    for (const Evidence &evidence : finding.evidence)
        places.push_back(placeOf(evidence));
    return places;
}

} // namespace prosector
