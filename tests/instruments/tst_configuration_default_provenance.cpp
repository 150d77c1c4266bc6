// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/corpus.h"
#include "tests/support/instrumenttest.h"
#include "tests/support/tempfolder.h"

using namespace prosector;
using namespace prosector::test;

namespace prosector {
extern const Instrument configuration_default_provenance;
}

class TestDefaultProvenance : public QObject {
    Q_OBJECT

    const Instrument &f2 = configuration_default_provenance;
    static constexpr std::string_view greedyFile = "{\"do_sample\": true, \"temperature\": 0.1, \"top_k\": 1, \"top_p\": 0.001, \"repetition_penalty\": 1.05}";
    static constexpr std::string_view silentRequest = "{\"model\": \"m\", \"messages\": [{\"role\": \"user\", \"content\": \"hi\"}]}";

private slots:
    void init() { failOnQtWarnings(); }

    void greedyByTheFile()
    {
        const Examined examined = examineWith(f2, {fixture(f2.slug, "sick")});
        VERIFY_WORST(f2, examined, Severity::Error);
        const Finding *const finding = examined.find("config.defaults.greedy");
        QVERIFY2(finding, qPrintable(examined.summary()));
        QCOMPARE(finding->severity, Severity::Error);
        QVERIFY(finding->title.find("top_k 1") != std::string::npos);
        QVERIFY(examined.pointsAt(*finding, "model/generation_config.json", JsonPath{"$.top_k"}));
        QVERIFY(examined.pointsAt(*finding, "effective_sampling_params.json", JsonPath{"$.top_k"}));
        const Finding *const penalty = examined.find("config.defaults.penalty");
        QVERIFY(penalty);
        QVERIFY(examined.pointsAt(*penalty, "model/generation_config.json", JsonPath{"$.repetition_penalty"}));
    }

    void sameFileLeftOut()
    {
        const Examined examined = examineWith(f2, {fixture(f2.slug, "healthy")});
        QVERIFY_RESULT(examined.report);
        QCOMPARE(faultOf(f2, examined), QString());
        QVERIFY2(examined.worst() <= Severity::Info, qPrintable(examined.summary()));
        QVERIFY(!examined.find("config.defaults.greedy"));
        // The table shows what was ignored and why.
        bool said = false;
        for (const Table &table : examined.report->tables) {
            for (const auto &row : table.rows)
                said |= row[0].text == "top_k" && row[5].text.find("--generation-config vllm") != std::string::npos;
        }
        QVERIFY(said);
    }

    void bothAtOnceStayApart()
    {
        const Examined examined = examineWith(f2, {fixture(f2.slug, "")});
        QVERIFY_RESULT(examined.report);
        const Finding *const finding = examined.find("config.defaults.greedy");
        QVERIFY(finding);
        QVERIFY(examined.pointsAt(*finding, "sick/model/generation_config.json", JsonPath{"$.top_k"}));
        QCOMPARE(examined.report->tables.size(), std::size_t(2));
    }

    void severities_data()
    {
        QTest::addColumn<QByteArray>("generation");
        QTest::addColumn<QByteArray>("request");
        QTest::addColumn<QByteArray>("arguments");
        QTest::addColumn<QByteArray>("log");
        QTest::addColumn<QByteArray>("effective");
        QTest::addColumn<int>("worst");
        QTest::addColumn<QByteArray>("code");
        const QByteArray greedy(greedyFile.data(), static_cast<int>(greedyFile.size()));
        const QByteArray silent(silentRequest.data(), static_cast<int>(silentRequest.size()));
        const QByteArray vendor = "{\"do_sample\": true, \"temperature\": 0.6, \"top_k\": 20, \"top_p\": 0.95}";
        const QByteArray took = "INFO 05-29 10:00:01 [serving_chat.py:124] Using default chat sampling params from model: ";
        const int info = static_cast<int>(Severity::Info), warning = static_cast<int>(Severity::Warning),
                  error = static_cast<int>(Severity::Error), ok = static_cast<int>(Severity::Ok), undecidable = static_cast<int>(Severity::Undecidable);
        QTest::newRow("a folder alone") << greedy << QByteArray() << QByteArray() << QByteArray() << QByteArray() << info << QByteArray("config.defaults.greedy");
        QTest::newRow("a folder and a request, no engine") << greedy << silent << QByteArray() << QByteArray() << QByteArray() << info << QByteArray("config.defaults.greedy");
        QTest::newRow("the engine says that it took them") << greedy << silent << QByteArray() << QByteArray(took + "{'temperature': 0.1, 'top_k': 1, 'top_p': 0.001, 'repetition_penalty': 1.05}\n") << QByteArray() << error << QByteArray("config.defaults.greedy");
        QTest::newRow("said by the log, no request captured") << QByteArray() << QByteArray() << QByteArray() << QByteArray(took + "{'temperature': 0.1, 'top_k': 1}\n") << QByteArray() << warning << QByteArray("config.defaults.greedy");
        QTest::newRow("vendor advice in the log") << QByteArray() << QByteArray() << QByteArray() << QByteArray(took + "{'temperature': 0.6, 'top_k': 20, 'top_p': 0.95}\n") << QByteArray() << info << QByteArray("config.defaults.file");
        QTest::newRow("vendor advice that ran") << vendor << silent << QByteArray("{\"model\": \"m\", \"generation_config\": \"auto\"}") << QByteArray() << QByteArray("{\"temperature\": 0.6, \"top_k\": 20, \"top_p\": 0.95}") << warning << QByteArray("config.defaults.file");
        QTest::newRow("named by the operator") << greedy << silent << QByteArray("{\"model\": \"m\", \"generation_config\": \"/srv/defaults\"}") << QByteArray() << QByteArray("{\"temperature\": 0.1, \"top_k\": 1, \"top_p\": 0.001, \"repetition_penalty\": 1.05}") << info << QByteArray("config.defaults.greedy");
        QTest::newRow("set by the request") << greedy << QByteArray("{\"model\": \"m\", \"messages\": [], \"temperature\": 0.1, \"top_k\": 1, \"top_p\": 0.001, \"repetition_penalty\": 1.05}") << QByteArray() << QByteArray() << QByteArray("{\"temperature\": 0.1, \"top_k\": 1, \"top_p\": 0.001, \"repetition_penalty\": 1.05}") << info << QByteArray("config.defaults.sampling_in_name_only");
        QTest::newRow("nothing but defaults") << QByteArray("{\"eos_token_id\": 2}") << silent << QByteArray() << QByteArray() << QByteArray("{\"temperature\": 1.0, \"top_k\": -1, \"top_p\": 1.0}") << ok << QByteArray();
        QTest::newRow("nothing to go by") << QByteArray() << QByteArray() << QByteArray() << QByteArray() << QByteArray() << undecidable << QByteArray();
        QTest::newRow("an engine that does not read the file") << greedy << QByteArray("{\"inputs\": \"hi\", \"parameters\": {}}") << QByteArray() << QByteArray("2026-01-10T10:00:00.000000Z  INFO text_generation_launcher: Using attention flashinfer - Prefix caching true\n") << QByteArray() << info << QByteArray("config.defaults.sampling_in_name_only");
    }
    void severities()
    {
        QFETCH(QByteArray, generation);
        QFETCH(QByteArray, request);
        QFETCH(QByteArray, arguments);
        QFETCH(QByteArray, log);
        QFETCH(QByteArray, effective);
        QFETCH(int, worst);
        QFETCH(QByteArray, code);
        TempFolder folder;
        folder.file("model/config.json", "{\"model_type\": \"llama\", \"architectures\": [\"LlamaForCausalLM\"], \"hidden_size\": 8, \"num_hidden_layers\": 1, \"num_attention_heads\": 1, \"vocab_size\": 8}");
        const auto add = [&](const char *name, const QByteArray &bytes) {
            if (!bytes.isEmpty())
                folder.file(name, bytes.toStdString());
        };
        add("model/generation_config.json", generation);
        add("request.json", request);
        add("engine_args.json", arguments);
        add("server.log", log);
        add("effective_sampling_params.json", effective);
        const Examined examined = examineWith(f2, {folder.path()});
        VERIFY_WORST(f2, examined, static_cast<Severity>(worst));
        if (!code.isEmpty())
            QVERIFY2(examined.find(code.toStdString()), qPrintable(examined.summary()));
    }

    void damage() { QCOMPARE(faultUnderDamage(f2, fixture(f2.slug, "sick")), QString()); }
    void cancels() { QCOMPARE(faultWhenCancelled(f2, fixture(f2.slug, "sick")), QString()); }

    void report57()
    {
        REQUIRE_SHARED(shared);
        const Examined sick = examineWith(f2, {shared + "/reports/b57/sick"});
        VERIFY_WORST(f2, sick, Severity::Error);
        const Finding *const finding = sick.find("config.defaults.greedy");
        QVERIFY(finding && finding->title.find("top_k 1") != std::string::npos);
        const Examined healthy = examineWith(f2, {shared + "/reports/b57/healthy"});
        QVERIFY_RESULT(healthy.report);
        QVERIFY2(healthy.worst() <= Severity::Info, qPrintable(healthy.summary()));
    }
};

PROSECTOR_TEST(TestDefaultProvenance, tst_configuration_default_provenance)
#include "tst_configuration_default_provenance.moc"
