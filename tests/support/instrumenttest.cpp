// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/instrumenttest.h"

#include "models/report/report.h"

#include <QTemporaryDir>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>

namespace prosector::test {

namespace fs = std::filesystem;

namespace {

FactsPtr facts()
{
    static const FactsPtr loaded = [] {
        auto result = Facts::load();
        if (!result)
            qFatal("the reference tables do not load: %s", describe(result.error()).c_str());
        return *result;
    }();
    return loaded;
}

std::string jsonOf(const Instrument &instrument, const Examined &examined)
{
    Examination examination{examined.run, examined.baseline, {}};
    Outcome outcome;
    outcome.instrument = &instrument;
    outcome.report = examined.report;
    examination.outcomes.push_back(std::move(outcome));
    return toJson(examination);
}

std::string contentOf(const fs::path &file)
{
    std::ifstream in(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

void write(const fs::path &file, const std::string &content)
{
    std::ofstream(file, std::ios::binary | std::ios::trunc) << content;
}

// Cut and changed copies of a file's content; every place in a small file would take too long for JSON
// of some kilobytes, so a spread of them that always has both ends.
std::vector<std::string> damaged(const std::string &content)
{
    std::vector<std::string> copies{""};
    std::set<std::size_t> cuts{1, content.size() / 2, content.size() - 1};
    for (std::size_t i = 1; i < 6; ++i)
        cuts.insert(content.size() * i / 6);
    for (const std::size_t cut : cuts) {
        if (cut < content.size())
            copies.push_back(content.substr(0, cut));
    }
    for (std::size_t i = 0; i < 8 && !content.empty(); ++i) {
        std::string copy = content;
        const std::size_t at = (content.size() - 1) * i / 8;
        copy[at] = static_cast<char>(~copy[at]);
        copies.push_back(std::move(copy));
    }
    return copies;
}

} // namespace

std::string fixture(std::string_view slug, std::string_view which)
{
    return std::string(PROSECTOR_TEST_SOURCE_DIR) + "/fixtures/" + std::string(slug) + "/" + std::string(which);
}

const Finding *Examined::find(std::string_view code) const
{
    if (!report)
        return nullptr;
    const auto it = std::find_if(report->findings.begin(), report->findings.end(), [&](auto &f) { return f.code == code; });
    return it == report->findings.end() ? nullptr : &*it;
}

std::vector<std::string> Examined::places(const Finding &finding) const
{
    std::vector<std::string> places;
    for (const Evidence &evidence : finding.evidence) {
        const Run &side = evidence.side == Side::B && baseline ? *baseline : *run;
        places.push_back(side.artifact(evidence.artifact).path + " " + describe(evidence.where));
    }
    return places;
}

bool Examined::pointsAt(const Finding &finding, std::string_view path, const Anchor &anchor) const
{
    return std::any_of(finding.evidence.begin(), finding.evidence.end(), [&](const Evidence &evidence) {
        const Run &side = evidence.side == Side::B && baseline ? *baseline : *run;
        return side.artifact(evidence.artifact).path == path && evidence.where == anchor;
    });
}

QString Examined::summary() const
{
    if (!report)
        return QString::fromStdString("error: " + describe(report.error()));
    std::string text = "worst is " + std::string(nameOf(worst()));
    for (const Finding &finding : report->findings) {
        text += "\n  " + std::string(nameOf(finding.severity)) + " " + finding.code + ": " + finding.title;
        for (const std::string &place : places(finding))
            text += "\n      at " + place;
    }
    for (const std::string &name : report->missing)
        text += "\n  missing " + name;
    for (const std::string &part : report->notSeen)
        text += "\n  not seen " + part;
    return QString::fromStdString(text);
}

Examined examineWith(const Instrument &instrument, const std::vector<std::string> &paths,
                     const std::vector<std::string> &baseline, const Job &job)
{
    Examined examined;
    auto run = Run::open(paths, Job());
    if (!run) {
        examined.report = run.error();
        return examined;
    }
    examined.run = *run;
    if (!baseline.empty()) {
        auto other = Run::open(baseline, Job());
        if (!other) {
            examined.report = other.error();
            return examined;
        }
        examined.baseline = *other;
    }
    const Inputs inputs{*examined.run, *facts(), examined.baseline.get()};
    examined.report = runInstrument(instrument, inputs, Params(instrument.params), job);
    return examined;
}

QString faultOf(const Instrument &instrument, const Examined &examined)
{
    if (!examined.report)
        return QString::fromStdString(describe(examined.report.error()));
    for (const Finding &finding : examined.report->findings) {
        const std::string where = finding.code + " \"" + finding.title + "\": ";
        if (finding.code.empty() || finding.title.empty())
            return QString::fromStdString(where + "no code or no title");
        if (finding.falseIf.empty())
            return QString::fromStdString(where + "does not say what would make it false");
        if (finding.evidence.empty())
            return QString::fromStdString(where + "no evidence");
        for (const Evidence &evidence : finding.evidence) {
            const Run *const side = evidence.side == Side::A ? examined.run.get() : examined.baseline.get();
            if (!side || evidence.artifact.index >= side->artifacts().size())
                return QString::fromStdString(where + "evidence in no artifact");
            if (evidence.note.empty())
                return QString::fromStdString(where + "evidence without a note");
        }
    }
    const Inputs inputs{*examined.run, *facts(), examined.baseline.get()};
    Examined again = examined;
    again.report = runInstrument(instrument, inputs, Params(instrument.params), Job());
    if (!again.report || jsonOf(instrument, again) != jsonOf(instrument, examined))
        return QStringLiteral("running it again gives another report");
    return {};
}

QString faultUnderDamage(const Instrument &instrument, const std::string &path)
{
    QTemporaryDir folder;
    const fs::path copy = fs::path(folder.path().toStdString()) / fs::path(path).filename();
    fs::copy(path, copy, fs::copy_options::recursive | fs::copy_options::copy_symlinks);
    std::vector<fs::path> files;
    if (fs::is_regular_file(copy))
        files.push_back(copy);
    else
        for (const auto &entry : fs::recursive_directory_iterator(copy)) {
            if (entry.is_regular_file() && !entry.is_symlink())
                files.push_back(entry.path());
        }
    if (files.empty())
        return QStringLiteral("nothing to damage");
    std::sort(files.begin(), files.end());
    for (const fs::path &file : files) {
        const std::string content = contentOf(file);
        int number = 0;
        for (const std::string &bad : damaged(content)) {
            write(file, bad);
            const Examined examined = examineWith(instrument, {copy.string()});
            if (examined.run) {
                if (const QString fault = faultOf(instrument, examined); !fault.isEmpty())
                    return QString::fromStdString(file.filename().string() + ", damage " + std::to_string(number) + ": ") + fault;
            }
            ++number;
        }
        write(file, content);
    }
    return {};
}

QString faultWhenCancelled(const Instrument &instrument, const std::string &path)
{
    std::stop_source stop;
    stop.request_stop();
    const Examined examined = examineWith(instrument, {path}, {}, Job(stop.get_token()));
    if (!examined.run)
        return QStringLiteral("the input does not open");
    if (examined.report)
        return QStringLiteral("it went on");
    return examined.report.error().code == Errc::Cancelled ? QString() : QString::fromStdString(describe(examined.report.error()));
}

} // namespace prosector::test
