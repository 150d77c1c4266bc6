// SPDX-License-Identifier: GPL-3.0-or-later
// Numbers and places as people read them.
#include "models/core/bytesource.h"
#include "models/core/wording.h"
#include "tests/support/strict.h"

using namespace prosector;

class TestWording : public QObject {
    Q_OBJECT

private slots:
    void init() { failOnQtWarnings(); }

    void sizes_data()
    {
        QTest::addColumn<quint64>("bytes");
        QTest::addColumn<QByteArray>("text");
        const auto row = [](quint64 bytes, const char *text) { QTest::newRow(text) << bytes << QByteArray(text); };
        row(0, "0 B");
        row(999, "999 B");
        row(1000, "1.0 kB");
        row(1049, "1.0 kB");
        row(1050, "1.1 kB");
        row(99'949, "99.9 kB");
        row(99'950, "100 kB");
        row(999'499, "999 kB");
        row(999'500, "1.0 MB");
        row(2'962'192, "3.0 MB");
        row(812'000'000'000, "812 GB");
        row(UINT64_MAX, "18.4 EB");
    }
    void sizes()
    {
        QFETCH(quint64, bytes);
        QFETCH(QByteArray, text);
        QCOMPARE(sizeText(bytes), text.toStdString());
    }

    void singulars_data()
    {
        QTest::addColumn<QByteArray>("plural");
        QTest::addColumn<QByteArray>("one");
        const auto row = [](const char *plural, const char *one) { QTest::newRow(plural) << QByteArray(plural) << QByteArray(one); };
        row("files", "file");
        row("entries", "entry");
        row("classes", "class");
        row("boxes", "box");
        row("template bytes", "template byte");
        row("standard deviation", "standard deviation");
        row("loss", "loss");
        row("", "");
    }
    void singulars()
    {
        QFETCH(QByteArray, plural);
        QFETCH(QByteArray, one);
        QCOMPARE(singular(plural.toStdString()), one.toStdString());
    }

    void places_data()
    {
        QTest::addColumn<QByteArray>("text");
        QTest::addColumn<QByteArray>("expected");
        const auto row = [](const Anchor &anchor, const char *expected) {
            QTest::newRow(expected) << QByteArray::fromStdString(describe(anchor)) << QByteArray(expected);
        };
        row(ByteRange{391, 391}, "byte 391");
        row(ByteRange{391, 392}, "byte 391");
        row(ByteRange{391, 400}, "bytes 391–400");
        row(TokenRange{2, 3}, "token 2");
        row(CacheRows{{1}}, "1 row");
        row(MaskCells{{{0, 1, 2, 3}, {4, 5, 6, 7}}}, "2 mask areas");
    }
    void places()
    {
        QFETCH(QByteArray, text);
        QFETCH(QByteArray, expected);
        QCOMPARE(text, expected);
    }
};

PROSECTOR_TEST(TestWording, tst_wording)

#include "tst_wording.moc"
