// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/artifacts/tensordata.h"

#include "models/artifacts/ggufvalue.h"
#include "tests/support/bytewriter.h"
#include "tests/support/reading.h"
#include "tests/support/strict.h"

#include <cmath>
#include <limits>

using namespace prosector;

class TestTensorData : public QObject {
    Q_OBJECT

    SourcePtr m_source;
    std::shared_ptr<const Content> m_content;
    const TensorContent &content() const { return *static_cast<const TensorContent *>(m_content.get()); }

private slots:
    void sizesAreRounded()
    {
        QCOMPARE(sizeText(999), std::string("999 B"));
        QCOMPARE(sizeText(1949), std::string("1.9 kB"));
        QCOMPARE(sizeText(1950), std::string("2.0 kB"));
        QCOMPARE(sizeText(99'960), std::string("100 kB"));
        QCOMPARE(sizeText(999'949), std::string("1.0 MB"));
        QCOMPARE(sizeText(14'960'000'000), std::string("15.0 GB"));
        QCOMPARE(sizeText(UINT64_MAX), std::string("18.4 EB"));
    }

    void wholeNumbersHaveNoExponent()
    {
        const auto shown = [](double real) {
            GgufValue value;
            value.type = GgufValue::Type::Float32;
            value.real = real;
            return value.display();
        };
        QCOMPARE(shown(1e6), std::string("1000000"));
        QCOMPARE(shown(0.5), std::string("0.5"));
        QCOMPARE(shown(1e30), std::string("1e+30"));
        QCOMPARE(shown(1e-05), std::string("1e-05"));
    }

    void initTestCase()
    {
        auto source = openFile(PROSECTOR_TEST_SOURCE_DIR "/fixtures/tensordata/values.safetensors");
        QVERIFY_RESULT(source);
        m_source = *source;
        const auto reading = readerById("safetensors").open(m_source, Job());
        QVERIFY_RESULT(reading);
        QVERIFY2(reading->problems.empty(), describeProblems(reading).c_str());
        m_content = reading->content;
    }

    void equalsNumpy_data()
    {
        QTest::addColumn<QByteArray>("type");
        for (const TensorInfo &tensor : content().tensors) {
            if (!tensor.name.ends_with(".expected"))
                QTest::newRow(tensor.name.c_str()) << QByteArray::fromStdString(tensor.name);
        }
    }
    void equalsNumpy()
    {
        QFETCH(QByteArray, type);
        const TensorInfo &tensor = *content().find(type.toStdString());
        const TensorInfo &expected = *content().find(type.toStdString() + ".expected");
        QVERIFY(hasPlainValues(tensor.dtype));
        const auto got = readTensor<double>(*m_source, tensor, Job());
        const auto want = readTensor<double>(*m_source, expected, Job());
        QVERIFY_RESULT(got);
        QVERIFY_RESULT(want);
        QCOMPARE(got->size(), want->size());
        for (std::size_t i = 0; i < got->size(); ++i) {
            const double a = (*got)[i], b = (*want)[i];
            QVERIFY2(std::isnan(a) ? std::isnan(b) : a == b && std::signbit(a) == std::signbit(b),
                     qPrintable(QStringLiteral("element %1: %2, not %3").arg(i).arg(a, 0, 'g', 17).arg(b, 0, 'g', 17)));
        }
        const auto floats = readTensor<float>(*m_source, tensor, Job());
        QVERIFY_RESULT(floats);
        for (std::size_t i = 0; i < got->size(); ++i)
            QVERIFY(std::isnan((*got)[i]) ? std::isnan((*floats)[i]) : (*floats)[i] == static_cast<float>((*got)[i]));
        const auto integers = readTensor<std::int64_t>(*m_source, tensor, Job());
        if (expected.dtypeName == "I64") {
            QVERIFY_RESULT(integers);
            const auto exact = readTensor<std::int64_t>(*m_source, expected, Job());
            QVERIFY_RESULT(exact);
            QVERIFY(*integers == *exact);
        } else {
            QVERIFY(!integers && integers.error().code == Errc::Unsupported);
        }
    }

    void bigEndian()
    {
        const auto source = memorySource("b", ByteWriter(true).put(1.5F).put(std::int32_t(-2)).put(std::uint16_t(0x3C00)).bytes);
        const TensorInfo f32{.name = "f", .dtype = dtypeByName("F32"), .shape = {1}, .bytes = {0, 4}, .bigEndian = true};
        const TensorInfo i32{.name = "i", .dtype = dtypeByName("I32"), .shape = {1}, .bytes = {4, 8}, .bigEndian = true};
        const TensorInfo f16{.name = "h", .dtype = dtypeByName("F16"), .shape = {1}, .bytes = {8, 10}, .bigEndian = true};
        QCOMPARE(readTensor<double>(*source, f32, Job()).value()[0], 1.5);
        QCOMPARE(readTensor<std::int64_t>(*source, i32, Job()).value()[0], std::int64_t(-2));
        QCOMPARE(readTensor<double>(*source, f16, Job()).value()[0], 1.0);
    }

    void windowsJoin()
    {
        ByteWriter bytes;
        constexpr std::uint32_t count = 200'003;
        for (std::uint32_t i = 0; i < count; ++i)
            bytes.put(i);
        const auto source = memorySource("u32", bytes.bytes);
        const TensorInfo tensor{.name = "n", .dtype = dtypeByName("U32"), .shape = {count}, .bytes = {0, count * 4}};
        std::uint64_t next = 0;
        const auto done = scanTensor(*source, tensor, Job(), [&](std::uint64_t first, std::span<const double> values) {
            QCOMPARE(first, next);
            QVERIFY(values.size() <= 65'536);
            for (const double value : values)
                QCOMPARE(value, static_cast<double>(next++));
        });
        QVERIFY_RESULT(done);
        QCOMPARE(next, std::uint64_t(count));
        const auto middle = readTensor<std::int64_t>(*source, tensor, 65'530, 20, Job());
        QVERIFY_RESULT(middle);
        QCOMPARE(middle->back(), std::int64_t(65'549));
    }

    void refuses_data()
    {
        QTest::addColumn<QByteArray>("type");
        QTest::addColumn<quint64>("from");
        QTest::addColumn<quint64>("count");
        QTest::addColumn<Errc>("code");
        QTest::newRow("packed") << QByteArray("F4") << quint64(0) << quint64(1) << Errc::Unsupported;
        QTest::newRow("complex") << QByteArray("C64") << quint64(0) << quint64(1) << Errc::Unsupported;
        QTest::newRow("unknown") << QByteArray("X7") << quint64(0) << quint64(1) << Errc::Unsupported;
        QTest::newRow("behind the end") << QByteArray("U8") << quint64(8) << quint64(9) << Errc::OutOfRange;
        QTest::newRow("begins behind") << QByteArray("U8") << quint64(17) << quint64(0) << Errc::OutOfRange;
        QTest::newRow("huge count") << QByteArray("U8") << quint64(1) << quint64(UINT64_MAX) << Errc::OutOfRange;
        QTest::newRow("range fits the tensor, not the file") << QByteArray("F64") << quint64(0) << quint64(2) << Errc::OutOfRange;
    }
    void refuses()
    {
        QFETCH(QByteArray, type);
        QFETCH(quint64, from);
        QFETCH(quint64, count);
        QFETCH(Errc, code);
        const auto source = memorySource("short", std::string(15, 'x'));
        const TensorInfo tensor{.name = "t", .dtype = dtypeByName(type.toStdString()), .dtypeName = type.toStdString(),
                                .shape = {16}, .bytes = {0, 16}};
        const auto result = readTensor<double>(*source, tensor, from, count, Job());
        QVERIFY(!result);
        QCOMPARE(result.error().code, code);
    }

    void limitAndCancel()
    {
        const auto source = memorySource("zeros", std::string(64, '\0'));
        const TensorInfo tensor{.name = "t", .dtype = dtypeByName("U8"), .shape = {64}, .bytes = {0, 64}};
        QCOMPARE(readTensor<double>(*source, tensor, Job(), 63).error().code, Errc::TooLarge);
        std::stop_source stop;
        stop.request_stop();
        QCOMPARE(readTensor<double>(*source, tensor, Job(stop.get_token())).error().code, Errc::Cancelled);
        QCOMPARE(scanTensor(*source, tensor, Job(stop.get_token()), [](auto, auto) {}).error().code, Errc::Cancelled);
    }
};

PROSECTOR_TEST(TestTensorData, tst_tensordata)

#include "tst_tensordata.moc"
