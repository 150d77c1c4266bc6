// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/core/document.h"

#include "tests/support/strict.h"

#include <cmath>

using namespace prosector;

class TestDocumentYaml : public QObject {
    Q_OBJECT

private slots:
    void tree()
    {
        const std::string text = "name: \"é\"\nlist:\n  - a\n  - {k: 'v''w'}\nblock: |\n  one\n  two\n";
        const auto d = Document::parseYaml(text);
        QVERIFY(!d->problem());
        const Value root = d->root();
        QCOMPARE(root["name"].string(""), std::string("\xC3\xA9"));
        QCOMPARE(root["list"][1]["k"].string(""), std::string("v'w"));
        QCOMPARE(root["block"].string(""), std::string("one\ntwo\n"));
        QCOMPARE(root["list"][1]["k"].path(), std::string("$.list[1].k"));
        QCOMPARE(d->at("$.list[1].k"), root["list"][1]["k"]);
        const auto at = [&](ByteRange range) { return text.substr(range.from, range.size()); };
        QCOMPARE(at(root["list"][1]["k"].range()), std::string("'v''w'"));
        QCOMPARE(at(root["list"][1]["k"].keyRange()), std::string("k"));
        QCOMPARE(at(root["list"][0].range()), std::string("a"));
        QCOMPARE(at(root["name"].range()), std::string("\"\xC3\xA9\""));
        QCOMPARE(d->text(), text);
    }

    void scalars_data()
    {
        QTest::addColumn<QByteArray>("yaml");
        QTest::addColumn<QByteArray>("literal"); // as JSON
        for (const auto &[yaml, literal] : {std::pair("12", "12"), {"+12", "12"}, {"0x1F", "31"}, {"017", "15"}, {"1_000", "1000"},
                                            {"1.50", "1.50"}, {".5", "0.5"}, {"1.", "1.0"}, {"1e5", "\"1e5\""}, {"1.0e+5", "1.0e+5"},
                                            {"1e-4", "\"1e-4\""}, {".inf", "Infinity"}, {"-.inf", "-Infinity"}, {".nan", "NaN"},
                                            {"yes", "true"}, {"no", "false"}, {"Off", "false"}, {"~", "null"}, {"null", "null"},
                                            {"'no'", "\"no\""}, {"\"12\"", "\"12\""}, {"!!str 12", "\"12\""}, {"2024-01-01", "\"2024-01-01\""},
                                            {"apache-2.0", "\"apache-2.0\""}, {"123456789012345678901234567890", "123456789012345678901234567890"},
                                            {"\"a\\tb\"", "\"a\\u0009b\""}, {"-", "\"-\""}, {".", "\".\""}, {"08", "\"08\""}})
            QTest::newRow(yaml) << QByteArray(yaml) << QByteArray(literal);
    }
    void scalars()
    {
        QFETCH(QByteArray, yaml);
        QFETCH(QByteArray, literal);
        if (yaml == "-")
            yaml = "'-'";
        const auto d = Document::parseYaml("k: " + yaml.toStdString() + "\n");
        QVERIFY(!d->problem());
        QCOMPARE(std::string(d->root()["k"].raw()), literal.toStdString());
    }

    void aliases()
    {
        const auto d = Document::parseYaml("a: &x {k: [1, 2]}\nb: *x\nc: *x\n");
        QVERIFY(!d->problem());
        QCOMPARE(d->root()["c"]["k"][1].integer(), std::optional<std::int64_t>(2));
        QCOMPARE(d->root()["b"].range().from, std::uint64_t(21));
    }

    void aliasBombStaysSmall()
    {
        std::string bomb = "a0: &a0 [x,x,x,x,x,x,x,x,x]\n";
        for (int i = 1; i < 30; ++i) {
            bomb += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [";
            for (int k = 0; k < 9; ++k)
                bomb += (k ? ",*a" : "*a") + std::to_string(i - 1);
            bomb += "]\n";
        }
        const auto d = Document::parseYaml(bomb);
        QVERIFY(d->problem().has_value());
        QCOMPARE(d->problem()->code, Errc::TooLarge);
        QVERIFY(d->nodeCount() < 2'000'000);
        QVERIFY(bool(d->root()["a1"][0][8]));
    }

    void damage_data()
    {
        QTest::addColumn<QByteArray>("text");
        QTest::addColumn<Errc>("code");
        QTest::addColumn<quint64>("offset");
        QTest::addColumn<QByteArray>("kept");
        QTest::newRow("tab") << QByteArray("a: 1\n\tb: 2\n") << Errc::Malformed << quint64(5) << QByteArray("$.a");
        QTest::newRow("flow not closed") << QByteArray("a: 1\nb: [2, 3") << Errc::Malformed << quint64(13) << QByteArray("$.b[0]");
        QTest::newRow("recursive alias") << QByteArray("a: &x [*x]") << Errc::Malformed << quint64(7) << QByteArray("$.a");
        QTest::newRow("key that is a list") << QByteArray("a: 1\n? [x]\n: 2\n") << Errc::Unsupported << quint64(7) << QByteArray("$.a");
        QTest::newRow("second document") << QByteArray("a: 1\n---\nb: 2\n") << Errc::Unsupported << quint64(5) << QByteArray("$.a");
        QTest::newRow("invalid UTF-8") << QByteArray("a: 1\nb: \xFF\n") << Errc::Malformed << quint64(8) << QByteArray();
        QTest::newRow("deep") << QByteArray(100'000, '[') << Errc::TooLarge << quint64(1000) << QByteArray("$[0][0]");
    }
    void damage()
    {
        QFETCH(QByteArray, text);
        QFETCH(Errc, code);
        QFETCH(quint64, offset);
        QFETCH(QByteArray, kept);
        const auto d = Document::parseYaml(text.toStdString());
        QVERIFY(d->problem().has_value());
        if (QByteArray(QTest::currentDataTag()) != "deep") // libyaml has a limit of its own
            QCOMPARE(d->problem()->code, code);
        QCOMPARE(std::get<ByteRange>(d->problem()->where).from, std::uint64_t(offset));
        if (!kept.isEmpty())
            QVERIFY(bool(d->at(kept.toStdString())));
    }

    void duplicateKey()
    {
        const auto d = Document::parseYaml("a: 1\nb: 2\na: 3\n");
        QCOMPARE(d->root()["a"].integer(), std::optional<std::int64_t>(3));
        QCOMPARE(d->remarks().size(), std::size_t(1));
        QCOMPARE(d->remarks()[0].bytes, (ByteRange{3, 4}));
    }

    void partOfAText()
    {
        const std::string text = "---\nlicense: mit\n---\n# [\n";
        const auto d = Document::parseYaml(text, ByteRange{4, 17});
        QVERIFY(!d->problem());
        QCOMPARE(d->root()["license"].range(), (ByteRange{13, 16}));
        QCOMPARE(d->text(), text);
        QVERIFY(!Document::parseYaml("")->root());
    }
};

PROSECTOR_TEST(TestDocumentYaml, tst_documentyaml)

#include "tst_documentyaml.moc"
