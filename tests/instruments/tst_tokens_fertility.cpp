// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/corpus.h"
#include "tests/support/instrumenttest.h"
#include "tests/support/tempfolder.h"

using namespace prosector;
using namespace prosector::test;

namespace prosector {
extern const Instrument tokens_fertility;
}

class TestFertility : public QObject {
    Q_OBJECT

    const Instrument &t9 = tokens_fertility;

    static std::string request(const std::string &content) { return "{\"model\": \"m\", \"messages\": [{\"role\": \"user\", \"content\": \"" + content + "\"}]}"; }
    static std::string repeated(const std::string &part, int times)
    {
        std::string text;
        for (int i = 0; i < times; ++i)
            text += part;
        return text;
    }

private slots:
    void probe()
    {
        const Examined sick = examineWith(t9, {fixture(t9.slug, "sick")});
        VERIFY_WORST(t9, sick, Severity::Warning);
        const Finding *const escapes = sick.find("tokens.fertility.escapes");
        QVERIFY2(escapes && escapes->measure->number > 0.5, qPrintable(sick.summary()));
        QVERIFY(sick.pointsAt(*escapes, "request.json", JsonPath{"$.tools[0]"}));
        VERIFY_WORST(t9, examineWith(t9, {fixture(t9.slug, "healthy")}), Severity::Ok);
    }

    void segments_data()
    {
        QTest::addColumn<QString>("text");
        QTest::addColumn<int>("tokens"); ///< 0: a request without ids
        QTest::addColumn<QString>("code");
        QTest::addColumn<Severity>("worst");
        const auto row = [](const char *name, const std::string &text, int tokens, const char *code, Severity worst) { QTest::newRow(name) << QString::fromStdString(text) << tokens << code << worst; };
        row("usual prose", repeated("plain words ", 20), 60, "", Severity::Ok);
        row("a Chinese page", repeated("\xE4\xBD\xA0\xE5\xA5\xBD\xE4\xB8\x96\xE7\x95\x8C", 25), 93, "", Severity::Ok);
        row("a dear script", repeated("\xE0\xA4\xA8\xE0\xA4\xAE\xE0\xA4\xB8", 30), 250, "tokens.fertility.script", Severity::Warning);
        row("digits", repeated("1234567890 ", 20), 200, "tokens.fertility.dense", Severity::Info);
        row("too short to judge", "\xE0\xA4\xA8\xE0\xA4\xAE", 6, "missing", Severity::Undecidable);
        row("escapes in a message", repeated("\\\\u0939", 40), 0, "tokens.fertility.escapes", Severity::Warning);
        row("escapes of emoji", repeated("plain words ", 10) + repeated("\\\\ud83d\\\\ude00", 20), 0, "", Severity::Ok);
        row("escapes of control characters", repeated("plain words ", 10) + repeated("\\\\u001b", 30), 0, "", Severity::Ok);
        row("emoji", repeated("\xF0\x9F\x98\x80\xE2\x9C\xA8 ", 40), 300, "tokens.fertility.dense", Severity::Info);
        row("escapes of the transport", repeated("\\u0939", 90), 0, "", Severity::Ok);
        row("escapes in quoted code", repeated("word ", 50) + "```" + repeated("\\\\u0939", 40) + "```", 0, "", Severity::Ok);
    }
    void segments()
    {
        QFETCH(QString, text);
        QFETCH(int, tokens);
        QFETCH(QString, code);
        QFETCH(Severity, worst);
        TempFolder folder;
        if (tokens == 0) {
            folder.file("request.json", request(text.toStdString()));
        } else {
            std::string ids;
            for (int i = 0; i < tokens; ++i)
                ids += (i == 0 ? "" : ", ") + std::to_string(i);
            folder.file("encode.json", "{\"text\": \"" + text.toStdString() + "\", \"input_ids\": [" + ids + "]}");
        }
        const Examined examined = examineWith(t9, {folder.path()});
        VERIFY_WORST(t9, examined, worst);
        if (!code.isEmpty() && code != QLatin1String("missing"))
            QVERIFY2(examined.find(code.toStdString()), qPrintable(examined.summary()));
    }

    void missingInputs()
    {
        TempFolder folder;
        folder.file("notes.txt", "hello\n");
        QVERIFY(examineWith(t9, {folder.path()}).report->undecidable());
    }

    void damageAndCancel()
    {
        QCOMPARE(faultUnderDamage(t9, fixture(t9.slug, "sick")), QString());
        QCOMPARE(faultWhenCancelled(t9, fixture(t9.slug, "sick")), QString());
    }
};

PROSECTOR_TEST(TestFertility, tst_tokens_fertility)

#include "tst_tokens_fertility.moc"
