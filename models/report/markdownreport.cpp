// SPDX-License-Identifier: GPL-3.0-or-later
// GitHub-flavoured Markdown, to be pasted into an issue. What came from a file is escaped.
#include "models/core/plaintext.h"
#include "models/report/parts.h"

#include <algorithm>

namespace prosector {

using namespace report;

namespace {

/// Escaped so that nothing in it is markup, a link, a mention or a formula.
std::string markdown(std::string_view text)
{
    static constexpr std::string_view active = "\\`*_{}[]<>#|~&$@";
    std::string out;
    const std::string plain = neutralised(text);
    for (std::size_t i = 0; i < plain.size(); ++i) {
        const bool starts = i == 0 && (plain[i] == '-' || plain[i] == '+' || plain[i] == '=');
        if (starts || active.find(plain[i]) != std::string_view::npos || plain.compare(i, 3, "://") == 0)
            out += '\\';
        out += plain[i];
    }
    return out;
}

/// A code span: fenced by more backticks than it holds in a row.
std::string code(std::string_view text)
{
    if (text.empty())
        return {};
    const std::string plain = neutralised(text);
    std::size_t longest = 0, run = 0;
    for (const char c : plain) {
        run = c == '`' ? run + 1 : 0;
        longest = std::max(longest, run);
    }
    const std::string fence(longest + 1, '`');
    const std::string pad = longest > 0 ? " " : "";
    return fence + pad + plain + pad + fence;
}

class MarkdownWriter {
public:
    explicit MarkdownWriter(const Examination &examination) : m_examination(examination) {}

    std::string write()
    {
        m_out = "# Examination of " + markdown(m_examination.run->name()) + "\n\n" + markdown(summaryText(m_examination)) + "\n\n";
        inputs(*m_examination.run, "");
        if (m_examination.baseline)
            inputs(*m_examination.baseline, "Baseline: ");
        for (const Ranked &ranked : rankedFindings(m_examination))
            finding(ranked);
        lists();
        return std::move(m_out);
    }

private:
    void inputs(const Run &run, std::string_view role)
    {
        for (const Input &input : run.inputs())
            item(std::string(role) + code(input.path) + ", " + markdown(kindText(input.kind))
                 + (input.sha256.empty() ? "" : ", SHA-256 " + code(input.sha256)));
    }

    void item(const std::string &text)
    {
        if (!text.empty())
            m_out += "- " + text + '\n';
    }

    void finding(const Ranked &ranked)
    {
        const Finding &finding = *ranked.finding;
        m_out += "\n## " + std::string(nameOf(finding.severity)) + ": " + markdown(finding.title) + "\n\n"
            + markdown(ranked.instrument->id) + ' ' + markdown(ranked.instrument->name) + ", " + code(finding.code) + "\n\n";
        if (!finding.detail.empty())
            m_out += markdown(finding.detail) + "\n\n";
        for (const Evidence &evidence : finding.evidence) {
            const std::string place = placeText(evidence);
            item("Where: " + code(fileText(evidence, m_examination)) + (place.empty() ? "" : " " + code(place))
                 + (evidence.note.empty() ? "" : " " + markdown(evidence.note)));
        }
        if (finding.measure)
            item("Value: " + markdown(measureText(*finding.measure)));
        if (!finding.falseIf.empty())
            item("False if: " + markdown(finding.falseIf));
        if (!finding.innocent.empty())
            item("Rules out: " + joined(finding.innocent));
        if (const auto next = nextInstruments(finding); !next.empty())
            item("Next: " + joined(next));
    }

    static std::string joined(const std::vector<std::string> &items)
    {
        std::string text;
        for (const std::string &item : items)
            text += (text.empty() ? "" : ", ") + markdown(item);
        return text;
    }

    static std::string named(const Instrument &instrument)
    {
        return "**" + markdown(instrument.id) + "** " + markdown(instrument.name);
    }

    void lists()
    {
        heading("Undecidable", undecidableLines(m_examination),
                [](const UndecidableLine &line) { return named(*line.instrument) + ": needs " + markdown(line.lacks); });
        heading("Not looked at", notSeenLines(m_examination),
                [](const NotSeenLine &line) { return named(*line.instrument) + ": " + markdown(line.what); });
        heading("Unreadable", unreadableLines(m_examination),
                [](const UnreadableLine &line) { return code(line.path) + ": " + markdown(line.text); });
        heading("Passed", passedInstruments(m_examination), [](const Instrument *instrument) { return named(*instrument); });
    }

    template<class Lines, class Text>
    void heading(std::string_view title, const Lines &lines, Text text)
    {
        if (lines.empty())
            return;
        m_out += "\n## " + std::string(title) + "\n\n";
        for (const auto &line : lines)
            item(text(line));
    }

    const Examination &m_examination;
    std::string m_out;
};

} // namespace

std::string toMarkdown(const Examination &examination)
{
    return MarkdownWriter(examination).write();
}

} // namespace prosector
