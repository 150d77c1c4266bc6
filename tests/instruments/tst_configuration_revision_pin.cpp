// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/core/digest.h"
#include "tests/support/instrumenttest.h"
#include "tests/support/tempfolder.h"

using namespace prosector;
using namespace prosector::test;

namespace prosector {
extern const Instrument configuration_revision_pin;
}

class TestRevisionPin : public QObject {
    Q_OBJECT

    const Instrument &f6 = configuration_revision_pin;

    Examined look(const char *which) const { return examineWith(f6, {fixture(f6.slug, which)}); }

private slots:
    void templatesDifferBetweenReplicas()
    {
        const Examined examined = look("sick");
        VERIFY_WORST(f6, examined, Severity::Error);
        const Finding *const finding = examined.find("revision.replica.mismatch");
        QVERIFY2(finding, qPrintable(examined.summary()));
        QCOMPARE(finding->title, std::string("chat_template.jinja is not the same on all replicas"));
        QVERIFY(examined.pointsAt(*finding, "replica_inventory.json", JsonPath{"$.replicas[0].files[\"chat_template.jinja\"]"}));
        QVERIFY(examined.pointsAt(*finding, "replica_inventory.json", JsonPath{"$.replicas[1].files[\"chat_template.jinja\"]"}));
        QVERIFY(finding->detail.find("\"main\"") != std::string::npos);
        QCOMPARE(examined.report->grids.at(0).cells.size(), std::size_t(4));
        const Finding *const floating = examined.find("revision.floating");
        QVERIFY(floating && floating->severity == Severity::Info); // one start day
    }

    void quiet_data()
    {
        QTest::addColumn<QString>("which");
        for (const char *const which : {"healthy", "canonical", "services", "cache", "flags_pinned", "manifest_right", "manifest_line_ends", "ollama"})
            QTest::newRow(which) << which;
    }
    void quiet()
    {
        QFETCH(QString, which);
        const Examined examined = look(qPrintable(which));
        VERIFY_WORST(f6, examined, Severity::Ok);
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
        row("commits", "revision.replica.mismatch", "error", "replica_inventory.json $.replicas[1]");
        row("days", "revision.floating", "warning", "replica_inventory.json $.replicas[1]");
        row("one_pod", "revision.floating", "info", "replica_inventory.json $.replicas[0]");
        row("lines", "revision.replica.mismatch", "error", "replicas.jsonl line 2");
        row("cache_dangling", "revision.ref.dangling", "error", "models--org--name/refs/main");
        row("cache_two", "revision.snapshots", "info", "models--org--name/snapshots/");
        row("cache_damaged", "revision.manifest.mismatch", "error", "models--org--name/blobs/cccc");
        row("flags", "revision.floating", "info", "engine_args.json $.revision");
        row("manifest", "revision.manifest.mismatch", "error", "manifest.json $.files[\"config.json\"]");
        row("sums", "revision.manifest.mismatch", "error", "SHA256SUMS line 1");
        row("ollama_damaged", "revision.manifest.mismatch", "error", "manifests/registry.ollama.ai/library/m/latest $.layers[0].digest");
    }
    void faulty()
    {
        QFETCH(QString, which);
        QFETCH(QString, code);
        QFETCH(QString, severity);
        QFETCH(QString, place);
        const Examined examined = look(qPrintable(which));
        VERIFY_WORST(f6, examined, *severityFromString(severity.toStdString()));
        const Finding *const finding = examined.find(code.toStdString());
        QVERIFY2(finding, qPrintable(examined.summary()));
        bool found = false;
        for (const std::string &at : examined.places(*finding))
            found = found || at.starts_with(place.toStdString());
        QVERIFY2(found, qPrintable(examined.summary()));
    }

    void printedByTheEngine_data()
    {
        QTest::addColumn<QByteArray>("line");
        QTest::addColumn<bool>("floats");
        QTest::newRow("arguments") << QByteArray("INFO 05-29 10:00:00 [utils.py:233] non-default args: {'model': 'm', 'revision': 'main'}\n") << true;
        QTest::newRow("configuration") << QByteArray("INFO 12-01 10:00:05 [core.py:77] Initializing a V1 LLM engine (v0.11.0) with config: model='m', "
                                                     "tokenizer='m', revision=main, tokenizer_revision=None, dtype=torch.bfloat16, max_seq_len=4096\n") << true;
        QTest::newRow("a commit") << QByteArray("INFO 05-29 10:00:00 [utils.py:233] non-default args: {'model': 'm', 'revision': '" + QByteArray(40, 'a') + "'}\n") << false;
    }
    void printedByTheEngine()
    {
        QFETCH(QByteArray, line);
        QFETCH(bool, floats);
        TempFolder folder;
        folder.file("vllm.log", line.toStdString());
        const Examined examined = examineWith(f6, {folder.path()});
        VERIFY_WORST(f6, examined, floats ? Severity::Info : Severity::Ok);
        QCOMPARE(examined.find("revision.floating") != nullptr, floats);
    }

    /// The hub names files by the id of their Git blob, and by SHA-256 what lies in Git-LFS.
    void gitBlobs()
    {
        TempFolder folder;
        folder.file("config.json", "{}\n").file("model.safetensors", "version https://git-lfs.github.com/spec/v1\noid sha256:" + std::string(64, 'b') + "\nsize 10\n");
        const auto listed = [&](const std::string &blob, const std::string &oid) {
            folder.file("manifest.json", "{\"files\": [{\"path\": \"config.json\", \"oid\": \"" + blob + "\"}, {\"path\": \"model.safetensors\", \"oid\": \""
                                             + std::string(40, '0') + "\", \"lfs\": {\"oid\": \"" + oid + "\"}}]}");
            return examineWith(f6, {folder.path()});
        };
        // printf '{}\n' | git hash-object --stdin
        const std::string blob = "0967ef424bce6791893e9a57bb952f80fd536e93";
        VERIFY_WORST(f6, listed(blob, std::string(64, 'b')), Severity::Ok);
        VERIFY_WORST(f6, listed(std::string(40, '1'), std::string(64, 'b')), Severity::Error);
        VERIFY_WORST(f6, listed(blob, std::string(64, 'c')), Severity::Error);
    }

    void ollamaDigests()
    {
        TempFolder folder;
        folder.file("replicas.json", "{\"replicas\": [{\"pod\": \"a\", \"model\": \"m\", \"digest\": \"sha256:" + std::string(64, '1')
                                         + "\"}, {\"pod\": \"b\", \"model\": \"m\", \"digest\": \"sha256:" + std::string(64, '2') + "\"}]}");
        VERIFY_WORST(f6, examineWith(f6, {folder.path()}), Severity::Error);
    }

    void undecidable()
    {
        const Examined local = look("local"); // a folder without a revision is not floating
        VERIFY_WORST(f6, local, Severity::Undecidable);
        QCOMPARE(local.report->missing, (std::vector<std::string>{"replica_inventory", "engine_args", "trace_manifest"}));
    }

    void survivesDamage_data()
    {
        QTest::addColumn<QString>("which");
        for (const char *const which : {"sick", "healthy", "lines", "cache", "flags", "manifest", "sums", "ollama"})
            QTest::newRow(which) << which;
    }
    void survivesDamage()
    {
        QFETCH(QString, which);
        QCOMPARE(faultUnderDamage(f6, fixture(f6.slug, which.toStdString())), QString());
    }

    void cancels() { QCOMPARE(faultWhenCancelled(f6, fixture(f6.slug, "sick")), QString()); }
};

PROSECTOR_TEST(TestRevisionPin, tst_configuration_revision_pin)
#include "tst_configuration_revision_pin.moc"
