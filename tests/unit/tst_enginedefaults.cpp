// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/facts/facts.h"
#include "models/core/resources.h"
#include "models/facts/table.h"
#include "tests/support/corpus.h"
#include "tests/support/strict.h"

#include <QDir>
#include <QProcess>
#include <QTemporaryDir>
#include <QTest>

using namespace prosector;

class TestEngineDefaults : public QObject {
    Q_OBJECT

private slots:
    void init() { failOnQtWarnings(); }

    void initTestCase()
    {
        auto loaded = Facts::load();
        QVERIFY_RESULT(loaded);
        m_facts = *loaded;
    }

    void everyRowNamesItsSource()
    {
        QVERIFY(m_facts->engineDefaults.rows().size() > 900);
        for (const DefaultRow &row : m_facts->engineDefaults.rows()) {
            QVERIFY2(!row.source.empty() && !row.id.empty() && !row.value.empty(), row.id.c_str());
            if (row.verified)
                QVERIFY2(row.source.find('@') != std::string::npos || row.source.find(':') != std::string::npos, row.id.c_str());
        }
    }

    void inForce_data()
    {
        QTest::addColumn<QString>("engine");
        QTest::addColumn<QString>("name");
        QTest::addColumn<QString>("version");
        QTest::addColumn<QString>("component");
        QTest::addColumn<QString>("value");
        QTest::addColumn<bool>("known");
        QTest::newRow("same default in all versions") << "vLLM" << "temperature" << "0.9.0" << "SamplingParams" << "1.0" << true;
        QTest::newRow("old chat default") << "vLLM" << "temperature" << "0.5.4" << "/v1/chat" << "0.7" << true;
        QTest::newRow("new chat default") << "vLLM" << "temperature" << "0.11.0" << "/v1/chat" << "none" << true;
        QTest::newRow("flag by its dashes") << "vLLM" << "--max-num-seqs" << "0.5.4" << "server flag" << "256" << true;
        QTest::newRow("by field of the configuration class") << "vLLM" << "max_num_seqs" << "0.5.4" << "server flag" << "256" << true;
        QTest::newRow("back and forth: first") << "Ollama" << "repeat_penalty" << "v0.17.4" << "" << "1.1" << true;
        QTest::newRow("back and forth: second") << "Ollama" << "options.repeat_penalty" << "0.17.6" << "" << "1.0" << true;
        QTest::newRow("back and forth: third") << "Ollama" << "repeat_penalty" << "0.20.0" << "" << "1.1" << true;
        QTest::newRow("back and forth: last") << "Ollama" << "repeat_penalty" << "" << "" << "1.0" << false;
        QTest::newRow("build numbers") << "llama.cpp" << "-cb" << "b2000" << "" << "false" << true;
        QTest::newRow("newer than the table") << "llama.cpp" << "--cont-batching" << "b99999" << "" << "true" << false;
        QTest::newRow("key of a file") << "Transformers" << "top_h" << "" << "GenerationConfig" << "none" << false;
    }
    void inForce()
    {
        QFETCH(QString, engine);
        QFETCH(QString, name);
        QFETCH(QString, version);
        QFETCH(QString, component);
        const auto found = m_facts->engineDefaults.inForce(engine.toStdString(), name.toStdString(), version.toStdString(),
                                                           component.toStdString());
        QVERIFY(found.has_value());
        QTEST(QString::fromStdString(found->row->value), "value");
        QTEST(found->versionKnown, "known");
    }

    void saysWhenTheDefaultChanged()
    {
        const auto unknown = m_facts->engineDefaults.inForce("Ollama", "repeat_penalty");
        QVERIFY(unknown->remark.find("1.1 from v0.18.0 to v0.32.9") != std::string::npos);
        QVERIFY(m_facts->engineDefaults.inForce("Ollama", "repeat_penalty", "0.20.0")->remark.empty());
        QVERIFY(!m_facts->engineDefaults.inForce("Ollama", "no_such_setting").has_value());
    }

    void precedence()
    {
        const Precedence *const order = m_facts->engineDefaults.precedence("vllm.openai");
        QVERIFY(order);
        QCOMPARE(order->order.size(), std::size_t(4));
        QVERIFY(order->source.find("vllm-project/vllm") == 0);
        for (const DefaultRow &row : m_facts->engineDefaults.rows())
            QVERIFY2(row.precedence.empty() || m_facts->engineDefaults.precedence(row.precedence), row.id.c_str());
    }

    /// The tables are what the script makes of the collected facts: nobody edits them by hand.
    void tablesAreMadeByTheScript()
    {
        REQUIRE_SHARED(shared);
        const QTemporaryDir into;
        const QString folder = QString::fromStdString(resourceFolder() + "/facts");
        QProcess script;
        script.start("python3", {folder + "/make_tables.py", "--into", into.path(), QString::fromStdString(shared + "/facts")});
        QVERIFY(script.waitForFinished(60000));
        QVERIFY2(script.exitCode() == 0, script.readAllStandardError().constData());
        const QStringList made = QDir(into.path()).entryList({"*.json"}, QDir::Files);
        QVERIFY(made.contains("engine-defaults.json") && made.contains("log-lines.json"));
        for (const QString &name : made) {
            QFile fresh(into.filePath(name)), kept(folder + '/' + name);
            QVERIFY(fresh.open(QIODevice::ReadOnly) && kept.open(QIODevice::ReadOnly));
            QVERIFY2(fresh.readAll() == kept.readAll(), qPrintable(name + " is not what make_tables.py makes"));
        }
    }

    void canonicalNames()
    {
        QCOMPARE(canonicalName("--max-model-len"), std::string("max_model_len"));
        QCOMPARE(canonicalName("options.num_ctx"), std::string("num_ctx"));
        QCOMPARE(canonicalName("LLAMA_ARG_CTX_SIZE"), std::string("llama_arg_ctx_size"));
    }

    void versions()
    {
        QVERIFY(compareVersions("v0.9.2", "0.10.0") < 0);
        QVERIFY(compareVersions("~0.10.0", "v0.10.0") == 0);
        QVERIFY(compareVersions("0.11.0rc2", "0.11.0") == 0);
        QVERIFY(compareVersions("v0.15.0", "2026-03-01") < 0);
        QVERIFY(compareVersions("main-2026-04-07", "2026-04-07") == 0);
        QVERIFY(compareVersions("b4747", "b8985") < 0);
        QVERIFY(compareVersions("4.57-main", "5.0.0") < 0);
        QVERIFY(compareVersions("99999999999999999999999999", "1") > 0);
    }

    void refusesOtherTables_data()
    {
        QTest::addColumn<QByteArray>("text");
        QTest::addColumn<QByteArray>("expected");
        QTest::newRow("no schema") << QByteArray("{\"version\": 1}") << QByteArray("no schema");
        QTest::newRow("a later form") << QByteArray("{\"schema\": \"prosector.facts/2\"}") << QByteArray("prosector.facts/2");
        QTest::newRow("another table") << QByteArray("{\"schema\": \"prosector.facts/1\", \"table\": \"log-lines\"}")
                                       << QByteArray("log-lines");
        QTest::newRow("a row without a name")
            << QByteArray("{\"schema\": \"prosector.facts/1\", \"table\": \"engine-defaults\", \"rows\": [{}]}")
            << QByteArray("without engine");
    }
    void refusesOtherTables()
    {
        QFETCH(QByteArray, text);
        QFETCH(QByteArray, expected);
        const auto parsed = EngineDefaults::parse(Document::parseJson(text.toStdString()));
        QVERIFY(!parsed.ok());
        QVERIFY2(describe(parsed.error()).find(expected.toStdString()) != std::string::npos, describe(parsed.error()).c_str());
    }

private:
    FactsPtr m_facts;
};

PROSECTOR_TEST(TestEngineDefaults, tst_enginedefaults)
#include "tst_enginedefaults.moc"
