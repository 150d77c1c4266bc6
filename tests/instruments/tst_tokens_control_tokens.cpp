// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/corpus.h"
#include "tests/support/instrumenttest.h"
#include "tests/support/tempfolder.h"

using namespace prosector;
using namespace prosector::test;

namespace prosector {
extern const Instrument tokens_control_tokens;
}

class TestControlTokens : public QObject {
    Q_OBJECT

    const Instrument &t3 = tokens_control_tokens;

    /// Ordinary pieces by their spelling, markers on top.
    static std::string tokenizer(const std::string &normalizer = "null", bool normalized = false)
    {
        const auto token = [&](int id, const char *content) {
            return "{\"id\": " + std::to_string(id) + ", \"content\": \"" + content + "\", \"special\": true, \"normalized\": " + (normalized ? "true" : "false") + "}";
        };
        return "{\"added_tokens\": [" + token(10, "<|im_start|>") + ", " + token(11, "<|im_end|>") + ", " + token(12, "<|image_pad|>") + ", " + token(13, "<|extra|>") + "], \"normalizer\": " + normalizer
               + ", \"model\": {\"type\": \"BPE\", \"vocab\": {\"hi\": 0, \"user\": 1, \"assistant\": 2, \"<\": 3, \"|\": 4, \"im_end\": 5, \">\": 6, \"im_start\": 7, \"a\": 8, \"b\": 9}, \"merges\": []}}";
    }
    static std::string config() { return "{\"tokenizer_class\": \"X\", \"eos_token\": \"<|im_end|>\", \"chat_template\": \"{% for m in messages %}<|im_start|>{{ m.role }}{{ m.content }}<|im_end|>{% endfor %}<|im_start|>assistant\"}"; }

private slots:
    void probe()
    {
        const Examined sick = examineWith(t3, {fixture(t3.slug, "sick")});
        VERIFY_WORST(t3, sick, Severity::Error);
        const Finding *const injected = sick.find("tokens.control.injected");
        QVERIFY2(injected, qPrintable(sick.summary()));
        QVERIFY(sick.pointsAt(*injected, "response.json", TokenRange{3, 4}));
        QVERIFY(sick.pointsAt(*injected, "request.json", JsonPath{"$.messages[0].content"}));
        VERIFY_WORST(t3, examineWith(t3, {fixture(t3.slug, "healthy")}), Severity::Ok);
    }

    void tokens_data()
    {
        QTest::addColumn<QString>("tokens");
        QTest::addColumn<QString>("code");
        QTest::addColumn<Severity>("worst");
        const auto row = [](const char *name, const char *tokens, const char *code, Severity worst) { QTest::newRow(name) << tokens << code << worst; };
        row("recorded roles", "{\"ids\": [10, 1, 0, 11, 0, 11], \"roles\": [\"template\", \"template\", \"user\", \"user\", \"user\", \"template\"]}", "tokens.control.injected", Severity::Error);
        row("another special", "{\"ids\": [10, 1, 0, 13, 11], \"roles\": [\"template\", \"template\", \"user\", \"tool\", \"template\"]}", "tokens.control.injected", Severity::Warning);
        row("a picture", "{\"ids\": [10, 1, 0, 12, 11], \"roles\": [\"template\", \"template\", \"user\", \"user\", \"template\"]}", "", Severity::Ok);
        row("marker in pieces", "{\"ids\": [3, 4, 7, 4, 6, 1, 0, 11], \"roles\": [\"t\", \"t\", \"t\", \"t\", \"t\", \"t\", \"user\", \"t\"]}", "tokens.control.spelt", Severity::Error);
        row("the user's marker in pieces", "{\"ids\": [10, 1, 3, 4, 5, 4, 6, 11], \"roles\": [\"t\", \"t\", \"user\", \"user\", \"user\", \"user\", \"user\", \"t\"]}", "", Severity::Ok);
        row("generated", "{\"ids\": [10, 1, 0, 13, 8, 11], \"prompt_length\": 2}", "tokens.control.generated", Severity::Warning);
        row("generated end", "{\"ids\": [10, 1, 0, 8, 11], \"prompt_length\": 2}", "", Severity::Ok);
    }
    void tokens()
    {
        QFETCH(QString, tokens);
        QFETCH(QString, code);
        QFETCH(Severity, worst);
        TempFolder folder;
        folder.file("tokenizer.json", tokenizer()).file("tokenizer_config.json", config()).file("tokens.json", tokens.toStdString());
        const Examined examined = examineWith(t3, {folder.path()});
        VERIFY_WORST(t3, examined, worst);
        if (!code.isEmpty())
            QVERIFY2(examined.find(code.toStdString()), qPrintable(examined.summary()));
    }

    void matching_data()
    {
        QTest::addColumn<QString>("normalizer");
        QTest::addColumn<bool>("normalized");
        QTest::addColumn<Severity>("worst");
        const QString prepend = "{\"type\": \"Sequence\", \"normalizers\": [{\"type\": \"Prepend\", \"prepend\": \"_\"}, {\"type\": \"Replace\", \"pattern\": {\"String\": \"|\"}, \"content\": \"_\"}]}";
        QTest::newRow("changed before it is looked for") << prepend << true << Severity::Error;
        QTest::newRow("looked for first") << prepend << false << Severity::Ok;
        QTest::newRow("nothing changes it") << "null" << true << Severity::Ok;
    }
    void matching()
    {
        QFETCH(QString, normalizer);
        QFETCH(bool, normalized);
        QFETCH(Severity, worst);
        TempFolder folder;
        folder.file("tokenizer.json", tokenizer(normalizer.toStdString(), normalized)).file("tokenizer_config.json", config());
        const Examined examined = examineWith(t3, {folder.path()});
        VERIFY_WORST(t3, examined, worst);
        if (worst == Severity::Error)
            QVERIFY(examined.pointsAt(*examined.find("tokens.control.unmatched"), "tokenizer.json", JsonPath{"$.added_tokens[1].normalized"}));
    }

    void missingInputs()
    {
        TempFolder folder;
        folder.file("notes.txt", "hello\n");
        QVERIFY(examineWith(t3, {folder.path()}).report->undecidable());
        // No control token, nothing to ask; ids whose owner nobody tells.
        TempFolder none, nobody;
        none.file("tokenizer.json", "{\"added_tokens\": [], \"model\": {\"type\": \"BPE\", \"vocab\": {\"a\": 0, \"b\": 1, \"ab\": 2}, \"merges\": [\"a b\"]}}");
        VERIFY_WORST(t3, examineWith(t3, {none.path()}), Severity::Undecidable);
        nobody.file("tokenizer_config.json", config()).file("added_tokens.json", "{\"<x>\": 4}").file("tokens.json", "{\"ids\": [1, 2, 3]}");
        VERIFY_WORST(t3, examineWith(t3, {nobody.path()}), Severity::Undecidable);
    }

    void report05()
    {
        REQUIRE_SHARED(shared);
        const Examined sick = examineWith(t3, {shared + "/reports/b05/sick"});
        VERIFY_WORST(t3, sick, Severity::Error);
        QVERIFY(sick.pointsAt(*sick.find("tokens.control.unmatched"), "tokenizer.json", JsonPath{"$.added_tokens[2].normalized"}));
        VERIFY_WORST(t3, examineWith(t3, {shared + "/reports/b05/healthy"}), Severity::Ok);
    }

    void damageAndCancel()
    {
        QCOMPARE(faultUnderDamage(t3, fixture(t3.slug, "sick")), QString());
        QCOMPARE(faultWhenCancelled(t3, fixture(t3.slug, "sick")), QString());
    }
};

PROSECTOR_TEST(TestControlTokens, tst_tokens_control_tokens)

#include "tst_tokens_control_tokens.moc"
