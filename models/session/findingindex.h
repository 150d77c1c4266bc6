// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/core/place.h"

#include <compare>
#include <map>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace prosector {

struct Outcome;

/// A finding by its place in an examination: instrument as numbered by Session, then position in
/// its report.
struct FindingRef {
    int instrument = -1;
    int finding = -1;
    bool valid() const { return finding >= 0; }
    auto operator<=>(const FindingRef &) const = default;
};

/// Which findings touch which artifact, worst first. A value; made anew when an outcome changes.
class FindingIndex {
public:
    FindingIndex() = default;
    /// `outcomes[i]` belongs to instrument i; null where none is there yet.
    explicit FindingIndex(std::span<const std::shared_ptr<const Outcome>> outcomes);

    /// All findings: worst first, then in the instruments' order.
    std::span<const FindingRef> all() const { return m_all; }
    /// Those with evidence in the artifact, in the same order.
    std::span<const FindingRef> touching(Side side, ArtifactId artifact) const;
    /// The worst finding that touches the artifact; Ok when none does.
    Severity worst(Side side, ArtifactId artifact) const;
    Severity worst() const { return m_worst; }
    /// Number of findings of this severity.
    std::size_t count(Severity severity) const { return m_counts[static_cast<std::size_t>(severity)]; }

private:
    struct Touched {
        Severity worst = Severity::Ok;
        std::vector<FindingRef> findings;
    };
    std::vector<FindingRef> m_all;
    std::map<std::pair<Side, ArtifactId>, Touched> m_byArtifact;
    Severity m_worst = Severity::Ok;
    std::size_t m_counts[5] = {};
};

} // namespace prosector
