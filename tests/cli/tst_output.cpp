// SPDX-License-Identifier: GPL-3.0-or-later
// Where reports go: never over what they report on, whole or not at all.
#include "tests/support/runcommand.h"
#include "tests/support/strict.h"
#include "tests/support/temporaryfolder.h"

#include <QDir>

#include <filesystem>

using namespace prosector;
using namespace prosector::test;

namespace {

namespace fs = std::filesystem;

QString s(const char *text)
{
    return QString::fromUtf8(text);
}

constexpr const char *config = "{\"model_type\": \"llama\"}";

} // namespace

class TestOutput : public QObject {
    Q_OBJECT

private slots:
    void init()
    {
        failOnQtWarnings();
        folder = std::make_unique<TemporaryFolder>();
        folder->write(s("m/config.json"), config);
        folder->write(s("other/old.txt"), "old");
        fs::create_symlink("m/config.json", at("link"));
        fs::create_symlink("m", at("folderlink"));
        fs::create_symlink("link", at("linktolink"));
        fs::create_hard_link(at("m/config.json"), at("hard"));
        // A snapshot as a download cache has it: its files are links into a folder beside.
        folder->write(s("models--a--b/blobs/12ab"), config);
        fs::create_directories(at("models--a--b/snapshots/1"));
        fs::create_symlink("../../blobs/12ab", at("models--a--b/snapshots/1/config.json"));
    }

    void inputsAreNeverWrittenTo_data()
    {
        QTest::addColumn<QStringList>("inputs");
        QTest::addColumn<QString>("output");
        const QStringList folderOnly{s("m")};
        QTest::newRow("file of the folder") << folderOnly << s("m/config.json");
        QTest::newRow("new file in the folder") << folderOnly << s("m/report.txt");
        QTest::newRow("by way of ..") << folderOnly << s("other/../m/config.json");
        QTest::newRow("link to the file") << folderOnly << s("link");
        QTest::newRow("link to a link") << folderOnly << s("linktolink");
        QTest::newRow("link to the folder") << folderOnly << s("folderlink/config.json");
        QTest::newRow("hard link") << folderOnly << s("hard");
        QTest::newRow("folder given by link") << QStringList{s("folderlink")} << s("m/config.json");
        QTest::newRow("the folder itself") << folderOnly << s("m");
        QTest::newRow("the file itself") << QStringList{s("m/config.json")} << s("m/config.json");
        QTest::newRow("the file by hard link") << QStringList{s("m/config.json")} << s("hard");
        QTest::newRow("second input") << QStringList{s("other"), s("m")} << s("link");
        QTest::newRow("baseline") << QStringList{s("other"), s("--baseline"), s("m")} << s("hard");
        QTest::newRow("blob behind a snapshot") << QStringList{s("models--a--b/snapshots/1")} << s("models--a--b/blobs/12ab");
    }
    void inputsAreNeverWrittenTo()
    {
        QFETCH(QStringList, inputs);
        QFETCH(QString, output);
        const Ran ran = runCommand(QStringList{s("examine")} + inputs + QStringList{s("-o"), output}, folder->path());
        QCOMPARE(ran.status, 2);
        QVERIFY2(isOneClearLine(ran.err) && ran.err.contains("--output"), ran.err.constData());
        QCOMPARE(folder->read(s("m/config.json")), QByteArray(config));
        QCOMPARE(folder->read(s("models--a--b/blobs/12ab")), QByteArray(config));
        QCOMPARE(QDir(folder->path(s("m"))).entryList(QDir::Files), QStringList{s("config.json")});
    }

    void linksStayLinks()
    {
        fs::create_symlink("other/old.txt", at("out"));
        fs::create_symlink("other/new.txt", at("dangling"));
        for (const auto &[link, target] : {std::pair("out", "other/old.txt"), std::pair("dangling", "other/new.txt")}) {
            QCOMPARE(examineTo(s(link)).status, 0);
            QVERIFY(fs::is_symlink(at(link)));
            QVERIFY(folder->read(s(target)).startsWith("Examined m"));
        }
        fs::create_symlink("round", at("round"));
        QCOMPARE(examineTo(s("round")).status, 2);
    }

    void readOnlyFilesAreKept()
    {
        fs::permissions(at("other/old.txt"), fs::perms(0444));
        const Ran ran = examineTo(s("other/old.txt"));
        QCOMPARE(ran.status, 2);
        QVERIFY(isOneClearLine(ran.err));
        QCOMPARE(folder->read(s("other/old.txt")), QByteArray("old"));
    }

    void dashIsStandardOutput()
    {
        const Ran ran = examineTo(s("-"));
        QCOMPARE(ran.status, 0);
        QVERIFY(ran.out.startsWith("Examined m"));
        QVERIFY(!QFile::exists(folder->path(s("-"))));
    }

    void aFileThatGrowsTooLarge()
    {
        const Ran ran = runLimited(s("-f 1"), {s("examine"), s("m"), s("--format"), s("html"), s("-o"), s("other/old.txt")}, folder->path());
        QCOMPARE(ran.status, 2);
        QVERIFY2(isOneClearLine(ran.err), ran.err.constData());
        QCOMPARE(folder->read(s("other/old.txt")), QByteArray("old"));
        QCOMPARE(QDir(folder->path(s("other"))).entryList(QDir::Files), QStringList{s("old.txt")});
    }

private:
    std::string at(const char *name) const { return folder->stdPath(s(name)); }
    Ran examineTo(const QString &output) const
    {
        return runCommand({s("examine"), s("m"), s("--fail-on"), s("never"), s("-o"), output}, folder->path());
    }

    std::unique_ptr<TemporaryFolder> folder;
};

PROSECTOR_TEST(TestOutput, tst_output)

#include "tst_output.moc"
