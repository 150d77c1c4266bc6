// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/corpus.h"
#include "tests/support/instrumenttest.h"
#include "tests/support/tempfolder.h"

using namespace prosector;
using namespace prosector::test;

namespace prosector {
extern const Instrument tokens_round_trip;
}

class TestRoundTrip : public QObject {
    Q_OBJECT

    const Instrument &t2 = tokens_round_trip;

private slots:
    void probe()
    {
        const Examined sick = examineWith(t2, {fixture(t2.slug, "sick")});
        VERIFY_WORST(t2, sick, Severity::Error);
        const Finding *const lost = sick.find("tokens.trip.lost");
        QVERIFY2(lost, qPrintable(sick.summary()));
        QVERIFY2(QString::fromStdString(lost->title).contains(QLatin1String("(space, byte ")), lost->title.c_str());
        QVERIFY(sick.pointsAt(*lost, "tokenizer.json", JsonPath{"$.pre_tokenizer"}));
        const Examined healthy = examineWith(t2, {fixture(t2.slug, "healthy")});
        VERIFY_WORST(t2, healthy, Severity::Ok);
    }

    void declared_data()
    {
        QTest::addColumn<QString>("folder");
        QTest::addColumn<Severity>("worst");
        QTest::newRow("lower case is declared") << "lower" << Severity::Info;
        QTest::newRow("clean-up") << "cleanup" << Severity::Info;
    }
    void declared()
    {
        QFETCH(QString, folder);
        QFETCH(Severity, worst);
        VERIFY_WORST(t2, examineWith(t2, {fixture(t2.slug, folder.toStdString())}), worst);
    }

    void missingInputs()
    {
        TempFolder folder;
        folder.file("config.json", "{\"model_type\": \"llama\", \"vocab_size\": 100}");
        QCOMPARE(examineWith(t2, {folder.path()}).report->missing, std::vector<std::string>{"tokenizer_files"});
        TempFolder excerpt; // no merges: it cannot encode
        excerpt.file("tokenizer.json", "{\"added_tokens\": [], \"model\": {\"type\": \"BPE\", \"vocab\": {\"a\": 0, \"ab\": 1}, \"merges\": []}}");
        const Examined examined = examineWith(t2, {excerpt.path()});
        QVERIFY2(examined.report->undecidable() && !examined.report->notSeen.empty(), qPrintable(examined.summary()));
    }

    void realFiles_data()
    {
        QTest::addColumn<QString>("path");
        QTest::addColumn<Severity>("worst");
        QTest::newRow("t5") << "ort/tokenizer/t5-small" << Severity::Info;
        QTest::newRow("distilbert") << "folders/lora-distilbert-imdb" << Severity::Info;
        QTest::newRow("llama 3.1") << "folders/lenml-llama3_1" << Severity::Info;
        QTest::newRow("phi-3") << "ort/phi-3" << Severity::Info;
    }
    void realFiles()
    {
        QFETCH(QString, path);
        QFETCH(Severity, worst);
        REQUIRE_SHARED(shared);
        const Examined examined = examineWith(t2, {shared + "/corpus/" + path.toStdString()});
        QVERIFY2(examined.worst() <= worst && !examined.report->undecidable(), qPrintable(examined.summary()));
    }

    void damageAndCancel()
    {
        QCOMPARE(faultUnderDamage(t2, fixture(t2.slug, "sick")), QString());
        QCOMPARE(faultWhenCancelled(t2, fixture(t2.slug, "sick")), QString());
    }
};

PROSECTOR_TEST(TestRoundTrip, tst_tokens_round_trip)

#include "tst_tokens_round_trip.moc"
