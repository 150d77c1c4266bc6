// SPDX-License-Identifier: GPL-3.0-or-later
// The program as scripts use it: exit statuses, streams, files.
#include "models/instruments/instrument.h"

#include "tests/support/jsonschema.h"
#include "tests/support/runcommand.h"
#include "tests/support/strict.h"
#include "tests/support/temporaryfolder.h"

#include <QJsonArray>

#include <csignal>

#include <unistd.h>

using namespace prosector;
using namespace prosector::test;

namespace {

QJsonObject object(const QByteArray &json)
{
    return jsonObject(json);
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
        QTest::newRow("option of a command before it") << QStringList{s("--format"), s("json"), s("examine"), s("m")};
        QTest::newRow("unknown short option") << QStringList{s("-V")};
        QTest::newRow("help for nothing") << QStringList{s("help"), s("dissect")};
        QTest::newRow("output without a name") << QStringList{s("examine"), s("m"), s("-o"), s("")};
    }
    void usageErrors()
    {
        QFETCH(QStringList, arguments);
        const Ran ran = runCommand(arguments, folder->path());
        QCOMPARE(ran.status, 2);
        QVERIFY2(isOneClearLine(ran.err), ran.err.constData());
        QCOMPARE(ran.out, QByteArray());
    }

    void strayWordsAreNamed()
    {
        for (const char *const word : {"frob", "-V"})
            QVERIFY(runCommand({s(word)}).err.contains(word));
        QVERIFY(runCommand({s("frob")}).err.contains("examine, artifacts"));
        const Ran help = runCommand({s("help"), s("examine")});
        QCOMPARE(help.status, 0);
        QCOMPARE(help.out, runCommand({s("examine"), s("--help")}).out);
        QVERIFY(runCommand({s("--help")}).out.contains("130"));
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
        const Ran ran = runCommand(arguments, folder->path());
        QCOMPARE(ran.status, 3);
        QVERIFY2(isOneClearLine(ran.err), ran.err.constData());
        QVERIFY2(ran.err.contains(arguments.back().toUtf8()), ran.err.constData()); // as it was typed
    }

    void oneOfTwoInputsIsKept()
    {
        for (const QStringList &inputs : {QStringList{s("m"), s("absent")}, QStringList{s("absent"), s("m")}}) {
            const Ran ran = runCommand(QStringList{s("examine"), s("--format"), s("json")} + inputs, folder->path());
            QCOMPARE(ran.status, 3);
            const QJsonObject report = object(ran.out);
            QCOMPARE(report[s("inputs")].toArray().size(), 2);
            const QJsonArray unreadable = report[s("unreadable")].toArray();
            QCOMPARE(unreadable.size(), 1);
            QCOMPARE(unreadable[0].toObject()[s("path")].toString(), s("absent"));
            QCOMPARE(unreadable[0].toObject()[s("input")].toInt(), int(inputs.indexOf(s("absent"))));
            QVERIFY(runCommand(QStringList{s("artifacts")} + inputs, folder->path()).out.contains("config.json"));
        }
    }

    void anInputGivenTwiceIsOpenedOnce()
    {
        const Ran ran = runCommand({s("artifacts"), s("--format"), s("json"), s("m"), s("m/"), s("./m/../m")}, folder->path());
        QCOMPARE(ran.status, 0);
        QCOMPARE(object(ran.out)[s("inputs")].toArray().size(), 1);
        QCOMPARE(object(ran.out)[s("artifacts")].toArray().size(), 2);
    }

    void inputsOfWhichNothingIsRead_data()
    {
        QTest::addColumn<QString>("name");
        QTest::addColumn<QByteArray>("bytes");
        QTest::addColumn<QString>("input");
        QTest::newRow("empty folder") << QString() << QByteArray() << s("n");
        QTest::newRow("empty configuration") << s("n/config.json") << QByteArray() << s("n");
        QTest::newRow("zeros") << s("n/config.json") << QByteArray(1000, '\0') << s("n");
        QTest::newRow("nothing known") << s("n/x.bin") << QByteArray("\0\1\2", 3) << s("n");
        QTest::newRow("unknown file") << s("n/x.bin") << QByteArray("\0\1\2", 3) << s("n/x.bin");
        QTest::newRow("broken archive") << s("n/x.zip") << QByteArray("PK\3\4 and no more") << s("n/x.zip");
        QTest::newRow("broken archive in a folder") << s("n/x.zip") << QByteArray("PK\3\4 and no more") << s("n");
    }
    void inputsOfWhichNothingIsRead()
    {
        QFETCH(QString, name);
        QFETCH(QByteArray, bytes);
        QFETCH(QString, input);
        QVERIFY(QDir(folder->path()).mkpath(s("n")));
        if (!name.isEmpty())
            folder->write(name, bytes);
        for (const char *const command : {"examine", "artifacts"}) {
            const Ran ran = runCommand({s(command), input}, folder->path());
            QCOMPARE(ran.status, 3);
            QVERIFY2(!(ran.out + ran.err).isEmpty(), command);
        }
        // Beside what can be read it is said, and the rest is kept.
        const Ran both = runCommand({s("examine"), s("--format"), s("json"), s("m"), input}, folder->path());
        QCOMPARE(both.status, 3);
        QVERIFY(!object(both.out)[s("unreadable")].toArray().isEmpty());
    }

    void unreadFilesAreCounted()
    {
        folder->write(s("m/a.safetensors"), "1234");
        folder->write(s("m/b.json"), "{\"a\": 1, ");
        const Ran ran = runCommand({s("examine"), s("m"), s("--fail-on"), s("never")}, folder->path());
        QVERIFY2(ran.out.simplified().contains("; 1 file could not be read, 1 only in part."), ran.out.constData());
    }

    void tooLittleMemory()
    {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
        QSKIP("a sanitiser needs all address space");
#endif
        folder->write(s("large.json"), "[\"" + QByteArray(150 << 20, 'x') + "\"]");
        const Ran ran = runLimited(s("-v 140000"), {s("examine"), s("--format"), s("json"), s("large.json"), s("m")}, folder->path());
        QCOMPARE(ran.status, 3);
        QVERIFY2(ran.out.contains("not enough memory"), ran.err.constData());
        QVERIFY(ran.out.contains("\"path\": \"large.json\""));
    }

    void cancelledWhileParsing()
    {
        QByteArray list = "[1";
        while (list.size() < (120 << 20))
            list += QByteArray(",[2],{\"a\":3}").repeated(10'000);
        folder->write(s("large.json"), list + ']');
        QProcess process;
        process.setWorkingDirectory(folder->path());
        process.start(QStringLiteral(PROSECTOR_TEST_BINARY_DIR "/app/prosector-cli"), {s("examine"), s("large.json")});
        QVERIFY(process.waitForStarted());
        // Until the text is in memory, so that the parser has begun or is about to.
        const QByteArray memory = "/proc/" + QByteArray::number(process.processId()) + "/statm";
        QTRY_VERIFY_WITH_TIMEOUT([&] {
            QFile file(QString::fromLatin1(memory));
            return file.open(QIODevice::ReadOnly) && file.readAll().split(' ').value(1).toLongLong() * 4096 > (110LL << 20);
        }(), 30'000);
        QCOMPARE(::kill(static_cast<pid_t>(process.processId()), SIGINT), 0);
        QVERIFY(process.waitForFinished());
        QCOMPARE(process.exitCode(), 130);
    }

    void aFileThatIsNothingAtAll()
    {
        folder->write(s("cut.safetensors"), QByteArray("\xFF\xFF\xFF\xFF\xFF\x00\x00\x00{\"a\"", 12));
        const Ran ran = runCommand({s("examine"), s("--format"), s("json"), s("cut.safetensors")}, folder->path());
        QCOMPARE(ran.status, 3);
        QCOMPARE(object(ran.out)[s("unreadable")].toArray().size(), 1);
    }

    void folders_data()
    {
        QTest::addColumn<QString>("config");
        QTest::addColumn<QString>("other");
        QTest::addColumn<int>("status");
        QTest::newRow("nothing readable") << s("{") << QString() << 3;
        QTest::newRow("nothing readable, and bytes of no kind") << s("\x01\x02\x03") << s("notes") << 3;
        QTest::newRow("damaged, but something was kept") << s("{\"model_type\": \"llama\", ") << QString() << 0;
        QTest::newRow("damaged beside a readable file") << s("{") << s("notes.txt") << 0;
        QTest::newRow("whole") << s("{\"model_type\": \"llama\"}") << QString() << 0;
    }
    /// 3 means that an input could not be read at all; a folder is one when none of its files could.
    void folders()
    {
        QFETCH(QString, config);
        QFETCH(QString, other);
        QFETCH(int, status);
        TemporaryFolder here;
        here.write(s("in/config.json"), config.toLatin1());
        if (!other.isEmpty())
            here.write(s("in/") + other, other.endsWith(s(".txt")) ? QByteArray("some words\n") : QByteArray("\x00\x01\x02\xff", 4));
        QCOMPARE(runCommand({s("examine"), s("in")}, here.path()).status, status);
        // Beside an input that is well it is still one that could not be read.
        QCOMPARE(runCommand({s("examine"), folder->path(s("m")), s("in")}, here.path()).status, status);
    }

    void anEmptyFolder()
    {
        TemporaryFolder here;
        QVERIFY(QDir(here.path()).mkdir(s("in")));
        QCOMPARE(runCommand({s("examine"), s("in")}, here.path()).status, 3);
    }

    void permissionDenied()
    {
        if (::geteuid() == 0)
            QSKIP("root may read everything");
        QVERIFY(QFile::setPermissions(folder->path(s("m/notes.txt")), {}));
        QCOMPARE(runCommand({s("examine"), s("m/notes.txt")}, folder->path()).status, 3);
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
        const Ran first = runCommand(arguments, folder->path());
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
        QCOMPARE(runCommand(arguments, other.path(), environment).out, first.out);
    }

    void jsonFitsItsSchema()
    {
        REQUIRE_JSON_SCHEMA();
        const Ran ran = runCommand({s("examine"), s("--fail-on"), s("never"), s("--format"), s("json"), s("m"), s("m/notes.txt"), s("--baseline"), s("m")}, folder->path());
        QCOMPARE(ran.status, 0);
        QCOMPARE(schemaComplaint(QStringLiteral(PROSECTOR_TEST_SOURCE_DIR "/../resources/report.schema.json"), ran.out), QString());
        QCOMPARE(object(ran.out)[s("inputs")].toArray().size(), 2);
    }

    void writesTheFileWhole()
    {
        folder->write(s("report.json"), "old");
        QVERIFY(QFile::setPermissions(folder->path(s("report.json")), QFile::ReadOwner | QFile::WriteOwner));
        const QStringList arguments{s("examine"), s("m"), s("--fail-on"), s("never"), s("--format"), s("json")};
        const Ran ran = runCommand(arguments + QStringList{s("-o"), s("report.json")}, folder->path());
        QCOMPARE(ran.status, 0);
        QCOMPARE(ran.out, QByteArray());
        QCOMPARE(folder->read(s("report.json")), runCommand(arguments, folder->path()).out);
        QCOMPARE(QFile::permissions(folder->path(s("report.json"))) & (QFile::ReadGroup | QFile::ReadOther), QFile::Permissions());
        QCOMPARE(QDir(folder->path()).entryList(QDir::Files), QStringList{s("report.json")}); // nothing left beside it
    }

    void hostileNames()
    {
        folder->write(s("m/\x1b]0;owned\x07.json"), "{");
        folder->write(QString::fromUtf8("m/\xE2\x80\xAEgnp.txt"), "x");
        for (const char *const command : {"examine", "artifacts"}) {
            const Ran ran = runCommand({s(command), s("m")}, folder->path());
            QVERIFY(ran.status >= 0);
            QVERIFY2(!ran.out.contains('\x1b') && !ran.out.contains('\x07') && !ran.out.contains("\xE2\x80\xAE"), ran.out.constData());
            QVERIFY(ran.out.contains("\\x1B]0;owned"));
        }
        const Ran error = runCommand({s("examine"), s("no\x1b[31mthing")}, folder->path());
        QCOMPARE(error.status, 3);
        QVERIFY(!error.err.contains('\x1b'));
    }

    void artifactsLists()
    {
        const Ran text = runCommand({s("artifacts"), s("m")}, folder->path());
        QCOMPARE(text.status, 0);
        QVERIFY(text.out.contains("config.json") && text.out.contains("notes.txt"));
        const Ran json = runCommand({s("artifacts"), s("m"), s("--format"), s("json")}, folder->path());
        const QJsonArray artifacts = object(json.out)[s("artifacts")].toArray();
        QCOMPARE(artifacts.size(), 2);
        QCOMPARE(artifacts[0].toObject()[s("path")].toString(), s("config.json"));
        QCOMPARE(artifacts[0].toObject()[s("size")].toInt(), 23);
    }

    void instruments()
    {
        const Ran list = runCommand({s("instrument"), s("list"), s("--format"), s("json")});
        QCOMPARE(list.status, 0);
        const QJsonArray listed = object(list.out)[s("instruments")].toArray();
        QCOMPARE(static_cast<std::size_t>(listed.size()), prosector::instruments().size());
        const QByteArray text = runCommand({s("instrument"), s("list")}).out;
        for (const Instrument *const instrument : prosector::instruments()) {
            const QString id = QString::fromStdString(std::string(instrument->id));
            QVERIFY2(text.contains(std::string(instrument->name).c_str()), qPrintable(id));
            const Ran shown = runCommand({s("instrument"), s("show"), id.toLower()});
            QCOMPARE(shown.status, 0);
            for (const ParamSpec &spec : instrument->params)
                QVERIFY2(shown.out.contains(std::string(spec.name).c_str()), qPrintable(id));
            const Ran json = runCommand({s("instrument"), s("show"), id, s("--format"), s("json")});
            QVERIFY2(!object(json.out)[s("help")].toString().isEmpty(), qPrintable(id));
        }
    }

    void helpAndVersion()
    {
        QCOMPARE(runCommand({s("--version")}).out, QByteArray("prosector 0.1.0\n"));
        const Ran help = runCommand({s("examine"), s("--help")});
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
