// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/corpus.h"
#include "tests/support/instrumenttest.h"

using namespace prosector;
using namespace prosector::test;

namespace prosector {
extern const Instrument weights_adapter_key_coverage;
}

class TestAdapterKeyCoverage : public QObject {
    Q_OBJECT

    const Instrument &w2 = weights_adapter_key_coverage;

    Examined look(const char *which) const { return examineWith(w2, {fixture(w2.slug, which)}); }

private slots:
    void nothingLands()
    {
        const Examined examined = look("sick");
        VERIFY_WORST(w2, examined, Severity::Error);
        const Finding *const finding = examined.find("adapter.match.none");
        QVERIFY2(finding, qPrintable(examined.summary()));
        QVERIFY(finding->title.ends_with("0 of 1 adapted module land"));
        QVERIFY2(finding->detail.find("insert \"language_model.\" behind \"model.\"") != std::string::npos, finding->detail.c_str());
        QVERIFY(examined.pointsAt(*finding, "adapter/adapter_model.safetensors",
                                  TensorBlock{"base_model.model.model.layers.0.self_attn.q_proj.lora_A.weight"}));
        QVERIFY(examined.pointsAt(*finding, "base/model.safetensors",
                                  TensorBlock{"model.language_model.layers.0.self_attn.q_proj.weight"}));
    }

    void quiet_data()
    {
        QTest::addColumn<QString>("which");
        for (const char *const which : {"healthy", "whole_model", "base_without_prefix", "one_layer", "pattern", "prediction_layer",
                                        "rank_pattern", "fan_in_fan_out", "fused"})
            QTest::newRow(which) << which;
    }
    void quiet()
    {
        QFETCH(QString, which);
        const Examined examined = look(qPrintable(which));
        VERIFY_WORST(w2, examined, Severity::Ok);
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
        row("rename_inside", "adapter.match.none", "error", "base/model.safetensors");
        row("slot_empty", "adapter.slot.empty", "error", "adapter/adapter_config.json $.target_modules");
        row("half", "adapter.pair.half", "error", "adapter/adapter_model.safetensors");
        row("rank", "adapter.shape", "error", "adapter/adapter_config.json $.r");
        row("shape", "adapter.shape", "error", "base/model.safetensors");
        row("transposed", "adapter.shape", "error", "adapter/adapter_config.json $.fan_in_fan_out");
        row("orphan", "adapter.whole.orphan", "warning", "adapter/adapter_model.safetensors");
        row("saved", "adapter.whole.saved", "info", "adapter/adapter_model.safetensors");
        row("embedding", "adapter.embedding.rows", "warning", "base/model.safetensors");
        row("log", "adapter.log", "error", "server.log line 2");
    }
    void faulty()
    {
        QFETCH(QString, which);
        QFETCH(QString, code);
        QFETCH(QString, severity);
        QFETCH(QString, place);
        const Examined examined = look(qPrintable(which));
        VERIFY_WORST(w2, examined, *severityFromString(severity.toStdString()));
        const Finding *const finding = examined.find(code.toStdString());
        QVERIFY2(finding, qPrintable(examined.summary()));
        bool found = false;
        for (const std::string &at : examined.places(*finding))
            found = found || at.starts_with(place.toStdString());
        QVERIFY2(found, qPrintable(examined.summary()));
    }

    void baseFromTheBaseline()
    {
        const Examined examined = examineWith(w2, {fixture(w2.slug, "sick") + "/adapter"}, {fixture(w2.slug, "healthy") + "/base"});
        VERIFY_WORST(w2, examined, Severity::Ok);
        const Examined wrong = examineWith(w2, {fixture(w2.slug, "healthy") + "/adapter"}, {fixture(w2.slug, "sick") + "/base"});
        VERIFY_WORST(w2, wrong, Severity::Error);
        QCOMPARE(wrong.find("adapter.match.none")->evidence.back().side, Side::B);
    }

    void undecidable()
    {
        const Examined alone = look("alone"); // pairs and shapes only
        VERIFY_WORST(w2, alone, Severity::Undecidable);
        QCOMPARE(alone.report->missing, std::vector<std::string>{"weights"});
        const Examined none = examineWith(w2, {fixture(w2.slug, "healthy") + "/base"});
        VERIFY_WORST(w2, none, Severity::Undecidable);
        QCOMPARE(none.report->missing, std::vector<std::string>{"adapter_files"});
    }

    void survivesDamage_data()
    {
        QTest::addColumn<QString>("which");
        for (const char *const which : {"sick", "whole_model", "pattern", "saved", "log"})
            QTest::newRow(which) << which;
    }
    void survivesDamage()
    {
        QFETCH(QString, which);
        QCOMPARE(faultUnderDamage(w2, fixture(w2.slug, which.toStdString())), QString());
    }

    void cancels() { QCOMPARE(faultWhenCancelled(w2, fixture(w2.slug, "sick")), QString()); }

    void realFiles_data()
    {
        QTest::addColumn<QString>("path");
        QTest::addColumn<QString>("worst");
        QTest::newRow("distilbert") << "corpus/folders/lora-distilbert-imdb" << "info";
        QTest::newRow("gpt2") << "corpus/folders/lora-gpt2-peft" << "info";
        QTest::newRow("b51") << "reports/b51/sick" << "ok"; // its fault is the scale
        QTest::newRow("b51 healthy") << "reports/b51/healthy" << "ok";
    }
    void realFiles()
    {
        REQUIRE_SHARED(shared);
        QFETCH(QString, path);
        QFETCH(QString, worst);
        const Examined examined = examineWith(w2, {shared + "/" + path.toStdString()});
        VERIFY_WORST(w2, examined, *severityFromString(worst.toStdString()));
    }
};

PROSECTOR_TEST(TestAdapterKeyCoverage, tst_weights_adapter_key_coverage)
#include "tst_weights_adapter_key_coverage.moc"
