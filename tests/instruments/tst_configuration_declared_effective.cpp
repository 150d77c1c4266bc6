// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/corpus.h"
#include "tests/support/ggufwriter.h"
#include "tests/support/instrumenttest.h"
#include "tests/support/tempfolder.h"

using namespace prosector;
using namespace prosector::test;

namespace prosector {
extern const Instrument configuration_declared_effective;
}

class TestDeclaredEffective : public QObject {
    Q_OBJECT

    const Instrument &f1 = configuration_declared_effective;
    static std::string config(std::string_view more = "")
    {
        return "{\"model_type\": \"llama\", \"architectures\": [\"LlamaForCausalLM\"], \"hidden_size\": 64, \"num_hidden_layers\": 2, \"num_attention_heads\": 4,"
               "\"num_key_value_heads\": 2, \"max_position_embeddings\": 4096, \"vocab_size\": 16, \"rope_theta\": 1000000.0, \"torch_dtype\": \"bfloat16\""
            + std::string(more) + "}";
    }

private slots:
    void init() { failOnQtWarnings(); }

    void baseContradicted()
    {
        const Examined examined = examineWith(f1, {fixture(f1.slug, "sick")});
        VERIFY_WORST(f1, examined, Severity::Error);
        QCOMPARE(examined.report->findings.size(), std::size_t(1));
        const Finding *const finding = examined.find("config.contradicted");
        QVERIFY2(finding, qPrintable(examined.summary()));
        QVERIFY(finding->title.find("rope_theta") == 0);
        QVERIFY(examined.pointsAt(*finding, "model.gguf", JsonPath{"$[\"llama.rope.freq_base\"]"}));
        QVERIFY(examined.pointsAt(*finding, "server.log", LogLine{9, 9}));
    }

    void leftToTheEngine()
    {
        const Examined examined = examineWith(f1, {fixture(f1.slug, "healthy")});
        VERIFY_WORST(f1, examined, Severity::Info);
        const Finding *const finding = examined.find("config.derived");
        QVERIFY2(finding, qPrintable(examined.summary()));
        QVERIFY(finding->detail.find("dtype bfloat16") != std::string::npos);
    }

    void logs_data()
    {
        QTest::addColumn<QByteArray>("more");
        QTest::addColumn<QByteArray>("log");
        QTest::addColumn<QByteArray>("request");
        QTest::addColumn<int>("worst");
        QTest::addColumn<QByteArray>("code");
        QTest::addColumn<QByteArray>("title");
        const int ok = static_cast<int>(Severity::Ok), info = static_cast<int>(Severity::Info), warning = static_cast<int>(Severity::Warning),
                  error = static_cast<int>(Severity::Error);
        const auto args = [](const char *inner) { return QByteArray("INFO 05-29 10:00:00 [utils.py:278] non-default args: {") + inner + "}\n"; };
        const auto engine = [](const char *inner) {
            return QByteArray("INFO 05-29 10:00:01 [core.py:112] Initializing a V1 LLM engine (v0.11.0) with config: model='m', ") + inner + "\n";
        };
        const QByteArray none;
        QTest::newRow("asked and given") << none << args("'max_model_len': 2048, 'dtype': 'half'") + engine("dtype=torch.float16, max_seq_len=2048") << none << ok << none << none;
        QTest::newRow("explicit flag contradicted") << none << args("'kv_cache_dtype': 'fp8'") + engine("dtype=torch.bfloat16, kv_cache_dtype=fp8_e5m2") << none << error << QByteArray("config.contradicted") << QByteArray("kv_cache_dtype");
        QTest::newRow("same type, two spellings") << none << args("'kv_cache_dtype': 'fp8'") + engine("dtype=torch.bfloat16, kv_cache_dtype=fp8_e4m3") << none << ok << none << none;
        QTest::newRow("suffix of the flag") << none << QByteArray("vllm serve m --max-model-len 4k\n") + engine("max_seq_len=4000") << none << ok << none << none;
        QTest::newRow("shortened to fit") << none << args("'max_model_len': 131072") + "INFO 05-29 10:00:02 [kv_cache_utils.py:1894] Auto-fit max_model_len: reduced from 131072 to 52112 to fit in available GPU memory (9.3 GiB available for KV cache)\n" << none << warning << QByteArray("config.changed") << QByteArray("52112");
        QTest::newRow("device without bfloat16") << none << args("'dtype': 'bfloat16'") + "WARNING 05-29 10:00:00 [model.py:2036] Your device 'Tesla T4' (with compute capability 7.5) doesn't support torch.bfloat16. Falling back to torch.float16 for compatibility.\n" << none << warning << QByteArray("config.changed") << QByteArray("float16");
        QTest::newRow("faster kernel of one format") << QByteArray(", \"quantization_config\": {\"quant_method\": \"gptq\", \"bits\": 4}") << args("'quantization': 'gptq'") + engine("quantization=gptq_marlin") << none << info << QByteArray("config.derived") << none;
        QTest::newRow("base asked for by a flag") << none << QByteArray("llama-server -m m.gguf --rope-freq-base 10000\nllama_context: freq_base     = 10000.0\n") << none << ok << none << none;
        QTest::newRow("base printed with one digit after the point") << none << QByteArray("llama_context: freq_base     = 1000000.0\n") << none << ok << none << none;
        QTest::newRow("overridden in config.json's place") << none << args("'hf_overrides': {'rope_theta': 10000.0}") + "llama_context: freq_base     = 10000.0\n" << none << info << QByteArray("config.derived") << none;
        QTest::newRow("context split over slots") << none << QByteArray("llama-server -m m.gguf -c 4096 -np 4\nllama_context: n_seq_max     = 4\nllama_context: n_ctx         = 4096\nllama_context: n_ctx_seq     = 1024\n") << none << ok << none << none;
        QTest::newRow("context padded") << none << QByteArray("llama-server -m m.gguf -c 4000\nllama_context: n_ctx         = 4096\n") << none << ok << none << none;
        QTest::newRow("another context") << none << QByteArray("llama-server -m m.gguf -c 4096\nllama_context: n_ctx         = 8192\n") << none << error << QByteArray("config.contradicted") << QByteArray("context_total");
        QTest::newRow("the draft model's block") << none << QByteArray("llama_model_loader: loaded meta data with 33 key-value pairs and 399 tensors from /m/big.gguf (version GGUF V3 (latest))\nllama_context: freq_base     = 1000000.0\n"
                                                                "llama_model_loader: loaded meta data with 33 key-value pairs and 399 tensors from /m/draft.gguf (version GGUF V3 (latest))\nprint_info: n_head_kv        = 7\nllama_context: freq_base     = 10000.0\n") << none << ok << none << none;
        QTest::newRow("another file was loaded") << none << QByteArray("llama_model_loader: loaded meta data with 33 key-value pairs and 399 tensors from /m/big.gguf (version GGUF V3 (latest))\nprint_info: n_head_kv        = 8\n") << none << error << QByteArray("config.other_file") << QByteArray("num_key_value_heads");
        QTest::newRow("the log alone: file and runtime disagree") << none << QByteArray("llm_load_print_meta: freq_base_train  = 1000000.0\nllama_new_context_with_model: freq_base     = 10000.0\n") << none << error << QByteArray("config.contradicted") << QByteArray("rope_theta");
        QTest::newRow("window switched off in the file") << QByteArray(", \"sliding_window\": 2048, \"use_sliding_window\": false") << QByteArray("print_info: n_swa            = 0\nllama_context: n_ctx         = 4096\n") << none << ok << none << none;
        QTest::newRow("unknown field, said by the log") << none << engine("dtype=torch.bfloat16") + "DEBUG 05-29 10:00:03 [protocol.py:52] The following fields were present in the request but ignored: {'num_ctx', 'typical_p'}\n" << none << warning << QByteArray("config.ignored") << QByteArray("typical_p");
        QTest::newRow("field of another engine") << none << QByteArray("build: 6527 (27aef3dd) with cc\nllama_context: n_ctx         = 4096\n") << QByteArray("{\"prompt\": \"a\", \"n_predict\": 4, \"repetition_penalty\": 1.2}") << warning << QByteArray("config.ignored") << QByteArray("repetition_penalty");
        QTest::newRow("field of this engine") << none << QByteArray("build: 6527 (27aef3dd) with cc\nllama_context: n_ctx         = 4096\n") << QByteArray("{\"prompt\": \"a\", \"n_predict\": 4, \"repeat_penalty\": 1.2}") << ok << none << none;
        QTest::newRow("greedy resets the rest") << none << engine("dtype=torch.bfloat16") + "INFO 05-29 10:00:05 [logger.py:63] Received request chatcmpl-1: params: SamplingParams(n=1, presence_penalty=0.0, repetition_penalty=1.0, temperature=0.0, top_p=1.0, top_k=0, min_p=0.0, seed=None, stop=[], max_tokens=10), lora_request: None.\n" << QByteArray("{\"messages\": [], \"temperature\": 0, \"top_p\": 0.9}") << ok << none << none;
        QTest::newRow("request contradicted") << none << engine("dtype=torch.bfloat16") + "INFO 05-29 10:00:05 [logger.py:63] Received request chatcmpl-1: params: SamplingParams(n=1, presence_penalty=0.0, repetition_penalty=1.0, temperature=1.0, top_p=0.9, top_k=0, min_p=0.0, seed=None, stop=[], max_tokens=10), lora_request: None.\n" << QByteArray("{\"messages\": [], \"temperature\": 0.3}") << error << QByteArray("config.contradicted") << QByteArray("temperature");
        QTest::newRow("a stop text did not arrive") << none << engine("dtype=torch.bfloat16") + "INFO 05-29 10:00:05 [logger.py:63] Received request chatcmpl-1: params: SamplingParams(n=1, presence_penalty=0.0, repetition_penalty=1.0, temperature=0.3, top_p=0.9, top_k=0, min_p=0.0, seed=None, stop=['###'], max_tokens=10), lora_request: None.\n" << QByteArray("{\"messages\": [], \"temperature\": 0.3, \"top_p\": 0.9, \"stop\": [\"###\", \"END\"]}") << error << QByteArray("config.contradicted") << QByteArray("stop");
        QTest::newRow("stop texts and the engine's own") << none << engine("dtype=torch.bfloat16") + "INFO 05-29 10:00:05 [logger.py:63] Received request chatcmpl-1: params: SamplingParams(n=1, presence_penalty=0.0, repetition_penalty=1.0, temperature=0.3, top_p=0.9, top_k=0, min_p=0.0, seed=None, stop=['END', '###', '<|end|>'], max_tokens=10), lora_request: None.\n" << QByteArray("{\"messages\": [], \"temperature\": 0.3, \"top_p\": 0.9, \"stop\": [\"###\", \"END\"]}") << ok << none << none;
        QTest::newRow("one stop text as a string") << none << engine("dtype=torch.bfloat16") + "INFO 05-29 10:00:05 [logger.py:63] Received request chatcmpl-1: params: SamplingParams(n=1, presence_penalty=0.0, repetition_penalty=1.0, temperature=0.3, top_p=0.9, top_k=0, min_p=0.0, seed=None, stop=['END'], max_tokens=10), lora_request: None.\n" << QByteArray("{\"messages\": [], \"temperature\": 0.3, \"top_p\": 0.9, \"stop\": \"END\"}") << ok << none << none;
        const QByteArray listed = "llama_model_loader: loaded meta data with 33 key-value pairs and 399 tensors from m.gguf (version GGUF V3 (latest))\n"
                                  "llama_model_loader: - kv   0:                       general.architecture str              = llama\n"
                                  "llama_model_loader: - kv   1:              llama.attention.head_count_kv u32              = 2\n"
                                  "llama_model_loader: - kv   2:     llama.attention.layer_norm_rms_epsilon f32              = 0.000010\n";
        QTest::newRow("listed and taken alike") << none << listed + "print_info: n_head_kv        = 2\nprint_info: f_norm_rms_eps   = 1.0e-05\n" << none << ok << none << none;
        QTest::newRow("listed one way, taken another") << none << listed + "print_info: n_head_kv        = 28\n" << none << error << QByteArray("config.contradicted") << QByteArray("num_key_value_heads is 2 as listed");
        QTest::newRow("another epsilon taken") << none << listed + "print_info: f_norm_rms_eps   = 1.0e-06\n" << none << error << QByteArray("config.contradicted") << QByteArray("rms_norm_eps");
        QTest::newRow("asked for, not in use") << none << args("'quantization': 'fp8'") + engine("dtype=torch.bfloat16, quantization=None") << none << error << QByteArray("config.contradicted") << QByteArray("quantization is fp8");
        QTest::newRow("thousands of either kind") << none << args("'max_model_len': '4k'") + engine("max_seq_len=4096") << none << ok << none << none;
        QTest::newRow("Ollama: the runner's context") << none << QByteArray("time=2026-08-21T10:00:00.000Z level=INFO source=server.go:400 msg=\"starting runner\" cmd=\"/usr/bin/ollama runner --model /x --ctx-size 4096 --parallel 2\"\n")
                                                      << QByteArray("{\"model\": \"m\", \"prompt\": \"a\", \"options\": {\"num_ctx\": 32768}}") << warning << QByteArray("config.changed") << QByteArray("2048 instead of 32768");
        QTest::newRow("Ollama: as asked") << none << QByteArray("time=2026-08-21T10:00:00.000Z level=INFO source=server.go:400 msg=\"starting runner\" cmd=\"/usr/bin/ollama runner --model /x --ctx-size 65536 --parallel 2\"\n")
                                          << QByteArray("{\"model\": \"m\", \"prompt\": \"a\", \"options\": {\"num_ctx\": 32768}}") << ok << none << none;
        QTest::newRow("answer length cut") << none << engine("dtype=torch.bfloat16") + "INFO 05-29 10:00:05 [logger.py:63] Received request chatcmpl-1: params: SamplingParams(n=1, presence_penalty=0.0, repetition_penalty=1.0, temperature=1.0, top_p=1.0, top_k=0, min_p=0.0, seed=None, stop=[], max_tokens=10), lora_request: None.\n" << QByteArray("{\"messages\": [], \"max_tokens\": 4000}") << warning << QByteArray("config.changed") << QByteArray("max_tokens");
    }
    void logs()
    {
        QFETCH(QByteArray, more);
        QFETCH(QByteArray, log);
        QFETCH(QByteArray, request);
        QFETCH(int, worst);
        QFETCH(QByteArray, code);
        QFETCH(QByteArray, title);
        TempFolder folder;
        folder.file("model/config.json", config(more.toStdString())).file("server.log", log.toStdString());
        if (!request.isEmpty())
            folder.file("request.json", request.toStdString());
        const Examined examined = examineWith(f1, {folder.path()});
        VERIFY_WORST(f1, examined, static_cast<Severity>(worst));
        if (!code.isEmpty()) {
            const Finding *const finding = examined.find(code.toStdString());
            QVERIFY2(finding, qPrintable(examined.summary()));
            QVERIFY2(finding->title.find(title.toStdString()) != std::string::npos, finding->title.c_str());
        }
    }

    /// A number of the architecture that a recorded configuration contradicts.
    void recorded()
    {
        TempFolder folder;
        folder.file("model/config.json", config(", \"attn_logit_softcapping\": 50.0"))
            .file("effective_config.json", "{\"attn_logit_softcapping\": 0.0, \"dtype\": \"bfloat16\"}");
        const Examined examined = examineWith(f1, {folder.path()});
        VERIFY_WORST(f1, examined, Severity::Error);
        const Finding *const finding = examined.find("config.contradicted");
        QVERIFY2(finding && finding->title.find("attn_logit_softcapping is 50") == 0, qPrintable(examined.summary()));
    }

    /// The name says what such a file is, whatever its keys: any of them could be an argument too.
    void recordedBesideArguments()
    {
        TempFolder folder;
        folder.file("engine_args.json", "{\"model\": \"m\", \"chat_template\": \"a.jinja\"}").file("effective_config.json", "{\"max_model_len\": 8192, \"chat_template\": \"b.jinja\"}");
        const Examined examined = examineWith(f1, {folder.path()});
        VERIFY_WORST(f1, examined, Severity::Error);
        QVERIFY2(examined.find("config.contradicted")->title.starts_with("chat_template"), qPrintable(examined.summary()));
    }

    /// A script beside the log says what the operator asked for.
    void script()
    {
        TempFolder folder;
        folder.file("run.sh", "#!/bin/sh\nllama-server -m m.gguf \\\n    --rope-freq-base 10000\n").file("server.log", "print_info: freq_base_train  = 1000000.0\nllama_context: freq_base     = 10000.0\n");
        VERIFY_WORST(f1, examineWith(f1, {folder.path()}), Severity::Ok);
        folder.remove("run.sh");
        VERIFY_WORST(f1, examineWith(f1, {folder.path()}), Severity::Error);
    }

    void ambiguousModel()
    {
        TempFolder folder;
        folder.file("a/config.json", config()).file("b/config.json", config()).file("server.log", "llama_context: freq_base     = 10000.0\n");
        const Examined examined = examineWith(f1, {folder.path()});
        QVERIFY_RESULT(examined.report);
        QVERIFY2(examined.report->findings.empty(), qPrintable(examined.summary()));
        QCOMPARE(examined.report->notSeen.size(), std::size_t(1));
    }

    void duplicateKeys_data()
    {
        QTest::addColumn<QByteArray>("text");
        QTest::addColumn<int>("findings");
        QTest::newRow("different") << QByteArray("{\"model_type\": \"llama\", \"rope_theta\": 10000.0, \"hidden_size\": 8, \"rope_theta\": 500000.0}") << 1;
        QTest::newRow("the same, other blanks") << QByteArray("{\"model_type\": \"llama\", \"rope_scaling\": {\"factor\":2}, \"hidden_size\": 8, \"rope_scaling\": { \"factor\": 2 }}") << 0;
        QTest::newRow("nested") << QByteArray("{\"model_type\": \"llama\", \"hidden_size\": 8, \"rope_scaling\": {\"factor\": 2, \"factor\": 4}}") << 1;
        QTest::newRow("none") << QByteArray("{\"model_type\": \"llama\", \"hidden_size\": 8}") << 0;
    }
    void duplicateKeys()
    {
        QFETCH(QByteArray, text);
        QFETCH(int, findings);
        TempFolder folder;
        folder.file("config.json", text.toStdString());
        const Examined examined = examineWith(f1, {folder.path()});
        QVERIFY_RESULT(examined.report);
        QCOMPARE(faultOf(f1, examined), QString());
        QCOMPARE(static_cast<int>(examined.report->findings.size()), findings);
        // A folder says nothing of what runs: without a finding that is undecidable, never all clear.
        QCOMPARE(examined.report->missing.empty(), findings > 0);
        if (findings > 0) {
            QCOMPARE(examined.worst(), Severity::Warning);
            QVERIFY(examined.report->findings[0].title.find("stands twice") != std::string::npos);
        }
    }

    void damage() { QCOMPARE(faultUnderDamage(f1, fixture(f1.slug, "sick")), QString()); }
    void cancels() { QCOMPARE(faultWhenCancelled(f1, fixture(f1.slug, "sick")), QString()); }

    void reports()
    {
        REQUIRE_SHARED(shared);
        for (const char *const which : {"b13/sick", "b13/healthy", "b57/sick", "b57/healthy", "b42/healthy", "b37/healthy"}) {
            const Examined examined = examineWith(f1, {shared + "/reports/" + which});
            QVERIFY_RESULT(examined.report);
            QVERIFY2(examined.worst() <= Severity::Info, qPrintable(QString(which) + examined.summary()));
        }
    }
};

PROSECTOR_TEST(TestDeclaredEffective, tst_configuration_declared_effective)
#include "tst_configuration_declared_effective.moc"
