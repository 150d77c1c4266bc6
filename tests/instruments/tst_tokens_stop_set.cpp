// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/corpus.h"
#include "tests/support/ggufwriter.h"
#include "tests/support/instrumenttest.h"
#include "tests/support/tempfolder.h"

using namespace prosector;
using namespace prosector::test;

namespace prosector {
extern const Instrument tokens_stop_set;
}

class TestStopSet : public QObject {
    Q_OBJECT

    const Instrument &t5 = tokens_stop_set;

    /// A template in one line of JSON: each message as open, role, text, close.
    static std::string turns(const std::string &open, const std::string &close)
    {
        return "{% for m in messages %}{{ '" + open + "' + m.role + m.content + '" + close + "' }}{% endfor %}{% if add_generation_prompt %}{{ '" + open + "assistant' }}{% endif %}";
    }

    static std::string tokenizer(const std::string &chat, const std::string &eos = "<end>", const std::string &more = {})
    {
        return "{\"eos_token\": \"" + eos + "\", \"added_tokens_decoder\": {\"40\": {\"content\": \"<end>\", \"special\": true}, \"41\": {\"content\": \"<turn>\", \"special\": true}, "
               "\"42\": {\"content\": \"<over>\", \"special\": true}, \"43\": {\"content\": \"<pad>\", \"special\": true}, \"44\": {\"content\": \"<return>\", \"special\": true}" + more + "}"
               + (chat.empty() ? std::string() : ", \"chat_template\": \"" + chat + "\"") + "}";
    }
    static std::string chatty() { return tokenizer(turns("<turn>", "<over>")); }

    static std::string answer(const std::string &ids, const std::string &finish)
    {
        return "{\"id\": \"a\", \"object\": \"chat.completion\", \"choices\": [{\"index\": 0, \"message\": {\"role\": \"assistant\", \"content\": \"x\"}, \"finish_reason\": \"" + finish + "\", \"token_ids\": [" + ids + "]}]}";
    }
    static std::string request(const std::string &more)
    {
        return "{\"model\": \"m\", " + more + "\"messages\": [{\"role\": \"user\", \"content\": \"hi\"}]}";
    }

    static std::string gguf(const std::string &close, std::int32_t eos, std::int32_t eot = -1)
    {
        GgufWriter writer;
        writer.string("general.architecture", "llama").string("tokenizer.ggml.model", "gpt2").string("tokenizer.ggml.pre", "llama-bpe");
        writer.strings("tokenizer.ggml.tokens", {"a", "<end>", "<turn>", close}).strings("tokenizer.ggml.merges", {"a a"});
        writer.numbers<std::int32_t>("tokenizer.ggml.token_type", GgufType::Int32, {1, 3, 3, 3}).u32("tokenizer.ggml.eos_token_id", static_cast<std::uint32_t>(eos));
        if (eot >= 0)
            writer.u32("tokenizer.ggml.eot_token_id", static_cast<std::uint32_t>(eot));
        return writer.string("tokenizer.chat_template", turns("<turn>", close)).bytes();
    }

private slots:
    void probe()
    {
        const Examined sick = examineWith(t5, {fixture(t5.slug, "sick")});
        VERIFY_WORST(t5, sick, Severity::Error);
        const Finding *const passed = sick.find("tokens.stop.passed");
        QVERIFY2(passed && passed->measure->number == 2, qPrintable(sick.summary()));
        QVERIFY(sick.pointsAt(*passed, "response.json", TokenRange{2, 3}));
        QVERIFY(sick.pointsAt(*passed, "generation_config.json", JsonPath{"$.eos_token_id"}));
        QVERIFY2(sick.find("tokens.stop.unset"), qPrintable(sick.summary()));
        const Examined healthy = examineWith(t5, {fixture(t5.slug, "healthy")});
        VERIFY_WORST(t5, healthy, Severity::Ok);
        QVERIFY2(healthy.report->findings.empty(), qPrintable(healthy.summary()));
    }

    void files_data()
    {
        QTest::addColumn<QString>("tokenizer");
        QTest::addColumn<QString>("config");
        QTest::addColumn<QString>("generation");
        QTest::addColumn<Severity>("worst");
        const auto row = [](const char *name, const std::string &tokenizer, const char *config, const char *generation, Severity worst) {
            QTest::newRow(name) << QString::fromStdString(tokenizer) << config << generation << worst;
        };
        const std::string over = tokenizer(turns("<turn>", "<over>"), "<over>");
        row("neither", chatty(), "{\"model_type\": \"llama\", \"eos_token_id\": 40}", "", Severity::Warning);
        row("config's list", chatty(), "{\"model_type\": \"llama\", \"eos_token_id\": [40, 42]}", "", Severity::Ok);
        row("generation_config goes before config", chatty(), "{\"model_type\": \"llama\", \"eos_token_id\": 42}", "{\"eos_token_id\": 40}", Severity::Warning);
        row("generation_config without one", chatty(), "{\"model_type\": \"llama\", \"eos_token_id\": 42}", "{\"temperature\": 1.0}", Severity::Ok);
        row("the language model's part", chatty(), "{\"model_type\": \"gemma3\", \"text_config\": {\"eos_token_id\": [40, 42]}}", "", Severity::Ok);
        row("the tokenizer alone has it", over, "", "{\"eos_token_id\": 40}", Severity::Info);
        row("no file names one, the tokenizer has it", over, "{\"model_type\": \"llama\"}", "", Severity::Ok);
        row("another file's id, the tokenizer has it not", chatty(), "{\"model_type\": \"llama\"}", "", Severity::Warning);
        row("tokenizer only", chatty(), "", "", Severity::Undecidable);
        row("no template", tokenizer(""), "{\"model_type\": \"llama\", \"eos_token_id\": 40}", "", Severity::Undecidable);
        row("no markers", tokenizer("{% for m in messages %}{{ m.role + ': ' + m.content + '\\n' }}{% endfor %}"), "{\"model_type\": \"llama\", \"eos_token_id\": 40}", "", Severity::Undecidable);
        row("a template that fails", tokenizer("{{ raise_exception('no') }}"), "{\"model_type\": \"llama\", \"eos_token_id\": 40}", "", Severity::Undecidable);
        // Two closing markers: one of them is enough.
        row("two markers", tokenizer(turns("<turn>", "<return><over>")), "{\"model_type\": \"cohere\", \"eos_token_id\": 42}", "", Severity::Ok);
        // The last answer closes otherwise than one inside (gpt-oss).
        const std::string harmony = tokenizer("{% for m in messages %}{{ '<turn>' + m.content + ('<return>' if loop.last and m.role == 'assistant' else '<over>') }}{% endfor %}");
        row("closes otherwise at the end", harmony, "{\"model_type\": \"gpt_oss\", \"eos_token_id\": 44}", "", Severity::Ok);
        row("closes otherwise at the end, missing", harmony, "{\"model_type\": \"gpt_oss\", \"eos_token_id\": 42}", "", Severity::Warning);
        // Nothing closes an answer but the next turn (GLM).
        const std::string open = tokenizer("{% for m in messages %}{{ ('<turn>' if m.role == 'user' else '<pad>') + m.content }}{% endfor %}");
        row("the next turn closes", open, "{\"model_type\": \"glm\", \"eos_token_id\": [40, 41]}", "", Severity::Ok);
        row("the next turn closes, missing", open, "{\"model_type\": \"glm\", \"eos_token_id\": 40}", "", Severity::Warning);
        row("Llama 2", tokenizer("{% for m in messages %}{% if m.role == 'user' %}{{ '<turn>' + m.content }}{% else %}{{ m.content + eos_token }}{% endif %}{% endfor %}"),
            "{\"model_type\": \"llama\", \"eos_token_id\": 40}", "", Severity::Ok);
        row("texts as parts", tokenizer("{% for m in messages %}{{ '<turn>' + m.content[0]['text'] + '<over>' }}{% endfor %}"), "{\"model_type\": \"x\", \"eos_token_id\": 40}", "", Severity::Warning);
    }
    void files()
    {
        QFETCH(QString, tokenizer);
        QFETCH(QString, config);
        QFETCH(QString, generation);
        QFETCH(Severity, worst);
        TempFolder folder;
        folder.file("tokenizer_config.json", tokenizer.toStdString());
        if (!config.isEmpty())
            folder.file("config.json", config.toStdString());
        if (!generation.isEmpty())
            folder.file("generation_config.json", generation.toStdString());
        VERIFY_WORST(t5, examineWith(t5, {folder.path()}), worst);
    }

    void answers_data()
    {
        QTest::addColumn<QString>("eos");
        QTest::addColumn<QString>("request");
        QTest::addColumn<QString>("ids");
        QTest::addColumn<QString>("finish");
        QTest::addColumn<QString>("code");
        QTest::addColumn<Severity>("worst");
        const auto row = [](const char *name, const char *eos, const std::string &request, const char *ids, const char *finish, const char *code, Severity worst) {
            QTest::newRow(name) << eos << QString::fromStdString(request) << ids << finish << code << worst;
        };
        row("goes on", "[40, 42]", request(""), "1, 42, 9, 41, 3, 9", "stop", "tokens.stop.passed", Severity::Error);
        row("ends", "[40, 42]", request(""), "1, 2, 42", "stop", "", Severity::Ok);
        row("padded behind", "[40, 42]", request(""), "1, 2, 42, 43, 43", "stop", "", Severity::Ok);
        row("repeats it up to the limit", "[40, 42]", request(""), "1, 42, 42, 42", "length", "tokens.stop.passed", Severity::Error);
        row("cut before it", "[40, 42]", request(""), "1, 2, 3", "length", "", Severity::Ok);
        row("ended there though no file says so", "40", request(""), "1, 2, 42", "stop", "tokens.stop.unset", Severity::Info);
        row("the request brings the id", "40", request("\"stop_token_ids\": [42], "), "1, 2, 42", "stop", "", Severity::Ok);
        row("the request brings the text", "40", request("\"stop\": \"<over>\", "), "1, 2", "stop", "", Severity::Ok);
        row("the request brings another", "40", request("\"stop\": [\"###\"], "), "1, 2", "stop", "tokens.stop.unset", Severity::Warning);
        row("ignore_eos", "[40, 42]", request("\"ignore_eos\": true, "), "1, 2", "length", "tokens.stop.ignored", Severity::Error);
        row("ignore_eos false", "[40, 42]", request("\"ignore_eos\": false, "), "1, 2, 42", "stop", "", Severity::Ok);
        row("a benchmark", "[40, 42]", request("\"ignore_eos\": true, \"metadata\": {\"synthetic\": true}, "), "1, 42, 5, 6", "length", "tokens.stop.passed", Severity::Info);
        row("a benchmark by its lengths", "[40, 42]", request("\"ignore_eos\": true, \"min_tokens\": 4, \"max_tokens\": 4, "), "1, 3, 5, 6", "length", "tokens.stop.ignored", Severity::Info);
        row("the last token, and yet cut", "[40, 42]", request(""), "1, 2, 42", "length", "tokens.stop.passed", Severity::Error);
        row("min_tokens beyond it", "[40, 42]", request("\"min_tokens\": 5, \"max_tokens\": 90, "), "1, 42, 5, 6, 7, 42", "stop", "tokens.stop.passed", Severity::Error);
    }
    void answers()
    {
        QFETCH(QString, eos);
        QFETCH(QString, request);
        QFETCH(QString, ids);
        QFETCH(QString, finish);
        QFETCH(QString, code);
        QFETCH(Severity, worst);
        TempFolder folder;
        folder.file("tokenizer_config.json", chatty()).file("generation_config.json", "{\"eos_token_id\": " + eos.toStdString() + "}");
        folder.file("request.json", request.toStdString()).file("response.json", answer(ids.toStdString(), finish.toStdString()));
        const Examined examined = examineWith(t5, {folder.path()});
        VERIFY_WORST(t5, examined, worst);
        if (code.isEmpty())
            QVERIFY2(examined.report->findings.empty(), qPrintable(examined.summary()));
        else
            QVERIFY2(examined.find(code.toStdString()), qPrintable(examined.summary()));
    }

    void passedWithoutConfiguration()
    {
        TempFolder folder;
        folder.file("tokenizer_config.json", chatty()).file("response.json", answer("1, 42, 9, 3", "length"));
        const Examined examined = examineWith(t5, {folder.path()});
        VERIFY_WORST(t5, examined, Severity::Error);
        QVERIFY(examined.pointsAt(*examined.find("tokens.stop.passed"), "response.json", TokenRange{1, 2}));
    }

    /// Engines that look at the length before they look at the token.
    void cutAtTheEnd()
    {
        TempFolder folder;
        folder.file("tokenizer_config.json", chatty()).file("generation_config.json", "{\"eos_token_id\": [40, 42]}");
        folder.file("response.json", "{\"text\": \"ab\", \"meta_info\": {\"finish_reason\": {\"type\": \"length\", \"length\": 2}, \"output_token_logprobs\": [[-1.0, 1, null], [-1.0, 42, null]]}}");
        const Examined examined = examineWith(t5, {folder.path()});
        VERIFY_WORST(t5, examined, Severity::Ok);
    }

    void texts_data()
    {
        QTest::addColumn<QString>("file");
        QTest::addColumn<QString>("content");
        QTest::addColumn<Severity>("worst");
        const auto row = [](const char *name, const char *file, const std::string &content, Severity worst) { QTest::newRow(name) << file << QString::fromStdString(content) << worst; };
        const auto chunk = [](const std::string &text, const std::string &more = {}) {
            return "data: {\"id\": \"a\", \"object\": \"chat.completion.chunk\", \"choices\": [{\"index\": 0, \"delta\": {\"content\": \"" + text + "\"}, \"finish_reason\": null" + more + "}]}\n\n";
        };
        const auto whole = [](const std::string &text) {
            return "{\"id\": \"a\", \"object\": \"chat.completion\", \"choices\": [{\"index\": 0, \"message\": {\"role\": \"assistant\", \"content\": \"" + text + "\"}, \"finish_reason\": \"length\"}]}";
        };
        row("a stream's ids go on", "s.sse", chunk("x", ", \"token_ids\": [1, 42]") + chunk("y", ", \"token_ids\": [9]"), Severity::Error);
        row("a stream's ids end", "s.sse", chunk("x", ", \"token_ids\": [1, 9]") + chunk("", ", \"token_ids\": [42]"), Severity::Ok);
        row("a stream's text goes on", "s.sse", chunk("x<over>") + chunk("<turn>user more"), Severity::Error);
        row("a stream's text quotes it", "s.sse", chunk("the end is <over>, ") + chunk("as the template says"), Severity::Ok);
        row("an answer's text goes on", "response.json", whole("x<over>\\n<turn>user more"), Severity::Error);
        row("an answer's text shows its end", "response.json", whole("x<over>"), Severity::Ok);
        row("an answer's text", "response.json", whole("x"), Severity::Ok);
    }
    void texts()
    {
        QFETCH(QString, file);
        QFETCH(QString, content);
        QFETCH(Severity, worst);
        TempFolder folder;
        folder.file("tokenizer_config.json", chatty()).file("generation_config.json", "{\"eos_token_id\": [40, 42]}").file(file.toStdString(), content.toStdString());
        const Examined examined = examineWith(t5, {folder.path()});
        VERIFY_WORST(t5, examined, worst);
        QCOMPARE(bool(examined.find("tokens.stop.passed")), worst == Severity::Error);
    }

    /// `--generation-config vllm` leaves out the file's sampling settings; vLLM reads its ends all the same.
    void withoutItsSampling()
    {
        TempFolder folder;
        folder.file("tokenizer_config.json", chatty()).file("config.json", "{\"model_type\": \"llama\", \"eos_token_id\": 40}").file("generation_config.json", "{\"eos_token_id\": [40, 42]}");
        folder.file("vllm.log", "INFO 01-01 00:00:00 api_server.py:1] vLLM API server version 0.11.0\nINFO 01-01 00:00:00 utils.py:1] non-default args: {'model': '.', 'generation_config': 'vllm'}\n");
        VERIFY_WORST(t5, examineWith(t5, {folder.path()}), Severity::Ok);
    }

    void knownEngine()
    {
        TempFolder folder;
        folder.file("tokenizer_config.json", tokenizer(turns("<turn>", "<over>"), "<over>")).file("generation_config.json", "{\"eos_token_id\": 40}");
        folder.file("vllm.log", "INFO 01-01 00:00:00 api_server.py:1] vLLM API server version 0.9.1\n");
        VERIFY_WORST(t5, examineWith(t5, {folder.path()}), Severity::Ok); // vLLM takes the tokenizer's as well
    }

    void ggufs_data()
    {
        QTest::addColumn<QByteArray>("file");
        QTest::addColumn<QString>("other");
        QTest::addColumn<QString>("content");
        QTest::addColumn<Severity>("worst");
        const auto row = [](const char *name, const std::string &file, const char *other, const char *content, Severity worst) {
            QTest::newRow(name) << QByteArray::fromStdString(file) << other << content << worst;
        };
        row("end token", gguf("<over>", 3), "", "", Severity::Ok);
        row("turn token", gguf("<over>", 1, 3), "", "", Severity::Ok);
        row("neither", gguf("<over>", 1), "", "", Severity::Warning);
        row("known by its spelling", gguf("<|im_end|>", 1), "", "", Severity::Info);
        row("Ollama's stops", gguf("<over>", 1), "api_show.json", "{\"modelfile\": \"FROM x\", \"template\": \"{{ .Prompt }}\", \"parameters\": \"num_ctx 4096\\nstop    \\\"<over>\\\"\", \"details\": {\"family\": \"llama\"}}", Severity::Ok);
        row("logged", gguf("<over>", 1), "server.log", "print_info: EOS token        = 1 '<end>'\nprint_info: EOG token        = 1 '<end>'\nprint_info: EOG token        = 3 '<over>'\n", Severity::Ok);
        row("logged without it", gguf("<|im_end|>", 1), "server.log", "print_info: EOS token        = 1 '<end>'\nprint_info: EOG token        = 1 '<end>'\n", Severity::Warning);
        row("forbidden", gguf("<over>", 3), "server.log", "common_init_from_params: added <over> logit bias = -inf\n", Severity::Error);
    }
    void ggufs()
    {
        QFETCH(QByteArray, file);
        QFETCH(QString, other);
        QFETCH(QString, content);
        QFETCH(Severity, worst);
        TempFolder folder;
        folder.file("model.gguf", file.toStdString());
        if (!other.isEmpty())
            folder.file(other.toStdString(), content.toStdString());
        VERIFY_WORST(t5, examineWith(t5, {folder.path()}), worst);
    }

    void missingInputs()
    {
        TempFolder folder;
        folder.file("notes.txt", "hello\n");
        QCOMPARE(examineWith(t5, {folder.path()}).report->missing, std::vector<std::string>{"tokenizer_files"});
        TempFolder bare;
        bare.file("tokenizer_config.json", chatty());
        QCOMPARE(examineWith(t5, {bare.path()}).report->missing, std::vector<std::string>{"config_files"});
    }

    void reports()
    {
        REQUIRE_SHARED(shared);
        const Examined passed = examineWith(t5, {shared + "/reports/b28/sick"});
        VERIFY_WORST(t5, passed, Severity::Error);
        QCOMPARE(passed.find("tokens.stop.passed")->measure->number, 459.0); // counted from 0
        const Examined unset = examineWith(t5, {shared + "/reports/b30/sick"});
        VERIFY_WORST(t5, unset, Severity::Warning);
        QVERIFY(unset.pointsAt(*unset.find("tokens.stop.unset"), "config.json", JsonPath{"$.eos_token_id"}));
        for (const char *const report : {"b28", "b30"})
            VERIFY_WORST(t5, examineWith(t5, {shared + "/reports/" + report + "/healthy"}), Severity::Ok);
    }

    void damageAndCancel()
    {
        QCOMPARE(faultUnderDamage(t5, fixture(t5.slug, "sick")), QString());
        QCOMPARE(faultWhenCancelled(t5, fixture(t5.slug, "sick")), QString());
    }
};

PROSECTOR_TEST(TestStopSet, tst_tokens_stop_set)

#include "tst_tokens_stop_set.moc"
