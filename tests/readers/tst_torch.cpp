// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/artifacts/pickle.h"
#include "models/artifacts/tensordata.h"

#include "tests/support/corpus.h"
#include "tests/support/reading.h"
#include "tests/support/strict.h"
#include "tests/support/zipwriter.h"

using namespace prosector;

namespace {

const TensorContent &tensorsOf(const Result<Reading> &reading)
{
    return dynamic_cast<const TensorContent &>(*reading->content);
}

std::string note(const TensorContent &content, std::string_view key)
{
    for (const MetadataEntry &entry : content.metadata) {
        if (entry.key == key)
            return entry.value;
    }
    return {};
}

/// A checkpoint around a pickle, with one storage of eight bytes.
std::string checkpoint(const std::string &pickle)
{
    ZipWriter writer;
    writer.stored("m/data.pkl", pickle);
    writer.stored("m/data/0", "12345678");
    writer.stored("m/version", "3\n");
    return writer.bytes();
}

std::string global(const char *module, const char *name)
{
    return std::string("c") + module + '\n' + name + '\n';
}

/// A dictionary {"w": _rebuild_tensor_v2(storage '0' of `type`, offset, (extent,), (1,))} in opcodes.
std::string tensorPickle(const char *type, int offset, int extent, const char *key = "0")
{
    const auto small = [](int n) { return std::string("K") + static_cast<char>(n); };
    const auto word = [](const std::string &text) { return std::string("X") + ByteWriter().put(static_cast<std::uint32_t>(text.size())).text(text).bytes; };
    return "\x80\x02}" + word("w") + global("torch._utils", "_rebuild_tensor_v2") + "((" + word("storage") + global("torch", type) + word(key)
        + word("cpu") + small(2) + "tQ" + small(offset) + small(extent) + "\x85" + small(1) + "\x85\x89)tRs.";
}

} // namespace

class TestTorch : public QObject {
    Q_OBJECT

private slots:
    void healthy()
    {
        const auto source = openFile(PROSECTOR_TEST_SOURCE_DIR "/fixtures/torch/model.pt");
        QVERIFY_RESULT(source);
        const auto bytes = (*source)->read(0, (*source)->size());
        QCOMPARE(sniffed("model.pt", asText(*bytes)), std::string_view("torch"));
        const auto reading = readerById("torch").open(*source, Job());
        QVERIFY2(reading && reading->problems.empty(), describeProblems(reading).c_str());
        QCOMPARE(reading->kind, Kind::Weights);
        const TensorContent &content = tensorsOf(reading);
        std::string names;
        for (const TensorInfo &tensor : content.tensors)
            names += tensor.name + ' ' + tensor.dtypeName + ' ' + tensor.shapeText() + "; ";
        QCOMPARE(names, std::string("model.embed.weight F32 3 × 2; model.head.weight F32 3 × 2; model.tail.weight F32 2 × 3; "
                                    "model.turned.weight F32 2 × 3; model.norm.bias BF16 4; step I64 scalar; "));
        const auto values = [&](std::string_view name) {
            return readTensor<double>(**source, *content.find(name), Job()).valueOr({});
        };
        QCOMPARE(values("model.embed.weight"), (std::vector<double>{0, 1, 2, 3, 4, 5}));
        QCOMPARE(values("model.tail.weight"), (std::vector<double>{6, 7, 8, 9, 10, 11}));
        QCOMPARE(values("step"), (std::vector<double>{42}));
        QCOMPARE(values("model.norm.bias")[2], -3.0);
        QCOMPARE(content.find("model.head.weight")->bytes, content.find("model.embed.weight")->bytes);
        QCOMPARE(content.find("model.turned.weight")->bytes.size(), std::uint64_t(0));
        QVERIFY(note(content, "model.turned.weight").find("not contiguous") != std::string::npos);
        QCOMPARE(note(content, "epoch"), std::string("3"));
        QVERIFY(note(content, "args").find("trainer Arguments, not built") != std::string::npos);
    }

    void nothingIsExecuted()
    {
        // What a hostile checkpoint holds: os.system("…") as a call.
        const std::string pickle = "\x80\x02" + global("os", "system") + "X" + ByteWriter().put(std::uint32_t(9)).text("touch bad").bytes + "\x85R.";
        const auto reading = readWith("torch", checkpoint(pickle));
        QVERIFY2(reading && reading->problems.empty(), describeProblems(reading).c_str());
        QCOMPARE(note(tensorsOf(reading), ""), std::string("object of os system, not built"));
        QVERIFY(reading->summary.find("os system") != std::string::npos);
        QCOMPARE(reading->kind, Kind::Data);
    }

    void damage_data()
    {
        QTest::addColumn<QByteArray>("bytes");
        QTest::addColumn<Errc>("code");
        QTest::addColumn<QByteArray>("says");
        QTest::addColumn<int>("tensors"); // -1: nothing can be read
        const auto row = [](const char *name, const std::string &bytes, Errc code, const char *says, int tensors) {
            QTest::newRow(name) << QByteArray::fromStdString(bytes) << code << QByteArray(says) << tensors;
        };
        const auto pickled = [&](const char *name, const std::string &pickle, Errc code, const char *says) {
            row(name, checkpoint(pickle), code, says, -1);
        };
        using namespace std::string_literals;
        pickled("empty pickle", "", Errc::Truncated, "ends without STOP");
        pickled("no STOP", "\x80\x02}"s, Errc::Truncated, "ends without STOP");
        pickled("cut inside an opcode", "\x80\x02X\xFF"s, Errc::Truncated, "ends inside an opcode");
        pickled("string of 4 GB", "\x80\x02X\xFF\xFF\xFF\xFFxyz."s, Errc::Truncated, "ends inside an opcode");
        pickled("string of 2^63 bytes", "\x80\x04\x8D\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x7Fxyz."s, Errc::Truncated, "ends inside an opcode");
        pickled("empty stack", "\x80\x02."s, Errc::Malformed, "empty stack");
        pickled("no mark", "\x80\x02Nt."s, Errc::Malformed, "a mark that is not there");
        pickled("unknown memo", "\x80\x02h\x07."s, Errc::Malformed, "recalls value 7");
        pickled("unknown opcode", "\x80\x02\xFE."s, Errc::Unsupported, "opcode 0xFE");
        pickled("extension registry", "\x80\x02\x82\x01."s, Errc::Unsupported, "opcode 0x82");
        pickled("values over the limit", "\x80\x02" + std::string(4'000'100, 'N') + ".", Errc::TooLarge, "more than 4000000 values");
        row("no data.pkl", ZipWriter().bytes(), Errc::NotFound, "no data.pkl", -1);
        row("cut archive", checkpoint("\x80\x02}."s).substr(0, 60), Errc::Truncated, "end of the zip archive is missing", -1);
        row("leaves its storage", checkpoint(tensorPickle("FloatStorage", 0, 3)), Errc::Truncated, "\"w\" leaves its storage", 1);
        row("offset leaves its storage", checkpoint(tensorPickle("FloatStorage", 100, 1)), Errc::Truncated, "\"w\" leaves its storage", 1);
        row("storage missing", checkpoint(tensorPickle("FloatStorage", 0, 2, "7")), Errc::NotFound, "no storage in the archive", 1);
        row("storage outside the folder", checkpoint(tensorPickle("FloatStorage", 0, 2, "../data.pkl")), Errc::NotFound, "no storage in the archive", 1);
        row("unknown type", checkpoint(tensorPickle("QInt8Storage", 0, 2)), Errc::Unsupported, "torch QInt8Storage", 1);
        std::string nested;
        for (int i = 0; i < 500; ++i)
            nested += "]";
        nested += std::string(499, 'a');
        row("nested 500 deep", checkpoint("\x80\x02" + nested + "."), Errc::TooLarge, "nested too deeply", 0);
        // Lists that double at each level: 2^40 values for anyone who walks them all.
        std::string laughs = "\x80\x02]q"s + '\0';
        for (int i = 0; i < 40; ++i)
            laughs += "](h"s + static_cast<char>(i) + "h" + static_cast<char>(i) + "eq" + static_cast<char>(i + 1);
        row("doubling lists", checkpoint(laughs + "."), Errc::TooLarge, "too many values", 0);
        row("a list inside itself", checkpoint("\x80\x02]q"s + '\0' + "h" + '\0' + "a."), Errc::TooLarge, "nested too deeply", 0);
        row("before 1.6", std::string("\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19.\x80\x02M\xe9\x03.", 20), Errc::Unsupported,
            "before version 1.6", -2);
        row("bare pickle", "\x80\x04N.", Errc::Unsupported, "unpickling executes what it names", -2);
    }
    void damage()
    {
        QFETCH(QByteArray, bytes);
        QFETCH(Errc, code);
        QFETCH(QByteArray, says);
        QFETCH(int, tensors);
        const auto reading = readWith("torch", bytes.toStdString(), "pytorch_model.bin");
        QCOMPARE(reading.ok(), tensors != -1);
        if (tensors >= 0)
            QCOMPARE(tensorsOf(reading).tensors.size(), static_cast<std::size_t>(tensors));
        const Error problem = reading ? (reading->problems.empty() ? Error{} : reading->problems[0]) : reading.error();
        QCOMPARE(problem.code, code);
        QVERIFY2(describe(problem).find(says.toStdString()) != std::string::npos, describe(problem).c_str());
    }

    void everyPrefixIsSurvived()
    {
        const std::string pickle = tensorPickle("FloatStorage", 0, 2);
        QVERIFY(readWith("torch", checkpoint(pickle))->problems.empty());
        for (std::size_t length = 0; length < pickle.size(); ++length)
            QVERIFY(!readPickle(pickle.substr(0, length), Job()));
    }

    void cancels()
    {
        std::stop_source stop;
        stop.request_stop();
        QCOMPARE(readWith("torch", checkpoint("\x80\x02}."), "f", Job(stop.get_token())).error().code, Errc::Cancelled);
    }

    void realCheckpointsOpenWithoutProblems_data()
    {
        QTest::addColumn<QByteArray>("name");
        QTest::addColumn<int>("tensors");
        QTest::newRow("random states") << QByteArray("rng_state.pth") << 1;
        QTest::newRow("scheduler") << QByteArray("scheduler.pt") << 0;
        QTest::newRow("arguments") << QByteArray("training_args.bin") << 0;
    }
    void realCheckpointsOpenWithoutProblems()
    {
        REQUIRE_SHARED(shared);
        QFETCH(QByteArray, name);
        QFETCH(int, tensors);
        const auto source = openFile(shared + "/corpus/folders/lora-distilbert-imdb/" + name.toStdString());
        QVERIFY_RESULT(source);
        const auto bytes = (*source)->read(0, (*source)->size());
        QCOMPARE(sniffed(name.toStdString(), asText(*bytes)), std::string_view("torch"));
        const auto reading = readerById("torch").open(*source, Job());
        QVERIFY2(reading && reading->problems.empty(), describeProblems(reading).c_str());
        QCOMPARE(reading->kind, Kind::Data);
        QVERIFY(tensorsOf(reading).tensors.size() >= static_cast<std::size_t>(tensors));
        QVERIFY(!tensorsOf(reading).metadata.empty());
    }
};

PROSECTOR_TEST(TestTorch, tst_torch)

#include "tst_torch.moc"
