// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/config/selection.h"
#include "tests/support/corpus.h"
#include "tests/support/instrumenttest.h"
#include "tests/support/tempfolder.h"

using namespace prosector;
using namespace prosector::test;

namespace prosector {
extern const Instrument configuration_polarity_check;
}

class TestPolarityCheck : public QObject {
    Q_OBJECT

    const Instrument &f8 = configuration_polarity_check;

    Examined look(const char *which) const { return examineWith(f8, {fixture(f8.slug, which)}); }

private slots:
    void relevanceFalls()
    {
        const Examined examined = look("sick");
        VERIFY_WORST(f8, examined, Severity::Error);
        const Finding *const finding = examined.find("polarity.reversed");
        QVERIFY2(finding, qPrintable(examined.summary()));
        QCOMPARE(finding->title, std::string("relevance_score falls as raw_score rises"));
        QCOMPARE(finding->measure->number, -1.0);
        QCOMPARE(*finding->measure->n, std::uint64_t(3));
        QVERIFY(examined.pointsAt(*finding, "search.jsonl", LogLine{1, 3}));
        QVERIFY(examined.pointsAt(*finding, "search.jsonl", LogLine{1, 1}));
        QVERIFY(examined.pointsAt(*finding, "index_meta.json", JsonPath{"$.index_type"}));
        QCOMPARE(examined.report->tables.at(0).rows.at(0).at(0).text, std::string("0.68")); // sorted by score
    }

    void quiet_data()
    {
        QTest::addColumn<QString>("which");
        for (const char *const which : {"healthy", "distance", "l2_index", "selection_right", "selection_accuracy", "ratio_right", "mask_right"})
            QTest::newRow(which) << which;
    }
    void quiet()
    {
        QFETCH(QString, which);
        const Examined examined = look(qPrintable(which));
        VERIFY_WORST(f8, examined, Severity::Ok);
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
        row("csv", "polarity.reversed", "error", "search.csv line 2");
        row("weak", "polarity.reversed", "warning", "search.jsonl");
        row("labels", "polarity.reversed", "error", "search.jsonl");
        row("selection", "polarity.selection.worst", "error", "trainer_state.json $.log_history[1].eval_loss");
        row("selection_declared", "polarity.selection.declared", "warning", "training_args.json $.greater_is_better");
        row("ratio", "polarity.ratio", "error", "effective_config.json $.sparsity_ratio");
        row("mask", "polarity.mask", "error", "capture.safetensors");
    }
    void faulty()
    {
        QFETCH(QString, which);
        QFETCH(QString, code);
        QFETCH(QString, severity);
        QFETCH(QString, place);
        const Examined examined = look(qPrintable(which));
        VERIFY_WORST(f8, examined, *severityFromString(severity.toStdString()));
        const Finding *const finding = examined.find(code.toStdString());
        QVERIFY2(finding, qPrintable(examined.summary()));
        bool found = false;
        for (const std::string &at : examined.places(*finding))
            found = found || at.starts_with(place.toStdString());
        QVERIFY2(found, qPrintable(examined.summary()));
    }

    void undecidable_data()
    {
        QTest::addColumn<QString>("which");
        QTest::newRow("nothing to compare") << "sick/index_meta.json";
        QTest::newRow("too few rows") << "two_rows";
        QTest::newRow("all but one row tied") << "ties";
        QTest::newRow("no selection") << "selection_none";
    }
    void undecidable()
    {
        QFETCH(QString, which);
        const Examined examined = look(qPrintable(which));
        VERIFY_WORST(f8, examined, Severity::Undecidable);
        QCOMPARE(examined.report->missing, (std::vector<std::string>{"retrieval_log", "training_log"}));
    }

    void unknownMetric()
    {
        TempFolder folder;
        folder.file("trainer_state.json", "{\"best_metric\": 0.5, \"best_model_checkpoint\": \"c-1\", \"log_history\": [{\"eval_zorp\": 0.5, \"step\": 1}, {\"eval_zorp\": 0.6, \"step\": 2}]}");
        VERIFY_WORST(f8, examineWith(f8, {folder.path()}), Severity::Undecidable);
    }

    void thresholds()
    {
        constexpr std::array ranks{7, 11, 4, 9, 12, 2, 10, 1, 8, 3, 6, 5}; // tau-b is -0.24
        std::string lines;
        for (std::size_t i = 0; i < ranks.size(); ++i)
            lines += "{\"raw_score\": " + std::to_string(i) + ", \"relevance_score\": " + std::to_string(ranks[i]) + "}\n";
        TempFolder folder;
        folder.file("search.jsonl", lines);
        Examined examined = examineWith(f8, {folder.path()});
        VERIFY_WORST(f8, examined, Severity::Warning);
        const auto facts = Facts::load();
        QVERIFY_RESULT(facts);
        const auto with = [&](std::map<std::string, double, std::less<>> changed) { return runInstrument(f8, {*examined.run, **facts}, Params(f8.params, std::move(changed)), {})->worst(); };
        QCOMPARE(with({{"error", -0.21}}), Severity::Error);
        QCOMPARE(with({{"warning", -0.3}}), Severity::Ok);
        QCOMPARE(with({{"rows", 13}}), Severity::Undecidable);
    }

    void labels()
    {
        const auto examine = [&](auto labelOf) {
            std::string text = "score,label\n";
            for (int i = 0; i < 20; ++i)
                text += std::to_string(i) + ',' + std::to_string(labelOf(i)) + '\n';
            TempFolder folder;
            folder.file("scores.csv", text);
            return examineWith(f8, {folder.path()});
        };
        VERIFY_WORST(f8, examine([](int i) { return i > 9 ? 1 : 0; }), Severity::Ok);
        VERIFY_WORST(f8, examine([](int i) { return i > 9 ? 0 : 1; }), Severity::Error);
        VERIFY_WORST(f8, examine([](int i) { return 20 - i; }), Severity::Undecidable); // numbers of classes have no order
    }

    /// However the zeros are counted.
    void shares_data()
    {
        QTest::addColumn<QString>("file");
        QTest::addColumn<QByteArray>("text");
        QTest::newRow("counted") << "zeros.csv" << QByteArray("tensor,zeros,elements\na,80,100\nb,81,100\n");
        QTest::newRow("of a shape") << "weight_stats.jsonl" << QByteArray("{\"tensor\": \"a\", \"shape\": [10, 10], \"dtype\": \"F16\", \"min\": -1, \"max\": 1, \"zeros\": 80}\n");
        QTest::newRow("a share") << "weight_stats.jsonl" << QByteArray("{\"tensor\": \"a\", \"shape\": [10, 10], \"dtype\": \"F16\", \"min\": -1, \"max\": 1, \"zero_fraction\": 0.8}\n");
    }
    void shares()
    {
        QFETCH(QString, file);
        QFETCH(QByteArray, text);
        TempFolder folder;
        folder.file(file.toStdString(), text.toStdString()).file("pruning.json", "{\"sparsity\": 0.8}");
        VERIFY_WORST(f8, examineWith(f8, {folder.path()}), Severity::Ok);
        folder.file("pruning.json", "{\"sparsity\": 0.2}");
        VERIFY_WORST(f8, examineWith(f8, {folder.path()}), Severity::Error);
    }

    void directions_data()
    {
        QTest::addColumn<QString>("metric");
        QTest::addColumn<int>("direction"); // -1 lower, 1 higher, 0 unknown
        QTest::newRow("loss") << "eval_loss" << -1;
        QTest::newRow("wer") << "eval_wer" << -1;
        QTest::newRow("ttft") << "ttft_p95_s" << -1;
        QTest::newRow("accuracy") << "eval_accuracy" << 1;
        QTest::newRow("rouge") << "eval_rougeL" << 1;
        QTest::newRow("unknown") << "eval_wobble" << 0;
    }
    void directions()
    {
        QFETCH(QString, metric);
        QFETCH(int, direction);
        const auto found = directionOf(metric.toStdString());
        QCOMPARE(found ? (*found == Direction::Higher ? 1 : -1) : 0, direction);
    }

    void survivesDamage_data()
    {
        QTest::addColumn<QString>("which");
        for (const char *const which : {"sick", "csv", "selection", "ratio", "mask"})
            QTest::newRow(which) << which;
    }
    void survivesDamage()
    {
        QFETCH(QString, which);
        QCOMPARE(faultUnderDamage(f8, fixture(f8.slug, which.toStdString())), QString());
    }

    void cancels() { QCOMPARE(faultWhenCancelled(f8, fixture(f8.slug, "sick")), QString()); }

    void realFiles_data()
    {
        QTest::addColumn<QString>("path");
        QTest::addColumn<QString>("worst");
        QTest::newRow("b78") << "reports/b78/sick" << "error";
        QTest::newRow("b78 healthy") << "reports/b78/healthy" << "ok";
        QTest::newRow("trainer state") << "corpus/folders/lora-distilbert-imdb" << "undecidable"; // it chose none
    }
    void realFiles()
    {
        REQUIRE_SHARED(shared);
        QFETCH(QString, path);
        QFETCH(QString, worst);
        const Examined examined = examineWith(f8, {shared + "/" + path.toStdString()});
        VERIFY_WORST(f8, examined, *severityFromString(worst.toStdString()));
    }
};

PROSECTOR_TEST(TestPolarityCheck, tst_configuration_polarity_check)
#include "tst_configuration_polarity_check.moc"
