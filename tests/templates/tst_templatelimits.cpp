// SPDX-License-Identifier: GPL-3.0-or-later
// Templates that mean harm, or are broken: an error with its place, soon.
#include "tests/support/strict.h"
#include "tests/support/templates.h"

using namespace prosector;

class TestTemplateLimits : public QObject {
    Q_OBJECT

private slots:
    void hostile_data()
    {
        QTest::addColumn<QString>("source");
        QTest::addColumn<QString>("begins");
        const auto row = [](const char *name, const QString &source, const char *begins) { QTest::newRow(name) << source << begins; };
        const QString big = "{% for a in range(99999) %}{% for b in range(99999) %}";
        row("endless loops", big + "{% endfor %}{% endfor %}", "limit: step limit");
        row("endless output", big + "{{ 'xxxxxxxxxxxxxxxxxxxxxxxx' }}{% endfor %}{% endfor %}", "limit: ");
        row("huge string", "{{ 'x' * 10**9 }}", "limit: memory limit");
        row("huge list", "{{ [0] * 10**9 }}", "limit: memory limit");
        row("doubling", "{% set ns = namespace(s='x') %}{% for i in range(64) %}{% set ns.s = ns.s + ns.s %}{% endfor %}", "limit: memory limit");
        row("doubling list", "{% set ns = namespace(s=[1]) %}{% for i in range(64) %}{% set ns.s = ns.s + ns.s %}{% endfor %}", "limit: memory limit");
        row("many big strings", "{% set ns = namespace(l=[]) %}{% for i in range(9999) %}{% set ns.l = ns.l + ['x' * 1000000] %}{% endfor %}", "limit: memory limit");
        row("wide padding", "{{ '%999999999d' % 1 }}", "ValueError: ");
        row("wide format", "{{ '{:999999999}'.format(1) }}", "ValueError: ");
        row("wide center", "{{ 'x'.center(10**10) }}", "limit: memory limit");
        row("replace grows", "{{ ('x' * 100000).replace('x', 'y' * 100000) }}", "limit: memory limit");
        row("join grows", "{{ (['x' * 100000] * 100000) | join }}", "limit: memory limit");
        row("range", "{{ range(10**12) | list }}", "OverflowError: Range too big");
        row("recursion", "{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}", "RecursionError: recursion limit");
        row("mutual recursion", "{% macro f() %}{{ g() }}{% endmacro %}{% macro g() %}{{ f() }}{% endmacro %}{{ f() }}", "RecursionError: ");
        row("recursive loop", "{% set l = [1] %}{% for x in l recursive %}{{ loop(l) }}{% endfor %}", "RecursionError: ");
        row("recursive block", "{% block b %}{{ self.b() }}{% endblock %}", "RecursionError: ");
        row("generators in generators", "{% set ns = namespace(g=[1]) %}{% for i in range(99999) %}{% set ns.g = ns.g | map('string') %}{% endfor %}{{ ns.g | list }}", "RecursionError: ");
        row("a namespace in itself", "{% set ns = namespace() %}{% set ns.x = ns %}{{ ns }}", "RecursionError: ");
        row("deep list printed", "{% set ns = namespace(x=[]) %}{% for i in range(50000) %}{% set ns.x = [ns.x] %}{% endfor %}{{ ns.x }}", "RecursionError: ");
        row("deep list compared", "{% set ns = namespace(x=[], y=[]) %}{% for i in range(50000) %}{% set ns.x = [ns.x] %}{% set ns.y = [ns.y] %}{% endfor %}{{ ns.x == ns.y }}", "RecursionError: ");
        row("deep list as JSON", "{% set ns = namespace(x=[]) %}{% for i in range(50000) %}{% set ns.x = [ns.x] %}{% endfor %}{{ ns.x | tojson }}", "RecursionError: ");
        row("deep parentheses", "{{ " + QString("(").repeated(100000) + "1" + QString(")").repeated(100000) + " }}", "RecursionError: ");
        row("deep brackets", "{{ " + QString("[").repeated(100000) + " }}", "RecursionError: ");
        row("long sum", "{{ 1" + QString(" + 1").repeated(100000) + " }}", "RecursionError: ");
        row("long nots", "{{ " + QString("not ").repeated(100000) + "1 }}", "RecursionError: ");
        row("long minus", "{{ " + QString("-").repeated(100000) + "1 }}", "RecursionError: ");
        row("long attributes", "{{ x" + QString(".a").repeated(100000) + " }}", "RecursionError: ");
        row("long filters", "{{ x" + QString("|trim").repeated(100000) + " }}", "RecursionError: ");
        row("long conditions", "{{ 1" + QString(" if 1 else 1").repeated(100000) + " }}", "RecursionError: ");
        row("deep ifs", QString("{% if 1 %}").repeated(100000), "RecursionError: ");
        row("deep loops", QString("{% for x in y %}").repeated(100000), "RecursionError: ");
        row("big power", "{{ 10 ** 100 }}", "unsupported: integer beyond 64 bits");
        row("big power of powers", "{{ 9 ** 9 ** 9 ** 9 }}", "unsupported: ");
        row("class", "{{ ''.__class__.__mro__[1].__subclasses__() }}", "SecurityError: access to attribute '__class__'");
        row("globals", "{{ raise_exception.__globals__['os'] }}", "UndefinedError: ");
        row("format class", "{{ '{0.__class__.__mro__}'.format(1) }}", "SecurityError: ");
        row("format_map class", "{{ '{a.__class__.__mro__}'.format_map({'a': 1}) }}", "SecurityError: ");
        row("attr filter", "{{ (''|attr('__class__')).mro() }}", "SecurityError: ");
        row("map attribute", "{{ [1]|map(attribute='__class__')|map(attribute='__mro__')|list }}", "SecurityError: ");
        row("unknown filter", "{{ 1 | shell }}", "TemplateAssertionError: No filter named 'shell'.");
        row("load", "{% include '/etc/passwd' %}", "TypeError: no loader");
        row("random", "{{ [1] | random }}", "unsupported: random");
    }

    void hostile()
    {
        QFETCH(QString, source);
        QFETCH(QString, begins);
        TemplateInputs inputs;
        RenderLimits limits;
        limits.steps = 2'000'000;
        limits.outputBytes = 1 << 20;
        limits.memoryBytes = 32 << 20;
        const QString got = QString::fromStdString(outcome(source.toStdString(), inputs, {}, {}, limits));
        QVERIFY2(got.startsWith(begins), qPrintable(got.left(300)));
    }

    void cycles()
    {
        // Values that hold each other are let go of (the address sanitizer watches).
        TemplateInputs inputs;
        const std::string source = "{% set ns = namespace() %}{% set ns.self = ns %}{% macro m() %}{% macro i() %}{{ ns }}{% endmacro %}"
                                   "{% set ns.m = i %}{% set ns.o = m %}{% endmacro %}{{ m() }}{% for x in [ns] %}{% set y = x %}{% endfor %}ok";
        QCOMPARE(outcome(source, inputs), std::string("ok"));
    }

    void names()
    {
        TemplateInputs inputs;
        RenderLimits limits;
        limits.steps = 1000;
        QCOMPARE(outcome("{% for x in range(9999) %}{% endfor %}", inputs, {}, {}, limits), std::string("limit: step limit: more than 1000 steps"));
        limits = {};
        limits.outputBytes = 10;
        const auto parsed = Template::parse("ab\n{{ 'x' * 20 }}");
        QVERIFY_RESULT(parsed);
        const Rendered rendered = (*parsed)->render(inputs, {}, limits);
        QVERIFY(rendered.error);
        QCOMPARE(rendered.error->error.code, Errc::TooLarge);
        QCOMPARE(rendered.error->error.message, std::string("limit: output limit: more than 10 bytes"));
        QCOMPARE(rendered.error->position, (LineColumn{2, 4}));
        QVERIFY(rendered.text.starts_with("ab\n")); // what was printed before stays
    }

    void cancel()
    {
        std::stop_source stop;
        stop.request_stop();
        TemplateInputs inputs;
        const auto parsed = Template::parse("{% for x in range(99999) %}{% endfor %}");
        QVERIFY_RESULT(parsed);
        const Rendered rendered = (*parsed)->render(inputs, {}, {}, Job(stop.get_token()));
        QVERIFY(rendered.error);
        QCOMPARE(rendered.error->error.code, Errc::Cancelled);
    }

    void places_data()
    {
        QTest::addColumn<QString>("source");
        QTest::addColumn<int>("line");
        QTest::addColumn<int>("column");
        QTest::newRow("unknown tag") << "a\n  {% nope %}" << 2 << 6;
        QTest::newRow("unclosed") << "{% if x %}\n\n" << 2 << 1;
        QTest::newRow("operand") << "é\n{{ 1 + none }}" << 2 << 4;
        QTest::newRow("inside a macro") << "{% macro m() %}\n {{ q.w.e }}{% endmacro %}\n\n{{ m() }}" << 2 << 5;
        QTest::newRow("carriage returns") << "a\r\nb\r{{ none.x.y }}" << 3 << 4;
        QTest::newRow("unknown filter") << "\n\n{{ 'a'\n | upper | nope }}" << 3 << 4;
    }

    void places()
    {
        QFETCH(QString, source);
        QFETCH(int, line);
        QFETCH(int, column);
        TemplateInputs inputs;
        const std::string text = source.toStdString();
        const auto parsed = Template::parse(text);
        std::optional<Error> error;
        if (!parsed)
            error = parsed.error();
        else if (const Rendered rendered = (*parsed)->render(inputs); rendered.error)
            error = rendered.error->error;
        QVERIFY(error);
        const auto *const where = std::get_if<TemplateSpan>(&error->where);
        QVERIFY(where);
        const LineColumn at = positionIn(text, where->from);
        QCOMPARE(at, (LineColumn{std::uint32_t(line), std::uint32_t(column)}));
    }

    void callPath()
    {
        const std::string text = "{% macro a() %}{{ none.x.y }}{% endmacro %}\n{% macro b() %}{{ a() }}{% endmacro %}\n{{ b() }}";
        const auto parsed = Template::parse(text);
        QVERIFY_RESULT(parsed);
        TemplateInputs inputs;
        const Rendered rendered = (*parsed)->render(inputs);
        QVERIFY(rendered.error);
        QCOMPARE(rendered.error->calls.size(), std::size_t(2));
        QCOMPARE((*parsed)->position(rendered.error->calls[0].from).line, 2U);
        QCOMPARE((*parsed)->position(rendered.error->calls[1].from).line, 3U);
    }

    void truncations()
    {
        // Every beginning of a template either parses or says where it breaks off.
        const std::string whole = "{%- macro m(a, b=[1, 'x']) -%}{{ a | default('z') ~ b[::-1] }}{%- endmacro -%}{# c #}{% raw %}{{{% endraw %}"
                                  "{% for k, v in d.items() if k is defined %}{% set ns.x = {'k': v}[k] %}{% else %}{% endfor %}\xC3\xA9{{ '\\u00e9' }}";
        for (std::size_t size = 0; size <= whole.size(); ++size) {
            const auto parsed = Template::parse(whole.substr(0, size));
            if (parsed)
                continue;
            const auto *const where = std::get_if<TemplateSpan>(&parsed.error().where);
            QVERIFY(where && where->from <= size);
            QVERIFY(!parsed.error().message.empty());
        }
    }
};

PROSECTOR_TEST(TestTemplateLimits, tst_templatelimits)
#include "tst_templatelimits.moc"
