// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/corpus.h"
#include "tests/support/instrumenttest.h"
#include "tests/support/safetensorswriter.h"
#include "tests/support/tempfolder.h"

#include <limits>

using namespace prosector;
using namespace prosector::test;

namespace prosector {
extern const Instrument configuration_dtype_range;
}

class TestDtypeRange : public QObject {
    Q_OBJECT

    const Instrument &f4 = configuration_dtype_range;

private slots:
    void overflow()
    {
        const Examined examined = examineWith(f4, {fixture(f4.slug, "sick")});
        VERIFY_WORST(f4, examined, Severity::Error);
        const Finding *const first = examined.find("dtype.activation.overflow");
        QVERIFY2(first, qPrintable(examined.summary()));
        QCOMPARE(first->title, std::string("float16 overflow first at vision_tower.pooler"));
        QVERIFY(examined.pointsAt(*first, "activation_stats.json", JsonPath{"$.modules[1].abs_max"}));
        QCOMPARE(first->measure->number, 2.0);
        const Finding *const bias = examined.find("dtype.parameter.near_limit");
        QVERIFY2(bias, qPrintable(examined.summary()));
        QVERIFY(examined.pointsAt(*bias, "model.safetensors", TensorBlock{"model.vision_tower.std_bias"}));
        QCOMPARE(bias->severity, Severity::Warning);
        QCOMPARE(examined.report->findings.size(), std::size_t(2));
    }

    void wideFormatNeverOverflows() { VERIFY_WORST(f4, examineWith(f4, {fixture(f4.slug, "healthy")}), Severity::Ok); }

    void uncalibratedKeys()
    {
        const Examined examined = examineWith(f4, {fixture(f4.slug, "keys_sick")});
        VERIFY_WORST(f4, examined, Severity::Error);
        const Finding *const finding = examined.find("dtype.kv.uncalibrated");
        QVERIFY2(finding, qPrintable(examined.summary()));
        QVERIFY(examined.pointsAt(*finding, "model.safetensors", TensorBlock{"model.layers.0.self_attn.k_scale"}));
        QVERIFY(examined.pointsAt(*finding, "model.safetensors", TensorBlock{"model.layers.0.self_attn.k_proj.bias"}));
        QVERIFY(examined.pointsAt(*finding, "config.json", JsonPath{"$.quantization_config.kv_cache_scheme"}));
        QCOMPARE(finding->measure->number, 1.0); // one of two layers
    }

    void calibratedKeys()
    {
        const Examined examined = examineWith(f4, {fixture(f4.slug, "keys_healthy")});
        VERIFY_WORST(f4, examined, Severity::Ok);
        QCOMPARE(examined.report->tables.at(0).rows.size(), std::size_t(2));
    }

    void keys_data()
    {
        QTest::addColumn<QList<float>>("bias"); // of one layer, head of 4
        QTest::addColumn<float>("scale");       // negative: none stored
        QTest::addColumn<QString>("scheme");
        QTest::addColumn<QString>("code");
        const QString fp8 = QStringLiteral("\"num_bits\": 8, \"type\": \"float\"");
        QTest::newRow("pairs add up") << QList<float>{130, 0, 130, 0} << 1.0F << fp8 << "dtype.kv.uncalibrated";
        QTest::newRow("other pairs do not") << QList<float>{130, 130, 0, 0} << 1.0F << fp8 << QString();
        QTest::newRow("no scale stored") << QList<float>{300, 0, 0, 0} << -1.0F << fp8 << "dtype.kv.uncalibrated";
        QTest::newRow("scale too small") << QList<float>{300, 0, 0, 0} << 0.5F << fp8 << "dtype.kv.saturates";
        QTest::newRow("whole range used") << QList<float>{213, 0, 0, 0} << 0.52F << fp8 << QString();
        QTest::newRow("small keys at scale 1") << QList<float>{3, 0, 0, 0} << 1.0F << fp8 << QString();
        QTest::newRow("scales computed while serving") << QList<float>{300, 0, 0, 0} << 1.0F << fp8 + QStringLiteral(", \"dynamic\": true") << QString();
    }
    void keys()
    {
        QFETCH(QList<float>, bias);
        QFETCH(float, scale);
        QFETCH(QString, scheme);
        QFETCH(QString, code);
        SafetensorsWriter writer;
        writer.tensor("model.layers.0.self_attn.k_proj.bias", "F32", {4}, std::vector<float>(bias.begin(), bias.end()));
        if (scale >= 0)
            writer.tensor("model.layers.0.self_attn.attn.k_scale", "F32", {1}, std::vector<float>{scale});
        TempFolder folder;
        folder.file("model.safetensors", writer.bytes());
        folder.file("config.json", "{\"model_type\": \"qwen2\", \"hidden_size\": 8, \"num_attention_heads\": 2, \"torch_dtype\": \"bfloat16\", "
                                   "\"quantization_config\": {\"kv_cache_scheme\": {" + scheme.toStdString() + "}}}");
        const Examined examined = examineWith(f4, {folder.path()});
        VERIFY_WORST(f4, examined, code.isEmpty() ? Severity::Ok : Severity::Error);
        if (!code.isEmpty())
            QVERIFY2(examined.find(code.toStdString()), qPrintable(examined.summary()));
    }

    void parameters_data()
    {
        QTest::addColumn<QString>("name");
        QTest::addColumn<float>("value");
        QTest::addColumn<QString>("dtype");
        QTest::addColumn<QString>("code");
        QTest::addColumn<Severity>("worst");
        const float inf = std::numeric_limits<float>::infinity();
        const auto row = [](const char *tag, const char *name, float value, const char *dtype, const char *code, Severity worst) {
            QTest::newRow(tag) << name << value << dtype << code << worst;
        };
        row("small", "model.norm.weight", 3, "float16", "dtype.narrowed", Severity::Info); // stored in float32
        row("near", "model.norm.weight", 40000, "float16", "dtype.parameter.near_limit", Severity::Warning);
        row("at the limit", "model.norm.weight", 65504, "float16", "dtype.parameter.overflow", Severity::Error);
        row("beyond", "model.norm.weight", -1e6F, "float16", "dtype.parameter.overflow", Severity::Error);
        row("infinite", "model.norm.weight", inf, "float16", "dtype.parameter.not_finite", Severity::Error);
        row("mask fill", "model.causal_mask", -inf, "float16", "dtype.narrowed", Severity::Info);
        row("wide", "model.norm.weight", 1e6F, "bfloat16", "", Severity::Ok);
    }
    void parameters()
    {
        QFETCH(QString, name);
        QFETCH(float, value);
        QFETCH(QString, dtype);
        QFETCH(QString, code);
        QFETCH(Severity, worst);
        TempFolder folder;
        folder.file("model.safetensors",
                    SafetensorsWriter().tensor(name.toStdString(), "F32", {3}, std::vector<float>{0, value, 1}).bytes());
        folder.file("config.json", "{\"model_type\": \"llama\", \"text_config\": {\"dtype\": \"" + dtype.toStdString() + "\"}}");
        const Examined examined = examineWith(f4, {folder.path()});
        VERIFY_WORST(f4, examined, worst);
        if (!code.isEmpty())
            QVERIFY2(examined.find(code.toStdString()), qPrintable(examined.summary()));
    }

    void narrowed_data()
    {
        QTest::addColumn<QString>("stats"); // largest activation, or empty
        QTest::addColumn<bool>("log");      // the server casts; else config.json says so
        QTest::addColumn<Severity>("worst");
        QTest::newRow("declared against stored") << QString() << false << Severity::Warning;
        QTest::newRow("cast by the server") << QString() << true << Severity::Warning;
        QTest::newRow("activations are small") << "900" << true << Severity::Info;
        QTest::newRow("activations are large") << "60000" << true << Severity::Warning;
    }
    void narrowed()
    {
        QFETCH(QString, stats);
        QFETCH(bool, log);
        QFETCH(Severity, worst);
        TempFolder folder;
        folder.file("model.safetensors",
                    SafetensorsWriter().tensor("model.norm.weight", "BF16", {2}, std::vector<std::uint16_t>{0x3F80, 0x3F80}).bytes());
        folder.file("config.json", std::string("{\"model_type\": \"llama\", \"torch_dtype\": \"") + (log ? "bfloat16" : "float16") + "\"}");
        if (log)
            folder.file("server.log", "INFO 01-01 10:00:00 [__init__.py:207] vLLM API server version 0.9.0\n"
                                      "WARNING 01-01 10:00:01 [config.py:3271] Casting torch.bfloat16 to torch.float16.\n");
        if (!stats.isEmpty())
            folder.file("activation_stats.json", "{\"dtype\": \"bfloat16\", \"modules\": [{\"name\": \"m\", \"abs_max\": " + stats.toStdString()
                                                     + ", \"inf\": 0, \"nan\": 0}]}");
        const Examined examined = examineWith(f4, {folder.path()});
        VERIFY_WORST(f4, examined, worst);
        const Finding *const finding = examined.find("dtype.narrowed");
        QVERIFY2(finding, qPrintable(examined.summary()));
        if (log)
            QVERIFY2(examined.pointsAt(*finding, "server.log", LogLine{2, 2}), qPrintable(examined.summary()));
    }

    void activations_data()
    {
        QTest::addColumn<QString>("module");
        QTest::addColumn<Severity>("worst");
        QTest::newRow("near") << "{\"name\": \"a\", \"abs_max\": 40000, \"inf\": 0, \"nan\": 0}" << Severity::Warning;
        QTest::newRow("rounded up, none counted") << "{\"name\": \"a\", \"abs_max\": 65536, \"inf\": 0, \"nan\": 0}" << Severity::Warning;
        QTest::newRow("beyond, not counted") << "{\"name\": \"a\", \"abs_max\": 70000}" << Severity::Error;
        QTest::newRow("beyond any rounding") << "{\"name\": \"a\", \"abs_max\": 70000, \"inf\": 0, \"nan\": 0}" << Severity::Error;
        QTest::newRow("infinite with a sign") << "{\"name\": \"a\", \"abs_max\": \"+inf\"}" << Severity::Error;
        QTest::newRow("NaN") << "{\"name\": \"a\", \"abs_max\": 1, \"nan\": 1}" << Severity::Error;
        QTest::newRow("mask") << "{\"name\": \"a.attention_mask\", \"abs_max\": \"inf\", \"inf\": 9, \"nan\": 0}" << Severity::Ok;
        QTest::newRow("small") << "{\"name\": \"a\", \"abs_max\": 40, \"inf\": 0, \"nan\": 0}" << Severity::Ok;
    }
    void activations()
    {
        QFETCH(QString, module);
        QFETCH(Severity, worst);
        TempFolder folder;
        folder.file("activation_stats.json", "{\"dtype\": \"float16\", \"modules\": [" + module.toStdString() + "]}");
        VERIFY_WORST(f4, examineWith(f4, {folder.path()}), worst);
    }

    /// Measured in a wide format, served in a narrow one.
    void servedNarrower()
    {
        TempFolder folder;
        folder.file("activation_stats.json", "{\"dtype\": \"bfloat16\", \"modules\": [{\"name\": \"a\", \"abs_max\": 113246, \"inf\": 0, \"nan\": 0}]}");
        folder.file("config.json", "{\"model_type\": \"gemma3\", \"torch_dtype\": \"float16\"}");
        const Examined narrow = examineWith(f4, {folder.path()});
        VERIFY_WORST(f4, narrow, Severity::Error);
        QVERIFY2(narrow.find("dtype.activation.overflow"), qPrintable(narrow.summary()));
        folder.file("config.json", "{\"model_type\": \"gemma3\", \"torch_dtype\": \"bfloat16\"}");
        VERIFY_WORST(f4, examineWith(f4, {folder.path()}), Severity::Ok);
    }

    /// Each part of a model in the format that it declares.
    void visionTower()
    {
        TempFolder folder;
        folder.file("model.safetensors", SafetensorsWriter().tensor("vision_tower.std_bias", "F32", {2}, std::vector<float>{54016, 1})
                                             .tensor("language_model.model.norm.weight", "F32", {2}, std::vector<float>{54016, 1}).bytes());
        folder.file("config.json", "{\"model_type\": \"gemma3\", \"text_config\": {\"dtype\": \"bfloat16\"}, \"vision_config\": {\"dtype\": \"float16\"}}");
        const Examined examined = examineWith(f4, {folder.path()});
        VERIFY_WORST(f4, examined, Severity::Warning);
        QCOMPARE(examined.report->findings.size(), std::size_t(1));
        QVERIFY(examined.report->findings[0].title.starts_with("vision_tower.std_bias"));
    }

    void missingInputs()
    {
        TempFolder folder;
        folder.file("config.json", "{\"model_type\": \"llama\", \"torch_dtype\": \"float16\"}");
        const Examined examined = examineWith(f4, {folder.path()});
        QVERIFY_RESULT(examined.report);
        QCOMPARE(examined.report->missing, (std::vector<std::string>{"weights", "activation_stats"}));
    }

    void damageAndCancel()
    {
        QCOMPARE(faultUnderDamage(f4, fixture(f4.slug, "sick")), QString());
        QCOMPARE(faultUnderDamage(f4, fixture(f4.slug, "keys_sick")), QString());
        QCOMPARE(faultWhenCancelled(f4, fixture(f4.slug, "sick")), QString());
    }

    void reports_data()
    {
        QTest::addColumn<QString>("path");
        QTest::addColumn<QString>("code");
        QTest::newRow("b42 sick") << "b42/sick" << "dtype.activation.overflow";
        QTest::newRow("b42 healthy") << "b42/healthy" << QString();
        QTest::newRow("b49 sick") << "b49/sick" << "dtype.kv.uncalibrated";
        QTest::newRow("b49 healthy") << "b49/healthy" << QString();
    }
    void reports()
    {
        QFETCH(QString, path);
        QFETCH(QString, code);
        REQUIRE_SHARED(shared);
        const Examined examined = examineWith(f4, {shared + "/reports/" + path.toStdString()});
        VERIFY_WORST(f4, examined, code.isEmpty() ? Severity::Ok : Severity::Error);
        if (!code.isEmpty())
            QVERIFY2(examined.find(code.toStdString()), qPrintable(examined.summary()));
    }

    void statistics_data()
    {
        QTest::addColumn<QString>("file");
        QTest::addColumn<QByteArray>("text");
        QTest::addColumn<QString>("dtype");
        QTest::addColumn<QString>("code");
        const QByteArray csv = "tensor,shape,dtype,min,max,mean,std\n";
        QTest::newRow("beyond float16") << "weight_stats.csv" << csv + "\"model.a\",\"[4]\",F16,-70000.0,3.0,0,1\n" << "float16" << "dtype.parameter.overflow";
        QTest::newRow("near it") << "weight_stats.csv" << csv + "\"model.a\",\"[4]\",F16,-1.0,54016.0,0,1\n" << "float16" << "dtype.parameter.near_limit";
        QTest::newRow("served wider") << "weight_stats.csv" << csv + "\"model.a\",\"[4]\",F16,-1.0,54016.0,0,1\n" << "bfloat16" << QString();
        QTest::newRow("JSON Lines, infinite") << "weight_stats.jsonl"
            << QByteArray("{\"tensor\": \"a\", \"shape\": [4], \"dtype\": \"F16\", \"min\": -1, \"max\": \"inf\"}\n") << "float16" << "dtype.parameter.not_finite";
        QTest::newRow("one object, counted NaN") << "weight_stats.json"
            << QByteArray("{\"tensors\": [{\"tensor\": \"a\", \"shape\": [4], \"dtype\": \"F16\", \"min\": -1, \"max\": 1, \"nan\": 2}]}") << "float16" << "dtype.parameter.not_finite";
        QTest::newRow("eight bits with a scale") << "weight_stats.csv" << csv + "\"model.a\",\"[4]\",F8_E4M3,-448,448,0,1\n" << "float8_e4m3fn" << QString();
        QTest::newRow("a mask") << "weight_stats.csv" << csv + "\"model.mask\",\"[4]\",F16,-65504,0,0,1\n" << "float16" << QString();
        QTest::newRow("stored wider than served") << "weight_stats.csv" << csv + "\"model.a\",\"[4]\",BF16,-1,1,0,1\n" << "float16" << "dtype.narrowed";
    }
    /// Statistics speak for tensors that are not here.
    void statistics()
    {
        QFETCH(QString, file);
        QFETCH(QByteArray, text);
        QFETCH(QString, dtype);
        QFETCH(QString, code);
        TempFolder folder;
        folder.file("config.json", "{\"model_type\": \"llama\", \"torch_dtype\": \"" + dtype.toStdString() + "\"}");
        folder.file(file.toStdString(), text.toStdString());
        const Examined examined = examineWith(f4, {folder.path()});
        QVERIFY_RESULT(examined.report);
        QCOMPARE(faultOf(f4, examined), QString());
        if (code.isEmpty())
            QVERIFY2(examined.worst() == Severity::Ok, qPrintable(examined.summary()));
        else
            QVERIFY2(examined.find(code.toStdString()), qPrintable(examined.summary()));
    }
};

PROSECTOR_TEST(TestDtypeRange, tst_configuration_dtype_range)

#include "tst_configuration_dtype_range.moc"
