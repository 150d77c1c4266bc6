// SPDX-License-Identifier: GPL-3.0-or-later
// Text, tables, logs, YAML, model cards: what is recognised, and what becomes of damage.
#include "models/artifacts/textshapes.h"

#include "tests/support/reading.h"
#include "tests/support/strict.h"

#include <algorithm>
#include <stop_token>

using namespace prosector;

class TestTextReaders : public QObject {
    Q_OBJECT

private slots:
    void longLogsKeepTheirEnd()
    {
        const std::string line = std::string(99, '.') + '\n';
        std::string text = "INFO 05-29 10:00:01 [a.py:1] begin\n";
        while (text.size() < 2 * TextContent::limit)
            text += line;
        const auto lines = static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
        const auto end = text.size();
        text += "the fault";
        const auto reading = readWith("text", text, "server.log");
        QVERIFY_RESULT(reading);
        QCOMPARE(reading->problems.size(), std::size_t(1));
        QVERIFY(reading->problems[0].message.find("lines between were skipped") != std::string::npos);
        const auto &content = dynamic_cast<const TextContent &>(*reading->content);
        QVERIFY(content.text.size() <= TextContent::limit);
        QCOMPARE(content.lineCount(), lines + 1);
        QCOMPARE(content.line(lines), std::string_view("the fault"));
        QCOMPARE(content.lineOffset(lines), std::uint64_t(end));
        QCOMPARE(content.lineAt(end + 3), lines);
        QCOMPARE(content.line(0), std::string_view("INFO 05-29 10:00:01 [a.py:1] begin"));
        QCOMPARE(content.line(lines / 2), std::string_view()); // left out
        QCOMPARE(content.line(lines - 1).size(), std::size_t(99));
        QCOMPARE(content.lineOffset(lines - 1), std::uint64_t(end - 100));
        QCOMPARE(content.lineAt(end - 100), lines - 1);
        const auto skipped = std::get<ByteRange>(reading->problems[0].where);
        QCOMPARE(content.text.size() + skipped.size(), text.size());
        QCOMPARE(text.substr(skipped.to, 100), line); // whole lines on both sides
        std::stop_source stop;
        stop.request_stop();
        QCOMPARE(readWith("text", text, "server.log", Job(stop.get_token())).error().code, Errc::Cancelled);
    }

    void oneLineTooLong()
    {
        const std::string text = std::string(TextContent::limit + 100, 'x');
        const auto reading = readWith("text", text, "a.log");
        QVERIFY_RESULT(reading);
        QCOMPARE(reading->problems.size(), std::size_t(1));
        QCOMPARE(dynamic_cast<const TextContent &>(*reading->content).lineCount(), std::size_t(1));
        const auto second = readWith("text", text + "\nlast", "a.log");
        const auto &content = dynamic_cast<const TextContent &>(*second->content);
        QCOMPARE(content.lineCount(), std::size_t(2));
        QCOMPARE(content.line(1), std::string_view("last"));
        QCOMPARE(content.lineOffset(1), std::uint64_t(text.size() + 1));
    }

    void recognised_data()
    {
        QTest::addColumn<QByteArray>("name");
        QTest::addColumn<QByteArray>("text");
        QTest::addColumn<QByteArray>("expectedFormat");
        QTest::addColumn<Kind>("kind");
        const auto row = [](const char *what, const char *name, const QByteArray &text, const char *expected, Kind kind) {
            QTest::newRow(what) << QByteArray(name) << text << QByteArray(expected) << kind;
        };
        row("vllm log", "a.txt", "INFO 05-29 10:00:01 [model.py:617] Resolved architecture: X\nWARNING [model.py:1] y\n", "log", Kind::StartupLog);
        row("vllm log with colours", "a.txt", "\x1B[1;36m(APIServer pid=1)\x1B[0;0m INFO 05-29 10:00:01 [a.py:1] x\n\x1B[32mINFO\x1B[0m y\n", "log", Kind::StartupLog);
        row("sglang log", "a.txt", "[2026-04-07 10:00:00 TP0] Load weight begin.\n[2026-04-07 10:00:00] server_args=ServerArgs(model_path='x')\n", "log", Kind::StartupLog);
        row("llama.cpp log", "a.txt", "build: 1 (abc)\nllama_context: n_ctx = 4096\nprint_info: arch = llama\n", "log", Kind::StartupLog);
        row("ollama log", "a.txt", "time=2026-08-21T10:00:00.000Z level=INFO source=routes.go:1 msg=\"x\"\n[GIN] 2026/08/21 - 10:00:00 | 200 |\n", "log", Kind::StartupLog);
        row("tgi log", "a.txt", "2026-01-10T10:00:00.000000Z  INFO text_generation_launcher: Args {\n    max_input_tokens: None,\n", "log", Kind::StartupLog);
        row("transformers log", "a.log", "Some weights of X were not initialized from the model checkpoint at y and are newly initialized: ['z']\n", "log", Kind::StartupLog);
        row("llama.cpp log with times", "a.txt", "12.00.412.118 I llama_context: n_ctx = 1\n12.00.412.119 I print_info: x\n", "log", Kind::StartupLog);
        row("compose log", "a.txt", "vllm-1  | INFO 05-29 10:00:01 [a.py:1] x\nvllm-1  | y\nvllm-1  | WARNING 05-29 10:00:02 [a.py:2] z\n", "log", Kind::StartupLog);
        row("journal", "a.txt", "Nov 30 12:00:00 h ollama[1]: time=2026-08-21T10:00:00Z level=INFO msg=x\n", "log", Kind::StartupLog);
        row("markdown table", "a.txt", "| Tasks | Version |\n|-------|------:|\n| x | 1 |\n", "text", Kind::Text);
        row("log by name", "server.log", "hello\n", "log", Kind::StartupLog);
        row("log that holds json", "server.log", "{\"a\": 1}\nINFO ready\n", "log", Kind::StartupLog);
        row("prose", "a.txt", "It was the best of times, it was the worst of times.\nInfo follows.\n", "text", Kind::Text);
        row("stream", "a.txt", "data: {\"x\": 1}\n\ndata: [DONE]\n", "sse", Kind::SseStream);
        row("stream with events", "s.sse", "event: message_start\ndata: {}\n\n: ping\n\n", "sse", Kind::SseStream);
        row("prometheus", "a.txt", "# HELP vllm:x y\n# TYPE vllm:x counter\nvllm:x{model_name=\"m\"} 5.0\n", "prometheus", Kind::MetricHistory);
        row("samples only", "m.prom", "up 1\nvllm:x{le=\"+Inf\"} 2\n", "prometheus", Kind::MetricHistory);
        row("azure", "a.csv", "TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:17:03.97,4808,10\n", "csv", Kind::RequestLog);
        row("burstgpt", "a.csv", "Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type\n5,ChatGPT,472,18,490,Conversation log\n", "csv", Kind::RequestLog);
        row("losses", "a.csv", "step,loss\n1,2.5\n", "csv", Kind::TrainingLog);
        row("plain table", "a.csv", "metric,value\nrecall,0.6\n", "csv", Kind::Data);
        row("quoted table", "a.csv", "a,b\n\"x, y\",2\n", "csv", Kind::Data);
        row("merges", "merges.txt", "#version: 0.2\n\xC4\xA0 t\n\xC4\xA0 a\n", "merges", Kind::TokenizerFiles);
        row("vocabulary", "vocab.txt", "[PAD]\n[unused0]\n[UNK]\n[CLS]\n", "wordpiece_vocab", Kind::TokenizerFiles);
        row("ranks", "x.tiktoken", "IQ== 0\nIg== 1\nIw== 2\n", "tiktoken", Kind::TokenizerFiles);
        row("ranks under tokenizer.model", "tokenizer.model", "IQ== 0\nIg== 1\nIw== 2\n", "tiktoken", Kind::TokenizerFiles);
        row("template", "chat_template.jinja", "{% for m in messages %}{{ m.content }}{% endfor %}", "chat_template", Kind::ChatTemplate);
        row("template by content", "x.txt", "{%- if messages[0].role == 'system' %}x{% endif %}", "chat_template", Kind::ChatTemplate);
        row("prompt", "rendered_prompt.txt", "<|im_start|>user\nhi<|im_end|>\n", "rendered_prompt", Kind::RenderedPrompt);
        row("modelfile", "Modelfile", "FROM ./m.gguf\nPARAMETER num_ctx 4096\n", "modelfile", Kind::ConfigFiles);
        row("yaml task", "t.yaml", "task: mmlu\noutput_type: multiple_choice\n", "eval_config", Kind::EvalConfig);
        row("yaml probe", "p.yml", "livenessProbe:\n  periodSeconds: 10\n", "probe_config", Kind::ProbeConfig);
        row("yaml", "x.yaml", "a: 1\n", "yaml", Kind::Data);
        row("card", "README.md", "---\nlicense: mit\n---\n# x\n", "modelcard", Kind::ModelCard);
        row("readme without front matter", "README.md", "# x\n\n---\n\ny\n", "text", Kind::Text);
        row("windows text", "a.txt", "one\r\ntwo\r\n", "text", Kind::Text);
        row("invalid UTF-8 inside", "a.txt", "gr\xFC\xDF dich, it is latin-1\n", "text", Kind::Text);
    }
    void recognised()
    {
        QFETCH(QByteArray, name);
        QFETCH(QByteArray, text);
        QFETCH(QByteArray, expectedFormat);
        QFETCH(Kind, kind);
        const auto reader = sniffed(name.toStdString(), text.toStdString());
        QVERIFY(!reader.empty());
        const auto reading = readWith(reader, text.toStdString(), name.toStdString());
        QVERIFY_RESULT(reading);
        QCOMPARE(std::string(reading->format.empty() ? reader : reading->format), expectedFormat.toStdString());
        QCOMPARE(nameOf(reading->kind), nameOf(kind));
        QCOMPARE(describeProblems(reading), std::string());
    }

    void notText_data()
    {
        QTest::addColumn<QByteArray>("bytes");
        QTest::newRow("NUL") << QByteArray("text\0more", 9);
        QTest::newRow("control") << QByteArray("\1\2\3\4\5\6");
        QTest::newRow("nothing") << QByteArray();
    }
    void notText()
    {
        QFETCH(QByteArray, bytes);
        QCOMPARE(sniffed("a.txt", std::string_view(bytes.constData(), static_cast<std::size_t>(bytes.size()))), std::string_view());
    }

    void coloursStay()
    {
        const std::string text = "\x1B[33mWARNING\x1B[0m x\nINFO y\n";
        const auto reading = readWith("text", text, "a.log");
        QCOMPARE(dynamic_cast<const TextContent &>(*reading->content).text, text);
        QCOMPARE(dynamic_cast<const TextContent &>(*reading->content).lineCount(), std::size_t(2));
    }

    void utf16()
    {
        const std::string text("\xFF\xFEI\0N\0F\0O\0 \0\x3D\xD8\x00\xDE\n\0", 18);
        QCOMPARE(sniffed("server.log", text), std::string_view("text"));
        const auto reading = readWith("text", text, "server.log");
        QCOMPARE(dynamic_cast<const TextContent &>(*reading->content).text, std::string("INFO \xF0\x9F\x98\x80\n"));
        QCOMPARE(reading->remarks.size(), std::size_t(1));
    }

    void longTextIsCutAndSaysSo()
    {
        const std::string line = std::string(63, 'x') + '\n';
        std::string text;
        while (text.size() < TextContent::limit + 10 * line.size())
            text += line;
        const auto reading = readWith("text", text, "a.log");
        QVERIFY_RESULT(reading);
        QCOMPARE(reading->problems.size(), std::size_t(1));
        QCOMPARE(reading->problems[0].code, Errc::TooLarge);
        const auto &skipped = std::get<ByteRange>(reading->problems[0].where); // between the beginning and the end
        QCOMPARE(skipped.from, TextContent::limit / 2);
        QCOMPARE(skipped.size(), 11 * line.size()); // the line at the cut is left out whole
        const auto &content = dynamic_cast<const TextContent &>(*reading->content);
        QCOMPARE(content.text.size(), TextContent::limit - line.size());
        QCOMPARE(content.lineCount(), text.size() / line.size());
    }

    void cardDamage_data()
    {
        QTest::addColumn<QByteArray>("text");
        QTest::addColumn<Errc>("code");
        QTest::addColumn<quint64>("offset");
        QTest::newRow("no end") << QByteArray("---\nlicense: mit\n# Card\n") << Errc::Truncated << quint64(4);
        QTest::newRow("not YAML") << QByteArray("---\na: [1, 2\nb: }\n---\n") << Errc::Malformed << quint64(14);
        QTest::newRow("alias of nothing") << QByteArray("---\na: *x\n---\n") << Errc::Malformed << quint64(7);
    }
    void cardDamage()
    {
        QFETCH(QByteArray, text);
        QFETCH(Errc, code);
        QFETCH(quint64, offset);
        const auto reading = readWith("modelcard", text.toStdString(), "README.md");
        QVERIFY_RESULT(reading);
        QCOMPARE(reading->problems.size(), std::size_t(1));
        QCOMPARE(reading->problems[0].code, code);
        QCOMPARE(std::get<ByteRange>(reading->problems[0].where).from, std::uint64_t(offset));
        QVERIFY(reading->content != nullptr);
    }

    /// A card whose file changed between being recognised and being read.
    void cardWithoutFrontMatter_data()
    {
        QTest::addColumn<QByteArray>("text");
        QTest::newRow("empty") << QByteArray("");
        QTest::newRow("no first line") << QByteArray("# Card\n---\n");
        QTest::newRow("first line never ends") << QByteArray("---");
    }
    void cardWithoutFrontMatter()
    {
        QFETCH(QByteArray, text);
        const auto reading = readWith("modelcard", text.toStdString(), "README.md");
        QVERIFY(!reading);
        QCOMPARE(reading.error().code, Errc::Malformed);
        QVERIFY(describe(reading.error()).find("\"---\"") != std::string::npos);
    }
};

PROSECTOR_TEST(TestTextReaders, tst_textreaders)

#include "tst_textreaders.moc"
