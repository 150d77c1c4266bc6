// SPDX-License-Identifier: GPL-3.0-or-later
// One page without script or outside reference. Everything that came from a file is escaped.
#include "models/core/plaintext.h"
#include "models/core/version.h"
#include "models/report/parts.h"

#include <algorithm>

namespace prosector {

using namespace report;

namespace {

/// Rows of a table that are written; the rest is counted. A tensor list has a million.
constexpr std::size_t tableRows = 500;

constexpr std::string_view pageHead = R"(<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark">
)";

// The colours are those of VISUAL: severities differ in lightness and shape as well as hue.
constexpr std::string_view pageStyle = R"(<style>
:root { --error: #C43D00; --warning: #9A6700; --info: #005A9C; --ok: #00704F; --undecidable: #5F6671;
  --text: #1B1E23; --dim: #5F6671; --line: #D5D9DF; --page: #FFFFFF; --raised: #F6F7F9; }
@media (prefers-color-scheme: dark) { :root { --error: #FF8552; --warning: #F2B134; --info: #6CB8F0; --ok: #3CCB9A;
  --undecidable: #9BA3AF; --text: #E6E8EB; --dim: #9BA3AF; --line: #3A3F47; --page: #1B1E23; --raised: #24282E; } }
body { color: var(--text); background: var(--page); font: 15px/1.5 system-ui, sans-serif; max-width: 60rem;
  margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.4rem; } h2 { font-size: 1.1rem; margin-top: 2rem; } h3 { font-size: 1rem; margin: 0; }
code { font: 0.9em ui-monospace, monospace; overflow-wrap: anywhere; }
article { border-left: 4px solid var(--line); background: var(--raised); margin: 1rem 0; padding: 0.75rem 1rem; }
article.error { border-color: var(--error); } article.warning { border-color: var(--warning); }
article.info { border-color: var(--info); } article.undecidable { border-color: var(--undecidable); }
.mark { font-weight: 600; margin-right: 0.75rem; }
.error > header .mark { color: var(--error); } .warning > header .mark { color: var(--warning); }
.info > header .mark { color: var(--info); } .undecidable > header .mark { color: var(--undecidable); }
header, .dim, dt { color: var(--dim); } p { margin: 0.5rem 0; }
dl { display: grid; grid-template-columns: 6rem 1fr; gap: 0.25rem 1rem; margin: 0.5rem 0 0; } dd { margin: 0; }
table { border-collapse: collapse; margin: 0.5rem 0; font-variant-numeric: tabular-nums; }
th, td { text-align: left; vertical-align: top; padding: 0.15rem 1rem 0.15rem 0; border-bottom: 1px solid var(--line); }
td.number { text-align: right; } td { overflow-wrap: anywhere; }
@media print { body { margin: 0; max-width: none; } article { break-inside: avoid; } }
</style>
)";

std::string html(std::string_view text)
{
    std::string out;
    for (const char c : neutralised(text)) {
        switch (c) {
        case '&': out += "&amp;"; break;
        case '<': out += "&lt;"; break;
        case '>': out += "&gt;"; break;
        case '"': out += "&quot;"; break;
        case '\'': out += "&#39;"; break;
        default: out += c;
        }
    }
    return out;
}

std::string code(std::string_view text)
{
    return text.empty() ? std::string() : "<code>" + html(text) + "</code>";
}

std::string named(const Instrument &instrument)
{
    return html(instrument.id) + ' ' + html(instrument.name);
}

class HtmlWriter {
public:
    explicit HtmlWriter(const Examination &examination) : m_examination(examination) {}

    std::string write()
    {
        const std::string name = html(m_examination.run->name());
        m_out = pageHead;
        m_out += "<title>" + name + " - Prosector</title>\n";
        m_out += pageStyle;
        m_out += "</head>\n<body>\n<h1>" + name + "</h1>\n<p>" + html(summaryText(m_examination)) + "</p>\n";
        inputs();
        const auto findings = rankedFindings(m_examination);
        if (!findings.empty())
            m_out += "<h2>Findings</h2>\n";
        for (const Ranked &ranked : findings)
            finding(ranked);
        lists();
        tables();
        m_out += "<p class=\"dim\">Prosector " + html(version()) + "</p>\n</body>\n</html>\n";
        return std::move(m_out);
    }

private:
    void inputs()
    {
        m_out += "<h2>Inputs</h2>\n<table>\n<tr><th>Path</th><th>Kind</th><th>SHA-256</th></tr>\n";
        const auto rows = [this](const Run &run, std::string_view role) {
            for (const Input &input : run.inputs())
                m_out += "<tr><td>" + std::string(role) + code(input.path) + "</td><td>" + html(kindText(input.kind))
                    + "</td><td>" + code(input.sha256) + "</td></tr>\n";
        };
        rows(*m_examination.run, "");
        if (m_examination.baseline)
            rows(*m_examination.baseline, "baseline: ");
        m_out += "</table>\n";
    }

    void entry(std::string_view label, const std::string &value)
    {
        if (!value.empty())
            m_out += "<dt>" + std::string(label) + "</dt><dd>" + value + "</dd>\n";
    }

    void finding(const Ranked &ranked)
    {
        const Finding &finding = *ranked.finding;
        const std::string severity(nameOf(finding.severity));
        const char *const mark = finding.severity == Severity::Error ? "■" : finding.severity == Severity::Warning ? "▲" : "●";
        m_out += "<article class=\"" + severity + "\">\n<header><span class=\"mark\">" + mark + ' ' + severity + "</span>"
            + named(*ranked.instrument) + " " + code(finding.code) + "</header>\n<h3>" + html(finding.title) + "</h3>\n";
        if (!finding.detail.empty())
            m_out += "<p>" + html(finding.detail) + "</p>\n";
        m_out += "<dl>\n";
        for (const Evidence &evidence : finding.evidence) {
            const std::string place = placeText(evidence);
            entry("where", code(fileText(evidence, m_examination)) + (place.empty() ? "" : " " + code(place)) + ' ' + html(evidence.note));
        }
        if (finding.measure)
            entry("value", html(measureText(*finding.measure)));
        entry("false if", html(finding.falseIf));
        entry("rules out", joined(finding.innocent));
        entry("next", joined(nextInstruments(finding)));
        m_out += "</dl>\n</article>\n";
    }

    static std::string joined(const std::vector<std::string> &items)
    {
        std::string text;
        for (const std::string &item : items)
            text += (text.empty() ? "" : ", ") + html(item);
        return text;
    }

    void list(std::string_view heading, const std::vector<std::pair<std::string, std::string>> &rows)
    {
        if (rows.empty())
            return;
        m_out += "<h2>" + std::string(heading) + "</h2>\n<table>\n";
        for (const auto &[what, text] : rows)
            m_out += "<tr><td>" + what + "</td><td>" + text + "</td></tr>\n";
        m_out += "</table>\n";
    }

    void lists()
    {
        std::vector<std::pair<std::string, std::string>> rows;
        for (const UndecidableLine &line : undecidableLines(m_examination))
            rows.emplace_back(named(*line.instrument), "needs " + html(line.lacks));
        list("Undecidable", std::exchange(rows, {}));
        for (const NotSeenLine &line : notSeenLines(m_examination))
            rows.emplace_back(named(*line.instrument), html(line.what));
        list("Not looked at", std::exchange(rows, {}));
        for (const UnreadableLine &line : unreadableLines(m_examination))
            rows.emplace_back(code(line.path), html(line.text));
        list("Unreadable", std::exchange(rows, {}));
        for (const Instrument *const instrument : passedInstruments(m_examination))
            rows.emplace_back(named(*instrument), html(instrument->question));
        list("Passed", rows);
    }

    void tables()
    {
        for (const Outcome &outcome : m_examination.outcomes) {
            if (!outcome.report)
                continue;
            for (const Table &table : outcome.report->tables) {
                if (!table.rows.empty())
                    this->table(*outcome.instrument, table);
            }
        }
    }

    void table(const Instrument &instrument, const Table &table)
    {
        m_out += "<details><summary>" + named(instrument) + ": " + html(table.title) + "</summary>\n<table>\n<tr>";
        for (const std::string &column : table.columns)
            m_out += "<th>" + html(column) + "</th>";
        m_out += "</tr>\n";
        for (std::size_t i = 0; i < std::min(table.rows.size(), tableRows); ++i) {
            m_out += "<tr>";
            for (const Cell &cell : table.rows[i])
                m_out += (cell.numeric ? "<td class=\"number\">" : "<td>") + html(cell.text) + "</td>";
            m_out += "</tr>\n";
        }
        m_out += "</table>\n";
        if (table.rows.size() > tableRows)
            m_out += "<p class=\"dim\">" + std::to_string(table.rows.size() - tableRows) + " more rows</p>\n";
        m_out += "</details>\n";
    }

    const Examination &m_examination;
    std::string m_out;
};

} // namespace

std::string toHtml(const Examination &examination)
{
    return HtmlWriter(examination).write();
}

} // namespace prosector
