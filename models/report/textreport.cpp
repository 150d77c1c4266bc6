// SPDX-License-Identifier: GPL-3.0-or-later
// For a terminal and a tired reader: the worst first, where it is, what would make it untrue.
#include "models/core/plaintext.h"
#include "models/report/parts.h"

#include <algorithm>

namespace prosector {

using namespace report;

namespace {

constexpr std::size_t labelWidth = 10;

class TextWriter {
public:
    TextWriter(const Examination &examination, const TextStyle &style)
        : m_examination(examination), m_style{std::max<std::size_t>(style.width, 40), style.colour}
    {
    }

    std::string write()
    {
        inputs();
        for (const Ranked &ranked : rankedFindings(m_examination))
            finding(ranked);
        m_out += '\n' + painted("1", wrapped(summaryText(m_examination), m_style.width, 0, 0)) + '\n';
        undecidable();
        notSeen();
        unreadable();
        passed();
        return std::move(m_out);
    }

private:
    std::string painted(std::string_view code, std::string_view text) const
    {
        return m_style.colour ? "\x1b[" + std::string(code) + 'm' + std::string(text) + "\x1b[0m" : std::string(text);
    }

    /// "label     text", wrapped under the text.
    void field(std::string_view label, std::string_view text)
    {
        if (text.empty())
            return;
        std::string head = "  " + std::string(label);
        head.resize(std::max(labelWidth, head.size() + 1), ' ');
        m_out += painted("2", head) + wrapped(text, m_style.width, head.size(), head.size()) + '\n';
    }

    void paragraph(std::string_view text)
    {
        if (!text.empty())
            m_out += "  " + wrapped(text, m_style.width, 2, 2) + '\n';
    }

    void runInputs(const Run &run, std::string_view what)
    {
        for (std::size_t i = 0; i < run.inputs().size(); ++i) {
            const Input &input = run.inputs()[i];
            const auto files = std::count_if(run.artifacts().begin(), run.artifacts().end(),
                                             [i](const Artifact &a) { return a.input == i; });
            m_out += std::string(what) + neutralised(input.path) + " (" + kindText(input.kind);
            if (input.kind != "file")
                m_out += ", " + std::to_string(files) + (files == 1 ? " file" : " files");
            m_out += ")\n";
        }
    }

    void inputs()
    {
        runInputs(*m_examination.run, "Examined ");
        if (m_examination.baseline)
            runInputs(*m_examination.baseline, "Baseline ");
    }

    void finding(const Ranked &ranked)
    {
        const auto &[instrument, finding] = ranked;
        const bool error = finding->severity == Severity::Error;
        const bool warning = finding->severity == Severity::Warning;
        const std::string mark = error ? "■ error" : warning ? "▲ warning" : "● " + std::string(nameOf(finding->severity));
        const std::string id = std::string(instrument->id) + "  " + neutralised(finding->code);
        m_out += '\n' + painted(error ? "1;31" : warning ? "1;33" : "34", mark) + "  " + painted("2", id) + '\n';
        m_out += "  " + painted("1", wrapped(neutralised(finding->title), m_style.width, 2, 2)) + '\n';
        paragraph(neutralised(finding->detail));
        for (std::size_t i = 0; i < finding->evidence.size(); ++i)
            evidence(i == 0 ? "where" : "", finding->evidence[i]);
        if (finding->measure)
            field("value", measureText(*finding->measure));
        field("false if", neutralised(finding->falseIf));
        list("rules out", finding->innocent);
        list("next", nextInstruments(*finding));
    }

    void evidence(std::string_view label, const Evidence &evidence)
    {
        std::string text = fileText(evidence, m_examination);
        if (const std::string place = placeText(evidence); !place.empty())
            text += (text.empty() ? "" : "  ") + place;
        if (!evidence.note.empty())
            text += (text.empty() ? "" : ": ") + neutralised(evidence.note);
        field(label, text);
    }

    void list(std::string_view label, const std::vector<std::string> &items)
    {
        std::string text;
        for (const std::string &item : items)
            text += (text.empty() ? "" : ", ") + neutralised(item);
        field(label, text);
    }

    void heading(std::string_view text) { m_out += '\n' + painted("1", text) + '\n'; }

    void undecidable()
    {
        const auto lines = undecidableLines(m_examination);
        if (lines.empty())
            return;
        heading("Undecidable");
        for (const UndecidableLine &line : lines)
            field(line.instrument->id, std::string(line.instrument->name) + ": needs " + line.lacks);
    }

    void notSeen()
    {
        const auto lines = notSeenLines(m_examination);
        if (lines.empty())
            return;
        heading("Not looked at");
        for (const NotSeenLine &line : lines)
            field(line.instrument->id, line.what);
    }

    void unreadable()
    {
        const auto lines = unreadableLines(m_examination);
        if (lines.empty())
            return;
        heading("Unreadable");
        for (const UnreadableLine &line : lines)
            m_out += "  " + wrapped(line.path + ": " + line.text, m_style.width, 4, 2) + '\n';
    }

    void passed()
    {
        std::string all, inPart;
        for (const Outcome &outcome : m_examination.outcomes) {
            if (outcome.passed())
                (unseenBy(outcome).empty() ? all : inPart) += ' ' + std::string(outcome.instrument->id);
        }
        if (!all.empty())
            m_out += '\n' + painted("1", "Passed") + ' ' + wrapped(all, m_style.width, 7, 7) + '\n';
        if (!inPart.empty())
            m_out += (all.empty() ? "\n" : "") + painted("1", "Passed as far as they could look") + ' '
                + wrapped(inPart, m_style.width, 33, 33) + '\n';
    }

    const Examination &m_examination;
    const TextStyle m_style;
    std::string m_out;
};

} // namespace

std::string toText(const Examination &examination, const TextStyle &style)
{
    return TextWriter(examination, style).write();
}

} // namespace prosector
