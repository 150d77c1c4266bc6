// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/corpus.h"
#include "tests/support/instrumenttest.h"
#include "tests/support/tempfolder.h"

#include <QFile>

using namespace prosector;
using namespace prosector::test;

namespace prosector {
extern const Instrument tokens_twin_diff;
}

class TestTwinDiff : public QObject {
    Q_OBJECT

    const Instrument &t7 = tokens_twin_diff;

private slots:
    void probe()
    {
        const Examined sick = examineWith(t7, {fixture(t7.slug, "sick")}, {fixture(t7.slug, "healthy")});
        VERIFY_WORST(t7, sick, Severity::Error);
        const Finding *const ids = sick.find("tokens.twins.ids");
        QVERIFY2(ids, qPrintable(sick.summary()));
        QVERIFY2(QString::fromStdString(ids->detail).contains(QLatin1String("digits")), ids->detail.c_str());
        QVERIFY(sick.pointsAt(*ids, "tokenizer.json", JsonPath{"$.pre_tokenizer"}));
        VERIFY_WORST(t7, examineWith(t7, {fixture(t7.slug, "healthy")}, {fixture(t7.slug, "healthy")}), Severity::Ok);
    }

    void records_data()
    {
        QTest::addColumn<QString>("name");
        QTest::addColumn<QString>("record");
        QTest::addColumn<QString>("code");
        QTest::newRow("as the file") << "healthy" << "{\"text\": \"a12\", \"input_ids\": [64, 300]}" << "";
        QTest::newRow("not as the file") << "healthy" << "{\"text\": \"a12\", \"input_ids\": [64, 16, 17]}" << "tokens.twins.record";
        QTest::newRow("lists agree") << "healthy" << "{\"text\": \"a12\", \"ids_flag_off\": [64, 300], \"ids_flag_on\": [64, 300]}" << "";
        QTest::newRow("lists differ") << "healthy" << "{\"text\": \"a12\", \"ids_flag_off\": [64, 300], \"ids_flag_on\": [64, 16, 17]}" << "tokens.twins.lists";
    }
    void records()
    {
        QFETCH(QString, name);
        QFETCH(QString, record);
        QFETCH(QString, code);
        TempFolder folder;
        QFile file(QString::fromStdString(fixture(t7.slug, name.toStdString()) + "/tokenizer.json"));
        QVERIFY(file.open(QIODevice::ReadOnly));
        folder.file("tokenizer.json", file.readAll().toStdString()).file("encode.json", record.toStdString());
        const Examined examined = examineWith(t7, {folder.path()});
        QVERIFY_RESULT(examined.report);
        QVERIFY2(code.isEmpty() ? examined.report->findings.empty() && !examined.report->undecidable() : examined.find(code.toStdString()) != nullptr, qPrintable(examined.summary()));
    }

    void specialOfOneSide()
    {
        QFile file(QString::fromStdString(fixture(t7.slug, "healthy") + "/tokenizer.json"));
        QVERIFY(file.open(QIODevice::ReadOnly));
        const std::string whole = file.readAll().toStdString();
        const auto list = whole.find("\"added_tokens\":"), open = whole.find('[', list), close = whole.find(']', open);
        QVERIFY(list != std::string::npos && close != std::string::npos);
        const std::string more = "[{\"id\": 301, \"content\": \"<turn>\", \"special\": true, \"normalized\": false, \"single_word\": false, \"lstrip\": false, \"rstrip\": false}]";
        TempFolder with;
        with.file("tokenizer.json", whole.substr(0, open) + more + whole.substr(close + 1));
        const std::vector<std::string> without{fixture(t7.slug, "healthy")};
        for (const auto &[a, b] : {std::pair(std::vector{with.path()}, without), {without, std::vector{with.path()}}}) {
            const Examined examined = examineWith(t7, a, b);
            VERIFY_WORST(t7, examined, Severity::Warning);
            QVERIFY2(examined.find("tokens.twins.specials"), qPrintable(examined.summary()));
        }
    }

    void missingInputs()
    {
        TempFolder folder;
        folder.file("notes.txt", "hello\n");
        QVERIFY(examineWith(t7, {folder.path()}).report->undecidable());
        QVERIFY(examineWith(t7, {fixture(t7.slug, "healthy")}).report->undecidable()); // nothing to compare it with
    }

    void decoy()
    {
        REQUIRE_SHARED(shared);
        for (const char *const side : {"sick", "healthy"})
            VERIFY_WORST(t7, examineWith(t7, {shared + "/reports/b13/" + side}), Severity::Ok);
    }

    void damageAndCancel()
    {
        QCOMPARE(faultUnderDamage(t7, fixture(t7.slug, "sick")), QString());
        QCOMPARE(faultWhenCancelled(t7, fixture(t7.slug, "sick")), QString());
    }
};

PROSECTOR_TEST(TestTwinDiff, tst_tokens_twin_diff)

#include "tst_tokens_twin_diff.moc"
