// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/artifacts/jsonread.h"
#include "models/artifacts/rowtable.h"
#include "models/artifacts/textshapes.h"

#include "tests/support/strict.h"

using namespace prosector;

class TestRowTable : public QObject {
    Q_OBJECT

    static Artifact open(const char *name, std::string text, Result<Reading> (*reader)(SourcePtr, const Job &))
    {
        Artifact artifact;
        artifact.source = memorySource(name, text);
        if (auto reading = reader(artifact.source, Job())) {
            artifact.content = reading->content;
            artifact.kind = reading->kind;
            artifact.format = reading->format;
        }
        return artifact;
    }
    static RowTable table(const Artifact &artifact)
    {
        auto result = RowTable::of(artifact, Job());
        return result && *result ? std::move(**result) : RowTable();
    }

private slots:
    void csvAfterRfc4180()
    {
        Artifact artifact = open("t.csv", "name,value,note\r\n\"a, b\",1.5,\"say \"\"x\"\"\"\r\n\r\n\"two\nlines\",-2,\nlast,3", openText);
        artifact.format = "csv";
        const RowTable t = table(artifact);
        QCOMPARE(t.columns(), (std::vector<std::string>{"name", "value", "note"}));
        QCOMPARE(t.rowCount(), std::size_t(3));
        QCOMPARE(t.text(0, 0), std::string_view("a, b"));
        QCOMPARE(t.text(0, 2), std::string_view("say \"x\""));
        QCOMPARE(t.number(0, 1), std::optional(1.5));
        QCOMPARE(t.text(1, 0), std::string_view("two\nlines"));
        QCOMPARE(t.anchor(0), Anchor(LogLine{2, 2}));
        QCOMPARE(t.anchor(1), Anchor(LogLine{4, 5}));
        QCOMPARE(t.anchor(2), Anchor(LogLine{6, 6}));
        QVERIFY(!t.number(2, 0));
        QCOMPARE(t.column("VALUE"), std::optional<std::size_t>(1));
        QVERIFY(!t.column("absent"));
    }

    void otherDelimiters_data()
    {
        QTest::addColumn<QString>("text");
        QTest::newRow("tab") << "a\tb\n1\t2\n";
        QTest::newRow("semicolon") << "a;b\n1;2\n";
        QTest::newRow("mark") << "\xEF\xBB\xBF" "a,b\n1,2\n";
        QTest::newRow("short row") << "b,a,c\n2,1\n";
    }
    void otherDelimiters()
    {
        QFETCH(QString, text);
        Artifact artifact = open("t.csv", text.toStdString(), openText);
        artifact.format = "csv";
        const RowTable t = table(artifact);
        QCOMPARE(t.rowCount(), std::size_t(1));
        QCOMPARE(t.number(0, *t.column("a")), std::optional(1.0));
        QCOMPARE(t.number(0, *t.column("b")), std::optional(2.0));
    }

    void unclosedQuoteEndsWithTheFile()
    {
        Artifact artifact = open("t.csv", "a,b\n1,\"never closed\nstill\n", openText);
        artifact.format = "csv";
        QCOMPARE(table(artifact).rowCount(), std::size_t(1));
    }

    void jsonLines()
    {
        const Artifact artifact = open("t.jsonl", "{\"id\": 1, \"in\": {\"x\": 2.5}, \"l\": [1, 2]}\n\n{\"in\": {\"x\": null}, \"new\": true}\n", openJsonLines);
        const RowTable t = table(artifact);
        QCOMPARE(t.columns(), (std::vector<std::string>{"id", "in.x", "l", "new"}));
        QCOMPARE(t.rowCount(), std::size_t(2));
        QCOMPARE(t.number(0, 1), std::optional(2.5));
        QCOMPARE(t.text(0, 2), std::string_view("[1, 2]"));
        QVERIFY(!t.number(1, 1) && !t.number(1, 0));
        QCOMPARE(t.number(1, 3), std::optional(1.0));
        QCOMPARE(t.anchor(1), Anchor(LogLine{3, 3}));
        QCOMPARE(RowTable::columnsOf(artifact), (std::vector<std::string>{"id", "in.x", "l"}));
    }

    void jsonLists()
    {
        const Artifact list = open("t.json", "[{\"a\": 1}, {\"a\": 2}]", openJson);
        QCOMPARE(table(list).rowCount(), std::size_t(2));
        QCOMPARE(table(list).anchor(1), Anchor(JsonPath{"$[1]"}));
        const Artifact inner = open("t.json", "{\"default\": 3, \"points\": [{\"a\": 1}], \"other\": [1, 2]}", openJson);
        const RowTable t = table(inner);
        QCOMPARE(t.anchor(0), Anchor(JsonPath{"$.points[0]"}));
        QCOMPARE(t.outer()["default"].integer(), std::optional<std::int64_t>(3));
        const Artifact none = open("t.json", "{\"a\": [1, 2]}", openJson);
        QCOMPARE(table(none).rowCount(), std::size_t(0));
    }

    void cancels()
    {
        std::stop_source stop;
        stop.request_stop();
        const Artifact list = open("t.json", "[{\"a\": 1}]", openJson);
        const auto result = RowTable::of(list, Job(stop.get_token()));
        QVERIFY(!result && result.error().code == Errc::Cancelled);
    }
};

PROSECTOR_TEST(TestRowTable, tst_rowtable)
#include "tst_rowtable.moc"
