// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/corpus.h"
#include "tests/support/instrumenttest.h"
#include "tests/support/tempfolder.h"

using namespace prosector;
using namespace prosector::test;

namespace prosector {
extern const Instrument tokens_byte_tail;
}

class TestByteTail : public QObject {
    Q_OBJECT

    const Instrument &t8 = tokens_byte_tail;

    static std::string chunk(const std::string &members) { return "data: {\"id\": \"a\", \"object\": \"chat.completion.chunk\", \"choices\": [{\"index\": 0, " + members + "}]}\n\n"; }

private slots:
    void probe()
    {
        const Examined sick = examineWith(t8, {fixture(t8.slug, "sick")});
        VERIFY_WORST(t8, sick, Severity::Error);
        const Finding *const lost = sick.find("tokens.tail.lost");
        QVERIFY2(lost && lost->measure->number == 3, qPrintable(sick.summary()));
        QVERIFY(QString::fromStdString(lost->title).contains(QLatin1String("U+2794")));
        QVERIFY(QString::fromStdString(lost->detail).contains(QLatin1String("E2 | 9E | 94")));
        QVERIFY(sick.pointsAt(*lost, "stream.sse", LogLine{1, 1}));
        VERIFY_WORST(t8, examineWith(t8, {fixture(t8.slug, "healthy")}), Severity::Ok);
    }

    void streams_data()
    {
        QTest::addColumn<QString>("file");
        QTest::addColumn<QString>("content");
        QTest::addColumn<QString>("code");
        QTest::addColumn<Severity>("worst");
        const auto row = [](const char *name, const char *file, const std::string &content, const char *code, Severity worst) {
            QTest::newRow(name) << file << QString::fromStdString(content) << code << worst;
        };
        const std::string bad = "\xEF\xBF\xBD";
        row("two bytes", "s.sse", chunk("\"delta\": {\"content\": \"" + bad + "\"}, \"logprobs\": {\"content\": [{\"token\": \"x\", \"bytes\": [195]}]}")
                                      + chunk("\"delta\": {\"content\": \"" + bad + "\"}, \"logprobs\": {\"content\": [{\"token\": \"x\", \"bytes\": [169]}]}"), "tokens.tail.lost", Severity::Error);
        row("the model wrote it", "s.sse", chunk("\"delta\": {\"content\": \"" + bad + "\"}, \"logprobs\": {\"content\": [{\"token\": \"x\", \"bytes\": [239, 191, 189]}]}"), "", Severity::Ok);
        row("broken bytes", "s.sse", chunk("\"delta\": {\"content\": \"" + bad + "a\"}, \"logprobs\": {\"content\": [{\"token\": \"x\", \"bytes\": [226, 97]}]}"), "", Severity::Ok);
        row("cut by the cap", "s.sse", chunk("\"delta\": {\"content\": \"a" + bad + "\"}, \"logprobs\": {\"content\": [{\"token\": \"x\", \"bytes\": [97, 226, 158]}]}"), "tokens.tail.unfinished", Severity::Info);
        row("lone surrogates", "s.sse", chunk("\"delta\": {\"content\": \"\\ud83d\"}, \"logprobs\": {\"content\": [{\"token\": \"x\", \"bytes\": [240, 159]}]}")
                                            + chunk("\"delta\": {\"content\": \"\\ude00\"}, \"logprobs\": {\"content\": [{\"token\": \"x\", \"bytes\": [152, 128]}]}"), "tokens.tail.lost", Severity::Error);
        row("TGI, whole at the end", "s.sse", "data: {\"token\": {\"id\": 1, \"text\": \"" + bad + "\", \"special\": false}, \"generated_text\": null}\n\n"
                                              "data: {\"token\": {\"id\": 2, \"text\": \"" + bad + "\", \"special\": false}, \"generated_text\": \"\xC3\xA9\", \"details\": {\"finish_reason\": \"length\"}}\n\n",
            "tokens.tail.lost", Severity::Warning);
        row("pieces do not add up", "s.sse", "data: {\"token\": {\"id\": 1, \"text\": \"ab\", \"special\": false}, \"generated_text\": null}\n\n"
                                             "data: {\"token\": {\"id\": 2, \"text\": \"c\", \"special\": false}, \"generated_text\": \"abdc\"}\n\n", "tokens.tail.differs", Severity::Warning);
        row("stop string taken off", "s.sse", "data: {\"token\": {\"id\": 1, \"text\": \"ab\", \"special\": false}, \"generated_text\": null}\n\n"
                                              "data: {\"token\": {\"id\": 2, \"text\": \"END\", \"special\": false}, \"generated_text\": \"ab\"}\n\n", "", Severity::Ok);
        row("Ollama's lines", "responses.jsonl", "{\"model\": \"m\", \"created_at\": \"x\", \"message\": {\"role\": \"assistant\", \"content\": \"ok\"}, \"done\": false}\n"
                                                 "{\"model\": \"m\", \"created_at\": \"x\", \"message\": {\"role\": \"assistant\", \"content\": \"\"}, \"done\": true}\n", "", Severity::Ok);
        row("answer that was not streamed", "response.json", "{\"object\": \"chat.completion\", \"choices\": [{\"index\": 0, \"message\": {\"role\": \"assistant\", \"content\": \"" + bad + bad
                + "\"}, \"logprobs\": {\"content\": [{\"token\": \"x\", \"bytes\": [195]}, {\"token\": \"x\", \"bytes\": [169]}]}}]}", "tokens.tail.lost", Severity::Error);
        row("nothing to compare with", "s.sse", chunk("\"delta\": {\"content\": \"" + bad + "\"}"), "missing", Severity::Undecidable);
        row("the last chunk is no answer", "responses.jsonl", "{\"model\": \"m\", \"created_at\": \"x\", \"message\": {\"role\": \"assistant\", \"content\": \"" + bad + "\"}, \"done\": false}\n"
                                                              "{\"model\": \"m\", \"created_at\": \"x\", \"message\": {\"role\": \"assistant\", \"content\": \"\"}, \"done\": true}\n", "missing", Severity::Undecidable);
        row("reasoning", "s.sse", chunk("\"delta\": {\"reasoning_content\": \"" + bad + "\"}, \"logprobs\": {\"content\": [{\"token\": \"x\", \"bytes\": [195]}]}")
                                      + chunk("\"delta\": {\"content\": null, \"reasoning_content\": \"" + bad + "\"}, \"logprobs\": {\"content\": [{\"token\": \"x\", \"bytes\": [169]}]}"), "tokens.tail.lost", Severity::Error);
        row("reasoning kept back", "s.sse", chunk("\"delta\": {\"reasoning_content\": \"\"}, \"logprobs\": {\"content\": [{\"token\": \"x\", \"bytes\": [195]}]}")
                                      + chunk("\"delta\": {\"reasoning_content\": \"\xC3\xA9\"}, \"logprobs\": {\"content\": [{\"token\": \"x\", \"bytes\": [169]}]}"), "", Severity::Ok);
        row("arguments of a call, broken", "s.sse", chunk("\"delta\": {\"content\": null, \"tool_calls\": [{\"index\": 0, \"function\": {\"arguments\": \"" + bad + bad
                + "\"}}]}, \"logprobs\": {\"content\": [{\"token\": \"x\", \"bytes\": [195, 169]}]}"), "tokens.tail.lost", Severity::Error);
        row("arguments of a call", "s.sse", chunk("\"delta\": {\"tool_calls\": [{\"index\": 0, \"function\": {\"arguments\": \"{}\"}}]}"), "", Severity::Ok);
    }
    void streams()
    {
        QFETCH(QString, file);
        QFETCH(QString, content);
        QFETCH(QString, code);
        QFETCH(Severity, worst);
        TempFolder folder;
        folder.file(file.toStdString(), content.toStdString());
        const Examined examined = examineWith(t8, {folder.path()});
        VERIFY_WORST(t8, examined, worst);
        if (code == QLatin1String("missing"))
            QVERIFY2(!examined.report->notSeen.empty(), qPrintable(examined.summary()));
        else if (!code.isEmpty())
            QVERIFY2(examined.find(code.toStdString()), qPrintable(examined.summary()));
        else
            QVERIFY2(examined.report->findings.empty(), qPrintable(examined.summary()));
    }

    void againstTheWholeAnswer()
    {
        TempFolder folder;
        folder.file("s.sse", chunk("\"delta\": {\"content\": \"\xEF\xBF\xBD\xEF\xBF\xBD\"}"));
        folder.file("response.json", "{\"id\": \"a\", \"object\": \"chat.completion\", \"choices\": [{\"index\": 0, \"message\": {\"role\": \"assistant\", \"content\": \"\xC3\xA9\"}}]}");
        const Examined examined = examineWith(t8, {folder.path()});
        VERIFY_WORST(t8, examined, Severity::Error);
        QVERIFY2(examined.find("tokens.tail.lost"), qPrintable(examined.summary()));
    }

    void missingInputs()
    {
        TempFolder folder;
        folder.file("notes.txt", "hello\n");
        const Examined examined = examineWith(t8, {folder.path()});
        QVERIFY_RESULT(examined.report);
        QVERIFY(examined.report->undecidable());
    }

    void report15()
    {
        REQUIRE_SHARED(shared);
        VERIFY_WORST(t8, examineWith(t8, {shared + "/reports/b15/sick"}), Severity::Error);
        VERIFY_WORST(t8, examineWith(t8, {shared + "/reports/b15/healthy"}), Severity::Ok);
    }

    void damageAndCancel()
    {
        QCOMPARE(faultUnderDamage(t8, fixture(t8.slug, "sick")), QString());
        QCOMPARE(faultWhenCancelled(t8, fixture(t8.slug, "sick")), QString());
    }
};

PROSECTOR_TEST(TestByteTail, tst_tokens_byte_tail)

#include "tst_tokens_byte_tail.moc"
