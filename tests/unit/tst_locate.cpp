// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/runs/inspect.h"
#include "models/runs/locate.h"

#include "models/core/utf8.h"

#include "tests/support/ggufwriter.h"
#include "tests/support/safetensorswriter.h"
#include "tests/support/strict.h"
#include "tests/support/tempfolder.h"

using namespace prosector;

namespace {

RunPtr open(const test::TempFolder &folder)
{
    const std::vector<std::string> paths{folder.path()};
    auto run = Run::open(paths, Job());
    return run ? *run : nullptr;
}

/// The text an anchor's bytes hold, or "(nowhere)".
std::string textAt(const Artifact &artifact, const Anchor &anchor)
{
    const auto bytes = anchorToBytes(artifact, anchor);
    if (!bytes)
        return "(nowhere)";
    const auto read = artifact.source->read(bytes->from, bytes->size());
    return read ? std::string(asText(*read)) : describe(read.error());
}

const Fact *find(const std::vector<Fact> &facts, std::string_view label)
{
    const auto it = std::find_if(facts.begin(), facts.end(), [&](const Fact &fact) { return fact.label == label; });
    return it == facts.end() ? nullptr : &*it;
}

} // namespace

class TestLocate : public QObject {
    Q_OBJECT

private slots:
    void json()
    {
        test::TempFolder folder;
        folder.file("config.json", "{\"model_type\": \"llama\",\n \"x\": [1, {\"y\": \"z\"}]\n}");
        const RunPtr run = open(folder);
        const Artifact &artifact = *run->byName("config.json");
        QCOMPARE(textAt(artifact, JsonPath{"$.x[1].y"}), std::string("\"z\""));
        QCOMPARE(textAt(artifact, JsonPath{"$.x"}), std::string("[1, {\"y\": \"z\"}]"));
        QCOMPARE(textAt(artifact, JsonPath{"$.absent"}), std::string("(nowhere)"));
        QCOMPARE(textAt(artifact, LogLine{2, 2}), std::string(" \"x\": [1, {\"y\": \"z\"}]"));
        QCOMPARE(textAt(artifact, LogLine{2, 3}), std::string(" \"x\": [1, {\"y\": \"z\"}]\n}"));
        QCOMPARE(textAt(artifact, LogLine{4, 4}), std::string("(nowhere)"));
        QCOMPARE(textAt(artifact, LogLine{0, 0}), std::string("(nowhere)"));
        QCOMPARE(textAt(artifact, ByteRange{2, 12}), std::string("model_type"));
        QCOMPARE(textAt(artifact, ByteRange{2, 1000}), std::string("(nowhere)"));
        QCOMPARE(anchorToBytes(artifact, Whole{}), std::optional(ByteRange{0, artifact.size}));
        QVERIFY(!anchorToBytes(artifact, TokenRange{0, 1}));
    }

    void templates()
    {
        test::TempFolder folder;
        folder.file("tokenizer_config.json",
                    "{\"tokenizer_class\": \"X\", \"chat_template\": \"a\\n{{ \\u00e9 \\ud83d\\ude00 }}b\"}");
        folder.file("chat_template.jinja", "{% if x %}y{% endif %}");
        const RunPtr run = open(folder);
        const Artifact &config = *run->byName("tokenizer_config.json");
        QCOMPARE(textAt(config, TemplateSpan{0, 1}), std::string("a"));
        QCOMPARE(textAt(config, TemplateSpan{1, 2}), std::string("\\n"));
        QCOMPARE(textAt(config, TemplateSpan{5, 7}), std::string("\\u00e9"));
        QCOMPARE(textAt(config, TemplateSpan{8, 12}), std::string("\\ud83d\\ude00"));
        QCOMPARE(textAt(config, TemplateSpan{15, 16}), std::string("b"));
        QCOMPARE(textAt(config, TemplateSpan{15, 17}), std::string("(nowhere)"));
        QCOMPARE(textAt(config, JsonPath{"$.chat_template"}).front(), '"');
        QCOMPARE(textAt(*run->byName("chat_template.jinja"), TemplateSpan{10, 11}), std::string("y"));
    }

    void spansOfLiterals_data()
    {
        QTest::addColumn<QByteArray>("literal");
        QTest::newRow("plain") << QByteArray("\"abc\"");
        QTest::newRow("empty") << QByteArray("\"\"");
        QTest::newRow("escapes") << QByteArray("\"a\\\"\\\\\\/\\b\\f\\n\\r\\tz\"");
        QTest::newRow("unicode") << QByteArray("\"\\u0041\\u00e9\\u20ac\\ud83d\\ude00x\"");
        QTest::newRow("lone surrogates") << QByteArray("\"\\ud83dx\\ude00\\ud83d\\u0041\"");
        QTest::newRow("raw UTF-8") << QByteArray("\"h\xC3\xA9llo \xF0\x9F\x98\x80!\"");
    }
    /// Every span of the decoded text, traced to the literal and decoded again, gives itself back.
    void spansOfLiterals()
    {
        QFETCH(QByteArray, literal);
        const std::string text = literal.toStdString();
        const std::string decoded = unescapeJson(std::string_view(text).substr(1, text.size() - 2));
        int checked = 0;
        for (std::size_t from = 0; from <= decoded.size(); ++from) {
            for (std::size_t to = from; to <= decoded.size(); ++to) {
                const auto bytes = spanInLiteral(text, from, to);
                QVERIFY(bytes);
                QVERIFY(bytes->from >= 1 && bytes->to <= text.size() - 1);
                const std::string back = unescapeJson(std::string_view(text).substr(bytes->from, bytes->size()));
                // A span that cuts a character in two gets the whole of it.
                if (to > from && firstInvalidUtf8(decoded.substr(from, to - from)) == std::string::npos)
                    QCOMPARE(back, decoded.substr(from, to - from));
                ++checked;
            }
        }
        QVERIFY(checked > 0);
        QVERIFY(!spanInLiteral(text, 0, decoded.size() + 1));
        QVERIFY(!spanInLiteral(text, 2, 1));
    }

    void tensorsAndMetadata()
    {
        test::TempFolder folder;
        const std::string data = "AAAABBBBCCCCDDDDEEEEFFFF";
        folder.file("m.safetensors",
                    SafetensorsWriter().tensor("v", "F32", {1}, "....").tensor("w", "F32", {3, 2}, data).bytes());
        folder.file("m.gguf",
                    GgufWriter()
                        .string("general.architecture", "llama")
                        .u32("llama.block_count", 2)
                        .string("tokenizer.chat_template", "{{ hello }}")
                        .bytes());
        const RunPtr run = open(folder);
        const Artifact &weights = *run->byName("m.safetensors");
        QCOMPARE(textAt(weights, TensorBlock{"w"}), data);
        QCOMPARE(textAt(weights, TensorBlock{"w", {1}, {3}}), data.substr(8));
        QCOMPARE(textAt(weights, TensorBlock{"w", {1, 1}, {2, 2}}), std::string("DDDD"));
        QCOMPARE(textAt(weights, TensorBlock{"w", {0, 0}, {2, 1}}), data.substr(0, 16)); // a column: its rows
        QCOMPARE(textAt(weights, TensorBlock{"w", {5}, {6}}), data);                     // no such row: the tensor
        QCOMPARE(textAt(weights, TensorBlock{"absent"}), std::string("(nowhere)"));
        const Artifact &gguf = *run->byName("m.gguf");
        const std::string entry = textAt(gguf, GgufContent::anchor("llama.block_count"));
        QVERIFY(entry.find("llama.block_count") != std::string::npos && entry.find("general") == std::string::npos);
        QCOMPARE(textAt(gguf, GgufContent::anchor("absent")), std::string("(nowhere)"));
        QCOMPARE(textAt(gguf, TemplateSpan{3, 8}), std::string("hello"));
    }

    void linesOfText()
    {
        test::TempFolder folder;
        folder.file("notes.txt", "first line\nsecond line\nthird line");
        folder.file("r.jsonl", "{\"messages\": [], \"model\": \"m\"}\n\n{\"messages\": [], \"model\": \"n\"}\n");
        const RunPtr run = open(folder);
        QCOMPARE(textAt(*run->byName("notes.txt"), LogLine{2, 2}), std::string("second line"));
        QCOMPARE(textAt(*run->byName("notes.txt"), LogLine{2, 3}), std::string("second line\nthird line"));
        QCOMPARE(textAt(*run->byName("notes.txt"), LogLine{9, 9}), std::string("(nowhere)"));
        QCOMPARE(textAt(*run->byName("r.jsonl"), LogLine{3, 3}), std::string("{\"messages\": [], \"model\": \"n\"}"));
        QCOMPARE(textAt(*run->byName("r.jsonl"), LogLine{2, 2}), std::string("(nowhere)"));
    }

    void inspecting()
    {
        test::TempFolder folder;
        folder.file("config.json", "{\"model_type\": \"llama\", \"x\": {\"y\": \"z\\u00e9\"}, \"n\": 4}");
        folder.file("other.json", "{}");
        const RunPtr run = open(folder);
        const ArtifactId config = run->byName("config.json")->id, other = run->byName("other.json")->id;
        static constexpr Instrument instrument{"F90", "A", "?", "a_b", {}, {}, nullptr};
        Outcome outcome{&instrument, Params(), Report{}};
        const auto finding = [&](Severity severity, const char *title, ArtifactId artifact, Anchor where) {
            outcome.report->findings.push_back(
                {.code = "c", .severity = severity, .title = title, .evidence = {{artifact, std::move(where), "n"}}});
        };
        finding(Severity::Info, "of the whole file", config, Whole{});
        finding(Severity::Error, "around it", config, JsonPath{"$.x"});
        finding(Severity::Warning, "beside it", config, JsonPath{"$.n"});
        finding(Severity::Warning, "by bytes", config, ByteRange{0, 1000}); // leaves the file: touches nothing
        finding(Severity::Warning, "elsewhere", other, JsonPath{"$.x.y"});
        const Outcome *const outcomes[] = {nullptr, &outcome};

        const auto facts = inspect(*run, {{Side::A, config, JsonPath{"$.x.y"}}, {Side::A, other, Whole{}}}, outcomes);
        QCOMPARE(find(facts, "File")->value, std::string("config.json"));
        QCOMPARE(find(facts, "Place")->value, std::string("$.x.y"));
        QCOMPARE(find(facts, "Offset")->value, std::string("35"));
        QCOMPARE(find(facts, "Length")->value, std::string("9 bytes"));
        QCOMPARE(find(facts, "Bytes")->value, std::string("22 7A 5C 75 30 30 65 39 22"));
        QCOMPARE(find(facts, "Type")->value, std::string("string"));
        QCOMPARE(find(facts, "Value")->value, std::string("z\xC3\xA9"));
        QCOMPARE(find(facts, "Linked")->places, (Selection{{Side::A, other, Whole{}}}));
        std::vector<std::string> touching;
        for (const Fact &fact : facts) {
            if (fact.kind == Fact::Kind::Finding)
                touching.push_back(fact.value);
        }
        QCOMPARE(touching, (std::vector<std::string>{"around it", "of the whole file"}));

        const auto nowhere = inspect(*run, {{Side::A, config, JsonPath{"$.absent"}}}, outcomes);
        QVERIFY(!find(nowhere, "Offset"));
        QVERIFY(find(nowhere, "Value"));
        QVERIFY(inspect(*run, {}, outcomes).empty());
        QVERIFY(inspect(*run, {{Side::A, {99}, Whole{}}}, outcomes).empty());
    }
};

PROSECTOR_TEST(TestLocate, tst_locate)
#include "tst_locate.moc"
