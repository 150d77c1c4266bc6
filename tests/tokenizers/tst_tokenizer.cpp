// SPDX-License-Identifier: GPL-3.0-or-later
// Each component against what Hugging Face `tokenizers` made of it (fixtures/tokenizers/make.py), and
// files that cannot work.
#include "models/core/bytesource.h"
#include "models/tokenizers/tokenizer.h"
#include "tests/support/strict.h"
#include "tests/support/tokenizercompare.h"

using namespace prosector;

namespace {

DocumentPtr components()
{
    static const DocumentPtr document = [] {
        const auto file = openFile(PROSECTOR_TEST_SOURCE_DIR "/fixtures/tokenizers/components.json");
        return Document::parseJson(file ? std::string(asText((*file)->read(0, (*file)->size()).valueOr({}))) : "");
    }();
    return document;
}

std::string encodeDifference(Encoder &encoder, const Tokenizer &tokenizer, Value row)
{
    const std::string text = *row["text"].string();
    if (const auto expected = row["normalized"].string()) {
        const auto normalized = tokenizer.normalized(text);
        if (!normalized)
            return describe(normalized.error());
        if (*normalized != *expected)
            return "normalised to \"" + *normalized + "\" for \"" + *expected + '"';
    }
    const auto got = encoder.encode(text);
    return got ? difference(*got, row, text) : describe(got.error());
}

std::string decodeDifference(const Tokenizer &tokenizer, Value row)
{
    std::vector<std::uint32_t> ids;
    for (const Value id : row["ids"])
        ids.push_back(static_cast<std::uint32_t>(*id.integer()));
    const auto got = tokenizer.decode(ids, false);
    if (!got)
        return describe(got.error());
    return *got == row["decoded"].string("") ? std::string() : "decoded \"" + *got + "\" for " + std::string(row["decoded"].raw());
}

} // namespace

class TestTokenizer : public QObject {
    Q_OBJECT

private slots:
    void component_data()
    {
        QTest::addColumn<int>("index");
        int index = 0;
        for (const Value row : components()->root())
            QTest::newRow(row["name"].string("").c_str()) << index++;
        QVERIFY(index > 90);
    }

    void component()
    {
        QFETCH(int, index);
        const Value row = components()->root()[index];
        const auto tokenizer = tokenizerFromJson(row["tokenizer"]);
        QVERIFY_RESULT(tokenizer);
        Encoder encoder(*tokenizer);
        for (const Value given : row["cases"]) {
            const std::string wrong = given["text"] ? encodeDifference(encoder, **tokenizer, given)
                                                    : decodeDifference(**tokenizer, given);
            QVERIFY2(wrong.empty(), (std::string(given.raw().substr(0, 120)) + ": " + wrong).c_str());
        }
    }

    void cannotWork_data()
    {
        QTest::addColumn<QByteArray>("json");
        QTest::addColumn<QByteArray>("where"); // JSON path of the part that is wrong
        QTest::addColumn<QByteArray>("named"); // stands in the message
        const auto row = [](const char *name, const char *json, const char *where, const char *named) {
            QTest::newRow(name) << QByteArray(json) << QByteArray(where) << QByteArray(named);
        };
        const char *const model = "\"model\":{\"type\":\"WordLevel\",\"vocab\":{\"a\":0},\"unk_token\":\"a\"}";
        row("no model", "{}", "", "model");
        row("unknown model", "{\"model\":{\"type\":\"Bigram\"}}", "$.model.type", "Bigram");
        row("no vocabulary", "{\"model\":{\"type\":\"BPE\",\"merges\":[]}}", "$.model", "vocab");
        row("id that is none", "{\"model\":{\"type\":\"BPE\",\"vocab\":{\"a\":-1},\"merges\":[]}}", "$.model.vocab.a", "-1");
        row("merge of an absent piece",
            "{\"model\":{\"type\":\"BPE\",\"vocab\":{\"a\":0},\"merges\":[\"a b\"]}}", "$.model.merges[0]", "\"b\"");
        row("merge of three", "{\"model\":{\"type\":\"BPE\",\"vocab\":{\"a\":0},\"merges\":[\"a a a\"]}}", "$.model.merges[0]", "one blank");
        row("unigram entry", "{\"model\":{\"type\":\"Unigram\",\"vocab\":[[\"a\"]]}}", "$.model.vocab[0]", "score");
        row("unigram unknown", "{\"model\":{\"type\":\"Unigram\",\"unk_id\":7,\"vocab\":[[\"a\",0]]}}", "$.model.unk_id", "7");
        const auto with = [&](const char *name, const char *part, const char *where, const char *named) {
            row(name, (std::string("{") + model + "," + part + "}").c_str(), where, named);
        };
        with("unknown normalizer", "\"normalizer\":{\"type\":\"Rot13\"}", "$.normalizer.type", "Rot13");
        with("unknown one in a sequence",
             "\"normalizer\":{\"type\":\"Sequence\",\"normalizers\":[{\"type\":\"NFC\"},{\"type\":\"X\"}]}",
             "$.normalizer.normalizers[1].type", "X");
        with("damaged map", "\"normalizer\":{\"type\":\"Precompiled\",\"precompiled_charsmap\":\"/////w==\"}",
             "$.normalizer.precompiled_charsmap", "trie");
        with("unknown pre-tokenizer", "\"pre_tokenizer\":{\"type\":\"X\"}", "$.pre_tokenizer.type", "X");
        with("invalid expression",
             "\"pre_tokenizer\":{\"type\":\"Split\",\"pattern\":{\"Regex\":\"a(b\"},\"behavior\":\"Isolated\",\"invert\":false}",
             "$.pre_tokenizer.pattern.Regex", "a(b");
        with("unknown behaviour",
             "\"pre_tokenizer\":{\"type\":\"Split\",\"pattern\":{\"String\":\"a\"},\"behavior\":\"Often\"}",
             "$.pre_tokenizer.behavior", "Often");
        with("unknown post-processor", "\"post_processor\":{\"type\":\"X\"}", "$.post_processor.type", "X");
        with("template without ids",
             "\"post_processor\":{\"type\":\"TemplateProcessing\",\"single\":[{\"SpecialToken\":{\"id\":\"<s>\"}},{\"Sequence\":{}}]}",
             "$.post_processor", "<s>");
        with("unknown decoder", "\"decoder\":{\"type\":\"X\"}", "$.decoder.type", "X");
        with("added token without content", "\"added_tokens\":[{\"id\":3}]", "$.added_tokens[0]", "content");
    }

    void cannotWork()
    {
        QFETCH(QByteArray, json);
        QFETCH(QByteArray, where);
        QFETCH(QByteArray, named);
        const auto document = Document::parseJson(json.toStdString());
        QVERIFY(!document->problem());
        const auto tokenizer = tokenizerFromJson(document->root());
        QVERIFY(!tokenizer);
        const auto *const path = std::get_if<JsonPath>(&tokenizer.error().where);
        QCOMPARE(path ? path->path : std::string("none"), where.toStdString());
        QVERIFY2(describe(tokenizer.error()).find(named.toStdString()) != std::string::npos, describe(tokenizer.error()).c_str());
    }

    void endlessExpressionIsStopped()
    {
        const auto document = Document::parseJson(
            "{\"model\":{\"type\":\"WordLevel\",\"vocab\":{\"a\":0},\"unk_token\":\"a\"},\"pre_tokenizer\":{\"type\":\"Split\","
            "\"pattern\":{\"Regex\":\"(?:a|a)+b\"},\"behavior\":\"Isolated\",\"invert\":false}}");
        const auto tokenizer = tokenizerFromJson(document->root());
        QVERIFY_RESULT(tokenizer);
        const auto got = Encoder(*tokenizer).encode(std::string(60, 'a') + "cb");
        QVERIFY(!got);
        QCOMPARE(got.error().code, Errc::TooLarge);
        QVERIFY(describe(got.error()).find("(?:a|a)+b") != std::string::npos);
    }

    void idsNobodyKnowsAreLeftOut()
    {
        const auto tokenizer = tokenizerFromJson(components()->root()[0]["tokenizer"]);
        QVERIFY_RESULT(tokenizer);
        QCOMPARE((*tokenizer)->decode(std::vector<std::uint32_t>{1, 4'000'000'000U, 2}, false).valueOr("?"), std::string("hello and"));
        QVERIFY(!(*tokenizer)->spelling(77));
    }
};

PROSECTOR_TEST(TestTokenizer, tst_tokenizer)

#include "tst_tokenizer.moc"
