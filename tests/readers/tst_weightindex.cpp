// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/artifacts/tensors.h"

#include "tests/support/corpus.h"
#include "tests/support/reading.h"
#include "tests/support/strict.h"

using namespace prosector;

class TestWeightIndex : public QObject {
    Q_OBJECT

    static const WeightIndexContent &indexOf(const Result<Reading> &reading)
    {
        return dynamic_cast<const WeightIndexContent &>(*reading->content);
    }

private slots:
    void sniffs_data()
    {
        QTest::addColumn<QByteArray>("name");
        QTest::addColumn<QByteArray>("text");
        QTest::addColumn<bool>("mine");
        QTest::newRow("safetensors") << QByteArray("model.safetensors.index.json") << QByteArray("{\"weight_map\":{}}") << true;
        QTest::newRow("pytorch") << QByteArray("pytorch_model.bin.index.json") << QByteArray("{\"metadata\":{},\"weight_map\":{}}") << true;
        QTest::newRow("variant") << QByteArray("model.fp16.safetensors.index.json") << QByteArray(" {\"weight_map\":{}}") << true;
        QTest::newRow("other name") << QByteArray("shards.json") << QByteArray("{\"weight_map\":{}}") << true;
        QTest::newRow("no map") << QByteArray("model.safetensors.index.json") << QByteArray("{}") << true;
        QTest::newRow("another index") << QByteArray("faiss.index.json") << QByteArray("{\"dim\":3}") << false;
        QTest::newRow("a list") << QByteArray("model.safetensors.index.json") << QByteArray("[\"weight_map\"]") << false;
    }
    void sniffs()
    {
        QFETCH(QByteArray, name);
        QFETCH(QByteArray, text);
        QFETCH(bool, mine);
        QCOMPARE(sniffed(name.toStdString(), text.toStdString()) == "weightindex", mine);
    }

    void reads_data()
    {
        QTest::addColumn<QByteArray>("text");
        QTest::addColumn<int>("rows");
        QTest::addColumn<qint64>("total"); // -1: none
        QTest::addColumn<QByteArray>("says"); // empty: no problem
        const auto row = [](const char *name, const char *text, int rows, qint64 total, const char *says) {
            QTest::newRow(name) << QByteArray(text) << rows << total << QByteArray(says);
        };
        row("healthy", "{\"metadata\":{\"total_size\":24},\"weight_map\":{\"a\":\"x\",\"b\":\"y\"}}", 2, 24, "");
        row("size as a float", "{\"metadata\":{\"total_size\":1.5e10},\"weight_map\":{\"a\":\"x\"}}", 1, 15'000'000'000, "");
        row("no metadata", "{\"weight_map\":{\"a\":\"x\"}}", 1, -1, "");
        row("negative size", "{\"metadata\":{\"total_size\":-1},\"weight_map\":{\"a\":\"x\"}}", 1, -1, "");
        row("size of 10^400", "{\"metadata\":{\"total_size\":1e400},\"weight_map\":{\"a\":\"x\"}}", 1, -1, "");
        row("empty map", "{\"weight_map\":{}}", 0, -1, "");
        row("no map", "{\"metadata\":{\"total_size\":24}}", 0, 24, "no weight_map");
        row("map is a list", "{\"weight_map\":[\"a\"]}", 0, -1, "no weight_map");
        row("file is a number", "{\"weight_map\":{\"a\":1,\"b\":\"y\"}}", 1, -1, "names no file for \"a\"");
        row("tensor twice", "{\"weight_map\":{\"a\":\"x\",\"a\":\"y\"}}", 1, -1, "stands twice");
        row("cut", "{\"weight_map\":{\"a\":\"x\",\"b\":", 1, -1, "not valid JSON");
        row("empty", "", 0, -1, "not valid JSON");
    }
    void reads()
    {
        QFETCH(QByteArray, text);
        QFETCH(int, rows);
        QFETCH(qint64, total);
        QFETCH(QByteArray, says);
        const auto reading = readWith("weightindex", text.toStdString());
        QVERIFY_RESULT(reading);
        QCOMPARE(reading->kind, Kind::WeightIndex);
        QCOMPARE(indexOf(reading).rows.size(), static_cast<std::size_t>(rows));
        QCOMPARE(indexOf(reading).totalSize.has_value(), total >= 0);
        if (total >= 0)
            QCOMPARE(*indexOf(reading).totalSize, static_cast<std::uint64_t>(total));
        QCOMPARE(reading->problems.empty(), says.isEmpty());
        QVERIFY2(describeProblems(reading).find(says.toStdString()) != std::string::npos, describeProblems(reading).c_str());
    }

    void lastOfDuplicatesCounts()
    {
        const auto reading = readWith("weightindex", "{\"weight_map\":{\"a\":\"x\",\"b\":\"z\",\"a\":\"y\"}}");
        QVERIFY_RESULT(reading);
        QCOMPARE(indexOf(reading).rows[0].file, std::string("y"));
    }

    void realIndex()
    {
        REQUIRE_SHARED(shared);
        const auto source = openFile(shared + "/corpus/models/stories260K/hf/model.safetensors.index.json");
        QVERIFY_RESULT(source);
        const auto reading = readerById("weightindex").open(*source, Job());
        QVERIFY2(reading && reading->problems.empty(), describeProblems(reading).c_str());
        QCOMPARE(indexOf(reading).rows.size(), std::size_t(47));
        QCOMPARE(sniffed("model.safetensors.index.json", asText((*source)->read(0, (*source)->size()).value())),
                 std::string_view("weightindex"));
    }
};

PROSECTOR_TEST(TestWeightIndex, tst_weightindex)

#include "tst_weightindex.moc"
