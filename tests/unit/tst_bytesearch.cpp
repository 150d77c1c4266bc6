// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/core/bytesearch.h"
#include "tests/support/strict.h"

using namespace prosector;

class ByteSearchTest : public QObject {
    Q_OBJECT
private slots:
    void finds_data();
    void finds();
    void acrossBlocks();
};

void ByteSearchTest::finds_data()
{
    QTest::addColumn<QString>("needle");
    QTest::addColumn<bool>("forward");
    QTest::addColumn<qulonglong>("from");
    QTest::addColumn<qlonglong>("at"); // -1: nothing
    QTest::newRow("first") << "eos" << true << 0ULL << 0LL;
    QTest::newRow("next") << "eos" << true << 1ULL << 8LL;
    QTest::newRow("goes round") << "eos" << true << 9ULL << 0LL;
    QTest::newRow("backward") << "eos" << false << 8ULL << 0LL;
    QTest::newRow("backward round") << "eos" << false << 0ULL << 8LL;
    QTest::newRow("absent") << "bos" << true << 0ULL << -1LL;
    QTest::newRow("longer than the file") << "eos pad EOS eos" << true << 0ULL << -1LL;
    QTest::newRow("at the end") << "S" << true << 11ULL << 2LL;
}

void ByteSearchTest::finds()
{
    QFETCH(QString, needle);
    QFETCH(bool, forward);
    QFETCH(qulonglong, from);
    QFETCH(qlonglong, at);
    const auto source = memorySource("x", std::string_view("eos pad EOS"));
    const auto found = findBytes(*source, {needle.toStdString(), true, forward, from}, Job());
    QVERIFY_RESULT(found);
    QCOMPARE(*found ? static_cast<qlonglong>((*found)->from) : -1, at);
}

void ByteSearchTest::acrossBlocks()
{
    std::string text((4U << 20) - 2, '.');
    text += "needle";
    const auto source = memorySource("x", std::string_view(text));
    const auto found = findBytes(*source, {"needle", false, true, 0}, Job());
    QVERIFY_RESULT(found);
    QVERIFY(found->has_value());
    QCOMPARE((*found)->from, std::uint64_t{(4U << 20) - 2});
}

PROSECTOR_TEST(ByteSearchTest, tst_bytesearch)
#include "tst_bytesearch.moc"
