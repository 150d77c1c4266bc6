// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/artifacts/tensordata.h"

#include "tests/support/corpus.h"
#include "tests/support/reading.h"
#include "tests/support/strict.h"
#include "tests/support/zipwriter.h"

using namespace prosector;

namespace {

const TensorContent &arraysOf(const Result<Reading> &reading)
{
    return dynamic_cast<const TensorContent &>(*reading->content);
}

std::string npy(const std::string &descr, const std::string &shape, const std::string &data)
{
    std::string header = "{'descr': '" + descr + "', 'fortran_order': False, 'shape': " + shape + ", }";
    header.append((64 - (10 + header.size() + 1) % 64) % 64, ' ');
    header += '\n';
    return ByteWriter().text("\x93NUMPY").put('\x01').put('\0').put(static_cast<std::uint16_t>(header.size())).text(header).text(data).bytes;
}

} // namespace

class TestNpz : public QObject {
    Q_OBJECT

private slots:
    void storedAndDeflated()
    {
        ZipWriter writer;
        writer.stored("input_ids.npy", npy("<i4", "(2,)", ByteWriter().put(7).put(-7).bytes));
        writer.deflated("attention_mask.npy", npy("|b1", "(3,)", std::string("\x01\x00\x01", 3)));
        writer.deflated("logits.npy", npy(">f4", "(1, 2)", ByteWriter(true).put(0.5F).put(-2.0F).bytes));
        writer.stored("notes.txt", "made by hand");
        const std::string bytes = writer.bytes();
        const auto source = memorySource("capture.npz", bytes);
        QCOMPARE(sniffed("capture.npz", bytes), std::string_view("npz"));
        QCOMPARE(sniffed("capture", bytes), std::string_view("npz"));
        const auto reading = readerById("npz").open(source, Job());
        QVERIFY2(reading && reading->problems.empty(), describeProblems(reading).c_str());
        QCOMPARE(reading->kind, Kind::Tensors);
        const TensorContent &content = arraysOf(reading);
        QCOMPARE(content.tensors.size(), std::size_t(3));
        const auto values = [&](std::string_view name) {
            const TensorInfo &tensor = *content.find(name);
            return readTensor<double>(sourceOf(content, tensor, *source), tensor, Job()).valueOr({});
        };
        QCOMPARE(values("input_ids"), (std::vector<double>{7, -7}));
        QCOMPARE(values("attention_mask"), (std::vector<double>{1, 0, 1}));
        QCOMPARE(values("logits"), (std::vector<double>{0.5, -2}));
        QCOMPARE(&sourceOf(content, *content.find("input_ids"), *source), source.get());
        QVERIFY(&sourceOf(content, *content.find("logits"), *source) != source.get());
        QCOMPARE(content.metadata.size(), std::size_t(1));
    }

    void damage_data()
    {
        QTest::addColumn<QByteArray>("bytes");
        QTest::addColumn<QByteArray>("says");
        QTest::addColumn<int>("tensors"); // -1: nothing can be read
        const auto row = [](const char *name, const std::string &bytes, const char *says, int tensors) {
            QTest::newRow(name) << QByteArray::fromStdString(bytes) << QByteArray(says) << tensors;
        };
        const auto with = [](auto change) {
            ZipWriter writer;
            writer.stored("good.npy", npy("|u1", "(1,)", "x"));
            change(writer);
            return writer.bytes();
        };
        row("cut", with([](ZipWriter &) {}).substr(0, 100), "the end of the zip archive is missing", -1);
        row("empty", "", "missing", -1);
        row("member is no array", with([](ZipWriter &w) { w.stored("b.npy", "text"); }), "\"b.npy\": not an .npy array", 1);
        row("objects", with([](ZipWriter &w) { w.stored("b.npy", npy("|O", "(1,)", "\x80\x04.")); }), "\"b\" holds pickled Python objects", 2);
        row("packed objects", with([](ZipWriter &w) { w.deflated("b.npy", npy("|O", "(1,)", "\x80\x04.")); }), "\"b\" holds pickled Python objects", 2);
        row("data missing", with([](ZipWriter &w) { w.stored("b.npy", npy("<f4", "(9,)", "1234")); }), "\"b\" ends behind", 2);
        row("packed data missing", with([](ZipWriter &w) { w.deflated("b.npy", npy("<f4", "(9,)", "1234")); }), "\"b\" ends behind", 2);
        row("packed bytes damaged", with([](ZipWriter &w) { w.deflated("b.npy", npy("<f4", "(1,)", "1234")).packed[0] = '\xFF'; }),
            "packed bytes are damaged", 1);
        row("declared larger than it is", with([](ZipWriter &w) { w.deflated("b.npy", npy("<f4", "(1000000,)", "1234")).size = 4'000'128; }),
            "\"b.npy\"", 1);
        row("encrypted", with([](ZipWriter &w) { w.stored("b.npy", npy("<f4", "(1,)", "1234")).flags = 1; }), "encrypted", 1);
    }
    void damage()
    {
        QFETCH(QByteArray, bytes);
        QFETCH(QByteArray, says);
        QFETCH(int, tensors);
        const auto reading = readWith("npz", bytes.toStdString(), "a.npz");
        QCOMPARE(reading.ok(), tensors >= 0);
        if (tensors >= 0)
            QCOMPARE(arraysOf(reading).tensors.size(), static_cast<std::size_t>(tensors));
        QVERIFY2(describeProblems(reading).find(says.toStdString()) != std::string::npos, describeProblems(reading).c_str());
    }

    /// The same capture was saved both ways.
    void equalsSafetensorsOfTheSameCapture_data()
    {
        QTest::addColumn<QByteArray>("name");
        for (const char *name : {"clean_single", "decode_step_correct", "leftpad_correct"})
            QTest::newRow(name) << QByteArray(name);
    }
    void equalsSafetensorsOfTheSameCapture()
    {
        REQUIRE_SHARED(shared);
        QFETCH(QByteArray, name);
        const std::string path = shared + "/corpus/traces/stories260K/" + name.toStdString();
        const auto zip = openFile(path + ".npz"), other = openFile(path + ".safetensors");
        QVERIFY_RESULT(zip);
        QVERIFY_RESULT(other);
        const auto arrays = readerById("npz").open(*zip, Job()), tensors = readerById("safetensors").open(*other, Job());
        QVERIFY2(arrays && arrays->problems.empty(), describeProblems(arrays).c_str());
        QCOMPARE(arrays->kind, Kind::Tensors);
        int compared = 0;
        for (const TensorInfo &tensor : arraysOf(arrays).tensors) {
            const TensorInfo *const twin = arraysOf(tensors).find(tensor.name);
            if (!twin)
                continue;
            ++compared;
            QVERIFY(twin->shape == tensor.shape);
            const auto got = readTensor<double>(sourceOf(arraysOf(arrays), tensor, **zip), tensor, Job());
            const auto want = readTensor<double>(**other, *twin, Job());
            QVERIFY_RESULT(got);
            QVERIFY_RESULT(want);
            QVERIFY(*got == *want);
        }
        QVERIFY(compared >= 3);
    }
};

PROSECTOR_TEST(TestNpz, tst_npz)

#include "tst_npz.moc"
