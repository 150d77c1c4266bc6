// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/config/effective.h"
#include "tests/support/strict.h"
#include "tests/support/tempfolder.h"

#include <QTest>

using namespace prosector;
using namespace prosector::test;

class TestEffective : public QObject {
    Q_OBJECT

    std::vector<EffectiveConfig> configsOf(const std::vector<std::string> &paths)
    {
        auto run = Run::open(paths, Job());
        if (!run)
            return {};
        m_run = *run;
        auto configs = effectiveConfigs(*m_run, *m_facts, Job());
        return configs ? std::move(*configs) : std::vector<EffectiveConfig>();
    }
    RunPtr m_run;
    FactsPtr m_facts;

private slots:
    void init() { failOnQtWarnings(); }
    void initTestCase()
    {
        auto loaded = Facts::load();
        QVERIFY_RESULT(loaded);
        m_facts = *loaded;
    }

    void whoSetIt()
    {
        TempFolder folder;
        folder.file("model/config.json", "{\"model_type\": \"llama\", \"architectures\": [\"LlamaForCausalLM\"], \"hidden_size\": 8, \"num_hidden_layers\": 1, \"max_position_embeddings\": 4096, \"torch_dtype\": \"bfloat16\"}")
            .file("model/generation_config.json", "{\"temperature\": 0.6, \"top_k\": 20, \"frequency_penalty\": 1}")
            .file("request.json", "{\"model\": \"m\", \"messages\": [], \"temperature\": 0.2}")
            .file("server.log", "INFO 05-29 10:00:00 [utils.py:278] non-default args: {'model': 'm', 'max_model_len': 2048}\n"
                                "INFO 05-29 10:00:01 [core.py:112] Initializing a V1 LLM engine (v0.11.0) with config: model='m', dtype=torch.bfloat16, max_seq_len=2048\n");
        const auto configs = configsOf({folder.path()});
        QCOMPARE(configs.size(), std::size_t(1));
        const EffectiveConfig &config = configs[0];
        QCOMPARE(config.engine, std::string("vLLM"));
        QCOMPARE(config.version, std::string("0.11.0"));
        QVERIFY(config.model.has_value());
        QCOMPARE(config.precedence.size(), std::size_t(4));

        // Chat has no length of its own; 16 is that of the completions route and of the class behind both.
        const EffectiveSetting *const answer = config.find("max_tokens");
        QVERIFY(!answer || answer->value() != "16");

        const EffectiveSetting *const temperature = config.find("temperature");
        QVERIFY(temperature);
        QCOMPARE(temperature->value(), std::string("0.2"));
        QCOMPARE(temperature->chosenBy()->origin, Origin::Request);
        QVERIFY(temperature->chosenBy()->evidence->where == Anchor(JsonPath{"$.temperature"}));
        QCOMPARE(temperature->candidates.size(), std::size_t(3)); // request, file, engine default
        QCOMPARE(temperature->candidates[1].value, std::string("0.6"));
        QCOMPARE(temperature->candidates[2].origin, Origin::EngineDefault);
        QVERIFY(temperature->candidates[2].source.find("vllm-project/vllm") == 0);

        QCOMPARE(config.find("top_k")->chosenBy()->origin, Origin::CheckpointFile);
        // A key that this engine does not read from the file.
        const EffectiveSetting *const frequency = config.find("frequency_penalty");
        QCOMPARE(frequency->ignored.size(), std::size_t(1));
        QCOMPARE(frequency->chosenBy()->origin, Origin::EngineDefault);

        const EffectiveSetting *const length = config.find("context_length");
        QCOMPARE(length->value(), std::string("2048"));
        QVERIFY(length->observed.has_value());
        QCOMPARE(length->chosenBy()->origin, Origin::Flag);
        QVERIFY(length->chosenBy()->evidence->where == Anchor(LogLine{1, 1}));
        QVERIFY(length->observed->evidence->where == Anchor(LogLine{2, 2}));
        QCOMPARE(config.find("dtype")->chosenBy()->origin, Origin::CheckpointFile);

        const Table table = config.table();
        QCOMPARE(table.columns.size(), std::size_t(6));
        QCOMPARE(table.rows.size(), config.settings.size());
        for (const auto &row : table.rows)
            QCOMPARE(row.size(), table.columns.size());
    }

    void ollamasFixedValues()
    {
        TempFolder folder;
        folder.file("api_show.json", "{\"modelfile\": \"FROM x\", \"parameters\": \"temperature 0.2\\ntop_k 10\", \"template\": \"x\", \"model_info\": {\"llama.context_length\": 4096}}")
            .file("request.json", "{\"model\": \"m\", \"messages\": []}");
        const auto configs = configsOf({folder.path()});
        QCOMPARE(configs.size(), std::size_t(1));
        QCOMPARE(configs[0].find("temperature")->value(), std::string("1"));
        QCOMPARE(configs[0].find("temperature")->chosenBy()->origin, Origin::EngineDefault);
        QCOMPARE(configs[0].find("top_k")->value(), std::string("10"));
    }

    void siblingsAreApart()
    {
        TempFolder folder;
        for (const std::string which : {"a", "b"}) {
            folder.file(which + "/engine_args.json", "{\"model\": \"m\", \"max_model_len\": " + std::string(which == "a" ? "1024" : "2048") + "}")
                .file(which + "/model/config.json", "{\"model_type\": \"llama\", \"architectures\": [\"LlamaForCausalLM\"], \"hidden_size\": 8, \"num_hidden_layers\": 1}");
        }
        const auto configs = configsOf({folder.path()});
        QCOMPARE(configs.size(), std::size_t(2));
        QCOMPARE(configs[0].scope, std::string("a"));
        QCOMPARE(configs[0].find("context_length")->value(), std::string("1024"));
        QCOMPARE(configs[1].find("context_length")->value(), std::string("2048"));
        // A folder and a log given side by side belong together.
        QCOMPARE(configsOf({folder.path("a/model"), folder.path("a/engine_args.json")}).size(), std::size_t(1));
        QCOMPARE(configsOf({folder.path("a"), folder.path("b")}).size(), std::size_t(2));
    }

    void statusPages_data()
    {
        QTest::addColumn<QByteArray>("name");
        QTest::addColumn<QByteArray>("text");
        QTest::addColumn<QString>("engine");
        QTest::addColumn<QString>("setting");
        QTest::addColumn<QString>("value");
        QTest::newRow("llama.cpp /props") << QByteArray("props.json") << QByteArray("{\"default_generation_settings\": {\"n_ctx\": 4096, \"params\": {\"temperature\": 0.8}}, \"total_slots\": 4}")
                                          << "llama.cpp" << "context_length" << "4096";
        QTest::newRow("llama.cpp /props, sampling") << QByteArray("props.json") << QByteArray("{\"default_generation_settings\": {\"n_ctx\": 4096, \"params\": {\"temperature\": 0.7}}, \"total_slots\": 4}")
                                                    << "llama.cpp" << "temperature" << "0.7";
        QTest::newRow("/v1/models") << QByteArray("models.json") << QByteArray("{\"object\": \"list\", \"data\": [{\"id\": \"m\", \"object\": \"model\", \"max_model_len\": 40960}]}")
                                    << "" << "context_length" << "40960";
        QTest::newRow("ollama /api/show") << QByteArray("api_show.json") << QByteArray("{\"modelfile\": \"FROM x\", \"parameters\": \"num_ctx                8192\\nstop                   \\\"<end>\\\"\", \"template\": \"x\", \"model_info\": {\"llama.context_length\": 131072}}")
                                          << "Ollama" << "context_length" << "8192";
        QTest::newRow("ollama /api/show, file") << QByteArray("api_show.json") << QByteArray("{\"modelfile\": \"FROM x\", \"parameters\": \"\", \"template\": \"x\", \"model_info\": {\"llama.context_length\": 131072}}")
                                                << "Ollama" << "max_position_embeddings" << "131072";
        QTest::newRow("ollama /api/ps") << QByteArray("api_ps.json") << QByteArray("{\"models\": [{\"name\": \"m\", \"context_length\": 4096, \"size_vram\": 1}]}")
                                        << "Ollama" << "context_length" << "4096";
    }
    void statusPages()
    {
        QFETCH(QByteArray, name);
        QFETCH(QByteArray, text);
        QFETCH(QString, setting);
        TempFolder folder;
        folder.file(name.toStdString(), text.toStdString());
        const auto configs = configsOf({folder.path()});
        QCOMPARE(configs.size(), std::size_t(1));
        QTEST(QString::fromStdString(configs[0].engine), "engine");
        const EffectiveSetting *const found = configs[0].find(setting.toStdString());
        QVERIFY(found);
        QTEST(QString::fromStdString(found->value()), "value");
    }

    void logs_data()
    {
        QTest::addColumn<QByteArray>("text");
        QTest::addColumn<QString>("setting");
        QTest::addColumn<QString>("value");
        QTest::addColumn<QString>("origin");
        QTest::newRow("sglang flags") << QByteArray("[2026-04-07 10:00:00] server_args=ServerArgs(model_path='m', context_length=8192, kv_cache_dtype='auto', sampling_defaults='model', random_seed=881321)\n")
                                      << "context_length" << "8192" << "flag";
        QTest::newRow("sglang limits") << QByteArray("[2026-04-07 10:00:00 TP0] max_total_num_tokens=412304, chunked_prefill_size=8192, max_prefill_tokens=16384, max_running_requests=2048, context_len=40960, available_gpu_mem=8.11 GB\n")
                                       << "context_length" << "40960" << "seen running";
        QTest::newRow("ollama runner") << QByteArray("time=2026-08-21T10:00:00.000Z level=INFO source=llama_server.go:433 msg=\"starting llama-server\" cmd=\"/usr/lib/ollama/llama-server --model /root/.ollama/models/blobs/sha256-ab12 --ctx-size 8192 --parallel 2\"\n")
                                       << "context_total" << "8192" << "seen running";
        QTest::newRow("ollama environment") << QByteArray("time=2026-08-21T10:00:00.000Z level=INFO source=routes.go:1951 msg=\"server config\" env=\"map[OLLAMA_CONTEXT_LENGTH:16384 OLLAMA_FLASH_ATTENTION:false OLLAMA_KV_CACHE_TYPE:q8_0 OLLAMA_NUM_PARALLEL:1]\"\n")
                                            << "kv_cache_dtype" << "q8_0" << "environment";
        QTest::newRow("tgi argument block") << QByteArray("2026-01-10T10:00:00.000000Z  INFO text_generation_launcher: Args {\n    max_total_tokens: Some(4096),\n    dtype: None,\n")
                                            << "context_length" << "4096" << "flag";
        QTest::newRow("tgi argument") << QByteArray("2026-01-10T10:00:00.000000Z  INFO text_generation_launcher: Args {\n    quantize: Some(Awq),\n    dtype: None,\n")
                                      << "quantization" << "awq" << "flag";
        QTest::newRow("a dump's auto gives way") << QByteArray("INFO 05-29 10:00:01 [core.py:112] Initializing a V1 LLM engine (v0.11.0) with config: model='m', kv_cache_dtype=auto\n"
                                                               "WARNING 05-29 10:00:02 [cache.py:269] Using fp8_e4m3 data type to store kv cache. It reduces the GPU memory footprint\n")
                                                 << "kv_cache_dtype" << "fp8_e4m3" << "seen running";
    }
    void logs()
    {
        QFETCH(QByteArray, text);
        QFETCH(QString, setting);
        QFETCH(QString, origin);
        TempFolder folder;
        folder.file("server.log", text.toStdString());
        const auto configs = configsOf({folder.path()});
        QCOMPARE(configs.size(), std::size_t(1));
        const EffectiveSetting *const found = configs[0].find(setting.toStdString());
        if (origin.isEmpty())
            return;
        QVERIFY(found);
        QTEST(QString::fromStdString(found->value()), "value");
        const Candidate *const by = found->chosenBy();
        QCOMPARE(QString::fromUtf8(nameOf(by ? by->origin : found->observed->origin).data()), origin);
    }

    void cancels()
    {
        TempFolder folder;
        folder.file("server.log", "non-default args: {'model': 'm'}\n");
        auto run = Run::open(std::vector<std::string>{folder.path()}, Job());
        QVERIFY_RESULT(run);
        std::stop_source stop;
        stop.request_stop();
        const auto configs = effectiveConfigs(**run, *m_facts, Job(stop.get_token()));
        QVERIFY(!configs.ok());
        QCOMPARE(configs.error().code, Errc::Cancelled);
    }

    void nothing() { QVERIFY(configsOf({}).empty()); }
};

PROSECTOR_TEST(TestEffective, tst_effective)
#include "tst_effective.moc"
