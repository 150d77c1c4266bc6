// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/item/format.h"

#include "models/instruments/instrument.h"

#include "tests/support/strict.h"

#include <cmath>
#include <limits>

using namespace prosector;

class TestFormat : public QObject {
    Q_OBJECT

private slots:
    void init() { failOnQtWarnings(); }

    void grouped()
    {
        QCOMPARE(format::grouped(std::uint64_t(0)), QStringLiteral("0"));
        QCOMPARE(format::grouped(std::uint64_t(999)), QStringLiteral("999"));
        QCOMPARE(format::grouped(std::uint64_t(1000)), QStringLiteral("1\u2009000"));
        QCOMPARE(format::grouped(std::int64_t(-1234567)), QStringLiteral("-1\u2009234\u2009567"));
        QCOMPARE(format::grouped(std::int64_t(-123)), QStringLiteral("-123"));
        QCOMPARE(format::grouped(std::numeric_limits<std::uint64_t>::max()),
                 QStringLiteral("18\u2009446\u2009744\u2009073\u2009709\u2009551\u2009615"));
    }

    void number_data()
    {
        QTest::addColumn<double>("number");
        QTest::addColumn<QString>("text");
        QTest::newRow("zero") << 0.0 << QStringLiteral("0");
        QTest::newRow("whole numbers are exact") << 1234567.0 << QStringLiteral("1\u2009234\u2009567");
        QTest::newRow("four digits") << 3.14159 << QStringLiteral("3.142");
        QTest::newRow("no trailing zeros") << 0.5 << QStringLiteral("0.5");
        QTest::newRow("small") << 0.00012344 << QStringLiteral("0.0001234");
        QTest::newRow("smaller") << 1.5e-9 << QStringLiteral("1.5e-09");
        QTest::newRow("large with a fraction") << 12345.67 << QStringLiteral("12\u2009346");
        QTest::newRow("negative") << -0.25 << QStringLiteral("-0.25");
        QTest::newRow("nan") << std::nan("") << QStringLiteral("NaN");
        QTest::newRow("infinite") << -std::numeric_limits<double>::infinity() << QStringLiteral("-\u221E");
        QTest::newRow("huge") << 1e300 << QStringLiteral("1e+300");
    }
    void number()
    {
        QFETCH(double, number);
        QTEST(format::number(number), "text");
    }

    void bytesAndOffsets()
    {
        QCOMPARE(format::bytes(999), QStringLiteral("999\u00A0B"));
        QCOMPARE(format::bytes(14'200'000'000), QStringLiteral("14.2\u00A0GB"));
        QCOMPARE(format::exactBytes(1), QStringLiteral("1 byte"));
        QCOMPARE(format::exactBytes(14'200), QStringLiteral("14\u2009200 bytes"));
        QCOMPARE(format::offset(0x1a2b0), QStringLiteral("0x0001a2b0"));
        QCOMPARE(format::offset(1ULL << 40), QStringLiteral("0x10000000000"));
    }

    void hexAndAscii()
    {
        const std::string text = "Hello,\n\x7F\xFF!";
        const auto bytes = std::as_bytes(std::span(text));
        QCOMPARE(format::hex(bytes), QStringLiteral("48 65 6C 6C 6F 2C 0A 7F  FF 21"));
        QCOMPARE(format::ascii(bytes), QStringLiteral("Hello,\u00B7\u00B7\u00B7!"));
    }

    void oneLine()
    {
        QCOMPARE(format::oneLine("a\nb\tc\x01"
                                 "d"),
                 QStringLiteral("a\u23CEb\u21E5c\u2401d"));
        QCOMPARE(format::oneLine("abcdef", 3), QStringLiteral("abc\u2026"));
        QCOMPARE(format::oneLine("abc", 3), QStringLiteral("abc"));
        const std::string emoji = "\xF0\x9F\x98\x80\xF0\x9F\x98\x80";
        QCOMPARE(format::oneLine(emoji, 3), QStringLiteral("\U0001F600\u2026")); // no half of a pair
        QVERIFY(format::oneLine(std::string(1 << 20, 'x'), 100).size() == 101);
    }

    void sentences()
    {
        Outcome outcome;
        QCOMPARE(format::sentence(outcome), QStringLiteral("Nothing found."));
        outcome.report = Report::missingInputs({"config_files", "weights"});
        QCOMPARE(format::sentence(outcome), QStringLiteral("Not captured: config_files, weights."));
        Report report;
        report.findings = {{.code = "a", .severity = Severity::Info, .title = "Minor."},
                           {.code = "b", .severity = Severity::Error, .title = "Major."}};
        outcome.report = report;
        QCOMPARE(format::sentence(outcome), QStringLiteral("Major. (and 1 more finding)"));
        outcome.report = Job::cancelledError();
        QCOMPARE(format::sentence(outcome), QStringLiteral("Cancelled before it came to a result."));
    }
};

PROSECTOR_TEST(TestFormat, tst_format)
#include "tst_format.moc"
