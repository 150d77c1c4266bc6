// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/artifacts/tensordata.h"

#include "tests/support/bytewriter.h"
#include "tests/support/corpus.h"
#include "tests/support/reading.h"
#include "tests/support/strict.h"

using namespace prosector;

namespace {

const TensorContent &arrayOf(const Result<Reading> &reading)
{
    return dynamic_cast<const TensorContent &>(*reading->content);
}

/// An .npy file with this dictionary, padded as NumPy pads.
std::string npy(const std::string &dictionary, const std::string &data, int version = 1)
{
    ByteWriter file;
    const std::size_t lead = version == 1 ? 10 : 12;
    std::string header = dictionary;
    header.append((64 - (lead + header.size() + 1) % 64) % 64, ' ');
    header += '\n';
    file.text("\x93NUMPY").put(static_cast<char>(version)).put('\0');
    if (version == 1)
        file.put(static_cast<std::uint16_t>(header.size()));
    else
        file.put(static_cast<std::uint32_t>(header.size()));
    return file.text(header).text(data).bytes;
}

std::string dictionary(const std::string &descr, const std::string &shape, const char *order = "False")
{
    return "{'descr': '" + descr + "', 'fortran_order': " + order + ", 'shape': " + shape + ", }";
}

} // namespace

class TestNpy : public QObject {
    Q_OBJECT

private slots:
    void reads_data()
    {
        QTest::addColumn<QByteArray>("descr");
        QTest::addColumn<QByteArray>("data");
        QTest::addColumn<double>("value");
        const auto row = [](const char *descr, const ByteWriter &data, double value) {
            QTest::newRow(descr) << QByteArray(descr) << QByteArray::fromStdString(data.bytes) << value;
        };
        row("<f4", ByteWriter().put(1.5F), 1.5);
        row(">f4", ByteWriter(true).put(1.5F), 1.5);
        row("<f2", ByteWriter().put(std::uint16_t(0x3C01)), 1.0009765625);
        row("<f8", ByteWriter().put(0.1), 0.1);
        row("|b1", ByteWriter().put('\x01'), 1);
        row("|u1", ByteWriter().put('\xFF'), 255);
        row("|i1", ByteWriter().put('\xFF'), -1);
        row(">i8", ByteWriter(true).put(std::int64_t(-3)), -3);
        row("=i4", ByteWriter().put(std::int32_t(9)), 9);
    }
    void reads()
    {
        QFETCH(QByteArray, descr);
        QFETCH(QByteArray, data);
        QFETCH(double, value);
        for (int version = 1; version <= 3; ++version) {
            const std::string bytes = npy(dictionary(descr.toStdString(), "(1,)"), data.toStdString(), version);
            const auto reading = readWith("npy", bytes, "folder/some.npy");
            QVERIFY2(reading && reading->problems.empty(), describeProblems(reading).c_str());
            QCOMPARE(sniffed("x", bytes), std::string_view("npy"));
            const TensorInfo &tensor = arrayOf(reading).tensors.at(0);
            QCOMPARE(tensor.name, std::string("some"));
            QCOMPARE(tensor.dtypeName, descr.toStdString());
            const auto values = readTensor<double>(*memorySource("m", bytes), tensor, Job());
            QVERIFY_RESULT(values);
            QCOMPARE(values->at(0), value);
        }
    }

    void shapesAndOrder()
    {
        const auto scalar = readWith("npy", npy(dictionary("<f4", "()"), "1234"));
        QVERIFY2(scalar && scalar->problems.empty(), describeProblems(scalar).c_str());
        QCOMPARE(arrayOf(scalar).tensors[0].elements(), std::optional<std::uint64_t>(1));
        const auto old = readWith("npy", npy("{'descr': \"<f4\", 'fortran_order': True, 'shape': (1L, 2L)}", "12345678"));
        QVERIFY2(old && old->problems.empty(), describeProblems(old).c_str());
        QVERIFY(arrayOf(old).fortranOrder);
        QCOMPARE(arrayOf(old).tensors[0].shape, (std::vector<std::uint64_t>{1, 2}));
        const auto empty = readWith("npy", npy(dictionary("<f4", "(0, 7)"), ""));
        QVERIFY2(empty && empty->problems.empty(), describeProblems(empty).c_str());
        const auto text = readWith("npy", npy(dictionary("<U3", "(2,)"), std::string(24, '\0')));
        QVERIFY2(text && text->problems.empty(), describeProblems(text).c_str());
        QVERIFY(!arrayOf(text).tensors[0].dtype);
    }

    void kinds_data()
    {
        QTest::addColumn<QByteArray>("name");
        QTest::addColumn<Kind>("kind");
        QTest::newRow("mask") << QByteArray("run/attention_mask.npy") << Kind::AttentionMask;
        QTest::newRow("short mask") << QByteArray("mask.npy") << Kind::AttentionMask;
        QTest::newRow("positions") << QByteArray("position_ids.npy") << Kind::PositionIds;
        QTest::newRow("logits") << QByteArray("logits_restricted.npy") << Kind::Logits;
        QTest::newRow("loss mask") << QByteArray("loss_mask.npy") << Kind::Tensors;
        QTest::newRow("logit bias") << QByteArray("logit_bias.npy") << Kind::Tensors;
        QTest::newRow("folder says nothing") << QByteArray("logits/x.npy") << Kind::Tensors;
    }
    void kinds()
    {
        QFETCH(QByteArray, name);
        QFETCH(Kind, kind);
        const auto reading = readWith("npy", npy(dictionary("|u1", "(1,)"), "x"), name.toStdString());
        QVERIFY_RESULT(reading);
        QCOMPARE(reading->kind, kind);
    }

    void damage_data()
    {
        QTest::addColumn<QByteArray>("bytes");
        QTest::addColumn<Errc>("code");
        QTest::addColumn<QByteArray>("says");
        QTest::addColumn<bool>("listed");
        const auto row = [](const char *name, const std::string &bytes, Errc code, const char *says, bool listed) {
            QTest::newRow(name) << QByteArray::fromStdString(bytes) << code << QByteArray(says) << listed;
        };
        const auto good = npy(dictionary("<f4", "(2,)"), "12345678");
        row("empty", "", Errc::Truncated, "not an .npy array", false);
        row("another file", "not an array at all", Errc::Truncated, "not an .npy array", false);
        row("magic alone", "\x93NUMPY\x01", Errc::Truncated, "not an .npy array", false);
        row("version 4", std::string(good).replace(6, 1, "\x04"), Errc::Unsupported, "expected 1 to 3, found 4", false);
        row("header cut", good.substr(0, 40), Errc::Truncated, "header ends behind the end", false);
        row("header of 4 GB", ByteWriter().text("\x93NUMPY\x02").put('\0').put(UINT32_MAX).bytes, Errc::TooLarge, "too long", false);
        row("no dictionary", npy("[1]", ""), Errc::Malformed, "expected '{'", false);
        row("no shape", npy("{'descr': '<f4', 'fortran_order': False}", ""), Errc::Malformed, "the keys descr, fortran_order and shape", false);
        row("a call for a shape", npy(dictionary("<f4", "__import__('os')"), ""), Errc::Malformed, "a tuple of non-negative", false);
        row("negative shape", npy(dictionary("<f4", "(-1,)"), ""), Errc::Malformed, "a tuple of non-negative", false);
        row("unknown key", npy("{'more': 1}", ""), Errc::Malformed, "no key but", false);
        row("unclosed string", npy("{'descr", ""), Errc::Malformed, "a key and ':'", false);
        row("objects", npy(dictionary("|O", "(3,)"), "\x80\x04."), Errc::Unsupported, "pickled Python objects, which are not opened", true);
        row("records", npy("{'descr': [('a', '<f4'), ('b', '<i8')], 'fortran_order': False, 'shape': (1,)}", std::string(12, 'x')),
            Errc::Unsupported, "holds records", true);
        row("data cut", good.substr(0, good.size() - 1), Errc::Truncated, "expected 8 bytes of data, found 7 bytes", true);
        row("two arrays in one file", good + good, Errc::Malformed, "bytes behind array", true);
        row("shape overflows", npy(dictionary("<f8", "(4294967296, 4294967296)"), ""), Errc::OutOfRange, "any possible file", true);
        row("text of 2^60 characters", npy(dictionary("<U1152921504606846976", "(1,)"), ""), Errc::Truncated, "ends behind", true);
    }
    void damage()
    {
        QFETCH(QByteArray, bytes);
        QFETCH(Errc, code);
        QFETCH(QByteArray, says);
        QFETCH(bool, listed);
        const auto reading = readWith("npy", bytes.toStdString(), "a.npy");
        QCOMPARE(reading.ok(), listed);
        const Error problem = reading ? (reading->problems.empty() ? Error{} : reading->problems[0]) : reading.error();
        QCOMPARE(problem.code, code);
        QVERIFY2(describe(problem).find(says.toStdString()) != std::string::npos, describe(problem).c_str());
        if (listed)
            QCOMPARE(arrayOf(reading).tensors.size(), std::size_t(1));
    }

    void realArraysOpenWithoutProblems_data()
    {
        QTest::addColumn<QByteArray>("path");
        QTest::addColumn<Kind>("kind");
        QTest::newRow("mask") << QByteArray("reports/b36/sick/attention_mask.npy") << Kind::AttentionMask;
        QTest::newRow("logits") << QByteArray("reports/b67/sick/logits_restricted.npy") << Kind::Logits;
        QTest::newRow("values") << QByteArray("corpus/gguf/quant/BF16.expected_f32.npy") << Kind::Tensors;
    }
    void realArraysOpenWithoutProblems()
    {
        REQUIRE_SHARED(shared);
        QFETCH(QByteArray, path);
        QFETCH(Kind, kind);
        const auto source = openFile(shared + '/' + path.toStdString());
        QVERIFY_RESULT(source);
        const auto reading = readerById("npy").open(*source, Job());
        QVERIFY2(reading && reading->problems.empty(), describeProblems(reading).c_str());
        QCOMPARE(reading->kind, kind);
        QVERIFY(readTensor<double>(**source, arrayOf(reading).tensors[0], Job()).ok());
    }

    /// gguf-py's own float32 values of a BF16 and an F16 tensor.
    void equalsGgufPy_data()
    {
        QTest::addColumn<QByteArray>("type");
        QTest::newRow("BF16") << QByteArray("BF16");
        QTest::newRow("F16") << QByteArray("F16");
    }
    void equalsGgufPy()
    {
        REQUIRE_SHARED(shared);
        QFETCH(QByteArray, type);
        const std::string folder = shared + "/corpus/gguf/quant/";
        const auto stored = openFile(folder + type.toStdString() + ".gguf");
        QVERIFY_RESULT(stored);
        const auto expected = openFile(folder + type.toStdString() + ".expected_f32.npy");
        if (!expected)
            QSKIP("this half of the corpus holds no such array");
        const auto gguf = readerById("gguf").open(*stored, Job()), array = readerById("npy").open(*expected, Job());
        QVERIFY(gguf && array);
        const auto got = readTensor<float>(**stored, arrayOf(gguf).tensors[0], Job());
        const auto want = readTensor<float>(**expected, arrayOf(array).tensors[0], Job());
        QVERIFY_RESULT(got);
        QVERIFY_RESULT(want);
        QVERIFY(*got == *want);
    }
};

PROSECTOR_TEST(TestNpy, tst_npy)

#include "tst_npy.moc"
