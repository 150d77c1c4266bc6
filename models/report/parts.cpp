// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/report/parts.h"

#include "models/core/plaintext.h"
#include "models/core/wording.h"
#include "models/artifacts/damage.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <initializer_list>
#include <iterator>
#include <set>

namespace prosector::report {

std::vector<Ranked> rankedFindings(const Examination &examination)
{
    std::vector<Ranked> ranked;
    for (const Outcome &outcome : examination.outcomes) {
        if (!outcome.report)
            continue;
        for (const Finding &finding : outcome.report->findings) {
            if (finding.severity != Severity::Ok)
                ranked.push_back({outcome.instrument, &finding});
        }
    }
    std::stable_sort(ranked.begin(), ranked.end(),
                     [](const Ranked &a, const Ranked &b) { return a.finding->severity > b.finding->severity; });
    return ranked;
}

std::array<Count, 3> countFindings(const Examination &examination)
{
    std::array<Count, 3> counts{{{Severity::Error, 0}, {Severity::Warning, 0}, {Severity::Info, 0}}};
    for (const Ranked &ranked : rankedFindings(examination)) {
        for (Count &count : counts) {
            if (count.severity == ranked.finding->severity)
                ++count.count;
        }
    }
    return counts;
}

Standings countStandings(const Examination &examination)
{
    Standings standings;
    for (const Outcome &outcome : examination.outcomes) {
        switch (outcome.standing()) {
        case Outcome::Standing::Found: ++standings.found; break;
        case Outcome::Standing::Passed: ++standings.passed; break;
        case Outcome::Standing::Undecidable: ++standings.undecidable; break;
        case Outcome::Standing::Failed: ++standings.failed; break;
        }
    }
    return standings;
}

namespace {

/// "1 file could not be read, 2 only in part", "nothing could be read"; empty when all were read.
std::string unreadText(const Examination &examination)
{
    std::set<std::pair<const Run *, std::string>> none, part;
    bool nothing = false; // an input gave nothing at all
    for (const Run *const run : {examination.run.get(), examination.baseline.get()}) {
        if (!run)
            continue;
        std::set<std::pair<std::uint32_t, std::string_view>> decoded;
        for (const Artifact &artifact : run->artifacts()) {
            if (!holdsNothing(artifact))
                decoded.emplace(artifact.input, artifact.path);
        }
        for (std::uint32_t i = 0; i < run->inputs().size(); ++i)
            nothing = nothing || !run->readAnythingOf(i);
        for (const Unreadable &unreadable : run->unreadable()) {
            const Input &input = run->inputs()[unreadable.input];
            const bool whole = unreadable.path == "." || (unreadable.path == input.path && input.kind != "file");
            if (whole) // a folder or archive as such
                continue;
            auto &where = decoded.contains({unreadable.input, unreadable.path}) ? part : none;
            where.emplace(run, std::to_string(unreadable.input) + '/' + unreadable.path);
        }
    }
    std::string text;
    if (!none.empty())
        text = counted(none.size(), "file") + " could not be read";
    if (!part.empty())
        text += none.empty() ? counted(part.size(), "file") + " could be read only in part" : ", " + std::to_string(part.size()) + " only in part";
    if (text.empty() && nothing)
        text = "nothing could be read";
    return text;
}

} // namespace

std::string summaryText(const Examination &examination)
{
    std::string text;
    for (const auto &[severity, count] : countFindings(examination)) {
        if (count == 0)
            continue;
        text += (text.empty() ? "" : ", ") + std::to_string(count) + ' ';
        text += severity == Severity::Info ? "info" : nameOf(severity);
        if (count > 1 && severity != Severity::Info)
            text += 's';
    }
    if (text.empty())
        text = "No findings";
    if (const std::string unread = unreadText(examination); !unread.empty())
        text += "; " + unread;
    const Standings standings = countStandings(examination);
    text += ". " + counted(examination.outcomes.size(), "instrument") + " ran";
    std::string how;
    for (const auto &[count, what] : std::initializer_list<std::pair<std::size_t, const char *>>{
             {standings.found, "found something"}, {standings.passed, "passed"}, {standings.undecidable, "undecidable"}, {standings.failed, "failed"}}) {
        if (count > 0)
            how += (how.empty() ? ": " : ", ") + std::to_string(count) + ' ' + what;
    }
    return text + how + '.';
}

std::string sentences(const std::string &title, const std::string &detail)
{
    if (detail.empty())
        return title;
    const bool ends = title.empty() || std::string_view(".!?:;").find(title.back()) != std::string_view::npos;
    return title + (ends ? " " : ". ") + detail;
}

std::vector<std::string> nextInstruments(const Finding &finding)
{
    std::vector<std::string> next;
    std::copy_if(finding.next.begin(), finding.next.end(), std::back_inserter(next),
                 [](const std::string &id) { return findInstrument(id) != nullptr; });
    return next;
}

const Run &runOf(const Evidence &evidence, const Examination &examination)
{
    return evidence.side == Side::B && examination.baseline ? *examination.baseline : *examination.run;
}

const Artifact *artifactOf(const Evidence &evidence, const Examination &examination)
{
    return runOf(evidence, examination).find(evidence.artifact);
}

std::string pathText(const Artifact &artifact, const Run &run)
{
    const auto inputs = run.inputs();
    if (inputs.size() < 2 || artifact.input >= inputs.size())
        return neutralised(artifact.path);
    const Input &input = inputs[artifact.input];
    if (input.kind == "file")
        return neutralised(input.path);
    return neutralised(input.path) + (input.path.ends_with('/') ? "" : "/") + neutralised(artifact.path);
}

std::string fileText(const Evidence &evidence, const Examination &examination)
{
    const Artifact *const artifact = artifactOf(evidence, examination);
    if (!artifact)
        return {};
    return (evidence.side == Side::B ? "baseline: " : "") + pathText(*artifact, runOf(evidence, examination));
}

std::string placeText(const Evidence &evidence)
{
    return neutralised(describe(evidence.where));
}

std::string numberText(double number)
{
    std::array<char, 40> buffer{};
    const bool whole = std::abs(number) < 9007199254740992.0 && number == std::trunc(number);
    const auto end = whole ? std::to_chars(buffer.data(), buffer.data() + buffer.size(), static_cast<std::int64_t>(number))
                           : std::to_chars(buffer.data(), buffer.data() + buffer.size(), number,
                                           std::chars_format::general, 4);
    return {buffer.data(), end.ptr};
}

std::string measureText(const Measure &measure)
{
    std::string text = numberText(measure.number);
    if (!measure.unit.empty())
        text += ' ' + neutralised(unitFor(measure.number, measure.unit));
    std::string judge;
    const auto add = [&judge](const std::string &part) { judge += (judge.empty() ? "" : ", ") + part; };
    if (measure.interval)
        add("95 %: " + numberText(measure.interval->first) + " to " + numberText(measure.interval->second));
    if (measure.p)
        add("p = " + numberText(*measure.p));
    if (measure.n)
        add("n = " + std::to_string(*measure.n));
    return judge.empty() ? text : text + " (" + judge + ')';
}

std::string unreadablePath(const Unreadable &unreadable, const Run &run)
{
    const auto inputs = run.inputs();
    const bool alone = inputs.size() < 2 || unreadable.input >= inputs.size();
    if (alone || unreadable.path == inputs[unreadable.input].path)
        return neutralised(unreadable.path);
    const Input &input = inputs[unreadable.input];
    if (input.kind == "file")
        return neutralised(input.path);
    return neutralised(input.path) + (input.path.ends_with('/') ? "" : "/") + neutralised(unreadable.path);
}

std::vector<UnreadableLine> unreadableLines(const Examination &examination)
{
    std::vector<UnreadableLine> lines;
    for (const Outcome &outcome : examination.outcomes) {
        if (!outcome.report)
            lines.push_back({std::string(outcome.instrument->id), neutralised(describe(outcome.report.error()))});
    }
    for (const Unreadable &unreadable : examination.run->unreadable())
        lines.push_back({unreadablePath(unreadable, *examination.run), neutralised(describe(unreadable.error))});
    if (examination.baseline) {
        for (const Unreadable &unreadable : examination.baseline->unreadable())
            lines.push_back({"baseline: " + unreadablePath(unreadable, *examination.baseline), neutralised(describe(unreadable.error))});
    }
    return lines;
}

std::vector<UndecidableLine> undecidableLines(const Examination &examination)
{
    std::vector<UndecidableLine> lines;
    for (const Outcome &outcome : examination.outcomes) {
        if (outcome.standing() != Outcome::Standing::Undecidable)
            continue;
        std::string lacks;
        for (const std::string &name : outcome.report->missing)
            lacks += (lacks.empty() ? "" : ", ") + neutralised(name);
        if (lacks.empty())
            lacks = "more than is there";
        lines.push_back({outcome.instrument, std::move(lacks)});
    }
    return lines;
}

std::vector<std::string> unseenBy(const Outcome &outcome)
{
    if (!outcome.report)
        return {};
    std::vector<std::string> unseen = outcome.report->notSeen;
    if (outcome.standing() != Outcome::Standing::Undecidable) {
        for (const std::string &name : outcome.report->missing)
            unseen.push_back("what needs " + name);
    }
    return unseen;
}

std::vector<NotSeenLine> notSeenLines(const Examination &examination)
{
    std::vector<NotSeenLine> lines;
    for (const Outcome &outcome : examination.outcomes) {
        for (const std::string &what : unseenBy(outcome))
            lines.push_back({outcome.instrument, neutralised(what)});
    }
    return lines;
}

std::vector<const Instrument *> passedInstruments(const Examination &examination)
{
    std::vector<const Instrument *> passed;
    for (const Outcome &outcome : examination.outcomes) {
        if (outcome.passed())
            passed.push_back(outcome.instrument);
    }
    return passed;
}

std::string kindText(std::string_view kind)
{
    std::string text(kind);
    std::replace(text.begin(), text.end(), '_', ' ');
    return text;
}

} // namespace prosector::report
