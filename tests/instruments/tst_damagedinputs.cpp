// SPDX-License-Identifier: GPL-3.0-or-later
// Whatever is damaged, no instrument may take it for health: it says what it found, or that it cannot say.
#include "models/artifacts/damage.h"
#include "models/config/evaluation.h"
#include "tests/support/instrumenttest.h"
#include "tests/support/tempfolder.h"

#include <algorithm>
#include <filesystem>
#include <fstream>

using namespace prosector;
namespace fs = std::filesystem;

namespace {

std::string bytesOf(const fs::path &file)
{
    std::ifstream in(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

/// What leaves nothing useful of a file, whatever it was.
std::vector<std::pair<std::string, std::string>> ruins(const std::string &content)
{
    return {{"empty", ""},
            {"its first byte", content.substr(0, 1)},
            {"zeros", std::string(std::max<std::size_t>(content.size(), 16), '\0')},
            {"a web page", "<!DOCTYPE html><html><body>404</body></html>"},
            {"a pointer", "version https://git-lfs.github.com/spec/v1\noid sha256:" + std::string(64, 'a') + "\nsize 1234\n"},
            {"a list", "[]"}};
}

bool passes(const Report &report)
{
    return report.missing.empty() && report.worst() < Severity::Warning;
}

bool names(const Report &report, const std::string &file)
{
    const auto holds = [&](const std::string &text) { return text.find(file) != std::string::npos; };
    return std::any_of(report.missing.begin(), report.missing.end(), holds) || std::any_of(report.notSeen.begin(), report.notSeen.end(), holds);
}

} // namespace

class TestDamagedInputs : public QObject {
    Q_OBJECT

private slots:
    void everyInstrument_data()
    {
        QTest::addColumn<QString>("id");
        QTest::addColumn<QString>("folder");
        for (const Instrument *const instrument : instruments()) {
            if (instrument->id[0] != 'F' && instrument->id[0] != 'W')
                continue;
            for (const auto &entry : fs::directory_iterator(test::fixture(instrument->slug, ""))) {
                const auto name = entry.path().filename().string();
                if (entry.is_directory() && (name.find("healthy") != std::string::npos || name == "sick"))
                    QTest::addRow("%s %s", std::string(instrument->id).c_str(), name.c_str())
                        << QString::fromStdString(std::string(instrument->id)) << QString::fromStdString(entry.path().string());
            }
        }
    }
    /// One file after the other of a whole folder is ruined: of a kind the instrument reads, it may not pass.
    void everyInstrument()
    {
        QFETCH(QString, id);
        QFETCH(QString, folder);
        const Instrument &instrument = *findInstrument(id.toStdString());
        const test::TempFolder copy;
        fs::copy(folder.toStdString(), copy.path(), fs::copy_options::recursive | fs::copy_options::overwrite_existing);
        const auto whole = Run::open(std::vector{copy.path()}, Job());
        QVERIFY_RESULT(whole);
        std::size_t ruined = 0;
        for (const Artifact &artifact : (*whole)->artifacts()) {
            const auto kind = nameOf(artifact.kind);
            // What a file was called when whole; a log or a table by any name is just unknown once it is ruined.
            if (std::find(instrument.inputs.begin(), instrument.inputs.end(), kind) == instrument.inputs.end() || kindByName(artifact.path) == Kind::Unknown)
                continue;
            const fs::path file = fs::path(copy.path()) / artifact.path;
            const std::string content = bytesOf(file);
            for (const auto &[what, bytes] : ruins(content)) {
                // Any text is a whole log, any value a whole line of JSON Lines.
                const bool lawful = (artifact.as<TextContent>() && !bytes.empty() && bytes.find('\0') == std::string::npos)
                                    || (artifact.as<LinesContent>() && bytes == "[]");
                if (bytes == content || lawful)
                    continue;
                std::ofstream(file, std::ios::binary | std::ios::trunc) << bytes;
                const test::Examined examined = test::examineWith(instrument, {copy.path()});
                QVERIFY_RESULT(examined.report);
                const QByteArray message = QByteArray::fromStdString(artifact.path + " replaced by " + what + ": ") + examined.summary().toUtf8();
                QVERIFY2(!passes(*examined.report), message.constData());
                QVERIFY2(examined.report->findings.size() > 0 || names(*examined.report, artifact.path), message.constData());
                ++ruined;
            }
            std::ofstream(file, std::ios::binary | std::ios::trunc) << content;
        }
        if (ruined == 0)
            QSKIP("no file of this fixture is known by its name");
    }

    void nothingUsefulLeft_data()
    {
        QTest::addColumn<QByteArray>("config");
        QTest::addColumn<bool>("damaged");
        QTest::newRow("cut after the brace") << QByteArray("{") << true;
        QTest::newRow("damaged at the first key") << QByteArray("{\"model_type\" \"llama\", \"hidden_size\": 4096}") << true;
        QTest::newRow("damaged in the middle") << QByteArray("{\"model_type\": \"llama\", \"hidden_size\": 4096,, \"rope_scaling\": {}}") << true;
        QTest::newRow("UTF-16") << QByteArray("\xFF\xFE{\0}\0", 6) << true;
        QTest::newRow("no key") << QByteArray("{}") << false;
        QTest::newRow("only the type") << QByteArray("{\"model_type\": \"llama\"}") << false;
        QTest::newRow("numbers that are texts") << QByteArray("{\"hidden_size\": \"x\", \"num_hidden_layers\": []}") << false;
    }
    /// A config.json of which nothing useful is left: undecidable, with the file's name where it is damaged.
    void nothingUsefulLeft()
    {
        QFETCH(QByteArray, config);
        QFETCH(bool, damaged);
        test::TempFolder folder;
        folder.file("config.json", config.toStdString());
        for (const Instrument *const instrument : instruments()) {
            const test::Examined examined = test::examineWith(*instrument, {folder.path()});
            QVERIFY_RESULT(examined.report);
            const bool reads = std::find(instrument->inputs.begin(), instrument->inputs.end(), "config_files") != instrument->inputs.end();
            const QByteArray message = QByteArray::fromStdString(std::string(instrument->id) + ": ") + examined.summary().toUtf8();
            if (instrument->id == "F5" || instrument->id == "F10")
                QVERIFY2(!passes(*examined.report), message.constData());
            if (damaged && reads) {
                QVERIFY2(examined.report->undecidable(), message.constData());
                QVERIFY2(names(*examined.report, "config.json"), message.constData());
            }
        }
    }

    /// What several instruments share gives the reports that each would come to alone.
    void sharedEvaluationChangesNothing()
    {
        auto facts = Facts::load();
        QVERIFY_RESULT(facts);
        const auto run = Run::open(std::vector{test::fixture("configuration_startup_triage", "sick")}, Job());
        QVERIFY_RESULT(run);
        Evaluation evaluation(**run, **facts);
        for (const char *const id : {"F1", "F2", "F3", "F5"}) {
            const Instrument &instrument = *findInstrument(id);
            const auto alone = runInstrument(instrument, Inputs{**run, **facts}, Params(instrument.params), Job());
            const auto shared = runInstrument(instrument, Inputs{**run, **facts, nullptr, &evaluation}, Params(instrument.params), Job());
            QVERIFY_RESULT(alone);
            QVERIFY_RESULT(shared);
            QCOMPARE(shared->findings.size(), alone->findings.size());
            for (std::size_t i = 0; i < alone->findings.size(); ++i)
                QCOMPARE(shared->findings[i].title, alone->findings[i].title);
            QCOMPARE(shared->missing, alone->missing);
        }
        std::stop_source stop;
        stop.request_stop();
        Evaluation cancelled(**run, **facts);
        QVERIFY(!cancelled.configs(Job(stop.get_token())));
        QVERIFY_RESULT(cancelled.configs(Job())); // a cancelled attempt is not kept
    }
};

PROSECTOR_TEST(TestDamagedInputs, tst_damagedinputs)
#include "tst_damagedinputs.moc"
