// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/config/effective.h"
#include "models/config/logtriage.h"

#include <map>
#include <memory>
#include <mutex>

namespace prosector {

/// Every log of a run, triaged; by index of the artifact.
using LogTriages = std::map<std::uint32_t, LogTriage>;
Result<LogTriages> triageLogs(const Run &run, const Facts &facts, const Job &job);

/// What several instruments need of one run, worked out once: the first to ask computes it, the others
/// wait for it and share it. Made for one examination and thrown away with it; the run and the facts
/// must outlive it. Any thread. A cancelled or failed attempt is not kept.
class Evaluation {
public:
    Evaluation(const Run &run, const Facts &facts) : m_run(run), m_facts(facts) {}
    Evaluation(const Evaluation &) = delete;
    Evaluation &operator=(const Evaluation &) = delete;

    Result<std::shared_ptr<const LogTriages>> logs(const Job &job);
    Result<std::shared_ptr<const std::vector<EffectiveConfig>>> configs(const Job &job);

private:
    const Run &m_run;
    const Facts &m_facts;
    std::mutex m_logsMutex, m_configsMutex;
    std::shared_ptr<const LogTriages> m_logs;
    std::shared_ptr<const std::vector<EffectiveConfig>> m_configs;
};

} // namespace prosector
