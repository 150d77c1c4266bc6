// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/corpus.h"
#include "tests/support/ggufwriter.h"
#include "tests/support/instrumenttest.h"
#include "tests/support/tempfolder.h"

using namespace prosector;
using namespace prosector::test;

namespace prosector {
extern const Instrument configuration_position_scaling;
}

class TestPositionScaling : public QObject {
    Q_OBJECT

    const Instrument &f5 = configuration_position_scaling;

    static std::string config(const std::string &rope, int window = 131072)
    {
        return "{\"model_type\": \"llama\", \"architectures\": [\"LlamaForCausalLM\"], \"hidden_size\": 64, \"num_hidden_layers\": 1,"
               "\"num_attention_heads\": 1, \"intermediate_size\": 96, \"vocab_size\": 16, \"max_position_embeddings\": "
               + std::to_string(window) + (rope.empty() ? "" : ", " + rope) + "}";
    }
    static GgufWriter gguf(float base = 10000, std::uint32_t window = 131072)
    {
        GgufWriter writer;
        writer.string("general.architecture", "llama").u32("llama.block_count", 1).u32("llama.embedding_length", 64);
        writer.u32("llama.feed_forward_length", 96).u32("llama.attention.head_count", 1).u32("llama.context_length", window);
        return writer.f32("llama.rope.freq_base", base);
    }

private slots:
    void lostInConversion()
    {
        const Examined examined = examineWith(f5, {fixture(f5.slug, "sick")});
        VERIFY_WORST(f5, examined, Severity::Error);
        const Finding *const lost = examined.find("rope.scaling.lost");
        QVERIFY2(lost, qPrintable(examined.summary()));
        QVERIFY(examined.pointsAt(*lost, "source/config.json", JsonPath{"$.rope_scaling.rope_type"}));
        QVERIFY(examined.pointsAt(*lost, "model.gguf", JsonPath{"$[\"llama.rope.scaling.type\"]"}));
        QVERIFY(examined.pointsAt(*lost, "model.gguf", Whole{}));
        QCOMPARE(examined.report->findings.size(), std::size_t(1));
    }

    void lostAgainstTheBaseline()
    {
        const Examined examined = examineWith(f5, {fixture(f5.slug, "sick/model.gguf")}, {fixture(f5.slug, "sick/source")});
        VERIFY_WORST(f5, examined, Severity::Error);
        const Finding *const lost = examined.find("rope.scaling.lost");
        QVERIFY2(lost, qPrintable(examined.summary()));
        QCOMPARE(lost->evidence[0].side, Side::B);
        QCOMPARE(lost->evidence[1].side, Side::A);
    }

    void carriedOver()
    {
        const Examined examined = examineWith(f5, {fixture(f5.slug, "healthy")});
        VERIFY_WORST(f5, examined, Severity::Ok);
        QCOMPARE(examined.report->tables.size(), std::size_t(1));
        QCOMPARE(examined.report->tables[0].rows.size(), std::size_t(2));
    }

    void declarations_data()
    {
        QTest::addColumn<QString>("rope");
        QTest::addColumn<QString>("code"); // empty: quiet
        QTest::addColumn<QString>("place");
        const auto row = [](const char *name, const char *rope, const char *code = "", const char *place = "") {
            QTest::newRow(name) << rope << code << place;
        };
        row("stock Llama 3.1",
            "\"rope_theta\": 500000.0, \"rope_scaling\": {\"factor\": 8.0, \"low_freq_factor\": 1.0, \"high_freq_factor\": 4.0, "
            "\"original_max_position_embeddings\": 8192, \"rope_type\": \"llama3\"}");
        row("none", "\"rope_theta\": 10000.0, \"rope_scaling\": null");
        row("Qwen recipe", "\"rope_scaling\": {\"type\": \"yarn\", \"factor\": 4.0, \"original_max_position_embeddings\": 32768}");
        row("multimodal sections", "\"rope_scaling\": {\"type\": \"mrope\", \"rope_type\": \"default\", \"mrope_section\": [16, 24, 24]}");
        row("Transformers 5", "\"rope_parameters\": {\"rope_type\": \"default\", \"rope_theta\": 1000000.0}");
        row("per layer type",
            "\"rope_parameters\": {\"full_attention\": {\"rope_type\": \"linear\", \"factor\": 8.0, \"rope_theta\": 1e6}, "
            "\"sliding_attention\": {\"rope_type\": \"default\", \"rope_theta\": 10000.0}}");
        row("unknown type", "\"rope_scaling\": {\"rope_type\": \"yarm\", \"factor\": 4.0}", "rope.scaling.unknown_type",
            "$.rope_scaling.rope_type");
        row("unknown type of own code", "\"auto_map\": {\"AutoModel\": \"m.M\"}, \"rope_scaling\": {\"type\": \"own\", \"factor\": 4.0}",
            "rope.scaling.unknown_type", "$.rope_scaling.type");
        row("no factor", "\"rope_scaling\": {\"rope_type\": \"yarn\", \"original_max_position_embeddings\": 4096}",
            "rope.scaling.missing_key", "$.rope_scaling");
        row("no type", "\"rope_scaling\": {\"factor\": 4.0}", "rope.scaling.missing_key", "$.rope_scaling.factor");
        row("llama3 without original",
            "\"rope_scaling\": {\"rope_type\": \"llama3\", \"factor\": 8.0, \"low_freq_factor\": 1.0, \"high_freq_factor\": 4.0}",
            "rope.scaling.missing_key", "$.rope_scaling");
        row("llama3 blend reversed",
            "\"rope_scaling\": {\"rope_type\": \"llama3\", \"factor\": 8.0, \"low_freq_factor\": 4.0, \"high_freq_factor\": 1.0, "
            "\"original_max_position_embeddings\": 8192}",
            "rope.scaling.wrong_value", "$.rope_scaling.low_freq_factor");
        row("longrope too short", "\"rope_scaling\": {\"type\": \"longrope\", \"short_factor\": [1.0], \"long_factor\": [1.0]}",
            "rope.scaling.wrong_value", "$.rope_scaling.short_factor");
        row("types disagree", "\"rope_scaling\": {\"type\": \"linear\", \"rope_type\": \"dynamic\", \"factor\": 2.0}",
            "rope.scaling.types_disagree", "$.rope_scaling.type");
        row("factor is text", "\"rope_scaling\": {\"rope_type\": \"linear\", \"factor\": \"2\"}", "rope.scaling.wrong_value",
            "$.rope_scaling.factor");
        row("scaling is text", "\"rope_scaling\": \"yarn\"", "rope.scaling.wrong_value", "$.rope_scaling");
        row("base is text", "\"rope_theta\": \"1e6\"", "rope.scaling.wrong_value", "$.rope_theta");
        row("dynamic", "\"rope_scaling\": {\"rope_type\": \"dynamic\", \"factor\": 2.0}", "rope.dynamic", "$.rope_scaling.rope_type");
    }
    void declarations()
    {
        QFETCH(QString, rope);
        QFETCH(QString, code);
        QFETCH(QString, place);
        TempFolder folder;
        folder.file("config.json", config(rope.toStdString()));
        const Examined examined = examineWith(f5, {folder.path()});
        const bool mild = code == QLatin1String("rope.dynamic") || rope.contains(QLatin1String("auto_map"));
        const Severity expected = code.isEmpty() ? Severity::Ok : mild ? Severity::Info : Severity::Error;
        VERIFY_WORST(f5, examined, expected);
        if (!code.isEmpty()) {
            const Finding *const finding = examined.find(code.toStdString());
            QVERIFY2(finding, qPrintable(examined.summary()));
            QVERIFY2(examined.pointsAt(*finding, "config.json", JsonPath{place.toStdString()}), qPrintable(examined.summary()));
        }
    }

    void conversions_data()
    {
        QTest::addColumn<QString>("rope");
        QTest::addColumn<QByteArray>("gguf");
        QTest::addColumn<QString>("code");
        const std::string row(64, '\0');
        const auto bytes = [&](GgufWriter writer) {
            writer.tensor("token_embd.weight", 0, {1, 16}, row);
            return QByteArray::fromStdString(writer.bytes());
        };
        const QString yarn = QStringLiteral("\"rope_theta\": 10000.0, \"rope_scaling\": {\"rope_type\": \"yarn\", \"factor\": 4.0, "
                                            "\"original_max_position_embeddings\": 32768}");
        const auto scaled = [](float factor) {
            auto writer = gguf();
            writer.string("llama.rope.scaling.type", "yarn").f32("llama.rope.scaling.factor", factor);
            return writer.u32("llama.rope.scaling.original_context_length", 32768);
        };
        QTest::newRow("yarn kept") << yarn << bytes(scaled(4)) << QString();
        QTest::newRow("yarn lost") << yarn << bytes(gguf()) << "rope.scaling.lost";
        QTest::newRow("yarn changed") << yarn << bytes(scaled(2)) << "rope.scaling.changed";
        QTest::newRow("yarn in a vocabulary-only file") << yarn << QByteArray::fromStdString(scaled(4).bytes()) << QString();
        const QString llama3 = QStringLiteral("\"rope_theta\": 10000.0, \"rope_scaling\": {\"rope_type\": \"llama3\", \"factor\": 8.0, "
                                              "\"low_freq_factor\": 1.0, \"high_freq_factor\": 4.0, "
                                              "\"original_max_position_embeddings\": 8192}");
        auto ones = gguf();
        ByteWriter values;
        for (int i = 0; i < 32; ++i)
            values.put(1.0F);
        ones.tensor("rope_freqs.weight", 0, {32}, values.bytes);
        QTest::newRow("factors all one") << llama3 << bytes(ones) << "rope.scaling.changed";
        auto few = gguf();
        few.tensor("rope_freqs.weight", 0, {2}, std::string_view(values.bytes).substr(0, 8));
        QTest::newRow("too few factors") << llama3 << bytes(few) << "rope.scaling.changed";
        QTest::newRow("llama3, vocabulary only") << llama3 << QByteArray::fromStdString(gguf().bytes()) << QString();
        QTest::newRow("other base") << QStringLiteral("\"rope_theta\": 1000000.0") << bytes(gguf()) << "rope.base.changed";
        GgufWriter silent;
        silent.string("general.architecture", "llama").u32("llama.block_count", 1).u32("llama.embedding_length", 64);
        silent.u32("llama.attention.head_count", 1).u32("llama.context_length", 131072);
        QTest::newRow("base by default") << QStringLiteral("\"rope_theta\": 10000.0") << bytes(silent) << QString();
        QTest::newRow("base lost") << QStringLiteral("\"rope_theta\": 500000.0") << bytes(silent) << "rope.base.changed";
        QTest::newRow("float32 rounding") << QStringLiteral("\"rope_theta\": 10000000.3") << bytes(gguf(1e7F)) << QString();
    }
    void conversions()
    {
        QFETCH(QString, rope);
        QFETCH(QByteArray, gguf);
        QFETCH(QString, code);
        TempFolder folder;
        folder.file("hf/config.json", config(rope.toStdString())).file("out/model.gguf", gguf.toStdString());
        const Examined examined = examineWith(f5, {folder.path()});
        VERIFY_WORST(f5, examined, code.isEmpty() ? Severity::Ok : Severity::Error);
        if (!code.isEmpty())
            QVERIFY2(examined.find(code.toStdString()), qPrintable(examined.summary()));
    }

    void requestLengths_data()
    {
        QTest::addColumn<QString>("type");
        QTest::addColumn<int>("count");
        QTest::addColumn<int>("tokens");
        QTest::addColumn<QString>("code");
        QTest::newRow("short prompts") << "yarn" << 120 << 900 << "rope.scaling.for_nothing";
        QTest::newRow("too few to say") << "yarn" << 60 << 900 << QString();
        QTest::newRow("long prompts") << "yarn" << 120 << 40000 << QString();
        QTest::newRow("dynamic set off") << "dynamic" << 3 << 40000 << "rope.dynamic";
    }
    void requestLengths()
    {
        QFETCH(QString, type);
        QFETCH(int, count);
        QFETCH(int, tokens);
        QFETCH(QString, code);
        TempFolder folder;
        folder.file("config.json", config("\"rope_scaling\": {\"rope_type\": \"" + type.toStdString()
                                          + "\", \"factor\": 4.0, \"original_max_position_embeddings\": 32768}"));
        std::string log;
        for (int i = 0; i < count; ++i)
            log += "{\"timestamp\": " + std::to_string(i) + ", \"input_length\": " + std::to_string(tokens + i)
                   + ", \"output_length\": 5, \"hash_ids\": [1]}\n";
        folder.file("requests.jsonl", log);
        const Examined examined = examineWith(f5, {folder.path()});
        VERIFY_WORST(f5, examined, code.isEmpty() ? Severity::Ok : Severity::Warning);
        if (!code.isEmpty())
            QVERIFY2(examined.find(code.toStdString()), qPrintable(examined.summary()));
    }

    void lengthsInTables_data()
    {
        QTest::addColumn<QString>("file");
        QTest::addColumn<QString>("head");
        QTest::addColumn<QString>("row");
        QTest::newRow("Azure") << "trace.csv" << "TIMESTAMP,ContextTokens,GeneratedTokens\n" << "2023-11-16 18:17:03,%1,10\n";
        QTest::newRow("BurstGPT") << "burst.csv" << "Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type\n" << "5,ChatGPT,%1,18,490,API log\n";
        QTest::newRow("own columns") << "history.csv" << "time,prompt_tokens\n" << "12,%1\n";
        QTest::newRow("tab separated") << "history.tsv" << "time\tinput_tokens\n" << "12\t%1\n";
        QTest::newRow("JSON Lines") << "history.jsonl" << "" << "{\"t\": 3, \"prompt_len\": %1}\n";
    }
    void lengthsInTables()
    {
        QFETCH(QString, file);
        QFETCH(QString, head);
        QFETCH(QString, row);
        for (const int tokens : {700, 40000}) {
            TempFolder folder;
            folder.file("config.json", config("\"rope_scaling\": {\"rope_type\": \"yarn\", \"factor\": 4.0, \"original_max_position_embeddings\": 32768}"));
            QString log = head;
            for (int i = 0; i < 120; ++i)
                log += row.arg(tokens + i);
            folder.file(file.toStdString(), log.toStdString());
            const Examined examined = examineWith(f5, {folder.path()});
            VERIFY_WORST(f5, examined, tokens < 32768 ? Severity::Warning : Severity::Ok);
            if (tokens < 32768)
                QVERIFY2(examined.find("rope.scaling.for_nothing"), qPrintable(examined.summary()));
        }
    }

    void windowsBeyondTheFile_data()
    {
        QTest::addColumn<QByteArray>("more");
        QTest::addColumn<QByteArray>("arguments");
        QTest::addColumn<bool>("beyond");
        const QByteArray none, window = "\"max_model_len\": 131072";
        QTest::newRow("nothing scales") << none << window << true;
        QTest::newRow("biases by distance") << QByteArray(", \"alibi\": true") << window << false;
        QTest::newRow("biases by distance, as MPT says it") << QByteArray(", \"attn_config\": {\"alibi\": true}") << window << false;
        QTest::newRow("biases switched off") << QByteArray(", \"attn_config\": {\"alibi\": false}") << window << true;
        const QByteArray yarn = "{\"rope_type\": \"yarn\", \"factor\": %1, \"original_max_position_embeddings\": 32768}";
        const auto overrides = [&](const char *key, const char *factor) {
            QByteArray scaling = yarn;
            return window + ", \"hf_overrides\": {\"" + key + "\": " + scaling.replace("%1", factor) + "}";
        };
        QTest::newRow("overridden") << none << overrides("rope_scaling", "4.0") << false;
        QTest::newRow("overridden by the new name") << none << overrides("rope_parameters", "4.0") << false;
        QTest::newRow("overridden by too little") << none << overrides("rope_scaling", "2.0") << true;
        QTest::newRow("other override") << none << window + ", \"hf_overrides\": {\"architectures\": [\"X\"]}" << true;
        QTest::newRow("overridden, in a string")
            << none << window + ", \"hf_overrides\": \"{\\\"rope_scaling\\\": {\\\"rope_type\\\": \\\"linear\\\", \\\"factor\\\": 4.0}}\"" << false;
    }
    void windowsBeyondTheFile()
    {
        QFETCH(QByteArray, more);
        QFETCH(QByteArray, arguments);
        QFETCH(bool, beyond);
        TempFolder folder;
        const std::string object = config("\"rope_theta\": 1000000.0" + more.toStdString(), 32768);
        folder.file("config.json", object);
        folder.file("engine_args.json", "{\"model\": \"x\", " + arguments.toStdString() + "}");
        const Examined examined = examineWith(f5, {folder.path()});
        QVERIFY_RESULT(examined.report);
        QVERIFY2((examined.find("rope.window.beyond_reach") != nullptr) == beyond, qPrintable(examined.summary()));
    }

    void nothingToLookAt()
    {
        TempFolder folder;
        folder.file("notes.txt", "hello\n");
        const Examined examined = examineWith(f5, {folder.path()});
        QVERIFY_RESULT(examined.report);
        QVERIFY(examined.report->undecidable());
        // Learned positions: a window, and nothing that would have to fit it, unless something shows how it is served.
        TempFolder learned;
        learned.file("config.json", "{\"model_type\": \"bert\", \"max_position_embeddings\": 512}");
        VERIFY_WORST(f5, examineWith(f5, {learned.path()}), Severity::Undecidable);
        learned.file("vllm.log", "INFO 01-01 00:00:00 api_server.py:1] vLLM API server version 0.11.0\n");
        VERIFY_WORST(f5, examineWith(f5, {learned.path()}), Severity::Ok);
        TempFolder damaged;
        damaged.file("config.json", "{\"model_type\": \"llama\", \"rope_theta\": 1e6, \"rope_scaling\": {\"type\": \"yarn\", \"fact");
        QVERIFY_RESULT(examineWith(f5, {damaged.path()}).report);
    }

    void damageAndCancel()
    {
        QCOMPARE(faultUnderDamage(f5, fixture(f5.slug, "healthy")), QString());
        QCOMPARE(faultWhenCancelled(f5, fixture(f5.slug, "healthy")), QString());
    }

    void report37()
    {
        REQUIRE_SHARED(shared);
        const Examined sick = examineWith(f5, {shared + "/reports/b37/sick"});
        VERIFY_WORST(f5, sick, Severity::Error);
        QVERIFY2(sick.find("rope.scaling.lost"), qPrintable(sick.summary()));
        const Examined healthy = examineWith(f5, {shared + "/reports/b37/healthy"});
        VERIFY_WORST(f5, healthy, Severity::Ok);
    }
};

PROSECTOR_TEST(TestPositionScaling, tst_configuration_position_scaling)

#include "tst_configuration_position_scaling.moc"
