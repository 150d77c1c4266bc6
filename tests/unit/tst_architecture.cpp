// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/config/architecture.h"
#include "models/config/ropescaling.h"
#include "tests/support/ggufwriter.h"
#include "tests/support/reading.h"
#include "tests/support/strict.h"

#include <QTest>

using namespace prosector;

class TestArchitecture : public QObject {
    Q_OBJECT

    static Architecture read(const DocumentPtr &document) { return architectureOfConfig({0}, document->root()); }

private slots:
    void init() { failOnQtWarnings(); }

    void spellings_data()
    {
        QTest::addColumn<QByteArray>("json");
        QTest::addColumn<int>("field");
        QTest::addColumn<double>("value");
        QTest::addColumn<QByteArray>("path");
        const auto row = [](const char *name, const char *json, ArchField field, double value, const char *path) {
            QTest::newRow(name) << QByteArray(json) << int(field) << value << QByteArray(path);
        };
        row("usual", "{\"num_hidden_layers\": 32}", ArchField::Layers, 32, "$.num_hidden_layers");
        row("GPT-2", "{\"n_layer\": 12}", ArchField::Layers, 12, "$.n_layer");
        row("null steps aside", "{\"n_inner\": null, \"intermediate_size\": 7}", ArchField::FeedForward, 7, "$.intermediate_size");
        row("nested wins", "{\"hidden_size\": 1, \"text_config\": {\"hidden_size\": 2}}", ArchField::Hidden, 2, "$.text_config.hidden_size");
        row("outer where nested is silent", "{\"vocab_size\": 9, \"text_config\": {\"hidden_size\": 2}}", ArchField::Vocab, 9, "$.vocab_size");
        row("two levels", "{\"thinker_config\": {\"text_config\": {\"hidden_size\": 3}}}", ArchField::Hidden, 3,
            "$.thinker_config.text_config.hidden_size");
        row("eps", "{\"layer_norm_epsilon\": 1e-12}", ArchField::NormEps, 1e-12, "$.layer_norm_epsilon");
        row("experts", "{\"n_routed_experts\": 256}", ArchField::Experts, 256, "$.n_routed_experts");
        row("mpt", "{\"attn_config\": {\"kv_n_heads\": 8}}", ArchField::KvHeads, 8, "$.attn_config.kv_n_heads");
        row("list of ids", "{\"eos_token_id\": [1, 106]}", ArchField::Eos, 1, "$.eos_token_id");
    }
    void spellings()
    {
        QFETCH(QByteArray, json);
        QFETCH(int, field);
        QFETCH(double, value);
        QFETCH(QByteArray, path);
        const auto document = Document::parseJson(json.toStdString());
        const Architecture arch = read(document);
        const Setting *const setting = arch.get(static_cast<ArchField>(field));
        QVERIFY(setting);
        QCOMPARE(setting->numbers.at(0), value);
        QCOMPARE(std::get<JsonPath>(setting->where.where).path, path.toStdString());
        QVERIFY(arch.remarks.empty());
    }

    void wrongTypesAreRemarkedOn()
    {
        const auto document = Document::parseJson("{\"hidden_size\": \"4096\", \"num_hidden_layers\": 36893488147419103232, "
                                                  "\"num_attention_heads\": NaN, \"tie_word_embeddings\": \"yes\"}");
        const Architecture arch = read(document);
        QVERIFY(!arch.get(ArchField::Hidden) && !arch.get(ArchField::Heads) && !arch.get(ArchField::TiedHead));
        QCOMPARE(arch.number(ArchField::Layers), std::optional(36893488147419103232.0));
        QCOMPARE(arch.remarks.size(), std::size_t(4));
        QCOMPARE(arch.remarks[0].text, std::string("num_hidden_layers = 36893488147419103232: beyond 64 bits"));
    }

    void rope_data()
    {
        QTest::addColumn<QByteArray>("json");
        QTest::addColumn<QByteArray>("text"); // of the first
        QTest::addColumn<int>("count");
        QTest::addColumn<double>("theta");
        QTest::newRow("none") << QByteArray("{\"rope_theta\": 1e4, \"rope_scaling\": null}") << QByteArray("none") << 1 << 1e4;
        QTest::newRow("su is longrope") << QByteArray("{\"rope_theta\": 1e4, \"rope_scaling\": {\"type\": \"su\"}}")
                                        << QByteArray("longrope") << 1 << 1e4;
        QTest::newRow("v5 flat") << QByteArray("{\"rope_parameters\": {\"rope_type\": \"yarn\", \"factor\": 4.0, \"rope_theta\": 1e6}}")
                                 << QByteArray("yarn, factor 4") << 1 << 1e6;
        QTest::newRow("v5 by layer type")
            << QByteArray("{\"rope_parameters\": {\"sliding_attention\": {\"rope_type\": \"default\", \"rope_theta\": 1e4}, "
                          "\"full_attention\": {\"rope_type\": \"linear\", \"factor\": 8, \"rope_theta\": 1e6}}}")
            << QByteArray("linear, factor 8") << 2 << 1e6;
        QTest::newRow("local base") << QByteArray("{\"rope_theta\": 1e6, \"rope_local_base_freq\": 1e4, \"rope_scaling\": "
                                                  "{\"rope_type\": \"linear\", \"factor\": 8}}")
                                    << QByteArray("linear, factor 8") << 2 << 1e6;
        QTest::newRow("neox") << QByteArray("{\"rotary_emb_base\": 10000}") << QByteArray("none") << 1 << 1e4;
    }
    void rope()
    {
        QFETCH(QByteArray, json);
        QFETCH(QByteArray, text);
        QFETCH(int, count);
        QFETCH(double, theta);
        const auto document = Document::parseJson(json.toStdString());
        const Architecture arch = read(document);
        QCOMPARE(arch.rope.size(), static_cast<std::size_t>(count));
        QCOMPARE(describe(arch.rope[0]), text.toStdString());
        QCOMPARE(arch.rope[0].theta->number, std::optional(theta));
    }

    void derived()
    {
        const auto document = Document::parseJson("{\"model_type\": \"qwen2\", \"hidden_size\": 64, \"num_attention_heads\": 4, "
                                                  "\"partial_rotary_factor\": 0.5, \"sliding_window\": 4096, "
                                                  "\"use_sliding_window\": false, \"rope_scaling\": {\"type\": \"yarn\", "
                                                  "\"factor\": 4.0, \"original_max_position_embeddings\": 32768}, "
                                                  "\"max_position_embeddings\": 40960}");
        const Architecture arch = read(document);
        QCOMPARE(arch.headDim(), std::optional(16.0));
        QCOMPARE(arch.rotaryDim(), std::optional(8.0));
        QCOMPARE(arch.slidingWindow(), std::optional<double>());
        QCOMPARE(arch.tiedHead(), std::optional(false)); // the type's default
        QCOMPARE(reachOf(arch), std::optional(131072.0));
    }

    void gguf()
    {
        GgufWriter writer;
        writer.string("general.architecture", "gemma2").u32("gemma2.block_count", 26).f32("gemma2.attn_logit_softcapping", 50);
        writer.numbers("gemma2.attention.head_count_kv", GgufType::Int32, std::vector<std::int32_t>{4, 4, 2});
        writer.f32("gemma2.rope.freq_base", 10000).u32("tokenizer.ggml.eos_token_id", 107);
        const auto reading = readWith("gguf", writer.bytes());
        QVERIFY_RESULT(reading);
        const auto &content = dynamic_cast<const GgufContent &>(*reading->content);
        const Architecture arch = architectureOfGguf({3}, content);
        QCOMPARE(arch.modelType, std::string("gemma2"));
        QCOMPARE(arch.number(ArchField::Layers), std::optional(26.0));
        QCOMPARE(arch.number(ArchField::AttentionSoftcap), std::optional(50.0));
        QCOMPARE(arch.get(ArchField::KvHeads)->numbers, (std::vector<double>{4, 4, 2}));
        QCOMPARE(arch.number(ArchField::Eos), std::optional(107.0));
        QCOMPARE(arch.rope[0].theta->number, std::optional(10000.0));
        QCOMPARE(std::get<JsonPath>(arch.get(ArchField::Layers)->where.where).path, std::string("$[\"gemma2.block_count\"]"));
    }

    void llama3Factors()
    {
        const auto document = Document::parseJson("{\"rope_theta\": 500000.0, \"rope_scaling\": {\"rope_type\": \"llama3\", "
                                                  "\"factor\": 8.0, \"low_freq_factor\": 1.0, \"high_freq_factor\": 4.0, "
                                                  "\"original_max_position_embeddings\": 8192}}");
        const auto values = llama3Divisors(read(document).rope[0], 500000, 64);
        QCOMPARE(values.size(), std::size_t(32));
        QCOMPARE(values.front(), 1.0);
        QCOMPARE(values.back(), 8.0);
        // As llama.cpp's converter gives them for these numbers.
        QVERIFY(std::abs(values[15] - 1.5534146) < 1e-5);
        QVERIFY(std::abs(values[17] - 5.2573266) < 1e-5);
    }
};

PROSECTOR_TEST(TestArchitecture, tst_architecture)

#include "tst_architecture.moc"
