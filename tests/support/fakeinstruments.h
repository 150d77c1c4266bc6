// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/instruments/instrument.h"

#include <array>
#include <atomic>
#include <semaphore>
#include <stdexcept>
#include <string>

/// Instruments for tests of session, models and widgets: they look at nothing but config.json and
/// behave on command.
namespace prosector::fake {

/// While true, the "waits" instrument blocks until `go` is released or its job is stopped.
inline std::atomic<bool> block{false};
inline std::counting_semaphore<> started{0}; ///< released when "waits" has begun to block

inline Result<Report> runFinds(const Inputs &inputs, const Params &params, const Job &)
{
    Report report;
    for (const Artifact &artifact : inputs.run.artifacts()) {
        const Value bad = artifact.tree()["bad"];
        if (!bad || bad.number().value_or(0) < params["threshold"])
            continue;
        Finding finding{.code = "test.bad", .severity = Severity::Error, .title = "bad is set in " + artifact.name};
        finding.detail = "a detail to search for";
        finding.measure = Measure{bad.number().value_or(0), "bads"};
        finding.evidence.push_back({artifact.id, bad.anchor(), "here"});
        finding.falseIf = "bad means good";
        report.findings.push_back(std::move(finding));
    }
    if (inputs.baseline && !inputs.baseline->artifacts().empty()) {
        Finding finding{.code = "test.baseline", .severity = Severity::Info, .title = "there is a baseline"};
        finding.evidence.push_back({inputs.baseline->artifacts()[0].id, Whole{}, "the other run", Side::B});
        report.findings.push_back(std::move(finding));
    }
    Table table{"Values", {"File", "bad, \"or not\""}, {}};
    for (const Artifact &artifact : inputs.run.artifacts()) {
        const Value bad = artifact.tree()["bad"];
        Cell value{std::string(bad.raw())};
        value.numeric = true;
        if (bad) {
            value.source = Evidence{artifact.id, bad.anchor(), "the value"};
            value.severity = Severity::Warning;
        }
        table.rows.push_back({Cell{artifact.path}, std::move(value)});
    }
    report.tables.push_back(std::move(table));
    return report;
}

inline Result<Report> runWarns(const Inputs &inputs, const Params &, const Job &)
{
    Report report;
    for (const Artifact &artifact : inputs.run.artifacts()) {
        const Value root = artifact.tree();
        if (!root["odd"])
            continue;
        Finding finding{.code = "test.odd", .severity = Severity::Warning, .title = "odd is set"};
        finding.evidence.push_back({artifact.id, root["odd"].anchor(), "here"});
        report.findings.push_back(std::move(finding));
    }
    return report;
}

inline Result<Report> runUndecidable(const Inputs &, const Params &, const Job &)
{
    return Report::missingInputs({"attention_mask"});
}

inline Result<Report> runThrows(const Inputs &inputs, const Params &, const Job &)
{
    for (const Artifact &artifact : inputs.run.artifacts()) {
        if (artifact.tree()["throw"])
            throw std::runtime_error("a defect for the test");
    }
    return Report{};
}

inline Result<Report> runWaits(const Inputs &, const Params &, const Job &job)
{
    if (!block)
        return Report{};
    std::binary_semaphore stopped(0);
    const std::stop_callback callback(job.stopToken(), [&] { stopped.release(); });
    started.release();
    stopped.acquire();
    return Job::cancelledError();
}

inline constexpr ParamSpec parameters[] = {{"threshold", "Least bad", "bads", 1, 0, 100}};
inline constexpr Instrument finds{"F90", "Bad finder", "Is anything bad?", "fake_finds", {}, parameters, runFinds};
inline constexpr Instrument warns{"F91", "Odd finder", "Is anything odd?", "fake_warns", {}, {}, runWarns};
inline constexpr Instrument undecidable{"M90", "Mask reader", "What does the mask say?", "fake_undecidable", {},
                                        {},    runUndecidable};
inline constexpr Instrument throws{"W90", "Thrower", "Does the border hold?", "fake_throws", {}, {}, runThrows};
inline constexpr Instrument waits{"W91", "Waiter", "Can it be stopped?", "fake_waits", {}, {}, runWaits};

inline constexpr std::array<const Instrument *, 5> table{&finds, &warns, &undecidable, &throws, &waits};

} // namespace prosector::fake
