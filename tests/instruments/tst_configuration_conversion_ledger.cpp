// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/corpus.h"
#include "tests/support/ggufwriter.h"
#include "tests/support/instrumenttest.h"
#include "tests/support/tempfolder.h"

#include <functional>

using namespace prosector;
using namespace prosector::test;

namespace prosector {
extern const Instrument configuration_conversion_ledger;
}

namespace {

/// A source and a conversion that agree; each row changes one side.
struct Pair {
    std::string type = "llama";
    std::string more{};      ///< members of config.json
    std::string heads = "2"; ///< of config.json
    std::string generation{}, tokenizerConfig{};
    std::uint32_t kvHeads = 1, rows = 32;
    float eps = 1e-5F;
    bool outputHead = false;
    std::function<void(GgufWriter &)> also{};

    void write(TempFolder &folder) const
    {
        folder.file("hf/config.json",
                    "{\"model_type\": \"" + type + "\", \"architectures\": [\"XForCausalLM\"], \"hidden_size\": 64, \"num_hidden_layers\": 1,"
                        "\"num_attention_heads\": " + heads + ", \"num_key_value_heads\": 1, \"intermediate_size\": 96, \"vocab_size\": 32, "
                        "\"max_position_embeddings\": 4096, \"rms_norm_eps\": 1e-05" + (more.empty() ? "" : ", " + more) + "}");
        if (!generation.empty())
            folder.file("hf/generation_config.json", generation);
        if (!tokenizerConfig.empty())
            folder.file("hf/tokenizer_config.json", tokenizerConfig);
        GgufWriter writer;
        writer.string("general.architecture", type).u32(type + ".block_count", 1).u32(type + ".embedding_length", 64);
        writer.u32(type + ".feed_forward_length", 96).u32(type + ".attention.head_count", 2);
        writer.u32(type + ".attention.head_count_kv", kvHeads).u32(type + ".context_length", 4096);
        writer.f32(type + ".attention.layer_norm_rms_epsilon", eps);
        if (also)
            also(writer);
        writer.tensor("token_embd.weight", 0, {rows, 64}, std::string(rows * 64 * 4, '\0'));
        if (outputHead)
            writer.tensor("output.weight", 0, {rows, 64}, std::string(rows * 64 * 4, '\0'));
        folder.file("gguf/model.gguf", writer.bytes());
    }
};

} // namespace
Q_DECLARE_METATYPE(Pair)

class TestConversionLedger : public QObject {
    Q_OBJECT

    const Instrument &f9 = configuration_conversion_ledger;

private slots:
    void lost()
    {
        const Examined examined = examineWith(f9, {fixture(f9.slug, "sick")});
        VERIFY_WORST(f9, examined, Severity::Error);
        const Finding *const finding = examined.find("conversion.rope.scaling");
        QVERIFY2(finding, qPrintable(examined.summary()));
        QVERIFY(examined.pointsAt(*finding, "source/config.json", JsonPath{"$.rope_scaling.rope_type"}));
        QVERIFY(examined.pointsAt(*finding, "model.gguf", JsonPath{"$[\"llama.rope.scaling.type\"]"}));
        QCOMPARE(examined.report->findings.size(), std::size_t(1));
        QCOMPARE(examined.report->tables.at(0).rows.at(0).at(3).text, std::string("lost"));
    }

    void kept()
    {
        const Examined examined = examineWith(f9, {fixture(f9.slug, "healthy")});
        VERIFY_WORST(f9, examined, Severity::Ok);
        QVERIFY2(examined.report->findings.empty(), qPrintable(examined.summary()));
        QVERIFY(examined.report->tables.at(0).rows.size() > 12);
    }

    void sourceAsBaseline()
    {
        const Examined examined = examineWith(f9, {fixture(f9.slug, "sick/model.gguf")}, {fixture(f9.slug, "sick/source")});
        VERIFY_WORST(f9, examined, Severity::Error);
        QCOMPARE(examined.find("conversion.rope.scaling")->evidence.at(0).side, Side::B);
        const Examined healthy = examineWith(f9, {fixture(f9.slug, "healthy/model.gguf")}, {fixture(f9.slug, "healthy/source")});
        VERIFY_WORST(f9, healthy, Severity::Ok);
    }

    void pairs_data()
    {
        QTest::addColumn<Pair>("pair");
        QTest::addColumn<QString>("code");
        QTest::addColumn<Severity>("worst");
        QTest::addColumn<QString>("place"); // in config.json, or empty
        const auto row = [](const char *name, const Pair &pair, const char *code = "", Severity worst = Severity::Ok, const char *place = "") {
            QTest::newRow(name) << pair << code << worst << place;
        };
        const std::string tied = "\"tie_word_embeddings\": true";
        const char *const numbers = "conversion.architecture";
        row("equal", {.more = tied});
        row("kv heads", {.more = tied, .kvHeads = 2}, numbers, Severity::Error, "$.num_key_value_heads");
        row("eps", {.more = tied, .eps = 1e-6F}, numbers, Severity::Error, "$.rms_norm_eps");
        row("rows cut", {.more = tied, .rows = 31}, numbers, Severity::Error, "$.vocab_size");
        row("rows padded", {.more = tied, .rows = 64});
        row("head lost", {.more = "\"tie_word_embeddings\": false"}, numbers, Severity::Error, "$.tie_word_embeddings");
        row("head lost by the type's default", {}, numbers, Severity::Error);
        row("head there", {.outputHead = true});
        row("type with a tied default", {.type = "gemma"});
        row("softcap by default", {.type = "gemma2", .more = "\"attn_logit_softcapping\": 50.0, \"final_logit_softcapping\": 30.0"});
        row("softcap lost", {.type = "gemma2", .more = "\"attn_logit_softcapping\": 40.0"}, numbers, Severity::Error, "$.attn_logit_softcapping");
        row("softcap null", {.type = "gemma2", .more = "\"attn_logit_softcapping\": null"});
        row("query scalar follows", {.type = "gemma2", .more = "\"query_pre_attn_scalar\": 32, \"head_dim\": 32"});
        row("query scalar does not follow", {.type = "gemma2", .more = "\"query_pre_attn_scalar\": 24, \"head_dim\": 32"}, numbers,
            Severity::Error, "$.query_pre_attn_scalar");
        row("multipliers kept", {.type = "granite", .more = tied + ", \"attention_multiplier\": 0.015625, \"logits_scaling\": 6.0",
                                 .also = [](GgufWriter &w) { w.f32("granite.attention.scale", 0.015625F).f32("granite.logit_scale", 6); }});
        row("multiplier lost", {.type = "granite", .more = tied + ", \"attention_multiplier\": 0.015625"}, numbers, Severity::Error,
            "$.attention_multiplier");
        row("multipliers of one", {.type = "granite", .more = tied + ", \"residual_multiplier\": 1.0, \"embedding_multiplier\": 1"});
        row("window lost", {.type = "gemma2", .more = "\"sliding_window\": 1024"}, numbers, Severity::Error, "$.sliding_window");
        row("window off", {.type = "qwen2", .more = tied + ", \"sliding_window\": 1024, \"use_sliding_window\": false"});
        row("window without a place", {.more = tied + ", \"sliding_window\": 1024"}, numbers, Severity::Info, "$.sliding_window");
        row("experts used", {.type = "qwen3moe", .more = tied + ", \"num_experts\": 8, \"num_experts_per_tok\": 2",
                             .also = [](GgufWriter &w) { w.u32("qwen3moe.expert_count", 8).u32("qwen3moe.expert_used_count", 4); }},
            numbers, Severity::Error, "$.num_experts_per_tok");
        row("prediction layers are blocks", {.more = tied + ", \"num_nextn_predict_layers\": 1"});
        row("base lost", {.more = tied + ", \"rope_theta\": 500000.0"}, "conversion.rope.base", Severity::Error, "$.rope_theta");
        row("end changed", {.more = tied + ", \"eos_token_id\": 2", .also = [](GgufWriter &w) { w.u32("tokenizer.ggml.eos_token_id", 7); }},
            "conversion.ids", Severity::Error, "$.eos_token_id");
        row("one end of two", {.more = tied + ", \"eos_token_id\": [2, 7]", .also = [](GgufWriter &w) { w.u32("tokenizer.ggml.eos_token_id", 7); }});
        row("padding id", {.more = tied + ", \"pad_token_id\": 2", .also = [](GgufWriter &w) { w.u32("tokenizer.ggml.padding_token_id", 7); }},
            "conversion.ids", Severity::Info, "$.pad_token_id");
        row("generation defaults", {.more = tied, .generation = "{\"temperature\": 0.6, \"top_p\": 0.95, \"eos_token_id\": 2}"},
            "conversion.generation_defaults", Severity::Warning);
        row("neutral defaults", {.more = tied, .generation = "{\"temperature\": 1.0, \"do_sample\": false, \"max_length\": 512}"});
        row("defaults carried", {.more = tied, .generation = "{\"temperature\": 0.6}",
                                 .also = [](GgufWriter &w) { w.f32("general.sampling.temp", 0.6F); }});
        const auto vocabulary = [](GgufWriter &w) {
            w.string("tokenizer.ggml.model", "gpt2").string("tokenizer.ggml.pre", "gpt-2").strings("tokenizer.ggml.tokens", {"a", "b"});
        };
        row("template lost", {.more = tied, .tokenizerConfig = "{\"tokenizer_class\": \"X\", \"chat_template\": \"{{ x }}\"}", .also = vocabulary},
            "conversion.template", Severity::Warning);
        row("template changed", {.more = tied, .tokenizerConfig = "{\"tokenizer_class\": \"X\", \"chat_template\": \"{{ x }}\"}",
                                 .also = [=](GgufWriter &w) {
                                     vocabulary(w);
                                     w.string("tokenizer.chat_template", "{{ x }} ");
                                 }},
            "conversion.template", Severity::Info);
        row("adder changed", {.more = tied, .tokenizerConfig = "{\"tokenizer_class\": \"LlamaTokenizer\", \"add_bos_token\": true}",
                              .also = vocabulary},
            "conversion.add_bos", Severity::Warning);
    }
    void pairs()
    {
        QFETCH(Pair, pair);
        QFETCH(QString, code);
        QFETCH(Severity, worst);
        QFETCH(QString, place);
        TempFolder folder;
        pair.write(folder);
        const Examined examined = examineWith(f9, {folder.path()});
        VERIFY_WORST(f9, examined, worst);
        QCOMPARE(examined.report->findings.size(), std::size_t(code.isEmpty() ? 0 : 1));
        if (code.isEmpty())
            return;
        const Finding *const finding = examined.find(code.toStdString());
        QVERIFY2(finding, qPrintable(examined.summary()));
        if (!place.isEmpty())
            QVERIFY2(examined.pointsAt(*finding, "hf/config.json", JsonPath{place.toStdString()}), qPrintable(examined.summary()));
    }

    void vocabularies()
    {
        const std::string source = "{\"added_tokens\": [], \"model\": {\"type\": \"BPE\", \"vocab\": {\"a\": 0, \"b\": 1, \"ab\": 2}, "
                                   "\"merges\": [\"a b\"]}}";
        TempFolder folder;
        Pair pair{.more = "\"tie_word_embeddings\": true", .also = [](GgufWriter &w) {
                      w.string("tokenizer.ggml.model", "gpt2").string("tokenizer.ggml.pre", "gpt-2");
                      w.strings("tokenizer.ggml.tokens", {"a", "ab", "b"});
                  }};
        pair.write(folder);
        folder.file("hf/tokenizer.json", source);
        const Examined examined = examineWith(f9, {folder.path()});
        VERIFY_WORST(f9, examined, Severity::Error);
        const Finding *const moved = examined.find("conversion.vocabulary");
        QVERIFY2(moved, qPrintable(examined.summary()));
        QVERIFY(examined.pointsAt(*moved, "hf/tokenizer.json", JsonPath{"$.model.vocab.b"}));
        QVERIFY(examined.pointsAt(*moved, "gguf/model.gguf", JsonPath{"$[\"tokenizer.ggml.tokens\"][1]"}));
        QVERIFY2(examined.find("conversion.merges"), qPrintable(examined.summary()));
    }

    void quantisedFolderAgainstItsSource()
    {
        const std::string numbers = "{\"model_type\": \"llama\", \"hidden_size\": 64, \"num_hidden_layers\": 1, \"num_attention_heads\": 2, "
                                    "\"intermediate_size\": 96, \"vocab_size\": 32, \"max_position_embeddings\": 4096, \"rope_theta\": ";
        TempFolder source, converted;
        source.file("config.json", numbers + "500000.0}");
        converted.file("config.json", numbers + "10000.0, \"quantization\": {\"bits\": 4, \"group_size\": 64}}");
        const Examined examined = examineWith(f9, {converted.path()}, {source.path()});
        VERIFY_WORST(f9, examined, Severity::Error);
        QVERIFY2(examined.find("conversion.rope.base"), qPrintable(examined.summary()));
        // Beside each other too; but another release of that size is another model.
        TempFolder both;
        both.file("hf/config.json", numbers + "500000.0}").file("mlx/config.json", numbers + "10000.0, \"quantization\": {\"bits\": 4, \"group_size\": 64}}");
        VERIFY_WORST(f9, examineWith(f9, {both.path()}), Severity::Error);
        both.file("hf/config.json", "{\"model_type\": \"llama\", \"hidden_size\": 64, \"num_hidden_layers\": 1, \"num_attention_heads\": 2, "
                                    "\"intermediate_size\": 96, \"vocab_size\": 32, \"max_position_embeddings\": 8192, \"rope_theta\": 500000.0}");
        QVERIFY(examineWith(f9, {both.path()}).report->undecidable());
        // A fine-tune in the baseline is no conversion.
        TempFolder tuned;
        tuned.file("config.json", numbers + "10000.0}");
        QVERIFY(examineWith(f9, {tuned.path()}, {source.path()}).report->undecidable());
    }

    void unrelatedFilesAreNotPaired()
    {
        TempFolder folder;
        Pair().write(folder);
        folder.file("hf/config.json", "{\"model_type\": \"bert\", \"hidden_size\": 768, \"num_hidden_layers\": 12, \"vocab_size\": 30522, "
                                      "\"num_attention_heads\": 12}");
        const Examined examined = examineWith(f9, {folder.path()});
        QVERIFY_RESULT(examined.report);
        QVERIFY2(examined.report->undecidable(), qPrintable(examined.summary()));
    }

    void nothingToLookAt()
    {
        TempFolder folder;
        folder.file("notes.txt", "hello\n");
        const Examined examined = examineWith(f9, {folder.path()});
        QVERIFY_RESULT(examined.report);
        QCOMPARE(examined.report->missing, (std::vector<std::string>{"config_files", "weights"}));
    }

    void damageAndCancel()
    {
        QCOMPARE(faultUnderDamage(f9, fixture(f9.slug, "healthy")), QString());
        QCOMPARE(faultWhenCancelled(f9, fixture(f9.slug, "healthy")), QString());
    }

    void report37()
    {
        REQUIRE_SHARED(shared);
        const Examined sick = examineWith(f9, {shared + "/reports/b37/sick"});
        VERIFY_WORST(f9, sick, Severity::Error);
        QVERIFY2(sick.find("conversion.rope.scaling"), qPrintable(sick.summary()));
        const Examined healthy = examineWith(f9, {shared + "/reports/b37/healthy"});
        VERIFY_WORST(f9, healthy, Severity::Ok);
    }

    void realPair()
    {
        REQUIRE_SHARED(shared);
        const Examined examined = examineWith(f9, {shared + "/corpus/models/stories260K"});
        VERIFY_WORST(f9, examined, Severity::Ok);
        QCOMPARE(examined.report->tables.size(), std::size_t(1));
    }
};

PROSECTOR_TEST(TestConversionLedger, tst_configuration_conversion_ledger)

#include "tst_configuration_conversion_ledger.moc"
