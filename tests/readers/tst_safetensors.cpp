// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/artifacts/tensordata.h"
#include "models/core/digest.h"

#include "tests/support/corpus.h"
#include "tests/support/reading.h"
#include "tests/support/safetensorswriter.h"
#include "tests/support/strict.h"

#include <QFile>

using namespace prosector;

namespace {

const TensorContent &tensorsOf(const Result<Reading> &reading)
{
    return dynamic_cast<const TensorContent &>(*reading->content);
}

std::string withLength(std::uint64_t length, std::string_view rest)
{
    return ByteWriter().put(length).text(rest).bytes;
}

} // namespace

class TestSafetensors : public QObject {
    Q_OBJECT

private slots:
    void healthy()
    {
        const std::string bytes = SafetensorsWriter()
                                      .metadata("format", "pt")
                                      .tensor("b.weight", "F32", {2, 3}, std::vector<float>{1, 2, 3, 4, 5, 6})
                                      .tensor("a\"\xC3\xA9", "I64", {}, std::vector<std::int64_t>{7})
                                      .tensor("none", "BF16", {0, 4}, std::string_view())
                                      .tensor("packed", "F4", {3, 2}, std::string_view("abc"))
                                      .bytes();
        const auto reading = readWith("safetensors", bytes, "model.safetensors");
        QVERIFY2(reading && reading->problems.empty(), describeProblems(reading).c_str());
        QCOMPARE(reading->kind, Kind::Weights);
        QCOMPARE(sniffed("anything", bytes), std::string_view("safetensors"));
        const TensorContent &content = tensorsOf(reading);
        QCOMPARE(content.tensors.size(), std::size_t(4));
        QCOMPARE(content.metadata.size(), std::size_t(1));
        QCOMPARE(content.metadata[0].value, std::string("pt"));
        const TensorInfo &first = content.tensors[0];
        QCOMPARE(first.name, std::string("b.weight"));
        QCOMPARE(first.shape, (std::vector<std::uint64_t>{2, 3}));
        QCOMPARE(first.bytes.from, content.dataBegin);
        QCOMPARE(first.bytes.size(), std::uint64_t(24));
        QVERIFY(bytes.substr(first.entry.from, first.entry.size()).starts_with("\"b.weight\":{"));
        QVERIFY(bytes.substr(first.entry.from, first.entry.size()).ends_with("}"));
        QCOMPARE(content.tensors[1].name, std::string("a\"\xC3\xA9"));
        QCOMPARE(content.tensors[1].elements(), std::optional<std::uint64_t>(1));
        QCOMPARE(content.tensors[2].bytes.size(), std::uint64_t(0));
    }

    void kinds_data()
    {
        QTest::addColumn<QByteArray>("file");
        QTest::addColumn<QByteArray>("tensor");
        QTest::addColumn<Kind>("kind");
        QTest::newRow("model") << QByteArray("model-00001-of-00002.safetensors") << QByteArray("w") << Kind::Weights;
        QTest::newRow("layer") << QByteArray("x.safetensors") << QByteArray("layers.0.mlp.weight") << Kind::Weights;
        QTest::newRow("adapter by name") << QByteArray("adapter_model.safetensors") << QByteArray("w") << Kind::AdapterFiles;
        QTest::newRow("adapter by keys") << QByteArray("x.safetensors") << QByteArray("q.lora_A.weight") << Kind::AdapterFiles;
        QTest::newRow("capture") << QByteArray("x.safetensors") << QByteArray("hidden_states.3") << Kind::Tensors;
        QTest::newRow("capture in a folder") << QByteArray("model/x.safetensors") << QByteArray("input_ids") << Kind::Tensors;
        QTest::newRow("bert's position table") << QByteArray("x.safetensors") << QByteArray("embeddings.position_ids.weight")
                                               << Kind::Weights;
    }
    void kinds()
    {
        QFETCH(QByteArray, file);
        QFETCH(QByteArray, tensor);
        QFETCH(Kind, kind);
        const auto bytes = SafetensorsWriter().tensor(tensor.toStdString(), "U8", {1}, std::string_view("x")).bytes();
        const auto reading = readWith("safetensors", bytes, file.toStdString());
        QVERIFY_RESULT(reading);
        QCOMPARE(reading->kind, kind);
    }

    /// One row per corruption: what is said, where, and how many tensors are still listed.
    void damage_data()
    {
        QTest::addColumn<QByteArray>("bytes");
        QTest::addColumn<Errc>("code");
        QTest::addColumn<quint64>("offset");
        QTest::addColumn<QByteArray>("says");
        QTest::addColumn<int>("kept"); // -1: nothing can be read
        const auto row = [](const char *name, const std::string &bytes, Errc code, std::uint64_t offset, const char *says, int kept) {
            QTest::newRow(name) << QByteArray::fromStdString(bytes) << code << quint64(offset) << QByteArray(says) << kept;
        };
        using W = SafetensorsWriter;
        const auto one = W().tensor("a", "U8", {4}, std::string_view("data"));
        const std::uint64_t begin = one.header().size() + 8;

        row("empty", "", Errc::Truncated, 0, "header's length", -1);
        row("seven bytes", "1234567", Errc::Truncated, 0, "header's length", -1);
        row("no header", withLength(0, ""), Errc::Truncated, 8, "not valid JSON", 0);
        row("header longer than file", withLength(5000, "{\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]},\"b"),
            Errc::Truncated, 0, "header ends behind the end", 1);
        row("header of 2^63 bytes", withLength(1ULL << 63, "{}"), Errc::Truncated, 0, "header ends behind", 0);
        row("a page of HTML", "<!DOCTYPE html><html>Entry not found</html>", Errc::Truncated, 0, "header ends behind", -1);
        row("not JSON", withLength(8, "rubbish!"), Errc::Malformed, 8, "not valid JSON", 0);
        row("an array", withLength(8, "[1,2,3] "), Errc::Malformed, 8, "not valid JSON", 0);
        row("cut inside the header's JSON", withLength(24, "{\"a\":{\"dtype\":\"U8\",\"shap"), Errc::Truncated, 32, "not valid JSON", 0);
        row("something behind the object", withLength(8, "{} null "), Errc::Malformed, 11, "not valid JSON", 0);
        row("header that is not UTF-8", W().rawText("\"a\xFF\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[0,0]}").bytes(), Errc::Malformed, 11,
            "not UTF-8; safetensors refuses", 1);
        row("offsets reversed", W().rawEntry("a", "U8", {4}, 4, 0).rawData("data").bytes(), Errc::Malformed, 9,
            "ends before it begins", 1);
        row("offset beyond 2^64", W().rawText("\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,18446744073709551616]}").bytes(),
            Errc::Malformed, 8 + 1 + 48, "not valid JSON", 0);
        row("offset near 2^64", W().rawEntry("a", "U8", {4}, 0, UINT64_MAX).bytes(), Errc::OutOfRange, 9, "behind any possible file", 1);
        row("negative shape", W().rawText("\"a\":{\"dtype\":\"U8\",\"shape\":[-1],\"data_offsets\":[0,1]}").bytes(), Errc::Malformed,
            8 + 1 + 27, "not valid JSON", 0);
        row("fractional shape", W().rawText("\"a\":{\"dtype\":\"U8\",\"shape\":[1.5],\"data_offsets\":[0,1]}").bytes(),
            Errc::Malformed, 8 + 1 + 27, "not valid JSON", 0);
        row("shape overflows", W().rawEntry("a", "F64", {1ULL << 40, 1ULL << 40}, 0, 4).rawData("data").bytes(), Errc::Malformed, 9,
            "not the bytes its type and shape need", 1);
        row("too few bytes for the shape", W().rawEntry("a", "F32", {2}, 0, 4).rawData("data").bytes(), Errc::Malformed, 9,
            "expected 8 bytes for 2 F32, found 4 bytes", 1);
        row("half a byte", W().rawEntry("a", "F4", {3}, 0, 1).rawData("d").bytes(), Errc::Malformed, 9, "impossible number", 1);
        row("unknown type", W().rawEntry("a", "F3_E1M1", {4}, 0, 4).rawData("data").bytes(), Errc::Unsupported, 9, "F3_E1M1", 1);
        row("no type", W().rawText("\"a\":{\"shape\":[4],\"data_offsets\":[0,4]}").rawData("data").bytes(), Errc::Malformed, 9,
            "no dtype", 1);
        row("no offsets", W().rawText("\"a\":{\"dtype\":\"U8\",\"shape\":[0]}").bytes(), Errc::Malformed, 9, "no data_offsets", 1);
        row("three offsets", W().rawText("\"a\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[0,0,0]}").bytes(), Errc::Malformed,
            8 + 1 + 49, "expected ']'", 0);
        row("tensor is a number", W().rawText("\"a\":3").bytes(), Errc::Malformed, 13, "expected '{'", 0);
        row("leaves the file", W().rawEntry("a", "U8", {9}, 0, 9).rawData("data").bytes(), Errc::Truncated,
            8 + W().rawEntry("a", "U8", {9}, 0, 9).header().size(), "ends behind the end of the file", 1);
        row("overlap", W().rawEntry("a", "U8", {4}, 0, 4).rawEntry("b", "U8", {4}, 2, 6).rawData("abcdef").bytes(), Errc::Malformed,
            8 + W().rawEntry("a", "U8", {4}, 0, 4).rawEntry("b", "U8", {4}, 2, 6).header().size() + 2, "overlaps \"a\"", 2);
        row("one inside the other", W().rawEntry("a", "U8", {6}, 0, 6).rawEntry("b", "U8", {2}, 1, 3).rawData("abcdef").bytes(),
            Errc::Malformed, 8 + W().rawEntry("a", "U8", {6}, 0, 6).rawEntry("b", "U8", {2}, 1, 3).header().size() + 1,
            "overlaps \"a\"", 2);
        row("gap", W().rawEntry("a", "U8", {2}, 0, 2).rawEntry("b", "U8", {2}, 4, 6).rawData("abcdef").bytes(), Errc::Malformed,
            8 + W().rawEntry("a", "U8", {2}, 0, 2).rawEntry("b", "U8", {2}, 4, 6).header().size() + 2, "belong to no tensor", 2);
        row("bytes left over", one.bytes() + "xyz", Errc::Malformed, begin + 4, "behind the last tensor", 1);
        row("name twice", W().rawEntry("a", "U8", {2}, 0, 2).rawEntry("a", "U8", {2}, 2, 4).rawData("abcd").bytes(), Errc::Malformed,
            9 + std::string("\"a\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[0,2]},").size(), "stands twice", 2);
        row("metadata is no object", W().rawText("\"__metadata__\":[1]").bytes(), Errc::Malformed, 24, "__metadata__ is no object", 0);
        row("metadata holds a number", W().rawText("\"__metadata__\":{\"step\":5}").bytes(), Errc::Malformed, 32,
            "\"step\" is no string", 0);
        row("nested 100,000 deep", withLength(100'010, "{\"a\":{\"x\":" + std::string(100'000, '[')), Errc::Malformed, 8 + 10 + 1001,
            "at most 1000 levels", 0);
        row("control bytes for a name", withLength(8, "{\"\x01\x02\x03\":1"), Errc::Malformed, 10, "no control character", 0);
    }
    void damage()
    {
        QFETCH(QByteArray, bytes);
        QFETCH(Errc, code);
        QFETCH(quint64, offset);
        QFETCH(QByteArray, says);
        QFETCH(int, kept);
        const auto reading = readWith("safetensors", bytes.toStdString(), "model.safetensors");
        QCOMPARE(reading.ok(), kept >= 0);
        if (kept >= 0)
            QCOMPARE(tensorsOf(reading).tensors.size(), static_cast<std::size_t>(kept));
        const std::vector<Error> problems = reading ? reading->problems : std::vector<Error>{reading.error()};
        const bool said = std::any_of(problems.begin(), problems.end(), [&](const Error &problem) {
            const auto *const range = std::get_if<ByteRange>(&problem.where);
            return problem.code == code && range && range->from == offset && describe(problem).find(says.toStdString()) != std::string::npos;
        });
        QVERIFY2(said, (describeProblems(reading) + " at "
                        + (problems.empty() ? "" : describe(problems.back().where))).c_str());
    }

    void headerOverTheLimit()
    {
        // Sparse: the length says 100,000,001 bytes and the file has them.
        const QString path = QStringLiteral("big.safetensors");
        QFile file(path);
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write(withLength(100'000'001, "{").c_str(), 9);
        QVERIFY(file.resize(100'000'100));
        file.close();
        const auto source = openFile(path.toStdString());
        QVERIFY_RESULT(source);
        const auto reading = readerById("safetensors").open(*source, Job());
        file.remove();
        QVERIFY(!reading);
        QCOMPARE(reading.error().code, Errc::TooLarge);
    }

    void manyProblemsStayFew()
    {
        SafetensorsWriter writer;
        for (int i = 0; i < 5000; ++i)
            writer.rawEntry("t" + std::to_string(i), "NO", {1}, 0, 0);
        const auto reading = readWith("safetensors", writer.bytes());
        QVERIFY_RESULT(reading);
        QCOMPARE(tensorsOf(reading).tensors.size(), std::size_t(5000));
        QVERIFY(reading->problems.size() <= 101);
        QVERIFY(reading->problems.back().message.find("4900 more") != std::string::npos);
    }

    void cancels()
    {
        std::stop_source stop;
        stop.request_stop();
        const auto bytes = SafetensorsWriter().tensor("a", "U8", {4}, std::string_view("data")).bytes();
        QCOMPARE(readWith("safetensors", bytes, "f", Job(stop.get_token())).error().code, Errc::Cancelled);
    }

    void damagedFileIsStillSniffedByName()
    {
        QCOMPARE(sniffed("model.safetensors", "<html>"), std::string_view("safetensors"));
        QCOMPARE(sniffed("model.safetensors", withLength(1ULL << 62, "{")), std::string_view("safetensors"));
        QVERIFY(sniffed("model.bin", withLength(1ULL << 62, "{")) != std::string_view("safetensors"));
    }

    void equalsTheReferenceOnRealAdapters()
    {
        REQUIRE_SHARED(shared);
        QFile oracle(QString::fromStdString(shared + "/corpus/oracles/safetensors_headers.jsonl"));
        QVERIFY(oracle.open(QIODevice::ReadOnly));
        int files = 0, tensors = 0;
        while (!oracle.atEnd()) {
            const auto row = Document::parseJson(oracle.readLine().toStdString());
            const Value want = row->root();
            const auto source = openFile(shared + "/corpus/" + want["file"].string(""));
            if (!source || !want["tensors"].isObject())
                continue;
            ++files;
            const auto reading = readerById("safetensors").open(*source, Job());
            QVERIFY2(reading && reading->problems.empty(), describeProblems(reading).c_str());
            QCOMPARE(reading->kind, Kind::AdapterFiles);
            const TensorContent &content = tensorsOf(reading);
            QCOMPARE(content.dataBegin, static_cast<std::uint64_t>(*want["header_len"].integer()) + 8);
            QCOMPARE(content.tensors.size(), want["tensors"].size());
            for (const Value entry : want["tensors"]) {
                const TensorInfo *const tensor = content.find(entry.key());
                QVERIFY2(tensor, entry.key().c_str());
                ++tensors;
                QCOMPARE(tensor->dtypeName, entry["dtype"].string(""));
                QCOMPARE(tensor->shape.size(), entry["shape"].size());
                for (std::size_t i = 0; i < tensor->shape.size(); ++i)
                    QCOMPARE(std::int64_t(tensor->shape[i]), *entry["shape"][i].integer());
                QCOMPARE(std::int64_t(tensor->bytes.from - content.dataBegin), *entry["data_offsets"][0].integer());
                QCOMPARE(std::int64_t(tensor->bytes.to - content.dataBegin), *entry["data_offsets"][1].integer());
                const auto raw = (*source)->read(tensor->bytes.from, tensor->bytes.size());
                QVERIFY_RESULT(raw);
                QCOMPARE(sha256Hex(asText(*raw)), entry["sha256"].string(""));
                double least = 0, most = 0;
                const auto scanned = scanTensor(**source, *tensor, Job(), [&](std::uint64_t first, std::span<const double> values) {
                    least = std::min(first ? least : values[0], *std::min_element(values.begin(), values.end()));
                    most = std::max(first ? most : values[0], *std::max_element(values.begin(), values.end()));
                });
                QVERIFY_RESULT(scanned);
                QCOMPARE(least, *entry["min"].number());
                QCOMPARE(most, *entry["max"].number());
            }
        }
        QVERIFY(files > 0 && tensors > 0);
    }

    void realFoldersOpenWithoutProblems_data()
    {
        QTest::addColumn<QByteArray>("path");
        QTest::addColumn<Kind>("kind");
        QTest::newRow("shard 1") << QByteArray("models/stories260K/hf/model-00001-of-00002.safetensors") << Kind::Weights;
        QTest::newRow("shard 2") << QByteArray("models/stories260K/hf/model-00002-of-00002.safetensors") << Kind::Weights;
        for (const char *name : {"clean_single", "decode_step_correct", "leftpad_correct"})
            QTest::newRow(name) << QByteArray("traces/stories260K/") + name + ".safetensors" << Kind::Tensors;
    }
    void realFoldersOpenWithoutProblems()
    {
        REQUIRE_SHARED(shared);
        QFETCH(QByteArray, path);
        QFETCH(Kind, kind);
        const auto source = openFile(shared + "/corpus/" + path.toStdString());
        QVERIFY_RESULT(source);
        const auto reading = readerById("safetensors").open(*source, Job());
        QVERIFY2(reading && reading->problems.empty(), describeProblems(reading).c_str());
        QCOMPARE(reading->kind, kind);
        QCOMPARE(tensorsOf(reading).dataBytes() + tensorsOf(reading).dataBegin, (*source)->size());
    }
};

PROSECTOR_TEST(TestSafetensors, tst_safetensors)

#include "tst_safetensors.moc"
