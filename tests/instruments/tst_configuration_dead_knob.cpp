// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/instrumenttest.h"
#include "tests/support/tempfolder.h"

using namespace prosector;
using namespace prosector::test;

namespace prosector {
extern const Instrument configuration_dead_knob;
}

class TestDeadKnob : public QObject {
    Q_OBJECT

    const Instrument &f7 = configuration_dead_knob;

    Examined look(const char *which) const { return examineWith(f7, {fixture(f7.slug, which)}); }

private slots:
    void defaultInTheDeadZone()
    {
        const Examined examined = look("sick");
        VERIFY_WORST(f7, examined, Severity::Error);
        const Finding *const finding = examined.find("knob.dead.zone");
        QVERIFY2(finding, qPrintable(examined.summary()));
        QCOMPARE(finding->title, std::string("alpha does nothing from 0.08 to 1, where its default lies"));
        QVERIFY(finding->detail.find("The first value that acts is 2.") != std::string::npos);
        QCOMPARE(finding->measure->number, 3.0);
        QVERIFY(examined.pointsAt(*finding, "sweep.jsonl", LogLine{1, 1})); // the default
        QVERIFY(examined.pointsAt(*finding, "sweep.jsonl", LogLine{4, 4})); // the first that acts
        QCOMPARE(examined.report->series.at(0).marks.size(), std::size_t(1));
        QCOMPARE(examined.report->series.at(0).y, (std::vector<double>{1, 1, 1, 2}));
    }

    void actsEverywhere()
    {
        const Examined examined = look("healthy");
        VERIFY_WORST(f7, examined, Severity::Ok);
    }

    void otherSweeps_data()
    {
        QTest::addColumn<QString>("which");
        QTest::addColumn<QString>("code");
        QTest::addColumn<QString>("severity");
        QTest::addColumn<QString>("title");
        QTest::newRow("whole range") << "whole_range" << "knob.dead" << "warning" << "alpha does nothing from 0.08 to 2";
        QTest::newRow("default unknown") << "csv" << "knob.dead.zone" << "warning" << "beta does nothing from 1 to 3";
        QTest::newRow("default of the table") << "outer" << "knob.dead.zone" << "error" << "gamma does nothing from 1 to 5, where its default lies";
    }
    void otherSweeps()
    {
        QFETCH(QString, which);
        QFETCH(QString, code);
        QFETCH(QString, severity);
        QFETCH(QString, title);
        const Examined examined = look(qPrintable(which));
        VERIFY_WORST(f7, examined, *severityFromString(severity.toStdString()));
        const Finding *const finding = examined.find(code.toStdString());
        QVERIFY2(finding, qPrintable(examined.summary()));
        QCOMPARE(finding->title, title.toStdString());
    }

    void undecidable_data()
    {
        QTest::addColumn<QString>("which");
        QTest::newRow("too few values") << "two_values";
        QTest::newRow("cannot act") << "greedy";
        QTest::newRow("noise") << "noise";
    }
    void undecidable()
    {
        QFETCH(QString, which);
        const Examined examined = look(qPrintable(which));
        VERIFY_WORST(f7, examined, Severity::Undecidable);
        QCOMPARE(examined.report->missing, std::vector<std::string>{"sweep"});
        QCOMPARE(examined.report->notSeen.size(), std::size_t(1));
    }

    /// Scores that scatter: a knob is only seen to act where means differ by more than repeats do.
    void noise()
    {
        const auto sweep = [&](double last) {
            const double scatter[3] = {-0.02, 0.0, 0.02};
            std::string text = "parameter,value,repeat,score\n";
            for (int value = 1; value <= 4; ++value) {
                for (int repeat = 0; repeat < 3; ++repeat)
                    text += "k," + std::to_string(value) + ',' + std::to_string(repeat) + ','
                            + std::to_string((value == 4 ? last : 0.8) + scatter[repeat] + 0.001 * value) + '\n';
            }
            TempFolder folder;
            folder.file("sweep.csv", text);
            return examineWith(f7, {folder.path()});
        };
        VERIFY_WORST(f7, sweep(0.5), Severity::Ok);
        VERIFY_WORST(f7, sweep(0.8), Severity::Undecidable);
    }

    void survivesDamage_data()
    {
        QTest::addColumn<QString>("which");
        for (const char *const which : {"sick", "csv", "outer"})
            QTest::newRow(which) << which;
    }
    void survivesDamage()
    {
        QFETCH(QString, which);
        QCOMPARE(faultUnderDamage(f7, fixture(f7.slug, which.toStdString())), QString());
    }

    void cancels() { QCOMPARE(faultWhenCancelled(f7, fixture(f7.slug, "sick")), QString()); }
};

PROSECTOR_TEST(TestDeadKnob, tst_configuration_dead_knob)
#include "tst_configuration_dead_knob.moc"
