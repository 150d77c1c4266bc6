// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/corpus.h"
#include "tests/support/instrumenttest.h"
#include "tests/support/tempfolder.h"

using namespace prosector;
using namespace prosector::test;

namespace prosector {
extern const Instrument tokens_encoding_audit;
}

class TestEncodingAudit : public QObject {
    Q_OBJECT

    const Instrument &t11 = tokens_encoding_audit;

    /// A tokenizer.json with a few pieces; `more` are further members of the root.
    static std::string tokenizer(const std::string &more = {}, const std::string &model = "\"type\": \"Unigram\", \"unk_id\": 0, \"byte_fallback\": true")
    {
        return "{\"added_tokens\": [{\"id\": 0, \"content\": \"<unk>\", \"special\": true}, {\"id\": 1, \"content\": \"<s>\", \"special\": true, \"normalized\": false}], " + more + "\"model\": {" + model
               + ", \"vocab\": [[\"<unk>\", 0.0], [\"<s>\", 0.0], [\"a\", -1.0], [\"b\", -1.0], [\"<0x0A>\", -9.0], [\"\xE2\x96\x81->\", -2.0], [\"->\", -2.0], [\"\xE2\x96\x81" "a\", -1.0], [\":\", -1.0]]}}";
    }

private slots:
    void probe()
    {
        const Examined sick = examineWith(t11, {fixture(t11.slug, "sick")});
        VERIFY_WORST(t11, sick, Severity::Error);
        const Finding *const split = sick.find("tokens.encode.special_split");
        QVERIFY2(split, qPrintable(sick.summary()));
        QVERIFY2(QString::fromStdString(split->title).contains(QLatin1String("byte 5")), split->title.c_str());
        QVERIFY(sick.pointsAt(*split, "encode.json", TokenRange{3, 6}));
        QVERIFY(sick.pointsAt(*split, "tokenizer.json", JsonPath{"$.added_tokens[2].normalized"}));
        const Examined healthy = examineWith(t11, {fixture(t11.slug, "healthy")});
        VERIFY_WORST(t11, healthy, Severity::Info); // the normalizer's habit
        QCOMPARE(healthy.report->findings.size(), std::size_t(1));
    }

    void records_data()
    {
        QTest::addColumn<QString>("file");
        QTest::addColumn<QString>("record");
        QTest::addColumn<QString>("code");
        QTest::addColumn<Severity>("worst");
        const auto row = [](const char *name, const std::string &file, const char *record, const char *code, Severity worst) {
            QTest::newRow(name) << QString::fromStdString(file) << record << code << worst;
        };
        row("unknown for a line feed", tokenizer(), "{\"text\": \"a\\n\\nb\", \"tokens\": [\"a\", \"<unk>\", \"b\"], \"input_ids\": [2, 0, 3]}", "tokens.encode.unknown", Severity::Error);
        row("byte pieces", tokenizer(), "{\"text\": \"a\\n\\nb\", \"tokens\": [\"a\", \"<0x0A>\", \"<0x0A>\", \"b\"], \"input_ids\": [2, 4, 4, 3]}", "", Severity::Ok);
        row("no byte pieces for it", tokenizer(), "{\"text\": \"a\xC3\xA9" "b\", \"tokens\": [\"a\", \"<unk>\", \"b\"], \"input_ids\": [2, 0, 3]}", "", Severity::Ok);
        row("spelt out", tokenizer(), "{\"text\": \"a<unk>b\", \"tokens\": [\"a\", \"<unk>\", \"b\"], \"input_ids\": [2, 0, 3]}", "", Severity::Ok);
        row("no fallback declared", tokenizer({}, "\"type\": \"Unigram\", \"unk_id\": 0"), "{\"text\": \"a\\nb\", \"tokens\": [\"a\", \"<unk>\", \"b\"], \"input_ids\": [2, 0, 3]}", "", Severity::Ok);
        row("blank behind a special", tokenizer(), "{\"text\": \"a:<s>->\", \"tokens\": [\"\xE2\x96\x81" "a\", \":\", \"<s>\", \"\xE2\x96\x81->\"]}", "tokens.encode.blank_after_special", Severity::Warning);
        row("none", tokenizer(), "{\"text\": \"a:<s>->\", \"tokens\": [\"\xE2\x96\x81" "a\", \":\", \"<s>\", \"->\"]}", "", Severity::Ok);
        row("the text has it", tokenizer(), "{\"text\": \"a:<s> ->\", \"tokens\": [\"\xE2\x96\x81" "a\", \":\", \"<s>\", \"\xE2\x96\x81->\"]}", "", Severity::Ok);
        row("start put in front", tokenizer(), "{\"text\": \"a\", \"tokens\": [\"<s>\", \"\xE2\x96\x81" "a\"], \"input_ids\": [1, 7]}", "", Severity::Ok);
        row("special split without a flag", tokenizer(), "{\"text\": \"a<s>b\", \"tokens\": [\"a\", \"<\", \"s\", \">\", \"b\"]}", "tokens.encode.special_split", Severity::Error);
        row("split on purpose", tokenizer(), "{\"text\": \"a<s>b\", \"tokens\": [\"a\", \"<\", \"s\", \">\", \"b\"], \"parse_special\": false}", "", Severity::Ok);
        row("offsets backwards", tokenizer(), "{\"text\": \"ab\", \"tokens\": [\"a\", \"b\"], \"input_ids\": [2, 3], \"offsets\": [[1, 2], [0, 1]]}", "tokens.encode.offsets", Severity::Error);
        row("offsets overlap", tokenizer(), "{\"text\": \"abab\", \"tokens\": [\"a\", \"b\"], \"input_ids\": [2, 3], \"offsets\": [[0, 3], [1, 4]]}", "tokens.encode.offsets", Severity::Error);
        row("letters left out", tokenizer(), "{\"text\": \"axb\", \"tokens\": [\"a\", \"b\"], \"input_ids\": [2, 3], \"offsets\": [[0, 1], [2, 3]]}", "tokens.encode.uncovered", Severity::Error);
        row("a normalizer may take them", tokenizer("\"normalizer\": {\"type\": \"NFC\"}, "), "{\"text\": \"axb\", \"tokens\": [\"a\", \"b\"], \"input_ids\": [2, 3], \"offsets\": [[0, 1], [2, 3]]}", "", Severity::Ok);
        row("bytes of one character", tokenizer(), "{\"text\": \"a\xC3\xA9" "b\", \"tokens\": [\"a\", \"<0xC3>\", \"<0xA9>\", \"b\"], \"offsets\": [[0, 1], [1, 2], [1, 2], [2, 3]]}", "", Severity::Ok);
        row("id of another piece", tokenizer(), "{\"text\": \"ab\", \"tokens\": [\"a\", \"b\"], \"input_ids\": [2, 8]}", "tokens.encode.disagree", Severity::Error);
        row("shown decoded", tokenizer(), "{\"text\": \"a\", \"tokens\": [\" a\"], \"input_ids\": [7]}", "", Severity::Ok);
        row("truncated", tokenizer("\"truncation\": {\"max_length\": 2, \"strategy\": \"LongestFirst\", \"stride\": 0, \"direction\": \"Right\"}, "),
            "{\"text\": \"aba\", \"tokens\": [\"a\", \"b\"], \"input_ids\": [2, 3]}", "tokens.encode.truncated", Severity::Warning);
        row("padded", tokenizer("\"padding\": {\"strategy\": {\"Fixed\": 3}, \"direction\": \"Right\", \"pad_id\": 0, \"pad_token\": \"<unk>\"}, "),
            "{\"text\": \"ab\", \"tokens\": [\"a\", \"b\", \"<unk>\"], \"input_ids\": [2, 3, 0], \"attention_mask\": [1, 1, 0]}", "tokens.encode.padded", Severity::Warning);
    }
    void records()
    {
        QFETCH(QString, file);
        QFETCH(QString, record);
        QFETCH(QString, code);
        QFETCH(Severity, worst);
        TempFolder folder;
        folder.file("tokenizer.json", file.toStdString()).file("encode.json", record.toStdString());
        const Examined examined = examineWith(t11, {folder.path()});
        VERIFY_WORST(t11, examined, worst);
        if (!code.isEmpty())
            QVERIFY2(examined.find(code.toStdString()), qPrintable(examined.summary()));
        else
            QVERIFY2(examined.report->findings.empty() && !examined.report->undecidable(), qPrintable(examined.summary()));
    }

    void hiddenCharacters()
    {
        TempFolder folder;
        folder.file("tokenizer.json", tokenizer()).file("encode.json", "{\"text\": \"a\\n\\n\\nb\", \"tokens\": [\"a\", \"<unk>\", \"b\"], \"input_ids\": [2, 0, 3]}");
        const Examined examined = examineWith(t11, {folder.path()});
        const Finding *const finding = examined.find("tokens.encode.unknown");
        QVERIFY2(finding && finding->measure->number == 3, qPrintable(examined.summary()));
    }

    void missingInputs()
    {
        TempFolder folder;
        folder.file("tokenizer.json", tokenizer());
        const Examined without = examineWith(t11, {folder.path()});
        QVERIFY_RESULT(without.report);
        QCOMPARE(without.report->missing, std::vector<std::string>{"encode_record"});
        TempFolder other;
        other.file("encode.json", "{\"text\": \"a\", \"tokens\": [\"a\"], \"input_ids\": [2]}");
        QCOMPARE(examineWith(t11, {other.path()}).report->missing, std::vector<std::string>{"tokenizer_files"});
    }

    void reports_data()
    {
        QTest::addColumn<QString>("name");
        QTest::addColumn<QString>("code");
        QTest::addColumn<Severity>("worst");
        QTest::newRow("b05") << "b05" << "tokens.encode.special_split" << Severity::Error;
        QTest::newRow("b07") << "b07" << "tokens.encode.blank_after_special" << Severity::Warning;
        QTest::newRow("b09") << "b09" << "tokens.encode.unknown" << Severity::Error;
    }
    void reports()
    {
        QFETCH(QString, name);
        QFETCH(QString, code);
        QFETCH(Severity, worst);
        REQUIRE_SHARED(shared);
        const Examined sick = examineWith(t11, {shared + "/reports/" + name.toStdString() + "/sick"});
        VERIFY_WORST(t11, sick, worst);
        QVERIFY2(sick.find(code.toStdString()), qPrintable(sick.summary()));
        const Examined healthy = examineWith(t11, {shared + "/reports/" + name.toStdString() + "/healthy"});
        QVERIFY2(healthy.worst() <= Severity::Info && !healthy.report->undecidable(), qPrintable(healthy.summary()));
    }

    void damageAndCancel()
    {
        QCOMPARE(faultUnderDamage(t11, fixture(t11.slug, "sick")), QString());
        QCOMPARE(faultWhenCancelled(t11, fixture(t11.slug, "sick")), QString());
    }
};

PROSECTOR_TEST(TestEncodingAudit, tst_tokens_encoding_audit)

#include "tst_tokens_encoding_audit.moc"
