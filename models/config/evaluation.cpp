// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/config/evaluation.h"

namespace prosector {

Result<LogTriages> triageLogs(const Run &run, const Facts &facts, const Job &job)
{
    LogTriages triages;
    for (const Artifact &artifact : run.artifacts()) {
        if (!isLog(artifact))
            continue;
        auto triage = triageLog(*artifact.as<TextContent>(), facts.logPatterns, job);
        if (!triage)
            return triage.error();
        triages.emplace(artifact.id.index, std::move(*triage));
    }
    return triages;
}

Result<std::shared_ptr<const LogTriages>> Evaluation::logs(const Job &job)
{
    const std::scoped_lock lock(m_logsMutex);
    if (!m_logs) {
        auto made = triageLogs(m_run, m_facts, job);
        if (!made)
            return made.error();
        m_logs = std::make_shared<const LogTriages>(std::move(*made));
    }
    return m_logs;
}

Result<std::shared_ptr<const std::vector<EffectiveConfig>>> Evaluation::configs(const Job &job)
{
    const std::scoped_lock lock(m_configsMutex);
    if (!m_configs) {
        const auto triages = logs(job);
        if (!triages)
            return triages.error();
        auto made = effectiveConfigs(m_run, m_facts, **triages, job);
        if (!made)
            return made.error();
        m_configs = std::make_shared<const std::vector<EffectiveConfig>>(std::move(*made));
    }
    return m_configs;
}

} // namespace prosector
