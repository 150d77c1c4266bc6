// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/instruments/instrument.h"
#include "tests/support/strict.h"

#include <QString>

#include <functional>
#include <string>
#include <vector>

namespace prosector::test {

/// `tests/fixtures/<slug>/<which>`.
std::string fixture(std::string_view slug, std::string_view which);

/// An instrument run on inputs, kept together with what its evidence points into.
struct Examined {
    RunPtr run, baseline;
    Result<Report> report = Report{};

    const Finding *find(std::string_view code) const; ///< first of that code, or null
    /// The text `describe(anchor)` of each evidence of a finding with the artifact's path before it:
    /// "config.json $.num_hidden_layers". For asserting that it points at the right place.
    std::vector<std::string> places(const Finding &finding) const;
    bool pointsAt(const Finding &finding, std::string_view path, const Anchor &anchor) const;
    Severity worst() const { return report ? report->worst() : Severity::Undecidable; }
    /// Code and severity of each finding, one per line: what a failed comparison should print.
    QString summary() const;
};

/// Opens the paths and runs one instrument with its defaults.
Examined examineWith(const Instrument &instrument, const std::vector<std::string> &paths,
                     const std::vector<std::string> &baseline = {}, const Job &job = {});

/// What every report owes, whatever was opened: evidence with notes in artifacts that exist, falseIf,
/// titles; the same report when run again. Empty when well, else what is wrong.
QString faultOf(const Instrument &instrument, const Examined &examined);

/// Runs the instrument on copies of a folder (or file) in which one file after the other is cut at
/// several places or has bytes changed: it must give a report or an error each time, and reports must
/// be in order. Empty when well, else the first copy that failed.
QString faultUnderDamage(const Instrument &instrument, const std::string &path);

/// With a job that is stopped already the instrument must answer Cancelled. Empty when well.
QString faultWhenCancelled(const Instrument &instrument, const std::string &path);

} // namespace prosector::test

/// The outcome of a probe: worst severity and no fault of form; prints the findings when it fails.
#define VERIFY_WORST(instrument, examined, severity)                                                                   \
    do {                                                                                                               \
        QVERIFY_RESULT((examined).report);                                                                             \
        QCOMPARE(prosector::test::faultOf((instrument), (examined)), QString());                                       \
        QVERIFY2((examined).worst() == (severity), qPrintable((examined).summary()));                                  \
    } while (false)
