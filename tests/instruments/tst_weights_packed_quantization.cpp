// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/config/packedmodules.h"
#include "tests/support/corpus.h"
#include "tests/support/instrumenttest.h"

#include <QFile>
#include <QTemporaryDir>

using namespace prosector;
using namespace prosector::test;

namespace prosector {
extern const Instrument weights_packed_quantization;
}

class TestPackedQuantization : public QObject {
    Q_OBJECT

    const Instrument &w10 = weights_packed_quantization;

    Examined look(const char *which) const { return examineWith(w10, {fixture(w10.slug, which)}); }

private slots:
    void zerosOffByOne()
    {
        const Examined examined = look("sick");
        VERIFY_WORST(w10, examined, Severity::Error);
        const Finding *const finding = examined.find("quant.zero.convention");
        QVERIFY2(finding, qPrintable(examined.summary()));
        QVERIFY(examined.pointsAt(*finding, "model.safetensors", TensorBlock{"model.layers.0.mlp.down_proj.qzeros", {0, 0}, {1, 1}}));
        QVERIFY(examined.pointsAt(*finding, "config.json", JsonPath{"$.quantization_config.checkpoint_format"}));
        QVERIFY(examined.pointsAt(*finding, "config.json", JsonPath{"$.quantization_config.sym"}));
        QVERIFY(examined.pointsAt(*finding, "response.json", JsonPath{"$.choices[0].token_ids"}));
        QVERIFY(finding->evidence[0].note.find("stands for 9, the centre is 8") != std::string::npos);
        QVERIFY(finding->detail.find("Read as gptq_v2 all of them do") != std::string::npos);
        QCOMPARE(examined.report->findings.size(), std::size_t(1));
    }

    void quiet_data()
    {
        QTest::addColumn<QString>("which");
        for (const char *const which : {"healthy", "healthy_v2", "centre_right", "centre_v2", "wrapped_zero", "order_acts",
                                        "floats_ignored", "floats_not_listed", "awq", "compressed", "fp8", "gguf", "bits_text"})
            QTest::newRow(which) << which;
    }
    void quiet()
    {
        QFETCH(QString, which);
        const Examined examined = look(qPrintable(which));
        VERIFY_WORST(w10, examined, Severity::Ok);
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
        row("centre", "quant.zero.centre", "error", "config.json $.quantization_config.checkpoint_format");
        row("awq_off", "quant.zero.centre", "error", "config.json $.quantization_config.zero_point");
        row("awq_as_gptq", "quant.layout.other", "error", "config.json $.quantization_config");
        row("group_size", "quant.layout.shape", "error", "config.json $.quantization_config.group_size");
        row("bits", "quant.layout.shape", "error", "config.json $.quantization_config.bits");
        row("bits_text_sick", "quant.zero.convention", "error", "config.json $.quantization_config.sym");
        row("bits_zero", "quant.config.bits", "error", "config.json $.quantization_config.bits");
        row("bits_word", "quant.config.bits", "error", "config.json $.quantization_config.bits");
        row("no_scales", "quant.layout.part", "error", "model.safetensors");
        row("order", "quant.group.order", "error", "config.json $.quantization_config.desc_act");
        row("order_uneven", "quant.group.order", "error", "config.json $.quantization_config.desc_act");
        row("ignored", "quant.spread.ignored", "error", "model.safetensors");
        row("floats", "quant.spread.float", "error", "model.safetensors");
        row("undeclared", "quant.config.absent", "error", "config.json");
        row("disagree", "quant.config.disagree", "error", "quantize_config.json $.group_size");
        row("scale_nan", "quant.scale.value", "error", "model.safetensors");
        row("scale_reciprocal", "quant.scale.range", "warning", "model.safetensors");
        row("compressed_scale", "quant.scale.shape", "error",
            "config.json $.quantization_config.config_groups.group_0.weights.group_size");
        row("fp8_scale", "quant.scale.shape", "error", "model.safetensors");
        row("fp8_no_scale", "quant.scale.absent", "error", "model.safetensors");
        row("gguf_type", "quant.filetype", "error", "model.gguf $[\"general.file_type\"]");
    }
    void faulty()
    {
        QFETCH(QString, which);
        QFETCH(QString, code);
        QFETCH(QString, severity);
        QFETCH(QString, place);
        const Examined examined = look(qPrintable(which));
        VERIFY_WORST(w10, examined, *severityFromString(severity.toStdString()));
        const Finding *const finding = examined.find(code.toStdString());
        QVERIFY2(finding, qPrintable(examined.summary()));
        bool found = false;
        for (const std::string &at : examined.places(*finding))
            found = found || at.starts_with(place.toStdString());
        QVERIFY2(found, qPrintable(examined.summary()));
    }

    void nanPointsAtTheElement()
    {
        const Examined examined = look("scale_nan");
        const Finding *const finding = examined.find("quant.scale.value");
        QVERIFY(finding);
        QVERIFY(examined.pointsAt(*finding, "model.safetensors", TensorBlock{"model.layers.0.mlp.down_proj.scales", {1, 7}, {2, 8}}));
    }

    void undecidable()
    {
        const Examined excerpt = look("excerpt"); // declared, nothing packed
        VERIFY_WORST(w10, excerpt, Severity::Undecidable);
        QCOMPARE(excerpt.report->missing, std::vector<std::string>{"weights"});
        const Examined undeclared = examineWith(w10, {fixture(w10.slug, "undeclared") + "/model.safetensors"});
        VERIFY_WORST(w10, undeclared, Severity::Undecidable);
        QCOMPARE(undeclared.report->missing, std::vector<std::string>{"quantization_config"});
    }

    /// What is lost of a cut configuration may be the declaration.
    void cutConfiguration() { VERIFY_WORST(w10, look("config_cut"), Severity::Undecidable); }

    /// GEMV packs rows in plain order: another kernel's layout is no fault of this one.
    void anotherKernelsLayout()
    {
        QTemporaryDir folder;
        QVERIFY(QFile::copy(QString::fromStdString(fixture(w10.slug, "healthy") + "/model.safetensors"), folder.filePath(QStringLiteral("model.safetensors"))));
        for (const bool gemv : {false, true}) {
            QFile config(folder.filePath(QStringLiteral("config.json")));
            QVERIFY(config.open(QIODevice::WriteOnly | QIODevice::Truncate));
            config.write(QByteArray("{\"model_type\": \"llama\", \"quantization_config\": {\"quant_method\": \"awq\", \"bits\": 4, \"group_size\": 32, "
                                    "\"zero_point\": true, \"version\": \"") + (gemv ? "gemv" : "gemm") + "\"}}");
            config.close();
            const Examined examined = examineWith(w10, {folder.path().toStdString()});
            QVERIFY_RESULT(examined.report);
            QVERIFY2((examined.worst() == Severity::Error) != gemv, qPrintable(examined.summary()));
            QVERIFY2(examined.report->notSeen.empty() != gemv, qPrintable(examined.summary()));
        }
    }

    void unpacking()
    {
        const std::uint32_t word = 0x76543210;
        QCOMPARE(unpack(&word, 3, 4, Packing::Sequential), 3U);
        const std::uint32_t awq = 0x75316420; // values 0,2,4,6,1,3,5,7 from the lowest bits up
        for (std::uint32_t i = 0; i < 8; ++i)
            QCOMPARE(unpack(&awq, i, 4, Packing::Awq), i);
        const std::uint32_t bytes[] = {0x04030201, 0x08070605};
        QCOMPARE(unpack(bytes, 5, 8, Packing::Sequential), 6U);
    }

    void survivesDamage_data()
    {
        QTest::addColumn<QString>("which");
        for (const char *const which : {"sick", "centre", "awq", "compressed", "fp8", "gguf", "disagree"})
            QTest::newRow(which) << which;
    }
    void survivesDamage()
    {
        QFETCH(QString, which);
        QCOMPARE(faultUnderDamage(w10, fixture(w10.slug, which.toStdString())), QString());
    }

    void cancels() { QCOMPARE(faultWhenCancelled(w10, fixture(w10.slug, "sick")), QString()); }

    void reports()
    {
        REQUIRE_SHARED(shared);
        const Examined sick = examineWith(w10, {shared + "/reports/b55/sick"});
        VERIFY_WORST(w10, sick, Severity::Error);
        QVERIFY2(sick.find("quant.zero.convention"), qPrintable(sick.summary()));
        const Examined healthy = examineWith(w10, {shared + "/reports/b55/healthy"});
        VERIFY_WORST(w10, healthy, Severity::Ok);
    }
};

PROSECTOR_TEST(TestPackedQuantization, tst_weights_packed_quantization)
#include "tst_weights_packed_quantization.moc"
