// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/config/freshhead.h"
#include "tests/support/corpus.h"
#include "tests/support/ggufwriter.h"
#include "tests/support/instrumenttest.h"
#include "tests/support/safetensorswriter.h"
#include "tests/support/tempfolder.h"

#include <cmath>

using namespace prosector;
using namespace prosector::test;

namespace prosector {
extern const Instrument weights_checkpoint_completeness;
}

class TestCheckpointCompleteness : public QObject {
    Q_OBJECT

    const Instrument &w8 = weights_checkpoint_completeness;

    Examined look(const char *which) const { return examineWith(w8, {fixture(w8.slug, which)}); }

private slots:
    void holeInALayer()
    {
        const Examined examined = look("sick");
        VERIFY_WORST(w8, examined, Severity::Error);
        const Finding *const hole = examined.find("weights.layer.hole");
        QVERIFY2(hole, qPrintable(examined.summary()));
        QCOMPARE(hole->title, std::string("model.layers.1.mlp.down_proj.weight is absent"));
        // The gap's neighbour in layer 1 and the pattern in layer 0.
        QVERIFY(examined.pointsAt(*hole, "model.safetensors", TensorBlock{"model.layers.0.mlp.down_proj.weight"}));
        QCOMPARE(hole->evidence[0].where, Anchor(TensorBlock{"model.layers.1.mlp.gate_proj.weight"}));
        QCOMPARE(hole->measure->number, 1.0);
        QCOMPARE(examined.report->findings.size(), std::size_t(1));
        QCOMPARE(examined.report->grids.size(), std::size_t(1));
    }

    void cutInsideTheHeader_data()
    {
        QTest::addColumn<QString>("file");
        QTest::addColumn<int>("size");
        for (const int size : {4, 16, 23, 24, 30, 60, 100, 200})
            QTest::addRow("gguf %d", size) << QStringLiteral("model.gguf") << size;
        for (const int size : {0, 5, 8, 9, 40})
            QTest::addRow("safetensors %d", size) << QStringLiteral("model.safetensors") << size;
    }
    void cutInsideTheHeader()
    {
        QFETCH(QString, file);
        QFETCH(int, size);
        using Writer = GgufWriter;
        const std::string gguf = Writer().string("general.architecture", "llama").u32("llama.block_count", 2)
                                     .tensor("token_embd.weight", 0, {8, 4}, std::string(128, '\0'))
                                     .tensor("output.weight", 0, {8, 4}, std::string(128, '\0')).bytes();
        const std::string tensors = SafetensorsWriter().tensor("model.embed_tokens.weight", "U8", {4}, std::string_view("data")).bytes();
        const std::string &whole = file.endsWith(QStringLiteral("gguf")) ? gguf : tensors;
        TempFolder folder;
        folder.file(file.toStdString(), whole);
        QVERIFY(!examineWith(w8, {folder.path()}).find("weights.file.cut"));
        folder.file(file.toStdString(), whole.substr(0, static_cast<std::size_t>(size)));
        const Examined cut = examineWith(w8, {folder.path()});
        const Finding *const finding = cut.find("weights.file.cut");
        QVERIFY2(finding, qPrintable(cut.summary()));
        QCOMPARE(finding->severity, Severity::Error);
        QCOMPARE(finding->title, file.toStdString() + " ends inside its header");
    }

    void quiet_data()
    {
        QTest::addColumn<QString>("which");
        for (const char *const which : {"healthy", "sharded", "experts", "hybrid", "kinds", "labels", "labels_trained", "padded", "gguf"})
            QTest::newRow(which) << which;
    }
    void quiet()
    {
        QFETCH(QString, which);
        const Examined examined = look(qPrintable(which));
        VERIFY_WORST(w8, examined, Severity::Ok);
    }

    void faulty_data()
    {
        QTest::addColumn<QString>("which");
        QTest::addColumn<QString>("code");
        QTest::addColumn<QString>("severity");
        QTest::addColumn<QString>("place");
        const auto row = [](const char *which, const char *code, const char *severity, const char *place) {
            QTest::newRow(which) << which << code << severity << place;
        };
        row("pointer", "weights.pointer", "error", "model.safetensors");
        row("shard_absent", "weights.file.absent", "error",
            "model.safetensors.index.json $.weight_map[\"model.layers.1.self_attn.q_proj.weight\"]");
        row("part_absent", "weights.file.absent", "error", "model-00001-of-00002.safetensors");
        row("total_size", "weights.size.mismatch", "error", "model.safetensors.index.json $.metadata.total_size");
        row("claim_absent", "weights.tensor.absent", "error",
            "model.safetensors.index.json $.weight_map[\"model.layers.1.self_attn.q_proj.weight\"]");
        row("layer_absent", "weights.layer.absent", "error", "config.json $.num_hidden_layers");
        row("layer_beyond", "weights.layer.beyond", "warning", "config.json $.num_hidden_layers");
        row("expert_absent", "weights.expert.absent", "error", "model.safetensors");
        row("hybrid_hole", "weights.layer.hole", "error", "model.safetensors");
        row("head_absent", "weights.head.absent", "error", "config.json $.tie_word_embeddings");
        row("labels_rows", "weights.head.rows", "error", "config.json $.id2label");
        row("labels_absent", "weights.head.absent", "error", "config.json $.architectures");
        row("labels_fresh", "weights.head.fresh", "warning", "model.safetensors");
        row("labels_step0", "weights.head.fresh", "info", "trainer_state.json $.global_step");
        row("shape", "weights.shape.declared", "error", "model.safetensors");
        row("sizes", "weights.shape.declared", "error", "config.json $.intermediate_size");
        row("rows_short", "weights.embedding.rows", "error", "tokenizer.json");
        row("added_short", "weights.embedding.rows", "warning", "tokenizer.json $.added_tokens[0]");
        row("gguf_hole", "weights.layer.hole", "error", "model.gguf");
        row("gguf_layers", "weights.layer.absent", "error", "model.gguf $[\"llama.block_count\"]");
        row("gguf_part", "weights.file.absent", "error", "model-00001-of-00002.gguf");
        row("log", "weights.log.initialized", "error", "server.log line 2");
        row("log_training", "weights.log.initialized", "info", "server.log line 2");
    }
    void faulty()
    {
        QFETCH(QString, which);
        QFETCH(QString, code);
        QFETCH(QString, severity);
        QFETCH(QString, place);
        const Examined examined = look(qPrintable(which));
        VERIFY_WORST(w8, examined, *severityFromString(severity.toStdString()));
        const Finding *const finding = examined.find(code.toStdString());
        QVERIFY2(finding, qPrintable(examined.summary()));
        bool found = false;
        for (const std::string &at : examined.places(*finding))
            found = found || at.starts_with(place.toStdString());
        QVERIFY2(found, qPrintable(examined.summary()));
    }

    // SciPy's manual gives Z = -1.7058104152122062 for the kurtosis of 0..19; their skewness is 0.
    void normality()
    {
        std::vector<double> even, skewed;
        for (int i = 0; i < 20; ++i) {
            even.push_back(i);
            skewed.push_back(std::exp(i));
        }
        QVERIFY(std::abs(normalityP(even) - std::exp(-1.7058104152122062 * 1.7058104152122062 / 2)) < 1e-12);
        QVERIFY(normalityP(skewed) < 1e-6);
        QCOMPARE(normalityP(std::vector<double>(100, 1.0)), 0.0);
    }

    void undecidable()
    {
        const Examined excerpt = look("excerpt");
        VERIFY_WORST(w8, excerpt, Severity::Undecidable);
        QCOMPARE(excerpt.report->missing, std::vector<std::string>{"weights"});
        QCOMPARE(excerpt.report->notSeen.size(), std::size_t(1));
        VERIFY_WORST(w8, look("no_attention"), Severity::Undecidable); // norms behind it are no attention
        const Examined nothing = examineWith(w8, {fixture(w8.slug, "healthy") + "/config.json"});
        VERIFY_WORST(w8, nothing, Severity::Undecidable);
        QCOMPARE(nothing.report->missing, std::vector<std::string>{"weights"});
    }

    void survivesDamage_data()
    {
        QTest::addColumn<QString>("which");
        for (const char *const which : {"healthy", "sharded", "expert_absent", "gguf", "padded", "log", "pointer", "labels"})
            QTest::newRow(which) << which;
    }
    void survivesDamage()
    {
        QFETCH(QString, which);
        QCOMPARE(faultUnderDamage(w8, fixture(w8.slug, which.toStdString())), QString());
    }

    void cancels() { QCOMPARE(faultWhenCancelled(w8, fixture(w8.slug, "sick")), QString()); }

    void realFiles_data()
    {
        QTest::addColumn<QString>("path");
        QTest::addColumn<QString>("worst");
        const auto row = [](const char *path, const char *worst) { QTest::newRow(path) << path << worst; };
        row("corpus/folders/granite-3.1-1b-lfs", "error"); // only the pointer was fetched
        row("corpus/models/stories260K/hf", "ok");
        row("corpus/models/stories260K/stories260K-base.F32.gguf", "ok");
        row("corpus/folders/lora-gpt2-peft", "undecidable");
        row("reports/b17/sick", "undecidable"); // the decoy: padded rows
        row("reports/b17/healthy", "undecidable");
        row("reports/b55/healthy", "undecidable");
    }
    void realFiles()
    {
        REQUIRE_SHARED(shared);
        QFETCH(QString, path);
        QFETCH(QString, worst);
        const Examined examined = examineWith(w8, {shared + "/" + path.toStdString()});
        VERIFY_WORST(w8, examined, *severityFromString(worst.toStdString()));
    }
};

PROSECTOR_TEST(TestCheckpointCompleteness, tst_weights_checkpoint_completeness)
#include "tst_weights_checkpoint_completeness.moc"
