// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/corpus.h"
#include "tests/support/instrumenttest.h"
#include "tests/support/tempfolder.h"

using namespace prosector;
using namespace prosector::test;

namespace prosector {
extern const Instrument tokens_boundary_merge;
}

class TestBoundaryMerge : public QObject {
    Q_OBJECT

    const Instrument &t4 = tokens_boundary_merge;

    static std::string sample(const std::string &context, const std::string &a, const std::string &b)
    {
        return "{\"doc_id\": 0, \"arguments\": {\"gen_args_0\": {\"arg_0\": \"" + context + "\", \"arg_1\": \"" + a + "\"}, \"gen_args_1\": {\"arg_0\": \"" + context + "\", \"arg_1\": \"" + b
               + "\"}}, \"target\": 0, \"resps\": [[[\"-3\", \"False\"]], [[\"-3\", \"False\"]]]}\n";
    }
    static std::string helm(int id, const std::string &prompt, const std::string &token, int cap)
    {
        return "{\"instance_id\": \"id" + std::to_string(id) + "\", \"request\": {\"model\": \"m\", \"prompt\": \"" + prompt + "\", \"max_tokens\": " + std::to_string(cap)
               + "}, \"result\": {\"completions\": [{\"text\": \"\", \"tokens\": [{\"text\": \"" + token + "\", \"id\": 29871}]}], \"finish_reason\": \"length\"}}\n";
    }

private slots:
    void probe()
    {
        const Examined sick = examineWith(t4, {fixture(t4.slug, "sick")});
        VERIFY_WORST(t4, sick, Severity::Error);
        const Finding *const blank = sick.find("tokens.boundary.blank");
        QVERIFY2(blank && blank->measure->number == 2, qPrintable(sick.summary()));
        QVERIFY(sick.pointsAt(*blank, "task.yaml", JsonPath{"$.target_delimiter"}));
        VERIFY_WORST(t4, examineWith(t4, {fixture(t4.slug, "healthy")}), Severity::Ok);
    }

    void texts_data()
    {
        QTest::addColumn<QString>("samples");
        QTest::addColumn<Severity>("worst");
        const auto row = [](const char *name, const std::string &samples, Severity worst) { QTest::newRow(name) << QString::fromStdString(samples) << worst; };
        const std::string header = "<|im_start|>assistant\\n";
        row("every choice", sample(header, " A", " B"), Severity::Error);
        row("one of two", sample(header, " A", "B"), Severity::Warning);
        row("none", sample(header, "A", "B"), Severity::Ok);
        row("plain prompt", sample("Question\\nAnswer:", " A", " B"), Severity::Ok);
        row("right behind a marker", sample("[INST] x [/INST]", " A", " B"), Severity::Ok);
        row("marker, then a line", sample("<|start_header_id|>assistant<|end_header_id|>\\n\\n", " A", " B"), Severity::Error);
        row("Gemma", sample("<start_of_turn>model\\n", " A", " B"), Severity::Error);
        row("line break without a marker", sample("Answer\\n", " A", " B"), Severity::Ok);
        row("lone blanks", helm(0, "Answer:", "\xE2\x96\x81", 1) + helm(1, "Answer:", "\xE2\x96\x81", 1) + helm(2, "Answer:", " ", 1), Severity::Error);
        row("two answers are too few", helm(0, "Answer:", "\xE2\x96\x81", 1) + helm(1, "Answer:", "\xE2\x96\x81", 1), Severity::Ok);
        row("half of them", helm(0, "Answer:", "\xE2\x96\x81", 1) + helm(1, "Answer:", "A", 1) + helm(2, "Answer:", "\xE2\x96\x81", 1) + helm(3, "Answer:", "B", 1), Severity::Ok);
        row("room for more", helm(0, "Answer:", "\xE2\x96\x81", 8) + helm(1, "Answer:", "\xE2\x96\x81", 8) + helm(2, "Answer:", "\xE2\x96\x81", 8), Severity::Ok);
        row("the prompt ends in a blank", helm(0, "Answer: ", "\xE2\x96\x81", 1) + helm(1, "Answer: ", "\xE2\x96\x81", 1) + helm(2, "Answer: ", "\xE2\x96\x81", 1), Severity::Ok);
    }
    void texts()
    {
        QFETCH(QString, samples);
        QFETCH(Severity, worst);
        TempFolder folder;
        folder.file(samples.contains(QLatin1String("instance_id")) ? "scenario_state.jsonl" : "samples_x.jsonl", samples.toStdString());
        VERIFY_WORST(t4, examineWith(t4, {folder.path()}), worst);
    }

    void merges_data()
    {
        QTest::addColumn<QString>("prompt");
        QTest::addColumn<QString>("chosen");
        QTest::addColumn<Severity>("worst");
        QTest::newRow("across") << "t" << "h" << Severity::Error;
        QTest::newRow("not across") << "h" << "t" << Severity::Ok;
    }
    void merges()
    {
        QFETCH(QString, prompt);
        QFETCH(QString, chosen);
        QFETCH(Severity, worst);
        TempFolder folder;
        std::string vocabulary;
        int id = 0;
        for (char c = 33; c < 127; ++c)
            vocabulary += (c == '"' || c == '\\' ? std::string("\"\\") + c : std::string("\"") + c) + "\": " + std::to_string(id++) + ", ";
        folder.file("tokenizer.json", "{\"added_tokens\": [], \"model\": {\"type\": \"BPE\", \"vocab\": {" + vocabulary + "\"th\": 100}, \"merges\": [\"t h\"]}}");
        folder.file("dpo.jsonl", ("{\"prompt\": \"" + prompt + "\", \"chosen\": \"" + chosen + "\", \"rejected\": \"x\"}\n").toStdString());
        const Examined examined = examineWith(t4, {folder.path()});
        VERIFY_WORST(t4, examined, worst);
        if (worst == Severity::Error)
            QVERIFY2(examined.find("tokens.boundary.merge"), qPrintable(examined.summary()));
    }

    void missingInputs()
    {
        TempFolder folder;
        folder.file("notes.txt", "hello\n");
        QVERIFY(examineWith(t4, {folder.path()}).report->undecidable());
    }

    void reports()
    {
        REQUIRE_SHARED(shared);
        for (const char *const name : {"b70", "b19"}) {
            VERIFY_WORST(t4, examineWith(t4, {shared + "/reports/" + name + "/sick"}), Severity::Error);
            VERIFY_WORST(t4, examineWith(t4, {shared + "/reports/" + name + "/healthy"}), Severity::Ok);
        }
    }

    void damageAndCancel()
    {
        QCOMPARE(faultUnderDamage(t4, fixture(t4.slug, "sick")), QString());
        QCOMPARE(faultWhenCancelled(t4, fixture(t4.slug, "sick")), QString());
    }
};

PROSECTOR_TEST(TestBoundaryMerge, tst_tokens_boundary_merge)

#include "tst_tokens_boundary_merge.moc"
