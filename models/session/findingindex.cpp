// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/session/findingindex.h"

#include "models/instruments/instrument.h"

#include <algorithm>

namespace prosector {

FindingIndex::FindingIndex(std::span<const std::shared_ptr<const Outcome>> outcomes)
{
    const auto finding = [&](FindingRef ref) -> const Finding & {
        return outcomes[static_cast<std::size_t>(ref.instrument)]
            ->report->findings[static_cast<std::size_t>(ref.finding)];
    };
    for (std::size_t i = 0; i < outcomes.size(); ++i) {
        if (!outcomes[i] || !outcomes[i]->report)
            continue;
        for (std::size_t k = 0; k < outcomes[i]->report->findings.size(); ++k)
            m_all.push_back({static_cast<int>(i), static_cast<int>(k)});
    }
    std::stable_sort(m_all.begin(), m_all.end(),
                     [&](FindingRef a, FindingRef b) { return finding(a).severity > finding(b).severity; });
    for (const FindingRef ref : m_all) {
        const Severity severity = finding(ref).severity;
        m_worst = std::max(m_worst, severity);
        ++m_counts[static_cast<std::size_t>(severity)];
        for (const Evidence &evidence : finding(ref).evidence) {
            Touched &touched = m_byArtifact[{evidence.side, evidence.artifact}];
            touched.worst = std::max(touched.worst, severity);
            if (touched.findings.empty() || touched.findings.back() != ref)
                touched.findings.push_back(ref);
        }
    }
}

std::span<const FindingRef> FindingIndex::touching(Side side, ArtifactId artifact) const
{
    const auto it = m_byArtifact.find({side, artifact});
    return it == m_byArtifact.end() ? std::span<const FindingRef>() : it->second.findings;
}

Severity FindingIndex::worst(Side side, ArtifactId artifact) const
{
    const auto it = m_byArtifact.find({side, artifact});
    return it == m_byArtifact.end() ? Severity::Ok : it->second.worst;
}

} // namespace prosector
