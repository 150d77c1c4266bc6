// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/corpus.h"
#include "tests/support/ggufwriter.h"
#include "tests/support/instrumenttest.h"
#include "tests/support/tempfolder.h"

using namespace prosector;
using namespace prosector::test;

namespace prosector {
extern const Instrument configuration_startup_triage;
}

class TestStartupTriage : public QObject {
    Q_OBJECT

    const Instrument &f3 = configuration_startup_triage;
    static std::string config(std::string_view type, std::string_view more = "")
    {
        return "{\"model_type\": \"" + std::string(type) + "\", \"architectures\": [\"XForCausalLM\"], \"vocab_size\": 16" + std::string(more) + "}";
    }

private slots:
    void init() { failOnQtWarnings(); }

    void rulesCompileAndNameKnownPatterns()
    {
        const auto facts = Facts::load();
        QVERIFY_RESULT(facts);
        QVERIFY_RESULT((*facts)->logRules.compileAll());
        for (const LogRule &rule : (*facts)->logRules.rules()) {
            for (const std::string &id : rule.patterns)
                QVERIFY2((*facts)->logPatterns.byId(id), id.c_str());
            QVERIFY2(!rule.patterns.empty() || rule.hasRegex, rule.id.c_str());
        }
        // Every line that the table calls serious is judged by a rule.
        std::vector<const LogRule *> byWording;
        for (const LogPattern &pattern : (*facts)->logPatterns.patterns()) {
            if (pattern.severity != "serious" || (*facts)->logRules.ofPattern(pattern.id))
                continue;
            (*facts)->logRules.matching(pattern.examples.front(), byWording);
            QVERIFY2(!byWording.empty(), pattern.id.c_str());
        }
    }

    void missingPreTokenizer()
    {
        const Examined examined = examineWith(f3, {fixture(f3.slug, "sick")});
        VERIFY_WORST(f3, examined, Severity::Error);
        const Finding *const pre = examined.find("log.pretokenizer.missing");
        QVERIFY2(pre, qPrintable(examined.summary()));
        QCOMPARE(pre->severity, Severity::Warning);
        QVERIFY(examined.pointsAt(*pre, "server.log", LogLine{4, 4}));
        QVERIFY(std::find(pre->next.begin(), pre->next.end(), "T12") != pre->next.end());
        const Finding *const bos = examined.find("log.bos.double");
        QVERIFY(bos);
        QCOMPARE(bos->severity, Severity::Error);
        QCOMPARE(bos->measure->number, 2.0);
        QCOMPARE(examined.find("log.context.below_training")->severity, Severity::Info);
    }

    void decoyIsCleared()
    {
        const Examined examined = examineWith(f3, {fixture(f3.slug, "healthy")});
        VERIFY_WORST(f3, examined, Severity::Info);
        const Finding *const finding = examined.find("log.regex.incorrect");
        QVERIFY2(finding, qPrintable(examined.summary()));
        QVERIFY(examined.pointsAt(*finding, "load.log", LogLine{1, 1}));
        QVERIFY(examined.pointsAt(*finding, "config.json", JsonPath{"$.model_type"}));
        QVERIFY(examined.pointsAt(*finding, "encode_compare.jsonl", Whole{}));
    }

    void rules_data()
    {
        QTest::addColumn<QByteArray>("log");
        QTest::addColumn<QByteArray>("configuration");
        QTest::addColumn<QByteArray>("comparison");
        QTest::addColumn<QByteArray>("code");
        QTest::addColumn<int>("severity");
        const int info = static_cast<int>(Severity::Info), warning = static_cast<int>(Severity::Warning), error = static_cast<int>(Severity::Error);
        const auto of = [](std::string text) { return QByteArray::fromStdString(text); };
        const QByteArray regexLine = "The tokenizer you are loading from 'x' with an incorrect regex pattern: https\n";
        QTest::newRow("mistral, nothing measured") << regexLine << of(config("mistral")) << QByteArray() << QByteArray("regex.incorrect") << warning;
        QTest::newRow("mistral, equal ids") << regexLine << of(config("mistral")) << QByteArray("{\"ids_flag_off\": [1], \"ids_flag_on\": [1]}\n") << QByteArray("regex.incorrect") << info;
        QTest::newRow("other family, different ids") << regexLine << of(config("qwen3")) << QByteArray("{\"ids_flag_off\": [1], \"ids_flag_on\": [2]}\n") << QByteArray("regex.incorrect") << warning;
        QTest::newRow("nothing else open") << regexLine << QByteArray() << QByteArray() << QByteArray("regex.incorrect") << warning;
        const QByteArray fresh = "Some weights of X were not initialized from the model checkpoint at my/model and are newly initialized: ";
        QTest::newRow("new served tensor") << QByteArray(fresh + "['model.layers.0.self_attn.q_norm.weight']\n") << QByteArray() << QByteArray() << QByteArray("weights.new") << error;
        QTest::newRow("new task head") << QByteArray(fresh + "['classifier.bias', 'classifier.weight']\n") << QByteArray() << QByteArray() << QByteArray("weights.new") << info;
        QTest::newRow("tied head") << QByteArray(fresh + "['lm_head.weight']\n") << of(config("llama", ", \"tie_word_embeddings\": true")) << QByteArray() << QByteArray("weights.new") << info;
        QTest::newRow("untied head") << QByteArray(fresh + "['lm_head.weight']\n") << of(config("llama", ", \"tie_word_embeddings\": false")) << QByteArray() << QByteArray("weights.new") << error;
        QTest::newRow("load report") << QByteArray("lm_head.weight                         | MISSING    | | \n") << QByteArray() << QByteArray() << QByteArray("weights.new") << error;
        const QByteArray scale = "WARNING 05-29 10:00:01 [kv_cache.py:123] Using KV cache scaling factor 1.0 for fp8_e4m3. If this is unintended\n";
        QTest::newRow("scale of one") << scale << of(config("llama")) << QByteArray() << QByteArray("kv.scale_one") << warning;
        QTest::newRow("scale of one, latent attention") << scale << of(config("deepseek_v3", ", \"kv_lora_rank\": 512")) << QByteArray() << QByteArray("kv.scale_one") << info;
        QTest::newRow("scale of one, e5m2 in the arguments") << scale + "non-default args: {'kv_cache_dtype': 'fp8_e5m2'}\n" << QByteArray() << QByteArray() << QByteArray("kv.scale_one") << info;
        QTest::newRow("scale of one, e4m3 in the arguments") << scale + "non-default args: {'kv_cache_dtype': 'fp8_e4m3'}\n" << QByteArray() << QByteArray() << QByteArray("kv.scale_one") << warning;
        QTest::newRow("keys of a state") << QByteArray("load_state_dict: missing keys: ['model.norm.weight']\n") << QByteArray() << QByteArray() << QByteArray("weights.not_loaded") << warning;
        QTest::newRow("out of memory") << QByteArray("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.\n") << QByteArray() << QByteArray() << QByteArray("memory.exhausted") << warning;
        QTest::newRow("mrope") << QByteArray("Unrecognized keys in `rope_scaling` for 'rope_type'='default': {'mrope_section'}\n") << QByteArray() << QByteArray() << QByteArray("rope.keys") << info;
        QTest::newRow("a key that matters") << QByteArray("Unrecognized keys in `rope_scaling` for 'rope_type'='yarn': {'finetuned'}\n") << QByteArray() << QByteArray() << QByteArray("rope.keys") << warning;
        QTest::newRow("truncation") << QByteArray("time=2026-08-21T10:00:00.000Z level=WARN source=llama_server.go:317 msg=\"truncating input prompt\" limit=4096 prompt=7312 keep=5 new=4096\n") << QByteArray() << QByteArray() << QByteArray("input.truncated") << error;
        QTest::newRow("encoder") << QByteArray("load: special_eos_id is not in special_eog_ids - the tokenizer config may be incorrect\n") << of(config("roberta")) << QByteArray() << QByteArray("stop.eos_outside") << info;
        QTest::newRow("not an encoder") << QByteArray("load: special_eos_id is not in special_eog_ids - the tokenizer config may be incorrect\n") << of(config("llama")) << QByteArray() << QByteArray("stop.eos_outside") << warning;
        QTest::newRow("colours and unknown engine") << QByteArray("\x1b[33m12:00 W right-padding was \x1b[0mdetected\n") << QByteArray() << QByteArray() << QByteArray("padding.right") << warning;
    }
    void rules()
    {
        QFETCH(QByteArray, log);
        QFETCH(QByteArray, configuration);
        QFETCH(QByteArray, comparison);
        QFETCH(QByteArray, code);
        QFETCH(int, severity);
        TempFolder folder;
        folder.file("server.log", log.toStdString());
        if (!configuration.isEmpty())
            folder.file("config.json", configuration.toStdString());
        if (!comparison.isEmpty())
            folder.file("encode_compare.jsonl", comparison.toStdString());
        const Examined examined = examineWith(f3, {folder.path()});
        QVERIFY_RESULT(examined.report);
        QCOMPARE(faultOf(f3, examined), QString());
        const Finding *const finding = examined.find("log." + code.toStdString());
        QVERIFY2(finding, qPrintable(examined.summary()));
        QCOMPARE(static_cast<int>(finding->severity), severity);
        QVERIFY(examined.pointsAt(*finding, "server.log", LogLine{1, 1}));
    }

    void preTokenizerIsThere()
    {
        TempFolder folder;
        GgufWriter writer;
        writer.string("general.architecture", "llama").string("tokenizer.ggml.model", "gpt2").string("tokenizer.ggml.pre", "llama-bpe");
        folder.file("model.gguf", writer.bytes()).file("server.log", "load: missing pre-tokenizer type, using: 'default'\n");
        const Examined examined = examineWith(f3, {folder.path()});
        VERIFY_WORST(f3, examined, Severity::Info);
    }

    void noLog()
    {
        TempFolder folder;
        folder.file("config.json", config("llama")).file("tokens.out", " 1 2 3\n 4 5\n");
        const Examined examined = examineWith(f3, {folder.path()});
        QVERIFY_RESULT(examined.report);
        QCOMPARE(examined.report->missing, std::vector<std::string>{"startup_log"});
    }

    /// The silence of a log that is nobody's says nothing; that of an engine's log does.
    void unknownLog()
    {
        TempFolder nobodys, engines;
        nobodys.file("server.log", "127.0.0.1 - - [01/Jan/2026:00:00:00 +0000] \"GET / HTTP/1.1\" 200 12\nhello\n");
        const Examined silent = examineWith(f3, {nobodys.path()});
        VERIFY_WORST(f3, silent, Severity::Undecidable);
        QCOMPARE(silent.report->missing, std::vector<std::string>{"startup_log"});
        TempFolder levels;
        levels.file("load.log", "INFO tokenizer ready\n");
        VERIFY_WORST(f3, examineWith(f3, {levels.path()}), Severity::Ok);
        engines.file("server.log", "INFO 01-01 00:00:00 api_server.py:1] vLLM API server version 0.11.0\n");
        VERIFY_WORST(f3, examineWith(f3, {engines.path()}), Severity::Ok);
    }

    void damage() { QCOMPARE(faultUnderDamage(f3, fixture(f3.slug, "healthy")), QString()); }
    void cancels() { QCOMPARE(faultWhenCancelled(f3, fixture(f3.slug, "sick")), QString()); }

    void report13()
    {
        REQUIRE_SHARED(shared);
        for (const char *const which : {"sick", "healthy"}) {
            const Examined examined = examineWith(f3, {shared + "/reports/b13/" + which});
            QVERIFY_RESULT(examined.report);
            QVERIFY2(examined.worst() <= Severity::Info, qPrintable(examined.summary()));
            QCOMPARE(examined.find("log.regex.incorrect") != nullptr, std::string(which) == "sick");
        }
    }
};

PROSECTOR_TEST(TestStartupTriage, tst_configuration_startup_triage)
#include "tst_configuration_startup_triage.moc"
