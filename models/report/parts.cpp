// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/report/parts.h"

#include "models/core/plaintext.h"

#include <algorithm>
#include <charconv>
#include <cmath>

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
    const std::size_t ran = examination.outcomes.size();
    text = (text.empty() ? "Nothing found" : text) + ". " + std::to_string(ran) + (ran == 1 ? " instrument ran" : " instruments ran");
    if (const std::size_t blind = undecidableLines(examination).size(); blind > 0)
        text += ", " + std::to_string(blind) + " undecidable";
    return text + '.';
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
        text += ' ' + neutralised(measure.unit);
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

std::vector<UnreadableLine> unreadableLines(const Examination &examination)
{
    std::vector<UnreadableLine> lines;
    for (const Outcome &outcome : examination.outcomes) {
        if (!outcome.report)
            lines.push_back({std::string(outcome.instrument->id), neutralised(describe(outcome.report.error()))});
    }
    for (const Unreadable &unreadable : examination.run->unreadable())
        lines.push_back({neutralised(unreadable.path), neutralised(describe(unreadable.error))});
    if (examination.baseline) {
        for (const Unreadable &unreadable : examination.baseline->unreadable())
            lines.push_back({"baseline: " + neutralised(unreadable.path), neutralised(describe(unreadable.error))});
    }
    return lines;
}

std::vector<UndecidableLine> undecidableLines(const Examination &examination)
{
    std::vector<UndecidableLine> lines;
    for (const Outcome &outcome : examination.outcomes) {
        if (!outcome.report || !outcome.report->undecidable())
            continue;
        std::string lacks;
        for (const std::string &name : outcome.report->missing)
            lacks += (lacks.empty() ? "" : ", ") + neutralised(name);
        lines.push_back({outcome.instrument, std::move(lacks)});
    }
    return lines;
}

std::vector<NotSeenLine> notSeenLines(const Examination &examination)
{
    std::vector<NotSeenLine> lines;
    for (const Outcome &outcome : examination.outcomes) {
        if (!outcome.report)
            continue;
        for (const std::string &what : outcome.report->notSeen)
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
