// SPDX-License-Identifier: GPL-3.0-or-later
// What the report formats share: order, places and numbers as text. Everything returned is neutralised.
#pragma once

#include "models/report/report.h"

namespace prosector::report {

struct Ranked {
    const Instrument *instrument = nullptr;
    const Finding *finding = nullptr;
};
/// Worst first; of equals, catalogue order. Without those that say all is well.
std::vector<Ranked> rankedFindings(const Examination &examination);

struct Count {
    Severity severity;
    std::size_t count;
};
/// Errors, warnings and infos, in this order.
std::array<Count, 3> countFindings(const Examination &examination);
/// How many instruments came to what; together all that ran.
struct Standings {
    std::size_t found = 0, passed = 0, undecidable = 0, failed = 0;
};
Standings countStandings(const Examination &examination);
/// "2 errors, 1 warning; 1 file could not be read. 14 instruments ran: 2 found something, 9 passed, 3 undecidable."
/// or "No findings. …"
std::string summaryText(const Examination &examination);
/// A title and what follows as one text.
std::string sentences(const std::string &title, const std::string &detail);
/// Instruments worth reading next, those that there are.
std::vector<std::string> nextInstruments(const Finding &finding);

/// The run a piece of evidence belongs to, and its artifact there; null when it names none.
const Run &runOf(const Evidence &evidence, const Examination &examination);
const Artifact *artifactOf(const Evidence &evidence, const Examination &examination);

/// The file of an artifact for people: relative to the input, behind the input's name where several
/// were opened.
std::string pathText(const Artifact &artifact, const Run &run);
/// "config.json", "baseline: config.json".
std::string fileText(const Evidence &evidence, const Examination &examination);
/// "line 3", "$.rope_theta"; empty for a whole file.
std::string placeText(const Evidence &evidence);
/// "2 tokens (95 %: 1.5 to 2.5, p = 0.01, n = 20)". Whole numbers exactly, others to four digits.
std::string measureText(const Measure &measure);
std::string numberText(double number);

/// One line each: what a run could not read, on either side.
struct UnreadableLine {
    std::string path, text;
};
/// Behind the input's name where several were opened.
std::string unreadablePath(const Unreadable &unreadable, const Run &run);
std::vector<UnreadableLine> unreadableLines(const Examination &examination);

/// "F7 Quantization declaration", by instrument; the inputs it lacked.
struct UndecidableLine {
    const Instrument *instrument;
    std::string lacks; ///< "weights, config_files"; never empty
};
std::vector<UndecidableLine> undecidableLines(const Examination &examination);

struct NotSeenLine {
    const Instrument *instrument;
    std::string what;
};
/// What an instrument that said something could not look at.
std::vector<std::string> unseenBy(const Outcome &outcome);
std::vector<NotSeenLine> notSeenLines(const Examination &examination);

std::vector<const Instrument *> passedInstruments(const Examination &examination);

/// "model folder": the kind of an input for people.
std::string kindText(std::string_view kind);

} // namespace prosector::report
