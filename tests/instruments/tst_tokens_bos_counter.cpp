// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/corpus.h"
#include "tests/support/instrumenttest.h"
#include "tests/support/tempfolder.h"

using namespace prosector;
using namespace prosector::test;

namespace prosector {
extern const Instrument tokens_bos_counter;
}

class TestBosCounter : public QObject {
    Q_OBJECT

    const Instrument &t1 = tokens_bos_counter;

    static std::string gemma(const std::string &more)
    {
        return "{\"tokenizer_class\": \"GemmaTokenizer\", " + more + "\"bos_token\": \"<bos>\", \"eos_token\": \"<eos>\", \"pad_token\": \"<pad>\", "
               "\"added_tokens_decoder\": {\"0\": {\"content\": \"<pad>\", \"special\": true}, \"1\": {\"content\": \"<eos>\", \"special\": true}, "
               "\"2\": {\"content\": \"<bos>\", \"special\": true}}}";
    }

private slots:
    void probe()
    {
        const Examined sick = examineWith(t1, {fixture(t1.slug, "sick")});
        VERIFY_WORST(t1, sick, Severity::Error);
        const Finding *const twice = sick.find("tokens.bos.duplicate");
        QVERIFY2(twice && twice->measure->number == 2, qPrintable(sick.summary()));
        QVERIFY(sick.pointsAt(*twice, "response.json", TokenRange{0, 2}));
        QVERIFY(sick.pointsAt(*twice, "response.json", JsonPath{"$.prompt_token_ids"}));
        QVERIFY(sick.pointsAt(*twice, "tokenizer_config.json", TemplateSpan{3, 12}));
        QVERIFY(sick.pointsAt(*twice, "tokenizer.json", JsonPath{"$.post_processor"}));
        const Examined healthy = examineWith(t1, {fixture(t1.slug, "healthy")});
        VERIFY_WORST(t1, healthy, Severity::Info);
        QVERIFY2(healthy.find("tokens.bos.two_adders"), qPrintable(healthy.summary()));
    }

    void arrays_data()
    {
        QTest::addColumn<QString>("config");
        QTest::addColumn<QString>("file");
        QTest::addColumn<QString>("content");
        QTest::addColumn<QString>("code");
        QTest::addColumn<Severity>("worst");
        const auto row = [](const char *name, const std::string &config, const char *file, const char *content, const char *code, Severity worst) {
            QTest::newRow(name) << QString::fromStdString(config) << file << content << code << worst;
        };
        const std::string adds = gemma("\"add_bos_token\": true, "), none = gemma("\"add_bos_token\": false, ");
        row("missing", adds, "engine_requests.jsonl", "{\"request_id\": \"0\", \"prompt_token_ids\": [651, 4320]}\n", "tokens.bos.missing", Severity::Error);
        row("class default", gemma(""), "tokens.json", "{\"ids\": [651, 4320]}", "tokens.bos.missing", Severity::Error);
        row("there", adds, "tokens.json", "{\"ids\": [2, 651, 4320]}", "", Severity::Ok);
        row("three", adds, "tokens.json", "{\"ids\": [2, 2, 2, 651]}", "tokens.bos.duplicate", Severity::Error);
        row("none wanted", none, "tokens.json", "{\"ids\": [651, 4320]}", "", Severity::Ok);
        row("displaced", adds, "tokens.json", "{\"ids\": [108, 2, 651, 4320]}", "tokens.bos.displaced", Severity::Error);
        row("interior", adds, "tokens.json", "{\"ids\": [2, 651, 4320, 2, 77]}", "tokens.bos.interior", Severity::Error);
        row("packed", adds, "tokens.json", "{\"ids\": [2, 651, 4320, 1, 2, 77, 1]}", "", Severity::Ok);
        row("padding is dropped", adds, "batch.json", "{\"input_ids\": [[0, 0, 2, 57]], \"attention_mask\": [[0, 0, 1, 1]]}", "", Severity::Ok);
        row("segments", adds, "batch.json", "{\"input_ids\": [[2, 57, 2, 58, 0]], \"attention_mask\": [[1, 1, 2, 2, 0]]}", "", Severity::Ok);
        row("second segment lacks it", adds, "batch.json", "{\"input_ids\": [[2, 57, 59, 58, 0]], \"attention_mask\": [[1, 1, 2, 2, 0]]}", "tokens.bos.missing", Severity::Error);
        row("SGLang", adds, "response.json", "{\"text\": \"x\", \"meta_info\": {\"input_token_logprobs\": [[null, 2, null], [-1.0, 2, null], [-2.0, 9, null]]}}",
            "tokens.bos.duplicate", Severity::Error);
        row("TGI", adds, "response.json", "{\"generated_text\": \"x\", \"details\": {\"prefill\": [{\"id\": 651, \"text\": \"a\"}], \"tokens\": []}}", "tokens.bos.missing", Severity::Error);
        row("llama.cpp", adds, "request.json", "{\"prompt\": [2, 2, 5], \"n_predict\": 4}", "tokens.bos.duplicate", Severity::Error);
        row("HAR", adds, "a.har", "{\"log\": {\"version\": \"1.2\", \"entries\": [{\"request\": {\"postData\": {\"text\": \"{\\\"prompt\\\": [2, 2, 5], \\\"n_predict\\\": 1}\"}}, \"response\": {}}]}}",
            "tokens.bos.duplicate", Severity::Error);
        row("log", adds, "server.log", "llama_model_loader: x\ncheck_double_bos_eos: Added a BOS token to the prompt as specified by the model but the prompt also starts with a BOS token.\n",
            "tokens.bos.duplicate", Severity::Error);
        row("vLLM's log", adds, "vllm.log", "INFO 01-01 00:00:00 logger.py] Received request a: prompt: 'x', prompt_token_ids: [2, 2, 5], lora_request: None.\n", "tokens.bos.duplicate", Severity::Error);
        row("encode records are another matter", adds, "encode.json", "{\"text\": \"a\", \"input_ids\": [2, 2, 5]}", "undecidable", Severity::Undecidable);
    }
    void arrays()
    {
        QFETCH(QString, config);
        QFETCH(QString, file);
        QFETCH(QString, content);
        QFETCH(QString, code);
        QFETCH(Severity, worst);
        TempFolder folder;
        folder.file("tokenizer_config.json", config.toStdString()).file(file.toStdString(), content.toStdString());
        const Examined examined = examineWith(t1, {folder.path()});
        VERIFY_WORST(t1, examined, worst);
        if (code == QLatin1String("undecidable"))
            QCOMPARE(examined.report->missing, std::vector<std::string>{"token_array"});
        else if (!code.isEmpty())
            QVERIFY2(examined.find(code.toStdString()), qPrintable(examined.summary()));
        else
            QVERIFY2(examined.report->findings.empty(), qPrintable(examined.summary()));
    }

    void paddingIsStart_data()
    {
        QTest::addColumn<QString>("mask");
        QTest::addColumn<Severity>("worst");
        QTest::newRow("masked") << ", \"attention_mask\": [[0, 0, 1, 1]]" << Severity::Ok;
        QTest::newRow("no mask") << "" << Severity::Undecidable;
    }
    void paddingIsStart()
    {
        QFETCH(QString, mask);
        QFETCH(Severity, worst);
        TempFolder folder;
        folder.file("tokenizer_config.json", "{\"tokenizer_class\": \"GPT2Tokenizer\", \"bos_token\": \"<s>\", \"pad_token\": \"<s>\", "
                                             "\"added_tokens_decoder\": {\"0\": {\"content\": \"<s>\", \"special\": true}}}");
        folder.file("batch.json", "{\"input_ids\": [[0, 0, 0, 57]]" + mask.toStdString() + "}");
        VERIFY_WORST(t1, examineWith(t1, {folder.path()}), worst);
    }

    void maskThatForgot()
    {
        TempFolder folder;
        folder.file("tokenizer_config.json", gemma("\"add_bos_token\": true, \"padding_side\": \"left\", "));
        folder.file("batch.json", "{\"input_ids\": [[0, 0, 2, 57], [2, 5, 6, 7]], \"attention_mask\": [[1, 1, 1, 1], [1, 1, 1, 1]]}");
        VERIFY_WORST(t1, examineWith(t1, {folder.path()}), Severity::Ok); // the mask is M2's business
    }

    void ambiguousAdder()
    {
        // Python adds it by the class; every other program reads the post-processor, which does not.
        TempFolder folder;
        folder.file("tokenizer_config.json", "{\"tokenizer_class\": \"LlamaTokenizerFast\", \"add_bos_token\": true, \"bos_token\": \"<s>\"}");
        folder.file("tokenizer.json", "{\"added_tokens\": [{\"id\": 1, \"content\": \"<s>\", \"special\": true}], \"post_processor\": {\"type\": \"ByteLevel\"}, "
                                      "\"model\": {\"type\": \"BPE\", \"vocab\": {\"a\": 0}, \"merges\": []}}");
        folder.file("tokens.json", "{\"ids\": [0, 0]}");
        const Examined examined = examineWith(t1, {folder.path()});
        VERIFY_WORST(t1, examined, Severity::Warning);
        QVERIFY2(examined.find("tokens.bos.missing"), qPrintable(examined.summary()));
    }

    void baselineDiffers()
    {
        TempFolder a, b;
        for (TempFolder *const folder : {&a, &b})
            folder->file("tokenizer_config.json", gemma("\"add_bos_token\": false, "));
        a.file("tokens.json", "{\"ids\": [651, 4320]}");
        b.file("tokens.json", "{\"ids\": [2, 651, 4320]}");
        const Examined examined = examineWith(t1, {a.path()}, {b.path()});
        VERIFY_WORST(t1, examined, Severity::Warning);
        QVERIFY2(examined.find("tokens.bos.differs"), qPrintable(examined.summary()));
    }

    void toldOnce()
    {
        TempFolder folder;
        folder.file("tokenizer_config.json", gemma("\"add_bos_token\": true, "));
        std::string lines;
        for (int i = 0; i < 6; ++i)
            lines += "{\"request_id\": \"" + std::to_string(i) + "\", \"prompt_token_ids\": [2, 2, 651, " + std::to_string(100 + i) + "]}\n";
        folder.file("engine_requests.jsonl", lines);
        const Examined examined = examineWith(t1, {folder.path()});
        VERIFY_WORST(t1, examined, Severity::Error);
        QCOMPARE(examined.report->findings.size(), std::size_t(1));
        QVERIFY2(examined.report->findings[0].detail.find("in 6 token arrays") != std::string::npos, examined.report->findings[0].detail.c_str());
        QVERIFY(examined.pointsAt(examined.report->findings[0], "engine_requests.jsonl", LogLine{2, 2}));
    }

    /// Llama 2's template prints it behind the end of each answer, and there only.
    void rounds_data()
    {
        QTest::addColumn<QString>("ids");
        QTest::addColumn<QString>("code");
        QTest::newRow("each round begins with it") << "2, 651, 9, 1, 2, 77" << "";
        QTest::newRow("an answer begun apart") << "2, 651, 9, 2, 77" << "tokens.bos.interior";
        QTest::newRow("a blank line before the first") << "108, 2, 651, 1, 2, 77" << "tokens.bos.displaced";
        QTest::newRow("the first lacks it") << "651, 9, 1, 2, 77" << "tokens.bos.missing";
    }
    void rounds()
    {
        QFETCH(QString, ids);
        QFETCH(QString, code);
        TempFolder folder;
        folder.file("tokenizer_config.json", gemma("\"chat_template\": \"{% for m in messages %}{% if m.role == 'user' %}{{ bos_token + m.content }}{% else %}{{ m.content + eos_token }}{% endif %}{% endfor %}\", "));
        folder.file("tokens.json", "{\"ids\": [" + ids.toStdString() + "]}");
        const Examined examined = examineWith(t1, {folder.path()});
        VERIFY_WORST(t1, examined, code.isEmpty() ? Severity::Info : Severity::Error); // both adders are set
        QVERIFY2(code.isEmpty() || examined.find(code.toStdString()), qPrintable(examined.summary()));
    }

    void silentLog()
    {
        TempFolder folder;
        folder.file("server.log", "llama_model_loader: loaded meta data with 20 key-value pairs\nmain: server is listening\n");
        VERIFY_WORST(t1, examineWith(t1, {folder.path()}), Severity::Undecidable);
    }

    void everyRound()
    {
        TempFolder folder;
        folder.file("tokenizer_config.json", gemma("\"chat_template\": \"{% for m in messages %}{{ bos_token + m.content }}{% endfor %}\", "));
        folder.file("tokens.json", "{\"ids\": [2, 651, 9, 2, 77]}");
        const Examined examined = examineWith(t1, {folder.path()});
        QVERIFY2(!examined.find("tokens.bos.interior"), qPrintable(examined.summary()));
    }

    void missingInputs()
    {
        TempFolder folder;
        folder.file("tokens.json", "{\"ids\": [2, 651, 9]}");
        const Examined examined = examineWith(t1, {folder.path()});
        QVERIFY_RESULT(examined.report);
        QCOMPARE(examined.report->missing, std::vector<std::string>{"tokenizer_files"});
    }

    void reports_data()
    {
        QTest::addColumn<QString>("name");
        QTest::addColumn<QString>("code");
        QTest::newRow("b01") << "b01" << "tokens.bos.duplicate";
        QTest::newRow("b03") << "b03" << "tokens.bos.missing";
    }
    void reports()
    {
        QFETCH(QString, name);
        QFETCH(QString, code);
        REQUIRE_SHARED(shared);
        const Examined sick = examineWith(t1, {shared + "/reports/" + name.toStdString() + "/sick"});
        VERIFY_WORST(t1, sick, Severity::Error);
        QVERIFY2(sick.find(code.toStdString()), qPrintable(sick.summary()));
        const Examined healthy = examineWith(t1, {shared + "/reports/" + name.toStdString() + "/healthy"});
        QVERIFY2(healthy.worst() <= Severity::Info && !healthy.report->undecidable(), qPrintable(healthy.summary()));
    }

    void damageAndCancel()
    {
        QCOMPARE(faultUnderDamage(t1, fixture(t1.slug, "sick")), QString());
        QCOMPARE(faultWhenCancelled(t1, fixture(t1.slug, "sick")), QString());
    }
};

PROSECTOR_TEST(TestBosCounter, tst_tokens_bos_counter)

#include "tst_tokens_bos_counter.moc"
