// SPDX-License-Identifier: GPL-3.0-or-later
// What templates print and how they fail, against what Jinja2 gave.
#include "tests/support/corpus.h"
#include "tests/support/strict.h"
#include "tests/support/templates.h"

#include <map>

using namespace prosector;

namespace {

/// What Jinja says of the Python code it wrote is cut off.
std::string withoutPlace(std::string error)
{
    return error.substr(0, error.find(" (<template>, line"));
}

bool hasAddress(const std::string &text)
{
    return text.find(" at 0x") != std::string::npos;
}

} // namespace

class TestTemplateLanguage : public QObject {
    Q_OBJECT

private slots:
    void language()
    {
        DocumentPtr variables;
        int rows = 0, wrong = 0;
        eachJsonLine(PROSECTOR_TEST_SOURCE_DIR "/fixtures/templates/language.jsonl", [&](Value row) {
            if (row["variables"]) {
                variables = Document::parseJson(std::string(row["variables"].raw()));
                return;
            }
            ++rows;
            TemplateInputs inputs;
            setAll(inputs, variables->root());
            const std::string source = row["template"].string("");
            const std::string expected = row["text"] ? row["text"].string("") : row["error"].string("");
            const std::string got = outcome(source, inputs, row["options"]);
            if (got != expected) {
                ++wrong;
                qInfo("%s\n  expected %s\n  got      %s", source.c_str(), expected.c_str(), got.c_str());
            }
            if (const Value marks = row["marks"]) {
                const auto parsed = Template::parse(source);
                const Rendered rendered = (*parsed)->render(inputs);
                QCOMPARE(rendered.generations.size(), marks.size());
                for (std::size_t i = 0; i < marks.size(); ++i) {
                    const auto points = [&](std::uint64_t byte) { return QString::fromStdString(rendered.text.substr(0, byte)).toUcs4().size(); };
                    QCOMPARE(points(rendered.generations[i].from), qsizetype(*marks[i][0].integer()));
                    QCOMPARE(points(rendered.generations[i].to), qsizetype(*marks[i][1].integer()));
                }
            }
        });
        QVERIFY(rows > 700);
        QCOMPARE(wrong, 0);
    }

    void renders()
    {
        REQUIRE_SHARED(shared);
        const std::string folder = shared + "/corpus/oracles/";
        const auto scenarios = Document::parseJson(textOf(folder + "template_scenarios.json"));
        std::map<std::string, std::pair<TemplatePtr, DocumentPtr>> library;
        eachJsonLine(folder + "template_library.jsonl", [&](Value row) {
            const auto parsed = Template::parse(row["template"].string(""));
            QVERIFY_RESULT(parsed);
            library[row["template_id"].string("")] = {*parsed, Document::parseJson(std::string(row.raw()))};
        });
        const auto now = parseTime("2026-01-15T12:34:56");
        int rows = 0, wrong = 0;
        eachJsonLine(folder + "template_render_jinja2.jsonl", [&](Value row) {
            ++rows;
            const auto &[parsed, about] = library.at(row["template_id"].string(""));
            TemplateInputs inputs;
            setAll(inputs, scenarios->root()["scenarios"][row["scenario"].string("")]);
            inputs.set("bos_token", about->root()["bos"]);
            inputs.set("eos_token", about->root()["eos"]);
            const Rendered rendered = parsed->render(inputs, *now);
            const std::string expected = row["expected"] ? row["expected"].string("") : row["error"].string("");
            const std::string got = rendered.error ? rendered.error->error.message : rendered.text;
            if (got != expected && ++wrong <= 5)
                qInfo("%s\n  expected %s\n  got      %s", std::string(row["template_id"].string("")).c_str(), expected.c_str(), got.c_str());
            // Whatever was printed, its spans cover it.
            std::uint32_t at = 0;
            for (const PromptSpan &span : rendered.spans) {
                QCOMPARE(span.from, at);
                QVERIFY(span.to > span.from && span.site > 0);
                at = span.to;
            }
            QCOMPARE(std::size_t(at), rendered.text.size());
        });
        QVERIFY(rows > 1000);
        QCOMPARE(wrong, 0);
    }

    void suites_data()
    {
        QTest::addColumn<QString>("file");
        QTest::newRow("language") << "template_minja_language.jsonl";
        QTest::newRow("conversations") << "template_hfjs_e2e.jsonl";
    }

    void suites()
    {
        REQUIRE_SHARED(shared);
        QFETCH(QString, file);
        int rows = 0, wrong = 0;
        eachJsonLine(shared + "/corpus/oracles/" + file.toStdString(), [&](Value row) {
            const std::string expected = row["expected_jinja2"].isString() ? row["expected_jinja2"].string("")
                                                                           : withoutPlace(row["error_jinja2"].string(""));
            if (hasAddress(expected))
                return; // `<generator object … at 0x7f…>`
            ++rows;
            TemplateInputs inputs;
            setAll(inputs, row["vars"]);
            const std::string got = outcome(row["template"].string(""), inputs, row["options"], parseTime(row["now"].string("")).value_or(TemplateTime{}));
            if (got != expected && ++wrong <= 5)
                qInfo("%s\n  expected %s\n  got      %s", row["id"].string("").c_str(), expected.c_str(), got.c_str());
        });
        QVERIFY(rows > 50);
        QCOMPARE(wrong, 0);
    }
};

PROSECTOR_TEST(TestTemplateLanguage, tst_templatelanguage)
#include "tst_templatelanguage.moc"
