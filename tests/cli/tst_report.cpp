// SPDX-License-Identifier: GPL-3.0-or-later
// Every report form over one examination that holds all there can be in it, hostile names included.
#include "models/core/plaintext.h"
#include "models/core/utf8.h"
#include "models/report/instrumentlist.h"
#include "models/report/parts.h"
#include "models/report/report.h"

#include "tests/support/jsonschema.h"
#include "tests/support/strict.h"
#include "tests/support/temporaryfolder.h"

#include <QDomDocument>

#include <algorithm>
#include <limits>
#include <set>

using namespace prosector;

namespace {

// A title that would paint a terminal, start a script, close a table cell and mention someone.
constexpr std::string_view hostile = "\x1b[31mred\x07 <script>alert(1)</script> | [x](http://e) `a` \xE2\x80\xAE\xC2\x9B @all \xFF\n# head";

Result<Report> everything(const Inputs &inputs, const Params &params, const Job &)
{
    const ArtifactId first = inputs.run.artifacts()[0].id;
    const ArtifactId last = inputs.run.artifacts().back().id;
    Report report;
    report.findings.push_back({.code = "test.note", .severity = Severity::Info, .title = "Only to be known.",
                               .evidence = {{.artifact = first, .note = "the whole file"}}});
    report.findings.push_back(
        {.code = "test.bad", .severity = Severity::Error, .title = std::string(hostile), .detail = std::string(hostile),
         .measure = Measure{.number = std::numeric_limits<double>::quiet_NaN(), .unit = "tokens",
                            .interval = std::pair(0.5, std::numeric_limits<double>::infinity()), .p = 0.01, .n = 20},
         .evidence = {{.artifact = first, .where = JsonPath{"$.key[1]"}, .note = std::string(hostile)},
                      {.artifact = first, .where = ByteRange{2, 7}, .note = "bytes"},
                      {.artifact = last, .where = LogLine{1, 1}, .note = "line"},
                      {.artifact = last, .where = TokenRange{0, 2}, .note = "tokens"},
                      {.artifact = last, .where = TensorBlock{"w\x1b", {0, 1}, {2, 3}}, .note = "block"},
                      {.artifact = last, .where = MaskCells{{{0, 1, 2, 3}}}, .note = "cells"},
                      {.artifact = last, .where = ItemIds{{"a\xFF"}}, .note = "items"},
                      {.artifact = last, .where = TimeSpan{0.5, 1e300}, .note = "span"}},
         .falseIf = std::string(hostile), .innocent = {std::string(hostile)}, .next = {"F1"}});
    report.findings.push_back({.code = "test.warn", .severity = Severity::Warning, .title = "A warning.",
                               .measure = Measure{.number = params["limit"], .unit = "files"},
                               .evidence = {{.artifact = first, .note = "here"}}});
    report.notSeen = {"the weights: " + std::string(hostile)};
    report.tables.push_back({"Table " + std::string(hostile), {"a"}, {{Cell{std::string(hostile)}}}});
    return report;
}

Result<Report> blind(const Inputs &, const Params &, const Job &)
{
    return Report::missingInputs({"weights"});
}
Result<Report> content(const Inputs &, const Params &, const Job &)
{
    return Report{};
}
Result<Report> broken(const Inputs &, const Params &, const Job &)
{
    return Error{Errc::Malformed, std::string(hostile), ByteRange{3, 4}, "this", "that"};
}

constexpr std::array specs = std::to_array<ParamSpec>({{"limit", "Limit", "files", 3, 0, 10}});
constexpr std::array all = std::to_array<Instrument>({
    {.id = "X1", .name = "Everything", .question = "Is there everything?", .slug = "x_1", .params = specs, .run = everything},
    {.id = "X2", .name = "Blind", .question = "Can it see?", .slug = "x_2", .run = blind},
    {.id = "X3", .name = "Content", .question = "Is it content?", .slug = "x_3", .run = content},
    {.id = "X4", .name = "Broken", .question = "Does it work?", .slug = "x_4", .run = broken},
});

} // namespace

class TestReport : public QObject {
    Q_OBJECT

private slots:
    void init()
    {
        failOnQtWarnings();
        folder = std::make_unique<TemporaryFolder>();
        folder->write(QStringLiteral("a <b> & \x1b.json"), "{\"key\": [1,\n 2]}\n");
        folder->write(QStringLiteral("broken.json"), "{\"a\": 1, \"b\": ");
        folder->write(QStringLiteral("z.txt"), "one line\n");
        const auto run = Run::open(std::vector{folder->stdPath()}, {});
        QVERIFY_RESULT(run);
        std::vector<const Instrument *> which;
        for (const Instrument &instrument : all)
            which.push_back(&instrument);
        const Facts facts;
        auto done = examine(*run, nullptr, facts, which, {}, {{"X1", {{"limit", 7.0}}}});
        QVERIFY_RESULT(done);
        examination = std::move(*done);
    }

    void nothingHostileGetsThrough_data()
    {
        QTest::addColumn<int>("format");
        for (const ReportFormat format : reportFormats)
            QTest::newRow(std::string(nameOf(format)).c_str()) << static_cast<int>(format);
    }
    void nothingHostileGetsThrough()
    {
        QFETCH(int, format);
        const std::string text = writeReport(static_cast<ReportFormat>(format), examination);
        QCOMPARE(firstInvalidUtf8(text), std::string::npos);
        for (std::size_t at = 0; at < text.size();) {
            const CodePoint point = decodeUtf8(text, at);
            QVERIFY2(point.value == '\n' || !isHostileCharacter(point.value), text.substr(at > 40 ? at - 40 : 0, 80).c_str());
            at += point.length;
        }
        QCOMPARE(writeReport(static_cast<ReportFormat>(format), examination), text);
    }

    void worstFirst_data()
    {
        QTest::addColumn<int>("format");
        for (const ReportFormat format : {ReportFormat::Text, ReportFormat::Sarif, ReportFormat::Html, ReportFormat::Markdown})
            QTest::newRow(std::string(nameOf(format)).c_str()) << static_cast<int>(format);
    }
    void worstFirst()
    {
        QFETCH(int, format);
        const std::string text = writeReport(static_cast<ReportFormat>(format), examination);
        const auto bad = text.find("test.bad"), warn = text.find("test.warn"), note = text.find("test.note");
        QVERIFY(bad != std::string::npos && note != std::string::npos);
        QVERIFY(bad < warn && warn < note);
        for (const char *const part : {"X2", "weights", "broken.json", "7", "the whole file"})
            QVERIFY2(text.find(part) != std::string::npos, part);
    }

    void everyInstrumentIsCountedOnce()
    {
        const auto outcome = [](const Report &report) { return Outcome{all.data(), Params(), report}; };
        const Finding note{.code = "a", .severity = Severity::Info};
        const Finding warning{.code = "a", .severity = Severity::Warning};
        const Finding blind{.code = "a", .severity = Severity::Undecidable};
        using Standing = Outcome::Standing;
        QCOMPARE(outcome({}).standing(), Standing::Passed);
        QCOMPARE(outcome({.findings = {note}}).standing(), Standing::Passed);
        QCOMPARE(outcome({.findings = {note}, .missing = {"weights"}}).standing(), Standing::Undecidable);
        QCOMPARE(outcome({.findings = {note, warning}, .missing = {"weights"}}).standing(), Standing::Found);
        QCOMPARE(outcome({.findings = {warning, blind}}).standing(), Standing::Found);
        QCOMPARE(outcome({.findings = {blind}}).standing(), Standing::Undecidable);
        QCOMPARE((Outcome{all.data(), Params(), Error{Errc::Internal, "x"}}).standing(), Standing::Failed);

        QCOMPARE(report::summaryText(examination), std::string("1 error, 1 warning, 1 info; 1 file could be read only in part. "
                                                               "4 instruments ran: 1 found something, 1 passed, 1 undecidable, 1 failed."));
        // An instrument that found something and lacked something else stands under what it found alone.
        examination.outcomes[0].report->missing = {"hidden_states"};
        const auto json = Document::parseJson(toJson(examination));
        QCOMPARE(json->root()["undecidable"].size(), std::size_t(1));
        QCOMPARE(json->root()["undecidable"][0]["instrument"].string(), std::optional<std::string>("X2"));
        QCOMPARE(json->root()["not_seen"][0]["what"][1].string(), std::optional<std::string>("what needs hidden_states"));
        QVERIFY(toText(examination).find("what needs hidden_states") != std::string::npos);
        QCOMPARE(report::countStandings(examination).undecidable, std::size_t(1));
    }

    void nextNamesInstrumentsThatThereAre()
    {
        const Finding finding{.code = "a", .next = {"F1", "Q99", "F5"}};
        QCOMPARE(report::nextInstruments(finding), (std::vector<std::string>{"F1", "F5"}));
        examination.outcomes[0].report->findings[1].next = {"F1", "Q99"};
        for (const ReportFormat format : reportFormats)
            QVERIFY2(writeReport(format, examination).find("Q99") == std::string::npos, std::string(nameOf(format)).c_str());
    }

    void wordsAndNumbers()
    {
        QCOMPARE(report::measureText({.number = 1, .unit = "files"}), std::string("1 file"));
        QCOMPARE(report::measureText({.number = 0, .unit = "files"}), std::string("0 files"));
        QCOMPARE(report::sentences("It is so", "And so."), std::string("It is so. And so."));
        QCOMPARE(report::sentences("It is so.", "And so."), std::string("It is so. And so."));
        QCOMPARE(report::sentences("It is so", ""), std::string("It is so"));
    }

    void helpPagesArePlain()
    {
        for (const Instrument *const instrument : instruments()) {
            const auto text = instrumentText(*instrument);
            QVERIFY_RESULT(text);
            QVERIFY2(text->find("**") == std::string::npos && text->find('`') == std::string::npos && text->find("\n#") == std::string::npos,
                     text->c_str());
            QVERIFY2(text->find("\n\n\n") == std::string::npos, text->c_str());
            const std::string flat = QString::fromStdString(*text).simplified().toStdString();
            const auto question = QString::fromUtf8(instrument->question.data(), static_cast<qsizetype>(instrument->question.size())).simplified().toStdString();
            QCOMPARE(flat.find(question), flat.rfind(question)); // asked once
            QVERIFY(flat.find(question) != std::string::npos);
        }
    }

    void inputsOfUnreadableFiles()
    {
        TemporaryFolder other;
        other.write(QStringLiteral("broken.json"), "{");
        const auto run = Run::open(std::vector{folder->stdPath(), other.stdPath()}, {});
        QVERIFY_RESULT(run);
        const std::string list = artifactsText(**run);
        QVERIFY2(list.find("unreadable: " + folder->stdPath() + "/broken.json: ") != std::string::npos, list.c_str());
        QVERIFY2(list.find("unreadable: " + other.stdPath() + "/broken.json: ") != std::string::npos, list.c_str());
        examination.run = *run;
        examination.outcomes.clear();
        for (const ReportFormat format : {ReportFormat::Text, ReportFormat::Html, ReportFormat::Markdown, ReportFormat::Sarif})
            QVERIFY(writeReport(format, examination).find(other.stdPath() + "/broken.json") != std::string::npos);
    }

    void longNamesKeepColumns()
    {
        folder->write(QString(80, QLatin1Char('n')) + QStringLiteral(".json"), "{}");
        const auto run = Run::open(std::vector{folder->stdPath()}, {});
        std::set<qsizetype> columns;
        for (const QString &line : QString::fromStdString(artifactsText(**run)).split(QLatin1Char('\n'))) {
            if (const auto at = line.indexOf(QStringLiteral("data ")); at > 0)
                columns.insert(at);
        }
        QCOMPARE(columns.size(), std::size_t(1));
    }

    void textKeepsToItsWidth()
    {
        for (const std::size_t width : {40U, 80U, 100U}) {
            const QString text = QString::fromStdString(toText(examination, {.width = width}));
            for (const QString &line : text.split(QLatin1Char('\n'))) {
                // The input's own path cannot be broken.
                if (!line.startsWith(QStringLiteral("Examined ")))
                    QVERIFY2(displayWidth(line.toStdString()) <= width, qPrintable(line));
            }
        }
    }

    void coloursOnlyWhenAsked()
    {
        QVERIFY(toText(examination, {.colour = true}).find("\x1b[1;31m") != std::string::npos);
        QVERIFY(toText(examination).find('\x1b') == std::string::npos);
    }

    void jsonFitsItsSchema()
    {
        REQUIRE_JSON_SCHEMA();
        const std::string json = toJson(examination);
        QCOMPARE(schemaComplaint(QStringLiteral(PROSECTOR_TEST_SOURCE_DIR "/../resources/report.schema.json"),
                                 QByteArray::fromStdString(json)),
                 QString());
    }

    void jsonKeepsValuesExactly()
    {
        const auto json = Document::parseJson(toJson(examination));
        QVERIFY(!json->problem());
        const Value bad = json->root()["findings"][1];
        QCOMPARE(bad["title"].string(), std::optional(toValidUtf8(hostile)));
        QVERIFY(bad["number"].isNull() && bad["interval"][1].isNull());
        QCOMPARE(bad["number_text"].string(), std::optional<std::string>("NaN"));
        QCOMPARE(bad["evidence"][0]["path"].string(), std::optional<std::string>("a <b> & \x1b.json"));
        QCOMPARE(json->root()["thresholds"]["X1"]["limit"].integer(), std::optional<std::int64_t>(7));
        QCOMPARE(json->root()["passed"].size(), std::size_t(1));
        QCOMPARE(json->root()["undecidable"][0]["missing"][0].string(), std::optional<std::string>("weights"));
        QCOMPARE(json->root()["unreadable"].size(), std::size_t(2));
    }

    void sarifFitsItsSchema()
    {
        REQUIRE_JSON_SCHEMA();
        // The whole official schema, where one has it at hand.
        const QString official = qEnvironmentVariable("PROSECTOR_SARIF_SCHEMA");
        QStringList schemas{QStringLiteral(PROSECTOR_TEST_SOURCE_DIR "/cli/sarif.schema.json")};
        if (!official.isEmpty())
            schemas.append(official);
        for (const QString &schema : schemas)
            QCOMPARE(schemaComplaint(schema, QByteArray::fromStdString(toSarif(examination))), QString());
    }

    void sarifPointsAtBytesAndLines()
    {
        const auto json = Document::parseJson(toSarif(examination));
        const Value run = json->root()["runs"][0];
        const Value result = run["results"][0];
        QCOMPARE(result["level"].string(), std::optional<std::string>("error"));
        const Value place = result["locations"][0]["physicalLocation"];
        QCOMPARE(place["artifactLocation"]["uri"].string(), std::optional<std::string>("a%20%3Cb%3E%20&%20%1B.json"));
        QCOMPARE(place["region"]["byteOffset"].integer(), std::optional<std::int64_t>(13));
        QCOMPARE(place["region"]["byteLength"].integer(), std::optional<std::int64_t>(1));
        QCOMPARE(place["region"]["startLine"].integer(), std::optional<std::int64_t>(2));
        QCOMPARE(result["locations"][0]["logicalLocations"][0]["fullyQualifiedName"].string(), std::optional<std::string>("$.key[1]"));
        QCOMPARE(result["relatedLocations"].size(), std::size_t(7));
        const auto rule = static_cast<std::size_t>(*result["ruleIndex"].integer());
        QCOMPARE(run["tool"]["driver"]["rules"][rule]["id"].string(), result["ruleId"].string());
        QCOMPARE(run["results"][2]["level"].string(), std::optional<std::string>("note"));
    }

    void htmlIsWellFormedAndInert()
    {
        const QString page = QString::fromStdString(toHtml(examination));
        QVERIFY(!page.contains(QStringLiteral("<script")));
        QVERIFY(!page.contains(QStringLiteral("src=")) && !page.contains(QStringLiteral("href=")));
        QVERIFY(page.contains(QStringLiteral("prefers-color-scheme: dark")));
        // Void elements aside it is XML, so every element that opens is closed.
        QString xml = page;
        xml.replace(QRegularExpression(QStringLiteral("<meta[^>]*>")), QString()).remove(QStringLiteral("<!DOCTYPE html>"));
        QDomDocument document;
        QString complaint;
        QVERIFY2(document.setContent(xml, &complaint), qPrintable(complaint));
        QCOMPARE(document.elementsByTagName(QStringLiteral("article")).size(), 3);
    }

    void markdownIsEscaped()
    {
        const QString text = QString::fromStdString(toMarkdown(examination));
        QVERIFY(!text.contains(QStringLiteral("<script")) || text.contains(QStringLiteral("\\<script")));
        QVERIFY(text.contains(QStringLiteral("\\@all")) && text.contains(QStringLiteral("http\\://e")));
        QVERIFY(!text.contains(QStringLiteral("\n# head")));
    }

    void neutralising_data()
    {
        QTest::addColumn<QByteArray>("text");
        QTest::addColumn<QByteArray>("plain");
        QTest::newRow("plain") << QByteArray("a b") << QByteArray("a b");
        QTest::newRow("escape") << QByteArray("\x1b[0m") << QByteArray("\\x1B[0m");
        QTest::newRow("line") << QByteArray("a\r\n\tb") << QByteArray("a\\r\\n\\tb");
        QTest::newRow("C1") << QByteArray("\xC2\x9Bm") << QByteArray("\\x9Bm");
        QTest::newRow("override") << QByteArray("\xE2\x80\xAEx") << QByteArray("\\u{202E}x");
        QTest::newRow("tag") << QByteArray("\xF3\xA0\x81\x81") << QByteArray("\\u{E0041}");
        QTest::newRow("not UTF-8") << QByteArray("\xFFz") << QByteArray("\xEF\xBF\xBDz");
        QTest::newRow("zero") << QByteArray("a\0b", 3) << QByteArray("a\\x00b");
        QTest::newRow("wide") << QByteArray("中文") << QByteArray("中文");
    }
    void neutralising()
    {
        QFETCH(QByteArray, text);
        QFETCH(QByteArray, plain);
        QCOMPARE(neutralised(text.toStdString()), plain.toStdString());
    }

    void wrapping()
    {
        QCOMPARE(wrapped("aaa bbb ccc", 8, 2, 2), std::string("aaa\n  bbb\n  ccc"));
        QCOMPARE(wrapped("aaa bbb ccc", 9, 2, 2), std::string("aaa bbb\n  ccc"));
        QCOMPARE(wrapped("a averyverylongword b", 6, 0, 0), std::string("a\naveryverylongword\nb"));
        QCOMPARE(wrapped("", 8, 2, 2), std::string());
        QCOMPARE(displayWidth("中文e\xCC\x81"), std::size_t(5));
    }

private:
    std::unique_ptr<TemporaryFolder> folder;
    Examination examination;
};

PROSECTOR_TEST(TestReport, tst_report)

#include "tst_report.moc"
