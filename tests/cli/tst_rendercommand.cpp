// SPDX-License-Identifier: GPL-3.0-or-later
// render as scripts use it.
#include "tests/support/runcommand.h"
#include "tests/support/strict.h"
#include "tests/support/temporaryfolder.h"

#include <QJsonArray>

using namespace prosector::test;

namespace {

// Two lines; the header of the answer stands on the second.
constexpr const char *chat = "{{ bos_token }}{% for m in messages %}<{{ m.role }}>{{ m.content }}{% endfor %}\n"
                             "{% if add_generation_prompt %}<assistant>{% endif %}";
constexpr const char *request = "{\"messages\": [{\"role\": \"user\", \"content\": \"Gr\xC3\xBC\xC3\x9F dich\"}]}";

QString s(const char *text)
{
    return QString::fromUtf8(text);
}

} // namespace

class TestRenderCommand : public QObject {
    Q_OBJECT

private slots:
    void init()
    {
        failOnQtWarnings();
        folder = std::make_unique<TemporaryFolder>();
        folder->write(s("m/tokenizer_config.json"), "{\"bos_token\": \"<s>\"}");
        folder->write(s("m/chat_template.jinja"), chat);
        folder->write(s("plain/tokenizer_config.json"), "{\"bos_token\": \"<b>\"}");
        folder->write(s("chat.jinja"), chat);
        folder->write(s("request.json"), request);
    }

    QByteArray text(const QStringList &arguments)
    {
        const Ran ran = runCommand(QStringList{s("render")} + arguments, folder->path());
        [&] { QVERIFY2(ran.status == 0 && ran.err.isEmpty(), ran.err.constData()); }();
        return ran.out;
    }

    void prompts()
    {
        const QStringList model{s("m"), s("--request"), s("request.json")};
        QCOMPARE(text(model), QByteArray("<s><user>Gr\xC3\xBC\xC3\x9F dich<assistant>"));
        QCOMPARE(text(model + QStringList{s("--no-generation-prompt")}), QByteArray("<s><user>Gr\xC3\xBC\xC3\x9F dich"));
        QCOMPARE(text(model + QStringList{s("--set"), s("bos_token=\"!\"")}), QByteArray("!<user>Gr\xC3\xBC\xC3\x9F dich<assistant>"));
        QCOMPARE(text(model + QStringList{s("--continue-final-message")}), QByteArray("<s><user>Gr\xC3\xBC\xC3\x9F dich"));
    }

    void time()
    {
        folder->write(s("now.jinja"), "{{ strftime_now('%Y-%m-%d %H:%M') }}");
        const QStringList command{s("--template"), s("now.jinja"), s("--request"), s("request.json")};
        QCOMPARE(text(command + QStringList{s("--now"), s("2031-02-03T04:05:06")}), QByteArray("2031-02-03 04:05"));
        QCOMPARE(text(command), text(command)); // not the clock
    }

    /// --template stands in for the model's template, whether or not it has one; the special tokens stay the model's.
    void modelWithTemplate_data()
    {
        QTest::addColumn<QString>("model");
        QTest::addColumn<QByteArray>("bos");
        QTest::newRow("has one") << s("m") << QByteArray("<s>");
        QTest::newRow("has none") << s("plain") << QByteArray("<b>");
    }
    void modelWithTemplate()
    {
        QFETCH(QString, model);
        QFETCH(QByteArray, bos);
        folder->write(s("bos.jinja"), "{{ bos_token }}.");
        folder->write(s("in.jsonl"), "{\"messages\": []}\n");
        QCOMPARE(text({model, s("--template"), s("bos.jinja"), s("--request"), s("request.json")}), bos + ".");
        QCOMPARE(text({model, s("--template"), s("bos.jinja"), s("--jsonl"), s("in.jsonl")}), "{\"text\":\"" + bos + ".\"}\n");
    }

    void namedTemplates()
    {
        folder->write(s("n/tokenizer_config.json"), "{\"bos_token\": \"<s>\", \"chat_template\": [{\"name\": \"default\", \"template\": \"plain\"},"
                                                    "{\"name\": \"tool_use\", \"template\": \"tools\"}, {\"name\": \"rag\", \"template\": \"rag\"}]}");
        folder->write(s("tools.json"), "{\"messages\": [], \"tools\": [{\"type\": \"function\"}]}");
        QCOMPARE(text({s("n"), s("--request"), s("request.json")}), QByteArray("plain"));
        QCOMPARE(text({s("n"), s("--request"), s("tools.json")}), QByteArray("tools"));
        QCOMPARE(text({s("n"), s("--request"), s("tools.json"), s("--template-name"), s("rag")}), QByteArray("rag"));
        QCOMPARE(runCommand({s("render"), s("n"), s("--request"), s("tools.json"), s("--template-name"), s("x")}, folder->path()).status, 3);
    }

    /// Every byte of the text has its span; the spans say which input and which place of the template.
    void spans()
    {
        const QJsonObject json = jsonObject(text({s("m"), s("--request"), s("request.json"), s("--spans")}));
        const QByteArray whole = json[QLatin1String("text")].toString().toUtf8();
        QCOMPARE(whole, QByteArray("<s><user>Gr\xC3\xBC\xC3\x9F dich<assistant>"));
        int at = 0;
        bool content = false;
        for (const QJsonValue span : json[QLatin1String("spans")].toArray()) {
            QCOMPARE(span[QLatin1String("from")].toInt(), at);
            const int to = span[QLatin1String("to")].toInt();
            QVERIFY(to > at);
            if (span[QLatin1String("path")] == QJsonValue(s("messages[0].content"))) {
                QCOMPARE(whole.mid(at, to - at), QByteArray("Gr\xC3\xBC\xC3\x9F dich"));
                QCOMPARE(span[QLatin1String("exact")], QJsonValue(true));
                content = true;
            }
            if (whole.mid(at, to - at) == "<assistant>") {
                QCOMPARE(span[QLatin1String("origin")], QJsonValue(s("literal")));
                QCOMPARE(span[QLatin1String("line")].toInt(), 2);
            }
            at = to;
        }
        QCOMPARE(at, int(whole.size()));
        QVERIFY(content);
        QVERIFY(!json[QLatin1String("coverage")].toArray().isEmpty());
    }

    /// What was printed before the error is kept; its place is said, and from where the macro was called.
    void errorWithPlace()
    {
        folder->write(s("e.jinja"), "{% macro f(x) %}\n  {{ x.missing.deep }}{% endmacro %}\nbefore\n{{ f(messages[0]) }}");
        const QStringList command{s("render"), s("--template"), s("e.jinja"), s("--request"), s("request.json")};
        const Ran ran = runCommand(command, folder->path());
        QCOMPARE(ran.status, 1);
        QVERIFY(ran.out.isEmpty());
        QVERIFY2(isOneClearLine(ran.err), ran.err.constData());
        QVERIFY2(ran.err.contains("template line 2, column 6: UndefinedError: 'dict object' has no attribute 'missing'"), ran.err.constData());
        QVERIFY2(ran.err.contains("called from line 4, column 4"), ran.err.constData());
        const QJsonObject json = jsonObject(runCommand(command + QStringList{s("--spans")}, folder->path()).out);
        QCOMPARE(json[QLatin1String("line")].toInt(), 2);
        QCOMPARE(json[QLatin1String("text")].toString(), s("before\n"));
        QCOMPARE(json[QLatin1String("calls")].toArray().at(0)[QLatin1String("line")].toInt(), 4);
    }

    void lines()
    {
        folder->write(s("in.jsonl"), "{\"template\": \"a{{ messages|length }}\", \"messages\": [1, 2]}\n"
                                     "{\"template\": \"{{ nope.x }}\", \"messages\": []}\n\n"
                                     "{\"template\": \"x\\n {% if %}\"}\n"
                                     "broken\n"
                                     "{\"template\": \"{{ v }}\", \"variables\": {\"v\": \"\\ud800|\"}}\n");
        const Ran ran = runCommand({s("render"), s("--jsonl"), s("in.jsonl")}, folder->path());
        QCOMPARE(ran.status, 3);
        const QList<QByteArray> out = ran.out.split('\n');
        QCOMPARE(out.size(), 6);
        QCOMPARE(out[0], QByteArray("{\"text\":\"a2\"}"));
        QCOMPARE(jsonObject(out[1])[QLatin1String("error")].toString(), s("UndefinedError: 'nope' is undefined"));
        QVERIFY(jsonObject(out[2])[QLatin1String("error")].toString().startsWith(s("TemplateSyntaxError: ")));
        QCOMPARE(jsonObject(out[2])[QLatin1String("line")].toInt(), 2);
        QVERIFY(jsonObject(out[3]).contains(QLatin1String("error")));
        QCOMPARE(jsonObject(out[4])[QLatin1String("text")].toString(), s("\xEF\xBF\xBD|"));
    }

    /// Templates cannot run for ever, nor fill the memory.
    void limits_data()
    {
        QTest::addColumn<QByteArray>("source");
        QTest::addColumn<QByteArray>("said");
        QTest::newRow("steps") << QByteArray("{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}") << QByteArray("limit");
        QTest::newRow("recursion") << QByteArray("{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}") << QByteArray("RecursionError");
        QTest::newRow("memory") << QByteArray("{% set ns = namespace(x='ab') %}{% for a in range(60) %}{% set ns.x = ns.x + ns.x %}{% endfor %}") << QByteArray("limit");
    }
    void limits()
    {
        QFETCH(QByteArray, source);
        QFETCH(QByteArray, said);
        folder->write(s("l.jinja"), source);
        const Ran ran = runCommand({s("render"), s("--template"), s("l.jinja"), s("--request"), s("request.json")}, folder->path());
        QCOMPARE(ran.status, 1);
        QVERIFY2(isOneClearLine(ran.err) && ran.err.contains(said) && ran.err.contains("template line 1, column "), ran.err.constData());
    }

    void bytesThatAreNotUtf8()
    {
        folder->write(s("t.jinja"), "a\xFF{{ messages[0].content }}");
        folder->write(s("r.json"), "{\"messages\": [{\"content\": \"b\xFE\"}]}");
        const Ran ran = runCommand({s("render"), s("--template"), s("t.jinja"), s("--request"), s("r.json"), s("--spans")}, folder->path());
        QCOMPARE(ran.status, 0);
        QVERIFY(jsonObject(ran.out)[QLatin1String("text")].toString().endsWith(s("b\xEF\xBF\xBD")));
    }

    void refused_data()
    {
        QTest::addColumn<QStringList>("arguments");
        QTest::addColumn<int>("status");
        const QStringList asked{s("--request"), s("request.json")};
        QTest::newRow("no request") << QStringList{s("m")} << 2;
        QTest::newRow("request and lines") << QStringList{s("m"), s("--jsonl"), s("x")} + asked << 2;
        QTest::newRow("no model") << asked << 2;
        QTest::newRow("setting without value") << QStringList{s("m"), s("--set"), s("x")} + asked << 2;
        QTest::newRow("setting that is not JSON") << QStringList{s("m"), s("--set"), s("x=y")} + asked << 2;
        QTest::newRow("time") << QStringList{s("m"), s("--now"), s("yesterday")} + asked << 2;
        QTest::newRow("model absent") << QStringList{s("nowhere")} + asked << 3;
        QTest::newRow("model without template") << QStringList{s("plain")} + asked << 3;
        QTest::newRow("the same for lines") << QStringList{s("plain"), s("--jsonl"), s("in.jsonl")} << 3;
        QTest::newRow("template absent") << QStringList{s("--template"), s("nowhere")} + asked << 3;
        QTest::newRow("request absent") << QStringList{s("m"), s("--request"), s("nowhere")} << 3;
        QTest::newRow("request broken") << QStringList{s("m"), s("--request"), s("broken.json")} << 3;
        QTest::newRow("template broken") << QStringList{s("--template"), s("broken.jinja")} + asked << 3;
    }
    void refused()
    {
        QFETCH(QStringList, arguments);
        QFETCH(int, status);
        folder->write(s("broken.json"), "{\"messages\": [");
        folder->write(s("broken.jinja"), "{% for %}");
        folder->write(s("in.jsonl"), "{\"messages\": []}\n");
        const Ran ran = runCommand(QStringList{s("render")} + arguments, folder->path());
        QCOMPARE(ran.status, status);
        QVERIFY2(isOneClearLine(ran.err), ran.err.constData());
        QVERIFY(ran.out.isEmpty());
    }

private:
    std::unique_ptr<TemporaryFolder> folder;
};

PROSECTOR_TEST(TestRenderCommand, tst_rendercommand)
#include "tst_rendercommand.moc"
