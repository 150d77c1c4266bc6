// SPDX-License-Identifier: GPL-3.0-or-later
// F3: lines of logs that explain what came later, each judged by a rule and by what else is open.
#include "models/config/evaluation.h"
#include "models/config/logclearing.h"
#include "models/core/utf8.h"
#include "models/instruments/instrument.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>

namespace prosector {

namespace {

constexpr std::size_t longestExcerpt = 160;
constexpr std::size_t tableRows = 500;
/// Lines of the table's severity "warn" for which no rule stands are told together, so many of them.
constexpr std::size_t furtherLines = 12;

std::string excerpt(std::string_view line)
{
    while (!line.empty() && (line.front() == ' ' || line.front() == '\t'))
        line.remove_prefix(1);
    const bool longer = line.size() > longestExcerpt;
    return toValidUtf8(line.substr(0, longestExcerpt)) + (longer ? "…" : "");
}

struct Seen {
    std::uint64_t count = 0, firstLine = 0;
    const LogHit *hit = nullptr; ///< of the first line
};

class Triage {
public:
    Triage(const Inputs &inputs, const Job &job) : m_inputs(inputs), m_job(job), m_sets(evidenceSets(inputs.run)) {}

    Result<Report> run()
    {
        auto logs = m_inputs.logs(m_job);
        if (!logs)
            return logs.error();
        m_logs = std::move(*logs);
        bool any = false;
        for (const EvidenceSet &set : m_sets) {
            for (const ArtifactId id : set.artifacts) {
                const Artifact &artifact = m_inputs.run.artifact(id);
                // A log above several models is in several sets and judged once.
                if (!isLog(artifact) || !m_done.insert(id).second)
                    continue;
                auto known = log(artifact, set);
                if (!known)
                    return known.error();
                any = any || *known;
                if (!*known)
                    m_report.notSeen.push_back(artifact.path + ": no line that is known of any engine, and none with a level");
            }
        }
        if (!any)
            m_report.missing = {"startup_log"};
        return std::move(m_report);
    }

private:
    /// Whether it is a log of an engine, holds a known line or at least reports by levels: the silence of any other
    /// file says nothing.
    Result<bool> log(const Artifact &artifact, const EvidenceSet &set)
    {
        const TextContent &text = *artifact.as<TextContent>();
        const LogTriage *const triage = &m_logs->at(artifact.id.index);

        std::map<const LogRule *, Seen> seen;
        std::map<const LogPattern *, Seen> unruled;
        const auto count = [](Seen &entry, std::uint64_t line, const LogHit *hit, std::uint64_t by = 1) {
            if (entry.count == 0) {
                entry.firstLine = line;
                entry.hit = hit;
            }
            entry.count += by;
        };
        std::vector<const LogRule *> byRegex, here;
        std::string buffer;
        auto hit = triage->hits.begin();
        for (std::size_t i = 0; i < text.lineCount(); ++i) {
            if (i % 4096 == 0 && m_job.cancelled())
                return Job::cancelledError();
            const std::uint64_t number = i + 1;
            here.clear();
            for (; hit != triage->hits.end() && hit->line == number; ++hit) {
                if (const LogRule *const rule = m_inputs.facts.logRules.ofPattern(hit->pattern->id)) {
                    if (std::find(here.begin(), here.end(), rule) == here.end()) {
                        here.push_back(rule);
                        count(seen[rule], number, &*hit);
                    }
                } else if (hit->pattern->severity == "serious" || hit->pattern->severity == "warn") {
                    count(unruled[hit->pattern], number, &*hit);
                }
            }
            m_inputs.facts.logRules.matching(withoutColour(text.line(i).substr(0, 65536), buffer), byRegex);
            for (const LogRule *const rule : byRegex) {
                if (std::find(here.begin(), here.end(), rule) == here.end()) {
                    here.push_back(rule);
                    count(seen[rule], number, nullptr);
                }
            }
        }
        // Beyond the kept hits only numbers are known.
        for (const LogCount &total : triage->counts) {
            if (total.count <= LogTriage::keptPerPattern)
                continue;
            if (const LogRule *const rule = m_inputs.facts.logRules.ofPattern(total.pattern->id); rule && !rule->hasRegex)
                seen[rule].count += total.count - LogTriage::keptPerPattern;
        }

        std::vector<std::pair<const LogRule *, Seen>> ordered(seen.begin(), seen.end());
        std::sort(ordered.begin(), ordered.end(), [](const auto &a, const auto &b) {
            return std::pair(a.second.firstLine, std::string_view(a.first->id)) < std::pair(b.second.firstLine, std::string_view(b.first->id));
        });
        for (const auto &[rule, entry] : ordered)
            finding(artifact, text, set, *rule, entry);
        further(artifact, text, unruled);
        table(artifact, text, *triage, ordered);
        return !triage->engine.empty() || !triage->counts.empty() || !seen.empty() || reportsByLevel(text);
    }

    static bool reportsByLevel(const TextContent &text)
    {
        constexpr std::size_t looked = 1000;
        for (std::size_t i = 0; i < std::min(text.lineCount(), looked); ++i) {
            const std::string_view line = text.line(i);
            for (const std::string_view level : {"INFO", "WARN", "ERROR", "DEBUG"}) {
                const auto at = line.find(level);
                if (at != std::string_view::npos && (at == 0 || std::string_view(" \t[:(|").find(line[at - 1]) != std::string_view::npos))
                    return true;
            }
        }
        return false;
    }

    void finding(const Artifact &artifact, const TextContent &text, const EvidenceSet &set, const LogRule &rule, const Seen &entry)
    {
        const JudgedLine line{&artifact, entry.firstLine, entry.hit};
        std::vector<Clearing> clears, confirms;
        for (const std::string &condition : rule.clears) {
            if (auto verdict = judge(condition, line, m_inputs.run, set))
                (verdict->verdict == Clearing::Verdict::Clears ? clears : confirms).push_back(std::move(*verdict));
        }
        // What confirms outweighs what clears, except that equal results settle any doubt about a family name.
        const bool measured = std::any_of(clears.begin(), clears.end(), [](const Clearing &c) { return c.why.find("equal ids") != std::string::npos; });
        const bool cleared = !clears.empty() && (confirms.empty() || measured);
        Finding finding{.code = "log." + rule.id, .severity = cleared ? Severity::Info : rule.severity, .title = rule.title};
        if (cleared)
            finding.title += "; cleared: " + clears.front().why;
        finding.detail = std::to_string(entry.count) + (entry.count == 1 ? " line, line " : " lines, the first is line ") + std::to_string(entry.firstLine) + ".";
        finding.evidence.push_back({artifact.id, LogLine{entry.firstLine, entry.firstLine}, excerpt(text.line(entry.firstLine - 1))});
        for (Clearing &clearing : clears) {
            if (cleared) {
                finding.detail += " " + clearing.why + ".";
                finding.evidence.push_back(std::move(clearing.evidence));
            }
        }
        for (Clearing &clearing : confirms) {
            finding.detail += " Confirmed: " + clearing.why + ".";
            finding.evidence.push_back(std::move(clearing.evidence));
        }
        if (entry.hit)
            finding.detail += " The wording is that of " + entry.hit->pattern->citation() + ".";
        finding.measure = Measure{.number = static_cast<double>(entry.count), .unit = "lines"};
        finding.falseIf = rule.falseIf;
        finding.next = rule.next;
        m_report.findings.push_back(std::move(finding));
    }

    void further(const Artifact &artifact, const TextContent &text, const std::map<const LogPattern *, Seen> &unruled)
    {
        std::vector<std::pair<const LogPattern *, Seen>> lines(unruled.begin(), unruled.end());
        std::sort(lines.begin(), lines.end(), [](const auto &a, const auto &b) {
            return std::pair(a.second.firstLine, std::string_view(a.first->id)) < std::pair(b.second.firstLine, std::string_view(b.first->id));
        });
        for (const bool serious : {true, false}) {
            Finding finding{.code = serious ? "log.serious" : "log.further", .severity = serious ? Severity::Warning : Severity::Info};
            std::size_t count = 0;
            for (const auto &[pattern, entry] : lines) {
                if ((pattern->severity == "serious") != serious)
                    continue;
                if (++count <= furtherLines)
                    finding.evidence.push_back({artifact.id, LogLine{entry.firstLine, entry.firstLine}, pattern->logClass + ": " + excerpt(text.line(entry.firstLine - 1))});
            }
            if (count == 0)
                continue;
            finding.title = std::to_string(count) + (count == 1 ? " further line says" : " further lines say") + " that "
                + (serious ? "output is likely wrong, cut short or lost" : "what runs differs from what was asked or from what the file says");
            finding.detail = "Known wordings for which no rule of ours stands; each is counted once.";
            finding.measure = Measure{.number = static_cast<double>(count), .unit = "wordings"};
            finding.falseIf = "The condition that a line names was repaired later, or was meant.";
            finding.next = {"F1"};
            m_report.findings.push_back(std::move(finding));
        }
    }

    void table(const Artifact &artifact, const TextContent &text, const LogTriage &triage, const std::vector<std::pair<const LogRule *, Seen>> &ruled)
    {
        Table table{.title = "Lines of " + artifact.path + (triage.engine.empty() ? "" : " (" + triage.engine + (triage.version.empty() ? "" : " " + triage.version) + ")"),
                    .columns = {"Line", "Times", "Class", "Severity", "Text"},
                    .rows = {}};
        const auto add = [&](std::uint64_t line, std::uint64_t times, std::string kind, Severity severity, std::string_view level) {
            if (table.rows.size() >= tableRows)
                return;
            std::vector<Cell> row;
            const Evidence where{artifact.id, LogLine{line, line}, excerpt(text.line(line - 1))};
            row.push_back({.text = std::to_string(line), .source = where, .numeric = true});
            row.push_back({.text = std::to_string(times), .numeric = true});
            row.push_back({.text = std::move(kind)});
            row.push_back({.text = std::string(level), .severity = severity});
            row.push_back({.text = where.note, .source = where});
            table.rows.push_back(std::move(row));
        };
        for (const LogCount &count : triage.counts)
            add(count.firstLine, count.count, count.pattern->logClass, count.pattern->severity == "serious" ? Severity::Warning : Severity::Ok, count.pattern->severity);
        for (const auto &[rule, entry] : ruled) {
            if (!entry.hit)
                add(entry.firstLine, entry.count, rule->logClass, rule->severity, nameOf(rule->severity));
        }
        std::stable_sort(table.rows.begin(), table.rows.end(), [](const auto &a, const auto &b) {
            return std::get<LogLine>(a[0].source->where).from < std::get<LogLine>(b[0].source->where).from;
        });
        if (!table.rows.empty())
            m_report.tables.push_back(std::move(table));
    }

    const Inputs &m_inputs;
    const Job &m_job;
    std::vector<EvidenceSet> m_sets;
    std::set<ArtifactId> m_done;
    std::shared_ptr<const LogTriages> m_logs;
    Report m_report;
};

Result<Report> run(const Inputs &inputs, const Params &, const Job &job)
{
    if (job.cancelled())
        return Job::cancelledError();
    return Triage(inputs, job).run();
}

constexpr std::array<std::string_view, 3> usable{"startup_log", "config_files", "encode_record"};

} // namespace

extern constinit const Instrument configuration_startup_triage{
    "F3", "Start-up warning triage", "Which line printed once explains the whole month?", "configuration_startup_triage", usable, {}, run};

} // namespace prosector
