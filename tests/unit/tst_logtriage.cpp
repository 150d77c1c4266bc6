// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/artifacts/logline.h"
#include "models/config/logtriage.h"
#include "models/facts/facts.h"
#include "models/facts/literalscan.h"
#include "tests/support/strict.h"

#include <QTest>

#include <algorithm>

using namespace prosector;

class TestLogTriage : public QObject {
    Q_OBJECT

private slots:
    void init() { failOnQtWarnings(); }

    void initTestCase()
    {
        auto loaded = Facts::load();
        QVERIFY_RESULT(loaded);
        m_facts = *loaded;
    }

    void everyRegexCompiles() { QVERIFY_RESULT(m_facts->logPatterns.compileAll()); }

    void everyExampleIsFound_data()
    {
        QTest::addColumn<int>("index");
        const auto patterns = m_facts->logPatterns.patterns();
        QVERIFY(patterns.size() > 500);
        for (int i = 0; i < static_cast<int>(patterns.size()); ++i)
            QTest::newRow(patterns[static_cast<std::size_t>(i)].id.c_str()) << i;
    }
    /// Through the literals, as a log is read; with the fields the table records.
    void everyExampleIsFound()
    {
        QFETCH(int, index);
        const auto at = static_cast<std::size_t>(index);
        const LogPattern &pattern = m_facts->logPatterns.patterns()[at];
        std::vector<std::uint32_t> candidates;
        std::string buffer;
        for (const std::string &example : pattern.examples) {
            const std::string_view line = withoutColour(example, buffer);
            m_facts->logPatterns.candidates(line, candidates);
            QVERIFY(std::binary_search(candidates.begin(), candidates.end(), static_cast<std::uint32_t>(at)));
            const auto captures = m_facts->logPatterns.match(at, line);
            QVERIFY2(captures.has_value(), example.c_str());
            if (&example != &pattern.examples.front())
                continue;
            for (const auto &[name, text] : pattern.captured) {
                const auto found = std::find_if(captures->begin(), captures->end(), [&](const Capture &c) { return c.name == name; });
                QVERIFY2(found != captures->end(), name.c_str());
                QCOMPARE(found->text, text);
                QCOMPARE(std::string(line.substr(found->begin, found->end - found->begin)), text);
            }
        }
    }

    void coloursAreStripped()
    {
        std::string buffer;
        QCOMPARE(std::string(withoutColour("\x1b[32mINFO\x1b[0m x \x1b[ y", buffer)), std::string("INFO x \x1b[ y"));
        const std::string plain = "no colour";
        QVERIFY(withoutColour(plain, buffer).data() == plain.data());
        const auto triage = read("\x1b[1;33mWARNING 05-29 10:00:01 [model.py:1]\x1b[0m Using max model \x1b[1mlen\x1b[0m 40960\n");
        QCOMPARE(triage.hits.size(), std::size_t(1));
        QCOMPARE(std::string(triage.hits[0].capture("max_model_len")), std::string("40960"));
    }

    void prefixes_data()
    {
        QTest::addColumn<QByteArray>("line");
        QTest::addColumn<QString>("engine");
        QTest::addColumn<QString>("level");
        QTest::addColumn<QString>("time");
        QTest::addColumn<QByteArray>("message");
        QTest::newRow("vllm") << QByteArray("(EngineCore pid=812) INFO 05-29 10:00:01 [kv_cache_utils.py:1733] GPU KV") << "vLLM"
                              << "info" << "05-29 10:00:01" << QByteArray("GPU KV");
        QTest::newRow("sglang") << QByteArray("[2026-04-07 10:00:00 TP0] Load weight begin.") << "SGLang" << ""
                                << "2026-04-07 10:00:00" << QByteArray("Load weight begin.");
        QTest::newRow("llama.cpp") << QByteArray("0.00.412.118 W llama_context: n_ctx = 16384") << "llama.cpp" << "warning"
                                   << "0.00.412.118" << QByteArray("n_ctx = 16384");
        QTest::newRow("ollama") << QByteArray("time=2026-08-21T10:00:00.000Z level=WARN source=a.go:3 msg=\"x y\" limit=1") << "Ollama"
                                << "warning" << "2026-08-21T10:00:00.000Z" << QByteArray("\"x y\" limit=1");
        QTest::newRow("tgi") << QByteArray("2026-01-10T10:00:00.000000Z  INFO text_generation_launcher: Args {") << "TGI" << "info"
                             << "2026-01-10T10:00:00.000000Z" << QByteArray("Args {");
    }
    void prefixes()
    {
        QFETCH(QByteArray, line);
        QFETCH(QByteArray, message);
        const LinePrefix prefix = m_facts->logPatterns.prefix(line.toStdString());
        QTEST(QString::fromStdString(prefix.engine), "engine");
        QTEST(QString::fromStdString(prefix.level), "level");
        QTEST(QString::fromStdString(prefix.time), "time");
        QCOMPARE(line.mid(static_cast<int>(prefix.message)), message);
    }

    void tellsEngineAndVersion_data()
    {
        QTest::addColumn<QByteArray>("text");
        QTest::addColumn<QString>("engine");
        QTest::addColumn<QString>("version");
        QTest::newRow("empty") << QByteArray() << "" << "";
        QTest::newRow("nobody's") << QByteArray("INFO tokenizer ready\nhello: world\n[2026-01-01 00:00:00] GET /\n") << "" << "";
        QTest::newRow("vllm, with lines of transformers")
            << QByteArray("Setting `pad_token_id` to `eos_token_id`:2 for open-end generation.\n"
                          "Special tokens have been added in the vocabulary\n"
                          "INFO 05-29 10:00:01 [core.py:112] Initializing a V1 LLM engine (v0.21.0) with config: model='m', dtype=torch.bfloat16\n")
            << "vLLM" << "0.21.0";
        QTest::newRow("ollama around llama.cpp")
            << QByteArray("time=2026-08-21T10:00:00.000Z level=INFO source=routes.go:1 msg=\"Listening on 127.0.0.1:11434 (version 0.32.1)\"\n"
                          "llama_context: n_ctx         = 4096\nllama_context: n_batch       = 512\n")
            << "Ollama" << "0.32.1";
        QTest::newRow("llama.cpp") << QByteArray("build: 6527 (abcdef12) with cc\nllama_context: n_ctx         = 16384\n") << "llama.cpp" << "b6527";
    }
    void tellsEngineAndVersion()
    {
        QFETCH(QByteArray, text);
        const LogTriage triage = read(text.toStdString());
        QTEST(QString::fromStdString(triage.engine), "engine");
        QTEST(QString::fromStdString(triage.version), "version");
    }

    void linesAndCounts()
    {
        std::string text = "nothing\n";
        for (int i = 0; i < 1500; ++i)
            text += "Special tokens have been added in the vocabulary\nnothing\n";
        const LogTriage triage = read(text);
        QCOMPARE(triage.hits.size(), std::size_t(LogTriage::keptPerPattern));
        QCOMPARE(triage.hits[1].line, std::uint64_t(4));
        QCOMPARE(triage.counts.size(), std::size_t(1));
        QCOMPARE(triage.counts[0].count, std::uint64_t(1500));
        QCOMPARE(triage.counts[0].firstLine, std::uint64_t(2));
        QCOMPARE(triage.counts[0].lastLine, std::uint64_t(3000));
    }

    void cancels()
    {
        std::stop_source stop;
        stop.request_stop();
        const TextContent text(std::string("a line\n"));
        const auto result = triageLog(text, m_facts->logPatterns, Job(stop.get_token()));
        QVERIFY(!result.ok());
        QCOMPARE(result.error().code, Errc::Cancelled);
    }

    /// Lines made to cost much: they must neither match for ever nor allocate for ever.
    void hostileLines()
    {
        std::string text = "non-default args: " + std::string(400'000, '{') + "\n";
        for (int i = 0; i < 200; ++i)
            text += "server_args=ServerArgs(" + std::string(2000, '(') + "Unrecognized keys in `rope_scaling` for 'rope_type'='" + std::string(2000, 'x') + "\n";
        text += std::string(1, '\0') + "\xff\xfe broken\n";
        const LogTriage triage = read(text);
        QCOMPARE(triage.lines, std::uint64_t(202));
    }

    void literalScanFindsAll()
    {
        const std::vector<std::pair<std::string, std::uint32_t>> literals{
            {"abc", 1}, {"bc", 2}, {"c", 3}, {"abcabd", 4}, {"", 5}, {std::string(100, 'z'), 6}};
        const LiteralScan scan(literals);
        std::vector<std::uint32_t> tags;
        scan.find("xxabcabd", tags);
        std::sort(tags.begin(), tags.end());
        tags.erase(std::unique(tags.begin(), tags.end()), tags.end());
        QCOMPARE(tags, (std::vector<std::uint32_t>{1, 2, 3, 4}));
        tags.clear();
        scan.find(std::string(30, 'z'), tags);
        QVERIFY(std::find(tags.begin(), tags.end(), 6U) != tags.end()); // cut: a filter may say yes too often
        tags.clear();
        scan.find("ab", tags);
        QVERIFY(tags.empty());
        LiteralScan().find("abc", tags);
        QVERIFY(tags.empty());
    }

    void collectorsPrefixes_data()
    {
        QTest::addColumn<QString>("prefix");
        QTest::addColumn<QString>("end");
        QTest::newRow("none") << QString() << "\n";
        QTest::newRow("Windows line ends") << QString() << "\r\n";
        QTest::newRow("Compose") << "vllm-1  | " << "\n";
        QTest::newRow("Compose with a date") << "vllm-openai-1  | 2025-06-11T10:00:01.123456789Z " << "\n";
        QTest::newRow("kubectl") << "[pod/vllm-7d9/vllm] " << "\n";
        QTest::newRow("container runtime") << "2025-06-11T10:00:01.1Z stderr F " << "\n";
        QTest::newRow("journald") << "Jun  1 10:00:01 gpu01 vllm[4711]: " << "\n";
        QTest::newRow("journald in Chinese") << QString::fromUtf8("6\xE6\x9C\x88 11 10:00:01 gpu01 vllm[4711]: ") << "\n";
        QTest::newRow("journald, ISO") << "2025-06-11T10:00:01+0000 gpu01 vllm[4711]: " << "\n";
        QTest::newRow("a host of two words") << "Jun 11 10:00:01 <my server> vllm[4711]: " << "\n";
        QTest::newRow("Docker Desktop") << "2025-06-11 10:00:01 " << "\n";
        QTest::newRow("quoted") << "> " << "\n";
        QTest::newRow("quoted journal") << "> Jun 11 10:00:01 gpu01 vllm[4711]: " << "\n";
        QTest::newRow("process in colour") << "\x1b[1;36m(EngineCore_0 pid=3)\x1b[0;0m " << "\n";
    }
    /// What collectors put first changes nothing; captures stand where they stand in the line.
    void collectorsPrefixes()
    {
        QFETCH(QString, prefix);
        QFETCH(QString, end);
        std::string text;
        for (const char *const line : {"INFO 06-11 10:00:02 [api_server.py:1287] vLLM API server version 0.9.1",
                                       "INFO 06-11 10:00:02 [cli_args.py:309] non-default args: {'model': '/m/x', 'max_model_len': 16384}"})
            text += prefix.toStdString() + line + end.toStdString();
        const LogTriage triage = read(text);
        QCOMPARE(triage.engine, std::string("vLLM"));
        QCOMPARE(triage.version, std::string("0.9.1"));
        const auto hit = std::find_if(triage.hits.begin(), triage.hits.end(), [](const LogHit &h) { return h.line == 2 && !h.captures.empty(); });
        QVERIFY(hit != triage.hits.end());
        std::string buffer;
        const TextContent content(text);
        const std::string line(withoutColour(content.line(1), buffer));
        for (const Capture &capture : hit->captures)
            QCOMPARE(line.substr(capture.begin, capture.end - capture.begin), capture.text);
    }

    void notAPrefix()
    {
        for (const char *const line : {"ab | cd", "June is here", "[2025-03-19] x", "Jun 11 words [4]: x", "> ", "2025 things"})
            QVERIFY2(stampPrefix(line) == 0, line);
        QCOMPARE(collectorPrefix("llama_context: n_ctx = 4096"), std::size_t(0));
        QCOMPARE(collectorPrefix("Jun 11 10:00:01 host without a unit: x"), std::size_t(0));
        QCOMPARE(collectorPrefix(""), std::size_t(0));
    }

private:
    LogTriage read(const std::string &text)
    {
        const TextContent content(text);
        auto result = triageLog(content, m_facts->logPatterns, Job());
        return result ? std::move(*result) : LogTriage();
    }
    FactsPtr m_facts;
};

PROSECTOR_TEST(TestLogTriage, tst_logtriage)
#include "tst_logtriage.moc"
