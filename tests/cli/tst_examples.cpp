// SPDX-License-Identifier: GPL-3.0-or-later
// The bundled examples show what they promise, and are what their script makes.
#include "models/instruments/instrument.h"

#include "tests/support/strict.h"
#include "tests/support/temporaryfolder.h"

#include <QDirIterator>
#include <QProcess>

#include <set>

using namespace prosector;

class TestExamples : public QObject {
    Q_OBJECT

private slots:
    void findings_data()
    {
        QTest::addColumn<QString>("name");
        QTest::addColumn<QStringList>("codes"); // of warnings and errors, sorted
        QTest::newRow("sick") << QStringLiteral("lost-scaling")
                              << QStringList{QStringLiteral("conversion.rope.scaling"), QStringLiteral("rope.scaling.lost")};
        QTest::newRow("healthy") << QStringLiteral("kept-scaling") << QStringList{};
    }
    void findings()
    {
        QFETCH(QString, name);
        QFETCH(QStringList, codes);
        const auto run = Run::open(std::vector{(examples + QLatin1Char('/') + name).toStdString()}, {});
        QVERIFY_RESULT(run);
        QCOMPARE((*run)->unreadable().size(), std::size_t(0));
        const auto facts = Facts::load();
        QVERIFY_RESULT(facts);
        const auto examination = examine(*run, nullptr, **facts, {}, {});
        QVERIFY_RESULT(examination);
        std::set<std::string> found;
        for (const Outcome &outcome : examination->outcomes) {
            QVERIFY_RESULT(outcome.report);
            for (const Finding &finding : outcome.report->findings) {
                if (finding.severity >= Severity::Warning)
                    found.insert(finding.code);
            }
        }
        QStringList list;
        for (const std::string &code : found)
            list.append(QString::fromStdString(code));
        QCOMPARE(list, codes);
    }

    void madeByTheScript()
    {
        TemporaryFolder made;
        QProcess python;
        python.start(QStringLiteral("python3"), {examples + QStringLiteral("/make.py"), made.path()});
        if (!python.waitForStarted())
            QSKIP("python3 is not installed");
        QVERIFY(python.waitForFinished());
        QCOMPARE(python.readAllStandardError(), QByteArray());
        int files = 0;
        for (QDirIterator it(made.path(), QDir::Files, QDirIterator::Subdirectories); it.hasNext();) {
            const QString relative = QDir(made.path()).relativeFilePath(it.next());
            QFile committed(examples + QLatin1Char('/') + relative);
            QVERIFY2(committed.open(QIODevice::ReadOnly), qPrintable(relative));
            QVERIFY2(committed.readAll() == made.read(relative), qPrintable(relative));
            ++files;
        }
        QCOMPARE(files, 10);
    }

private:
    const QString examples = QStringLiteral(PROSECTOR_TEST_SOURCE_DIR "/../resources/examples");
};

PROSECTOR_TEST(TestExamples, tst_examples)

#include "tst_examples.moc"
