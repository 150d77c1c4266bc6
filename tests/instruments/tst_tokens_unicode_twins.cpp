// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/corpus.h"
#include "tests/support/instrumenttest.h"
#include "tests/support/tempfolder.h"

using namespace prosector;
using namespace prosector::test;

namespace prosector {
extern const Instrument tokens_unicode_twins;
}

class TestUnicodeTwins : public QObject {
    Q_OBJECT

    const Instrument &t10 = tokens_unicode_twins;

private slots:
    void probe()
    {
        const Examined sick = examineWith(t10, {fixture(t10.slug, "sick")});
        VERIFY_WORST(t10, sick, Severity::Error);
        const Finding *const twin = sick.find("tokens.twin.nfc");
        QVERIFY2(twin, qPrintable(sick.summary()));
        QVERIFY(sick.pointsAt(*twin, "retrieval_log.jsonl", LogLine{1, 1}) && sick.pointsAt(*twin, "retrieval_log.jsonl", LogLine{2, 2}));
        QVERIFY2(QString::fromStdString(twin->detail).contains(QLatin1String("COMBINING ACUTE ACCENT")), twin->detail.c_str());
        const Examined healthy = examineWith(t10, {fixture(t10.slug, "healthy")});
        VERIFY_WORST(t10, healthy, Severity::Info);
        QVERIFY2(healthy.find("tokens.twin.nfkc"), qPrintable(healthy.summary()));
    }

    void pairs_data()
    {
        QTest::addColumn<QString>("a");
        QTest::addColumn<QString>("b");
        QTest::addColumn<QString>("code");
        QTest::addColumn<Severity>("worst");
        const auto row = [](const char *name, const QString &a, const QString &b, const char *code, Severity worst) { QTest::newRow(name) << a << b << code << worst; };
        row("zero-width space", QStringLiteral("user\u200B1"), QStringLiteral("user1"), "tokens.twin.ignorable", Severity::Error);
        row("soft hyphen", QStringLiteral("co\u00ADop"), QStringLiteral("coop"), "tokens.twin.ignorable", Severity::Error);
        row("blank at the end", QStringLiteral("paris "), QStringLiteral("paris"), "tokens.twin.space", Severity::Error);
        row("no-break space", QStringLiteral("paris\u00A0"), QStringLiteral("paris"), "tokens.twin.space", Severity::Error);
        row("Cyrillic letter in a word", QStringLiteral("p\u0430ypal"), QStringLiteral("paypal"), "tokens.twin.homoglyph", Severity::Error);
        row("wholly Cyrillic", QStringLiteral("\u0441\u043E\u0440"), QStringLiteral("cop"), "", Severity::Ok);
        row("case", QStringLiteral("Paris"), QStringLiteral("paris"), "tokens.twin.case", Severity::Info);
        row("circled one", QStringLiteral("\u2460"), QStringLiteral("1"), "tokens.twin.nfkc", Severity::Info);
        row("joined emoji", QStringLiteral("\U0001F469\u200D\U0001F680"), QStringLiteral("\U0001F469\U0001F680"), "", Severity::Ok);
        row("Persian spelling", QStringLiteral("\u0645\u06CC\u200C\u0631\u0648\u0645"), QStringLiteral("\u0645\u06CC\u0631\u0648\u0645"), "", Severity::Ok);
        row("other words", QStringLiteral("paris"), QStringLiteral("rome"), "", Severity::Ok);
        row("equal", QStringLiteral("paris"), QStringLiteral("paris"), "", Severity::Ok);
    }
    void pairs()
    {
        QFETCH(QString, a);
        QFETCH(QString, b);
        QFETCH(QString, code);
        QFETCH(Severity, worst);
        TempFolder folder;
        folder.file("retrieval_log.jsonl", ("{\"query\": \"q\", \"filter\": {\"tag\": {\"$eq\": \"" + a + "\"}}, \"results\": []}\n{\"query\": \"r\", \"results\": [{\"doc_id\": \"x\", \"tag\": \"" + b + "\"}]}\n").toStdString());
        const Examined examined = examineWith(t10, {folder.path()});
        VERIFY_WORST(t10, examined, worst);
        if (!code.isEmpty())
            QVERIFY2(examined.find(code.toStdString()), qPrintable(examined.summary()));
        else
            QVERIFY2(examined.report->findings.empty(), qPrintable(examined.summary()));
    }

    void promptsOfOneRoute()
    {
        TempFolder folder;
        folder.file("requests.jsonl", "{\"model\": \"m\", \"messages\": [{\"role\": \"system\", \"content\": \"Caf\xC3\xA9\"}]}\n"
                                      "{\"model\": \"m\", \"messages\": [{\"role\": \"system\", \"content\": \"Cafe\xCC\x81\"}]}\n{\"model\": \"m\", \"messages\": [{\"role\": \"system\", \"content\": \"CAFE\"}]}\n");
        const Examined examined = examineWith(t10, {folder.path()});
        VERIFY_WORST(t10, examined, Severity::Warning);
        QCOMPARE(examined.report->findings.size(), std::size_t(1));
    }

    void cacheKeys()
    {
        TempFolder folder;
        folder.file("cache.csv", "key,hit\nCaf\xC3\xA9,1\nCafe\xCC\x81,0\n");
        VERIFY_WORST(t10, examineWith(t10, {folder.path()}), Severity::Error);
    }

    void missingInputs()
    {
        TempFolder folder;
        folder.file("notes.txt", "hello\n");
        const Examined examined = examineWith(t10, {folder.path()});
        QVERIFY_RESULT(examined.report);
        QVERIFY(examined.report->undecidable());
    }

    void damageAndCancel()
    {
        QCOMPARE(faultUnderDamage(t10, fixture(t10.slug, "sick")), QString());
        QCOMPARE(faultWhenCancelled(t10, fixture(t10.slug, "sick")), QString());
    }
};

PROSECTOR_TEST(TestUnicodeTwins, tst_tokens_unicode_twins)

#include "tst_tokens_unicode_twins.moc"
