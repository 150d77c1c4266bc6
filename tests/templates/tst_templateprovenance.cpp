// SPDX-License-Identifier: GPL-3.0-or-later
// Where each part of a prompt came from; chat requests as apply_chat_template takes them.
#include "models/templates/chatrequest.h"
#include "tests/support/strict.h"
#include "tests/support/templates.h"

using namespace prosector;

namespace {

/// "[Hi](messages[0].content+0) [x](lit)": each span with its origin.
std::string explained(const Rendered &rendered, const TemplateInputs &inputs)
{
    std::string out;
    for (const PromptSpan &span : rendered.spans) {
        out += "[" + rendered.text.substr(span.from, span.to - span.from) + "](";
        if (span.isLiteral()) {
            out += "lit";
        } else if (span.isInput()) {
            const InputPlace place = inputs.place(span.source);
            out += (place.key ? "key " : "") + place.variable + place.path;
            if (span.exact)
                out += "+" + std::to_string(span.offset);
        }
        out += ")";
    }
    return out;
}

} // namespace

class TestTemplateProvenance : public QObject {
    Q_OBJECT

private slots:
    void origins_data()
    {
        QTest::addColumn<QString>("source");
        QTest::addColumn<QString>("expected");
        const auto row = [](const char *source, const char *expected) { QTest::newRow(source) << source << expected; };
        row("a{{ m[0].content }}b", "[a](lit)[ Hi <you> ](m[0].content+0)[b](lit)");
        row("{{ m[0].content | trim }}", "[Hi <you>](m[0].content+1)");
        row("{{ '<|' + m[0].role + '|>' }}", "[<|](lit)[user](m[0].role+0)[|>](lit)");
        row("{{ '<|' ~ m[0]['role'] ~ 1 }}", "[<|](lit)[user](m[0].role+0)[1](lit)");
        row("{{ m[0].content[4:7] }}", "[<yo](m[0].content+4)");
        row("{{ m[0].content.split('<')[1] }}", "[you> ](m[0].content+5)");
        row("{{ m[0].content | replace('<', '{') }}", "[ Hi ](m[0].content+0)[{](lit)[you> ](m[0].content+5)");
        row("{{ m[0].role | upper }}", "[USER](m[0].role)");
        row("{{ m[1].n + 0 }}{{ m[1].n }}", "[5]()[5](m[1].n)");
        row("{{ m | map(attribute='role') | join(', ') }}", "[user](m[0].role+0)[, ](lit)[tool](m[1].role+0)");
        row("{{ t | tojson }}", "[{](t)[\"](key t.k)[k](key t.k+0)[\"](key t.k)[: ](t)[\"](t.k)[v](t.k+0)[\\\"](t.k)[w](t.k+2)[\"](t.k)[}](t)");
        row("{% set x %}<{{ m[0].role }}>{% endset %}{{ x }}", "[<](lit)[user](m[0].role+0)[>](lit)");
        row("{% macro f(a) %}({{ a }}){% endmacro %}{{ f(m[0].role) }}", "[(](lit)[user](m[0].role+0)[)](lit)");
        row("{% for x in m %}{{ x.role }}{{ loop.index }}{% endfor %}", "[user](m[0].role+0)[1]()[tool](m[1].role+0)[2]()");
        row("{{ '%s!' % m[0].role }}", "[user](m[0].role+0)[!](lit)");
        row("{{ '{}!'.format(m[0].role) }}", "[user](m[0].role+0)[!](lit)");
        row("{{ bos }}", "[<s>](bos+0)");
        row("{{ m[0].role | indent }}", "[user](m[0].role+0)");
        row("{{ m[0].role[::-1] }}", "[r](m[0].role+3)[e](m[0].role+2)[s](m[0].role+1)[u](m[0].role+0)");
    }

    void origins()
    {
        QFETCH(QString, source);
        QFETCH(QString, expected);
        const auto document = Document::parseJson("{\"m\": [{\"role\": \"user\", \"content\": \" Hi <you> \"}, {\"role\": \"tool\", \"n\": 5}], \"t\": {\"k\": \"v\\\"w\"}}");
        TemplateInputs inputs;
        setAll(inputs, document->root());
        inputs.setText("bos", "<s>");
        const auto parsed = Template::parse(source.toStdString());
        QVERIFY_RESULT(parsed);
        const Rendered rendered = (*parsed)->render(inputs);
        QVERIFY(!rendered.error);
        QCOMPARE(QString::fromStdString(explained(rendered, inputs)), expected);
        // Exact spans are copies of what they name.
        for (const PromptSpan &span : rendered.spans) {
            const InputPlace place = span.isInput() ? inputs.place(span.source) : InputPlace{};
            if (span.isInput() && span.exact && place.value && !place.key)
                QCOMPARE(rendered.text.substr(span.from, span.to - span.from), place.value.string("").substr(span.offset, span.to - span.from));
        }
    }

    void sitesAndCoverage()
    {
        const std::string text = "{% if x %}A{% else %}{{ 'B' ~ y }}{% endif %}";
        const auto parsed = Template::parse(text);
        QVERIFY_RESULT(parsed);
        TemplateInputs inputs;
        inputs.setText("y", "z");
        const Rendered rendered = (*parsed)->render(inputs);
        QCOMPARE(rendered.text, std::string("Bz"));
        const auto site = [&](std::size_t i) {
            const TemplateSite &at = (*parsed)->sites()[rendered.spans[i].site];
            return text.substr(at.from, at.to - at.from);
        };
        QCOMPARE(site(0), std::string("'B'"));
        QCOMPARE(site(1), std::string("'B' ~ y"));
        for (std::size_t i = 1; i < rendered.hits.size(); ++i) {
            const TemplateSite &at = (*parsed)->sites()[i];
            const std::string code = text.substr(at.from, at.to - at.from);
            if (code == "A")
                QCOMPARE(rendered.hits[i], 0U);
            if (at.kind == TemplateSite::Kind::Print)
                QCOMPARE(rendered.hits[i], 1U);
        }
    }

    void chat_data()
    {
        QTest::addColumn<QString>("messages");
        QTest::addColumn<bool>("continued");
        QTest::addColumn<QString>("expected");
        QTest::newRow("prompt") << R"([{"role": "user", "content": "Hi"}])" << false << "<s>user:Hi;None assistant:";
        QTest::newRow("continued") << R"([{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "So "}])" << true
                                   << "<s>user:Hi;assistant:So";
        QTest::newRow("parts") << R"([{"role": "user", "content": [{"type": "text", "text": "Hi"}]}])" << true
                               << "error ValueError";
        QTest::newRow("no text to continue") << R"([{"role": "user", "content": [{"type": "image"}]}])" << true << "error ValueError";
    }

    void chat()
    {
        QFETCH(QString, messages);
        QFETCH(bool, continued);
        QFETCH(QString, expected);
        const auto document = Document::parseJson(messages.toStdString());
        const auto parsed = Template::parse("{{ bos_token }}{% for m in messages %}{{ m.role }}:{{ m.content | trim if m.content is string }};{% endfor %}"
                                            "{{ tools }} {% if add_generation_prompt %}assistant:{% endif %}");
        QVERIFY_RESULT(parsed);
        ChatRequest request;
        request.messages = document->root();
        request.specialTokens = {{"bos_token", "<s>"}};
        request.addGenerationPrompt = !continued;
        request.continueFinalMessage = continued;
        const RenderedChat rendered = renderChat(**parsed, request);
        const std::string got = rendered.error ? "error " + rendered.error->type : rendered.text;
        QCOMPARE(QString::fromStdString(got), expected);
        if (!rendered.error)
            QCOMPARE(rendered.spans.back().to, std::uint32_t(rendered.text.size()));
    }
};

PROSECTOR_TEST(TestTemplateProvenance, tst_templateprovenance)
#include "tst_templateprovenance.moc"
