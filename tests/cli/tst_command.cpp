// SPDX-License-Identifier: GPL-3.0-or-later
// The program as scripts use it: exit statuses, streams, files.
#include "models/instruments/instrument.h"

#include "tests/support/jsonschema.h"
#include "tests/support/strict.h"
#include "tests/support/temporaryfolder.h"

#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QProcess>

#include <csignal>

#include <unistd.h>

using namespace prosector;

namespace {

struct Ran {
    int status = -1;
    QByteArray out, err;
};

Ran run(const QStringList &arguments, const QString &folder = {}, const QProcessEnvironment &environment = QProcessEnvironment::systemEnvironment())
{
    QProcess process;
    process.setWorkingDirectory(folder);
    process.setProcessEnvironment(environment);
    process.start(QStringLiteral(PROSECTOR_TEST_BINARY_DIR "/app/prosector-cli"), arguments);
    if (!process.waitForFinished(60'000))
        return {-1, {}, process.errorString().toUtf8()};
    return {process.exitStatus() == QProcess::NormalExit ? process.exitCode() : -2, process.readAllStandardOutput(),
            process.readAllStandardError()};
}

QJsonObject object(const QByteArray &json)
{
    return QJsonDocument::fromJson(json).object();
}

/// One line that begins with the program's name.
bool isOneClearLine(const QByteArray &text)
{
    return text.startsWith("prosector-cli: ") && text.count('\n') == 1 && text.endsWith('\n');
}

QString s(const char *text)
{
    return QString::fromUtf8(text);
}

} // namespace

class TestCommand : public QObject {
    Q_OBJECT

private slots:
    void init()
    {
        failOnQtWarnings();
        folder = std::make_unique<TemporaryFolder>();
        folder->write(s("m/config.json"), "{\"model_type\": \"llama\"}");
        folder->write(s("m/notes.txt"), "hello\n");
    }

    void usageErrors_data()
    {
        QTest::addColumn<QStringList>("arguments");
        QTest::newRow("nothing") << QStringList{};
        QTest::newRow("unknown command") << QStringList{s("dissect"), s("m")};
        QTest::newRow("no path") << QStringList{s("examine")};
        QTest::newRow("format") << QStringList{s("examine"), s("m"), s("--format"), s("yaml")};
        QTest::newRow("fail-on") << QStringList{s("examine"), s("m"), s("--fail-on"), s("ok")};
        QTest::newRow("instrument") << QStringList{s("examine"), s("m"), s("--instrument"), s("Q99")};
        QTest::newRow("set without value") << QStringList{s("examine"), s("m"), s("--set"), s("F1")};
        QTest::newRow("set unknown") << QStringList{s("examine"), s("m"), s("--set"), s("Q99.x=1")};
        QTest::newRow("facts") << QStringList{s("examine"), s("m"), s("--facts"), s("nowhere")};
        QTest::newRow("output folder absent") << QStringList{s("examine"), s("m"), s("-o"), s("no/such/report")};
        QTest::newRow("unknown instrument to show") << QStringList{s("instrument"), s("show"), s("Q99")};
        QTest::newRow("unknown option") << QStringList{s("artifacts"), s("m"), s("--colour")};
    }
    void usageErrors()
    {
        QFETCH(QStringList, arguments);
        const Ran ran = run(arguments, folder->path());
        QCOMPARE(ran.status, 2);
        QVERIFY2(isOneClearLine(ran.err), ran.err.constData());
        QCOMPARE(ran.out, QByteArray());
    }

    void unreadableInputs_data()
    {
        QTest::addColumn<QStringList>("arguments");
        QTest::newRow("absent") << QStringList{s("examine"), s("absent")};
        QTest::newRow("one of two absent") << QStringList{s("examine"), s("m"), s("absent")};
        QTest::newRow("absent baseline") << QStringList{s("examine"), s("m"), s("--baseline"), s("absent")};
        QTest::newRow("artifacts") << QStringList{s("artifacts"), s("absent")};
        QTest::newRow("a device") << QStringList{s("examine"), s("/dev/null")};
    }
    void unreadableInputs()
    {
        QFETCH(QStringList, arguments);
        const Ran ran = run(arguments, folder->path());
        QCOMPARE(ran.status, 3);
        QVERIFY2(isOneClearLine(ran.err), ran.err.constData());
    }

    void aFileThatIsNothingAtAll()
    {
        folder->write(s("cut.safetensors"), QByteArray("\xFF\xFF\xFF\xFF\xFF\x00\x00\x00{\"a\"", 12));
        const Ran ran = run({s("examine"), s("--format"), s("json"), s("cut.safetensors")}, folder->path());
        QCOMPARE(ran.status, 3);
        QCOMPARE(object(ran.out)[s("unreadable")].toArray().size(), 1);
    }

    void permissionDenied()
    {
        if (::geteuid() == 0)
            QSKIP("root may read everything");
        QVERIFY(QFile::setPermissions(folder->path(s("m/notes.txt")), {}));
        QCOMPARE(run({s("examine"), s("m/notes.txt")}, folder->path()).status, 3);
    }

    void formats_data()
    {
        QTest::addColumn<QString>("format");
        QTest::addColumn<QByteArray>("begin");
        QTest::newRow("text") << s("text") << QByteArray("Examined m (");
        QTest::newRow("json") << s("json") << QByteArray("{\n \"schema\": \"prosector.report/1\"");
        QTest::newRow("sarif") << s("sarif") << QByteArray("{\n \"$schema\"");
        QTest::newRow("html") << s("html") << QByteArray("<!DOCTYPE html>");
        QTest::newRow("markdown") << s("markdown") << QByteArray("# Examination of m");
    }
    void formats()
    {
        QFETCH(QString, format);
        QFETCH(QByteArray, begin);
        const QStringList arguments{s("examine"), s("m"), s("--format"), format, s("--fail-on"), s("never")};
        const Ran first = run(arguments, folder->path());
        QCOMPARE(first.status, 0);
        QCOMPARE(first.err, QByteArray());
        QVERIFY2(first.out.startsWith(begin), first.out.left(200).constData());
        QVERIFY(!first.out.contains('\x1b'));
        // The same bytes again, in another place and another locale and zone.
        TemporaryFolder other;
        other.write(s("m/notes.txt"), "hello\n");
        other.write(s("m/config.json"), "{\"model_type\": \"llama\"}");
        auto environment = QProcessEnvironment::systemEnvironment();
        environment.insert(s("LC_ALL"), s("de_DE.UTF-8"));
        environment.insert(s("TZ"), s("Asia/Tokyo"));
        QCOMPARE(run(arguments, other.path(), environment).out, first.out);
    }

    void jsonFitsItsSchema()
    {
        REQUIRE_JSON_SCHEMA();
        const Ran ran = run({s("examine"), s("--fail-on"), s("never"), s("--format"), s("json"), s("m"), s("m/notes.txt"), s("--baseline"), s("m")}, folder->path());
        QCOMPARE(ran.status, 0);
        QCOMPARE(schemaComplaint(QStringLiteral(PROSECTOR_TEST_SOURCE_DIR "/../resources/report.schema.json"), ran.out), QString());
        QCOMPARE(object(ran.out)[s("inputs")].toArray().size(), 2);
    }

    void writesTheFileWhole()
    {
        folder->write(s("report.json"), "old");
        QVERIFY(QFile::setPermissions(folder->path(s("report.json")), QFile::ReadOwner | QFile::WriteOwner));
        const QStringList arguments{s("examine"), s("m"), s("--fail-on"), s("never"), s("--format"), s("json")};
        const Ran ran = run(arguments + QStringList{s("-o"), s("report.json")}, folder->path());
        QCOMPARE(ran.status, 0);
        QCOMPARE(ran.out, QByteArray());
        QCOMPARE(folder->read(s("report.json")), run(arguments, folder->path()).out);
        QCOMPARE(QFile::permissions(folder->path(s("report.json"))) & (QFile::ReadGroup | QFile::ReadOther), QFile::Permissions());
        QCOMPARE(QDir(folder->path()).entryList(QDir::Files), QStringList{s("report.json")}); // nothing left beside it
    }

    void hostileNames()
    {
        folder->write(s("m/\x1b]0;owned\x07.json"), "{");
        folder->write(QString::fromUtf8("m/\xE2\x80\xAEgnp.txt"), "x");
        for (const char *const command : {"examine", "artifacts"}) {
            const Ran ran = run({s(command), s("m")}, folder->path());
            QVERIFY(ran.status >= 0);
            QVERIFY2(!ran.out.contains('\x1b') && !ran.out.contains('\x07') && !ran.out.contains("\xE2\x80\xAE"), ran.out.constData());
            QVERIFY(ran.out.contains("\\x1B]0;owned"));
        }
        const Ran error = run({s("examine"), s("no\x1b[31mthing")}, folder->path());
        QCOMPARE(error.status, 3);
        QVERIFY(!error.err.contains('\x1b'));
    }

    void artifactsLists()
    {
        const Ran text = run({s("artifacts"), s("m")}, folder->path());
        QCOMPARE(text.status, 0);
        QVERIFY(text.out.contains("config.json") && text.out.contains("notes.txt"));
        const Ran json = run({s("artifacts"), s("m"), s("--format"), s("json")}, folder->path());
        const QJsonArray artifacts = object(json.out)[s("artifacts")].toArray();
        QCOMPARE(artifacts.size(), 2);
        QCOMPARE(artifacts[0].toObject()[s("path")].toString(), s("config.json"));
        QCOMPARE(artifacts[0].toObject()[s("size")].toInt(), 23);
    }

    void instruments()
    {
        const Ran list = run({s("instrument"), s("list"), s("--format"), s("json")});
        QCOMPARE(list.status, 0);
        const QJsonArray listed = object(list.out)[s("instruments")].toArray();
        QCOMPARE(static_cast<std::size_t>(listed.size()), prosector::instruments().size());
        const QByteArray text = run({s("instrument"), s("list")}).out;
        for (const Instrument *const instrument : prosector::instruments()) {
            const QString id = QString::fromStdString(std::string(instrument->id));
            QVERIFY2(text.contains(std::string(instrument->name).c_str()), qPrintable(id));
            const Ran shown = run({s("instrument"), s("show"), id.toLower()});
            QCOMPARE(shown.status, 0);
            for (const ParamSpec &spec : instrument->params)
                QVERIFY2(shown.out.contains(std::string(spec.name).c_str()), qPrintable(id));
            const Ran json = run({s("instrument"), s("show"), id, s("--format"), s("json")});
            QVERIFY2(!object(json.out)[s("help")].toString().isEmpty(), qPrintable(id));
        }
    }

    void helpAndVersion()
    {
        QCOMPARE(run({s("--version")}).out, QByteArray("prosector 0.1.0\n"));
        const Ran help = run({s("examine"), s("--help")});
        QCOMPARE(help.status, 0);
        for (const char *const option : {"--baseline", "--instrument", "--format", "--output", "--fail-on", "--set"})
            QVERIFY2(help.out.contains(option), option);
    }

    void interruptedLeavesNothing()
    {
        // A pipe that never delivers would hang a careless reader; a large sparse file keeps it busy.
        for (int i = 0; i < 40; ++i) {
            QFile file(folder->path(s("big/%1.bin").arg(i)));
            QVERIFY(QDir().mkpath(folder->path(s("big"))));
            QVERIFY(file.open(QIODevice::WriteOnly) && file.resize(60LL << 20));
        }
        QProcess process;
        process.setWorkingDirectory(folder->path());
        process.start(QStringLiteral(PROSECTOR_TEST_BINARY_DIR "/app/prosector-cli"), {s("examine"), s("big"), s("-o"), s("report")});
        QVERIFY(process.waitForStarted());
        // Until the signals are its own to handle.
        const QByteArray status = "/proc/" + QByteArray::number(process.processId()) + "/status";
        QTRY_VERIFY([&] {
            QFile file(QString::fromLatin1(status));
            return file.open(QIODevice::ReadOnly) && file.readAll().contains("SigBlk:\t0000000000004002");
        }());
        QCOMPARE(::kill(static_cast<pid_t>(process.processId()), SIGINT), 0);
        QVERIFY(process.waitForFinished());
        QCOMPARE(process.exitStatus(), QProcess::NormalExit);
        QCOMPARE(process.exitCode(), 130);
        QVERIFY(!QFile::exists(folder->path(s("report"))));
    }

    void linksNoWindowLibrary()
    {
        QProcess ldd;
        ldd.start(s("ldd"), {QStringLiteral(PROSECTOR_TEST_BINARY_DIR "/app/prosector-cli")});
        QVERIFY(ldd.waitForFinished());
        const QByteArray libraries = ldd.readAllStandardOutput();
        QVERIFY(libraries.contains("libc.so"));
        QVERIFY2(!libraries.contains("Qt") && !libraries.contains("X11") && !libraries.contains("libGL"), libraries.constData());
    }

private:
    std::unique_ptr<TemporaryFolder> folder;
};

PROSECTOR_TEST(TestCommand, tst_command)

#include "tst_command.moc"
