// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/core/document.h"

#include "tests/support/strict.h"

#include <cmath>
#include <stop_token>
#include <limits>

using namespace prosector;

class TestDocument : public QObject {
    Q_OBJECT

private slots:
    void values()
    {
        const auto d = Document::parseJson("{\"a\": [1, 2.5, \"x\\u00e9\\n\", null, true], \"b.c\": {\"d\": 18446744073709551616}}");
        QVERIFY(!d->problem());
        const Value root = d->root();
        QCOMPARE(root["a"][0].integer(), std::optional<std::int64_t>(1));
        QCOMPARE(root["a"][1].number(), std::optional(2.5));
        QVERIFY(!root["a"][1].integer());
        QCOMPARE(root["a"][2].string(), std::optional<std::string>("x\xC3\xA9\n"));
        QVERIFY(root["a"][3].isNull() && !root["a"][3].isSet());
        QCOMPARE(root["a"][4].boolean(), std::optional(true));
        const Value big = root["b.c"]["d"];
        QVERIFY(!big.integer());
        QCOMPARE(big.number(), std::optional(18446744073709551616.0));
        QCOMPARE(big.path(), std::string("$[\"b.c\"].d"));
        QCOMPARE(d->at(big.path()), big);
        QCOMPARE(d->at("$.a[2]"), root["a"][2]);
        QVERIFY(!d->at("$.a[9]") && !d->at("$.z.y") && !d->at("a"));
        QVERIFY(!root["nothing"]["below"][3].string());
    }

    void rangesPointAtTheLiteral()
    {
        const std::string text = " {\"key\" : [ \"v\" , {} ] } ";
        const auto d = Document::parseJson(text);
        const Value list = d->root()["key"];
        QCOMPARE(text.substr(list.range().from, list.range().size()), std::string("[ \"v\" , {} ]"));
        QCOMPARE(text.substr(list.keyRange().from, list.keyRange().size()), std::string("\"key\""));
        QCOMPARE(list[0].raw(), std::string_view("\"v\""));
        QCOMPARE(d->root().range().from, std::uint64_t(1));
    }

    void lastDuplicateWins()
    {
        const auto d = Document::parseJson("{\"eos\": 2, \"x\": 0, \"eo\\u0073\": 107}");
        QCOMPARE(d->root()["eos"].integer(), std::optional<std::int64_t>(107));
        QCOMPARE(d->remarks().size(), std::size_t(1));
        QCOMPARE(d->remarks()[0].kind, Remark::Kind::DuplicateKey);
        QCOMPARE(d->remarks()[0].bytes.from, std::uint64_t(8));
        QVERIFY(!d->problem());
    }

    void duplicatesInTheOrderOfTheText()
    {
        // Enough keys to be sorted in parts; of every tenth there is a second one far behind.
        std::string text = "{";
        for (int i = 0; i < 70'000; ++i)
            text += "\"k" + std::to_string(i) + "\" \n : " + std::to_string(i) + ',';
        for (int i = 0; i < 70'000; i += 10)
            text += "\"\\u006b" + std::to_string(i) + "\":" + std::to_string(-i) + ',';
        text.back() = '}';
        const auto d = Document::parseJson(text);
        QVERIFY(!d->problem());
        QCOMPARE(d->root().size(), std::size_t(77'000));
        QCOMPARE(d->remarks().size(), Document::maxRemarks);
        for (std::size_t i = 0; i < Document::maxRemarks; ++i)
            QCOMPARE(d->remarks()[i].where.path, "$.k" + std::to_string(i * 10));
        const Value third = d->root()["k3"];
        QCOMPARE(third.integer(), std::optional<std::int64_t>(3));
        const auto key = third.keyRange();
        QCOMPARE(text.substr(key.from, key.size()), std::string("\"k3\""));
    }

    void keysWithQuotesAndBackslashes()
    {
        const auto d = Document::parseJson("{\"a\\\\\": {\"\\\"\": [1], \"\": 2, \":\\\"\": \"x\"}}");
        const Value inner = d->root()["a\\"];
        QCOMPARE(inner["\""][0].integer(), std::optional<std::int64_t>(1));
        QCOMPARE(inner[""].integer(), std::optional<std::int64_t>(2));
        QCOMPARE(inner[":\""].string(), std::optional<std::string>("x"));
        QCOMPARE(inner[":\""].path(), std::string("$[\"a\\\\\"][\":\\\"\"]"));
        QVERIFY(d->at(inner[":\""].path()) == inner[":\""]);
    }

    void stops()
    {
        std::stop_source stop;
        stop.request_stop();
        std::string text = "[";
        for (int i = 0; i < 100'000; ++i)
            text += "[1,{\"a\":2}],";
        text.back() = ']';
        const auto d = Document::parseJson(text, stop.get_token());
        QVERIFY(d->problem());
        QCOMPARE(d->problem()->code, Errc::Cancelled);
        QVERIFY(d->nodeCount() < 10'000);
        QVERIFY(!Document::parseJson(text)->problem());
        const auto yaml = Document::parseYaml("a: 1\nb: 2\n", {}, stop.get_token());
        QCOMPARE(yaml->problem()->code, Errc::Cancelled);
    }

    void damage_data()
    {
        QTest::addColumn<QByteArray>("text");
        QTest::addColumn<quint64>("offset");
        QTest::addColumn<Errc>("code");
        QTest::addColumn<QByteArray>("kept"); // path that is still there
        QTest::newRow("empty") << QByteArray("") << quint64(0) << Errc::Truncated << QByteArray();
        QTest::newRow("cut in a string") << QByteArray("{\"a\":1,\"b\":\"xy") << quint64(14) << Errc::Truncated << QByteArray("$.a");
        QTest::newRow("cut after comma") << QByteArray("{\"a\":1,") << quint64(7) << Errc::Truncated << QByteArray("$.a");
        QTest::newRow("cut in a list") << QByteArray("[1,2") << quint64(4) << Errc::Truncated << QByteArray("$[1]");
        QTest::newRow("no colon") << QByteArray("{\"a\" 1}") << quint64(5) << Errc::Malformed << QByteArray("$");
        QTest::newRow("trailing comma") << QByteArray("[1,]") << quint64(3) << Errc::Malformed << QByteArray("$[0]");
        QTest::newRow("garbage behind") << QByteArray("{\"a\":1} x") << quint64(8) << Errc::Malformed << QByteArray("$.a");
        QTest::newRow("leading zero") << QByteArray("[01]") << quint64(2) << Errc::Malformed << QByteArray("$");
        QTest::newRow("bad escape") << QByteArray("[\"\\q\"]") << quint64(3) << Errc::Malformed << QByteArray("$");
        QTest::newRow("short escape") << QByteArray("[\"\\u12\"]") << quint64(6) << Errc::Malformed << QByteArray("$");
        QTest::newRow("control in string") << QByteArray("[\"a\nb\"]") << quint64(3) << Errc::Malformed << QByteArray("$");
        QTest::newRow("single quotes") << QByteArray("{'a':1}") << quint64(1) << Errc::Malformed << QByteArray("$");
        QTest::newRow("too deep") << QByteArray(100'000, '[') << quint64(Document::maxDepth) << Errc::TooLarge << QByteArray("$[0][0]");
    }
    void damage()
    {
        QFETCH(QByteArray, text);
        QFETCH(quint64, offset);
        QFETCH(Errc, code);
        QFETCH(QByteArray, kept);
        const auto d = Document::parseJson(text.toStdString());
        QVERIFY(d->problem().has_value());
        QCOMPARE(d->problem()->code, code);
        QCOMPARE(std::get<ByteRange>(d->problem()->where).from, std::uint64_t(offset));
        QVERIFY(!d->problem()->expected.empty() && !d->problem()->found.empty());
        if (!kept.isEmpty())
            QVERIFY(bool(d->at(kept.toStdString())));
    }

    void whatPythonAccepts()
    {
        const auto d = Document::parseJson("\xEF\xBB\xBF[NaN, -Infinity, 1e999, \"\xFF\", \"\\ud83d\\ude00\", \"\\ud83d\"]");
        QVERIFY(!d->problem());
        QVERIFY(std::isnan(*d->root()[0].number()));
        QCOMPARE(*d->root()[1].number(), -std::numeric_limits<double>::infinity());
        QCOMPARE(*d->root()[2].number(), std::numeric_limits<double>::infinity());
        QCOMPARE(*d->root()[4].string(), std::string("\xF0\x9F\x98\x80"));
        QCOMPARE(*d->root()[5].string(), std::string("\xEF\xBF\xBD"));
        QCOMPARE(d->remarks().size(), std::size_t(4)); // mark, NaN, Infinity, not UTF-8
    }
};

PROSECTOR_TEST(TestDocument, tst_document)

#include "tst_document.moc"
