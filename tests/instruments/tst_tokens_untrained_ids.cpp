// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/corpus.h"
#include "tests/support/instrumenttest.h"
#include "tests/support/tempfolder.h"
#include "tests/support/safetensorswriter.h"

using namespace prosector;
using namespace prosector::test;

namespace prosector {
extern const Instrument tokens_untrained_ids;
}

class TestUntrainedIds : public QObject {
    Q_OBJECT

    const Instrument &t6 = tokens_untrained_ids;

    /// A hundred single-letter pieces.
    static std::string tokenizer()
    {
        std::string vocabulary;
        for (int id = 0; id < 100; ++id) {
            std::string piece(1, static_cast<char>(id < 94 ? 33 + id : 'a'));
            if (id >= 94)
                piece = "x" + std::to_string(id);
            else if (piece == "\"" || piece == "\\")
                piece = "\\" + piece;
            vocabulary += (id == 0 ? "[\"" : ", [\"") + piece + "\", -1.0]";
        }
        return "{\"added_tokens\": [], \"model\": {\"type\": \"Unigram\", \"unk_id\": 99, \"vocab\": [" + vocabulary + "]}}";
    }
    static std::string weights(std::uint64_t rows, int faint = -1, int equal = 0)
    {
        std::vector<float> values;
        for (std::uint64_t row = 0; row < rows; ++row) {
            const float size = static_cast<int>(row) == faint ? 0.001F : 1.0F;
            values.push_back(size);
            values.push_back(row < static_cast<std::uint64_t>(equal) ? 0.0F : size * 0.01F * static_cast<float>(row + 1));
        }
        return SafetensorsWriter().tensor("model.embed_tokens.weight", "F32", {rows, 2}, values).bytes();
    }

private slots:
    void probe()
    {
        const Examined sick = examineWith(t6, {fixture(t6.slug, "sick")});
        VERIFY_WORST(t6, sick, Severity::Error);
        const Finding *const faint = sick.find("tokens.untrained.faint");
        QVERIFY2(faint, qPrintable(sick.summary()));
        QVERIFY(sick.pointsAt(*faint, "model.safetensors", TensorBlock{"model.embed_tokens.weight", {41, 0}, {42, 4}}));
        const Examined healthy = examineWith(t6, {fixture(t6.slug, "healthy")});
        QVERIFY2(healthy.worst() <= Severity::Info && !healthy.report->undecidable(), qPrintable(healthy.summary()));
    }

    void ids_data()
    {
        QTest::addColumn<QString>("ids");
        QTest::addColumn<int>("rows");
        QTest::addColumn<int>("faint");
        QTest::addColumn<int>("equal");
        QTest::addColumn<QString>("code");
        QTest::addColumn<Severity>("worst");
        QTest::newRow("padded table") << "[1, 2]" << 128 << -1 << 0 << "tokens.untrained.padding" << Severity::Info;
        QTest::newRow("no padding") << "[1, 2]" << 100 << -1 << 0 << "" << Severity::Ok;
        QTest::newRow("beyond the rows") << "[1, 128]" << 128 << -1 << 0 << "tokens.untrained.out_of_range" << Severity::Error;
        QTest::newRow("padding row") << "[1, 120]" << 128 << -1 << 0 << "tokens.untrained.unnamed" << Severity::Warning;
        QTest::newRow("unknown") << "[1, 99]" << 100 << -1 << 0 << "tokens.untrained.unknown" << Severity::Warning;
        QTest::newRow("faint") << "[1, 50]" << 100 << 50 << 0 << "tokens.untrained.faint" << Severity::Warning;
        QTest::newRow("faint, but not used") << "[1, 51]" << 100 << 50 << 0 << "" << Severity::Ok;
        QTest::newRow("equal rows") << "[5]" << 100 << -1 << 9 << "tokens.untrained.twins" << Severity::Warning;
        QTest::newRow("few equal rows") << "[5]" << 100 << -1 << 8 << "" << Severity::Ok;
        QTest::newRow("placeholder") << "[1, -200]" << 100 << -1 << 0 << "" << Severity::Ok;
    }
    void ids()
    {
        QFETCH(QString, ids);
        QFETCH(int, rows);
        QFETCH(int, faint);
        QFETCH(int, equal);
        QFETCH(QString, code);
        QFETCH(Severity, worst);
        TempFolder folder;
        folder.file("tokenizer.json", tokenizer()).file("tokens.json", "{\"ids\": " + ids.toStdString() + "}");
        folder.file("model.safetensors", weights(static_cast<std::uint64_t>(rows), faint, equal));
        const Examined examined = examineWith(t6, {folder.path()});
        VERIFY_WORST(t6, examined, worst);
        if (!code.isEmpty())
            QVERIFY2(examined.find(code.toStdString()), qPrintable(examined.summary()));
    }

    /// What the template's source spells but no plain conversation prints is in no prompt.
    void printedMarkers_data()
    {
        QTest::addColumn<QString>("chat");
        QTest::addColumn<Severity>("worst");
        QTest::newRow("printed") << "{% for m in messages %}{{ '<|faint|>' + m.content }}{% endfor %}" << Severity::Error;
        QTest::newRow("only for the answer") << "{% for m in messages %}{{ m.content }}{% endfor %}{% if add_generation_prompt %}{{ '<|faint|>' }}{% endif %}" << Severity::Error;
        QTest::newRow("only for tools") << "{% if tools %}{{ '<|faint|>' }}{% endif %}{% for m in messages %}{{ m.content }}{% endfor %}" << Severity::Ok;
        QTest::newRow("no system turn") << "{% for m in messages %}{% if m.role == 'system' %}{{ raise_exception('no') }}{% endif %}{{ '<|faint|>' + m.content }}{% endfor %}" << Severity::Error;
    }
    void printedMarkers()
    {
        QFETCH(QString, chat);
        QFETCH(Severity, worst);
        TempFolder folder;
        folder.file("tokenizer_config.json", "{\"added_tokens_decoder\": {\"50\": {\"content\": \"<|faint|>\", \"special\": true}}, \"chat_template\": \"" + chat.toStdString() + "\"}");
        folder.file("tokenizer.json", tokenizer()).file("tokens.json", "{\"ids\": [1, 2]}").file("model.safetensors", weights(100, 50, 0));
        VERIFY_WORST(t6, examineWith(t6, {folder.path()}), worst);
    }

    void excerptNamesNothing()
    {
        TempFolder folder;
        folder.file("tokenizer.json", "{\"added_tokens\": [], \"model\": {\"type\": \"BPE\", \"vocab\": {\"ab\": 5}, \"merges\": []}}").file("tokens.json", "{\"ids\": [5, 4000]}");
        VERIFY_WORST(t6, examineWith(t6, {folder.path()}), Severity::Ok);
    }

    void missingInputs()
    {
        TempFolder folder;
        folder.file("notes.txt", "hello\n");
        QVERIFY(examineWith(t6, {folder.path()}).report->undecidable());
    }

    void decoy()
    {
        REQUIRE_SHARED(shared);
        for (const char *const side : {"sick", "healthy"})
            QVERIFY(examineWith(t6, {shared + "/reports/b17/" + side}).worst() <= Severity::Info);
    }

    void damageAndCancel()
    {
        QCOMPARE(faultUnderDamage(t6, fixture(t6.slug, "sick")), QString());
        QCOMPARE(faultWhenCancelled(t6, fixture(t6.slug, "sick")), QString());
    }
};

PROSECTOR_TEST(TestUntrainedIds, tst_tokens_untrained_ids)

#include "tst_tokens_untrained_ids.moc"
