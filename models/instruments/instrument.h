// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/core/finding.h"
#include "models/core/job.h"
#include "models/facts/facts.h"
#include "models/runs/run.h"

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace prosector {

class Evaluation;
struct EffectiveConfig;
struct LogTriage;

/// What an instrument looks at. Pure input: it may read the artifacts' bytes, nothing else.
struct Inputs {
    const Run &run;
    const Facts &facts;
    const Run *baseline = nullptr;
    Evaluation *evaluation = nullptr; ///< of `run`, shared with the other instruments; null: work it out here

    /// The run's configurations and its triaged logs, through `evaluation` where there is one.
    Result<std::shared_ptr<const std::vector<EffectiveConfig>>> configs(const Job &job) const;
    Result<std::shared_ptr<const std::map<std::uint32_t, LogTriage>>> logs(const Job &job) const;
};

/// A threshold the user may change; `value` in the unit named.
struct ParamSpec {
    std::string_view name, title, unit;
    double value = 0, minimum = 0, maximum = 0;
};

/// Thresholds in force: those changed by the user over the defaults.
class Params {
public:
    Params() = default;
    explicit Params(std::span<const ParamSpec> specs, std::map<std::string, double, std::less<>> changed = {})
        : m_specs(specs), m_changed(std::move(changed))
    {
    }
    /// The name must be one of the specs.
    double operator[](std::string_view name) const;
    const std::map<std::string, double, std::less<>> &changed() const { return m_changed; }

private:
    std::span<const ParamSpec> m_specs;
    std::map<std::string, double, std::less<>> m_changed;
};

/// One question. Pure: same inputs, same report, bit for bit; no clock, locale, statics or files.
/// A new instrument is `models/instruments/<domain>/<name>.cpp` defining
/// `extern constinit const Instrument <domain>_<name>`; the table is generated, and configuring fails
/// when its test, help page or fixture is missing.
struct Instrument {
    std::string_view id;       ///< "F5"
    std::string_view name;     ///< "Position-scaling audit"
    std::string_view question; ///< "Do window, base and scaling agree, and were they carried over?"
    std::string_view slug;     ///< "<domain>_<name>": its help page and fixtures
    std::span<const std::string_view> inputs; ///< kinds it can use, for the "not captured" page
    std::span<const ParamSpec> params;
    Result<Report> (*run)(const Inputs &inputs, const Params &params, const Job &job);

    std::string_view family() const; ///< "Configuration and start-up"
};

/// Every instrument, in catalogue order (T, R, S, M, C, B, W, L, … then number).
std::span<const Instrument *const> instruments();
/// By id, without regard to case; null when there is none.
const Instrument *findInstrument(std::string_view id);

/// Runs one instrument and sees to it that damage is never taken for health: where a file of a kind that
/// it reads is damaged and it found nothing worth a warning, the report names that file as missing.
Result<Report> runInstrument(const Instrument &instrument, const Inputs &inputs, const Params &params, const Job &job);

/// The outcome of one instrument on one set of inputs.
struct Outcome {
    const Instrument *instrument = nullptr;
    Params params;
    Result<Report> report = Report{};
    /// What became of it: exactly one of these.
    enum class Standing : std::uint8_t {
        Found,       ///< at least one finding that is more than a note
        Passed,      ///< it looked, and there is nothing, or notes alone
        Undecidable, ///< it lacked what it needs and says nothing
        Failed,      ///< it ended with an error
    };
    Standing standing() const;
    bool passed() const { return standing() == Standing::Passed; }
};

/// All outcomes for a run: what `examine` reports and the window shows.
struct Examination {
    RunPtr run, baseline;
    std::vector<Outcome> outcomes; ///< in catalogue order
    /// The worst finding, Ok when there is none.
    Severity worst() const;
};

/// Thresholds that differ from the defaults: instrument id, then parameter name.
using Thresholds = std::map<std::string, std::map<std::string, double, std::less<>>, std::less<>>;

/// Runs `which` (all when empty), in order. Stops early only when cancelled.
Result<Examination> examine(RunPtr run, RunPtr baseline, const Facts &facts,
                            std::span<const Instrument *const> which, const Job &job,
                            const Thresholds &thresholds = {});

} // namespace prosector
