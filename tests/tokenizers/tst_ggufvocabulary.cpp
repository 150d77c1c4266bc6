// SPDX-License-Identifier: GPL-3.0-or-later
// Small GGUF vocabularies made in memory: llama.cpp's rules for each model, and files that cannot work.
#include "models/tokenizers/gguf.h"
#include "models/tokenizers/ggufpretokenizer.h"
#include "tests/support/strict.h"

#include "models/tokenizers/tokenmodel.h"

#include <cstring>
#include <functional>

using namespace prosector;

namespace {

enum Type : std::uint8_t { Normal = 1, Unknown, Control, UserDefined, Unused, Byte };

struct Row {
    std::string text;
    Type type = Normal;
    float score = 0;
};

class File {
public:
    File(const std::string &model, const std::vector<Row> &rows, const std::string &pre = {})
    {
        text("tokenizer.ggml.model", model);
        if (!pre.empty())
            text("tokenizer.ggml.pre", pre);
        std::vector<std::string> texts;
        std::vector<float> scores;
        std::vector<std::int32_t> types;
        for (const Row &row : rows) {
            texts.push_back(row.text);
            scores.push_back(row.score);
            types.push_back(row.type);
        }
        strings("tokenizer.ggml.tokens", texts);
        numbers("tokenizer.ggml.scores", GgufType::Float32, scores);
        numbers("tokenizer.ggml.token_type", GgufType::Int32, types);
    }
    File &text(const std::string &key, const std::string &value)
    {
        GgufValue v{.type = GgufType::String};
        v.text = value;
        return add(key, v);
    }
    File &integer(const std::string &key, std::int64_t value)
    {
        GgufValue v{.type = GgufType::Uint32};
        v.integer = value;
        v.unsignedInteger = static_cast<std::uint64_t>(value);
        return add(key, v);
    }
    File &boolean(const std::string &key, bool value)
    {
        GgufValue v{.type = GgufType::Bool};
        v.integer = value;
        return add(key, v);
    }
    File &strings(const std::string &key, const std::vector<std::string> &values)
    {
        auto held = std::make_shared<GgufStrings::Held>();
        for (const std::string &value : values) {
            held->bytes += value;
            held->ends.push_back(static_cast<std::uint32_t>(held->bytes.size()));
        }
        GgufValue v{.type = GgufType::Array, .elementType = GgufType::String, .count = values.size()};
        v.strings = GgufStrings(held);
        return add(key, v);
    }
    template<class T>
    File &numbers(const std::string &key, GgufType type, const std::vector<T> &values)
    {
        auto bytes = std::make_shared<std::vector<std::byte>>(values.size() * sizeof(T));
        std::memcpy(bytes->data(), values.data(), bytes->size());
        GgufValue v{.type = GgufType::Array, .elementType = type, .count = values.size()};
        v.numbers = GgufNumbers(type, bytes);
        return add(key, v);
    }
    const GgufContent &content() const { return *m_content; }

private:
    File &add(const std::string &key, GgufValue value)
    {
        std::erase_if(m_content->entries, [&](const GgufEntry &entry) { return entry.key == key; });
        m_content->entries.push_back({key, std::move(value), {}});
        return *this;
    }
    std::shared_ptr<GgufContent> m_content = std::make_shared<GgufContent>();
};

using Ids = std::vector<std::uint32_t>;

std::vector<Row> byteRows(std::vector<Row> rows)
{
    static constexpr std::string_view digits = "0123456789ABCDEF";
    for (unsigned int b = 0; b < 256; ++b)
        rows.push_back({std::string("<0x") + digits[b >> 4] + digits[b & 15] + ">", Byte});
    return rows;
}

/// <unk> <s> </s>, bytes from 3, then pieces from 259.
File spm()
{
    auto rows = byteRows({{"<unk>", Unknown}, {"<s>", Control}, {"</s>", Control}});
    for (const auto &[text, score] : {std::pair("▁", -5.0F), {"a", -6.0F}, {"b", -7.0F}, {"ab", -1.0F}, {"▁a", -2.0F}})
        rows.push_back({text, Normal, score});
    return {"llama", rows};
}

/// Every byte in GPT-2's alphabet, ids 0 to 255, then the rest.
File bpe(const std::vector<Row> &more, const std::vector<std::string> &merges, const std::string &pre)
{
    std::vector<Row> rows;
    for (int b = 0; b < 256; ++b)
        rows.push_back({pieceOfBytes(std::string(1, static_cast<char>(b)))});
    rows.insert(rows.end(), more.begin(), more.end());
    File file("gpt2", rows, pre);
    file.strings("tokenizer.ggml.merges", merges);
    return file;
}

TokenizerPtr open(const File &file)
{
    const auto made = tokenizerFromGguf(file.content());
    if (!made)
        qWarning("%s", describe(made.error()).c_str());
    return made ? *made : nullptr;
}

Ids idsOf(const TokenizerPtr &tokenizer, const std::string &text, EncodeOptions options = {.addSpecialTokens = false})
{
    const auto got = Encoder(tokenizer).encode(text, options);
    return got ? got->ids : Ids{999999};
}

} // namespace

class TestGgufVocabulary : public QObject {
    Q_OBJECT

private slots:
    void mergesByScore()
    {
        const auto tokenizer = open(spm());
        QVERIFY(tokenizer);
        // "ab" has a better score than "▁a".
        QCOMPARE(idsOf(tokenizer, "ab"), (Ids{259, 262}));
        QCOMPARE(idsOf(tokenizer, "aab"), (Ids{263, 262}));
        QCOMPARE(idsOf(tokenizer, "ä"), (Ids{259, 3 + 0xC3, 3 + 0xA4}));
        QCOMPARE(idsOf(tokenizer, ""), Ids{});
        QCOMPARE(idsOf(tokenizer, "ab", {}), (Ids{1, 259, 262}));
        QCOMPARE(idsOf(tokenizer, "</s>ab</s>"), (Ids{2, 259, 262, 2}));
        QCOMPARE(idsOf(tokenizer, "</s>", {.addSpecialTokens = false, .specialsAsText = true}).front(), 259U);
        QCOMPARE(tokenizer->decode(Ids{1, 259, 262}, false).valueOr("?"), std::string("<s> ab"));
        QCOMPARE(tokenizer->decode(Ids{1, 259, 262}, true).valueOr("?"), std::string(" ab"));
        QCOMPARE(tokenizer->decode(Ids{259, 262}, true).valueOr("?"), std::string("ab"));
        QCOMPARE(tokenizer->bytes(3 + 0xC3).value_or("?"), std::string("\xC3"));
        QVERIFY(!tokenizer->decode(Ids{5000}, true));
        const auto got = Encoder(tokenizer).encode("a ab", {.addSpecialTokens = false});
        QCOMPARE(got->offsets, (std::vector<TextRange>{{0, 1}, {1, 2}, {2, 4}}));
    }

    void specialTokens()
    {
        // The longest first, wherever it stands; phi-3 takes the blanks behind, but not behind <s>.
        auto rows = byteRows({{"<unk>", Unknown}, {"<s>", Control}, {"</s>", Control}});
        rows.push_back({"▁"});
        rows.push_back({"<|x|>", Control});
        rows.push_back({"|><|x", Control});
        rows.push_back({"<u>", UserDefined});
        File file("llama", rows);
        const auto plain = open(file);
        QCOMPARE(idsOf(plain, "<|x|>"), Ids{260});
        QCOMPARE(idsOf(plain, "<s> <s>"), (Ids{1, 259, 259, 1}));
        QCOMPARE(idsOf(plain, "<u>", {.addSpecialTokens = false, .specialsAsText = true}), Ids{262});
        const auto phi = open(file.text("general.name", "Phi-3-mini"));
        QCOMPARE(idsOf(phi, "<|x|> \n<|x|> "), (Ids{260, 260}));
        QCOMPARE(idsOf(phi, "<s> <s>"), (Ids{1, 259, 259, 1}));
        // Overlapping at equal length: the lower id is looked for first.
        QCOMPARE(idsOf(plain, "<|x|><|x|>").front(), 260U);
    }

    void bytePairs()
    {
        // "ab" is a part of a merge and no token, as a whole it falls apart into single-byte tokens.
        const auto tokenizer = open(bpe({{"abc"}, {"<|im_end|>"}}, {"a b", "ab c", "a b"}, "gpt-2"));
        QVERIFY(tokenizer);
        QCOMPARE(tokenizer->kind(), std::string("GGUF gpt2 (gpt-2)"));
        QCOMPARE(idsOf(tokenizer, "abc"), Ids{256});
        QCOMPARE(idsOf(tokenizer, "ab"), (Ids{'a', 'b'}));
        QCOMPARE(idsOf(tokenizer, "x<|im_end|>"), (Ids{'x', 257})); // control by its name
        QCOMPARE(idsOf(tokenizer, "\xFF"), (Ids{0xEF, 0xBF, 0xBD}));
        // clean_spaces
        const Ids ids = idsOf(tokenizer, "it 's , you ' re ! don 't");
        QCOMPARE(tokenizer->decode(ids, true).valueOr("?"), std::string("it's, you're! don 't"));
    }

    void wholeWordsFirst()
    {
        const std::vector<Row> more{{"abc"}, {"ab"}};
        QCOMPARE(idsOf(open(bpe(more, {"a b"}, "gpt-2")), "abc"), (Ids{257, 'c'}));
        File llama = bpe(more, {"a b"}, "llama-bpe");
        QCOMPARE(idsOf(open(llama), "abc"), Ids{256});
        QCOMPARE(idsOf(open(llama), "abc", {}), (Ids{11, 256})); // its BOS
    }

    void gemma4()
    {
        auto rows = byteRows({{"<unk>", Unknown}, {"<bos>", Control}, {"▁"}, {"a"}, {"▁a"}, {"\n\n"}});
        File file("gemma4", rows);
        file.strings("tokenizer.ggml.merges", {"▁ a"}).integer("tokenizer.ggml.bos_token_id", 1);
        const auto tokenizer = open(file);
        QVERIFY(tokenizer);
        QCOMPARE(idsOf(tokenizer, "a a\n\nä"), (Ids{3, 4, 5, 6 + 0xC3, 6 + 0xA4}));
        QCOMPARE(idsOf(tokenizer, "a", {}), (Ids{1, 3}));
        QCOMPARE(tokenizer->decode(Ids{3, 4}, true).valueOr("?"), std::string("a a"));
    }

    void wordPieces()
    {
        std::vector<Row> rows{{"[PAD]", Control}, {"[UNK]", Control}, {"[CLS]", Control}, {"[SEP]", Control},
                              {"▁hello"}, {"▁un"}, {"known"}, {"▁,"}, {"▁ᄀ"}};
        File file("bert", rows);
        file.integer("tokenizer.ggml.bos_token_id", 2).integer("tokenizer.ggml.seperator_token_id", 3);
        file.integer("tokenizer.ggml.unknown_token_id", 1);
        const auto tokenizer = open(file);
        QVERIFY(tokenizer);
        QCOMPARE(idsOf(tokenizer, "Héllo,unKnown xx", {}), (Ids{2, 4, 7, 5, 6, 1, 3}));
        QCOMPARE(idsOf(tokenizer, "\xEA\xB0\x80"), Ids{8}); // of a syllable only the first letter is kept
        const auto got = Encoder(tokenizer).encode("Héllo, x", {.addSpecialTokens = false});
        QCOMPARE(got->offsets, (std::vector<TextRange>{{0, 6}, {6, 7}, {8, 9}}));
    }

    void unigram()
    {
        std::vector<Row> rows{{"<pad>", Control}, {"</s>", Control}, {"<unk>", Unknown}, {"▁", Normal, -2}, {"a", Normal, -3},
                              {"b", Normal, -3}, {"▁ab", Normal, -4}, {"ab", Normal, -9}, {"<x>", UserDefined}};
        File file("t5", rows);
        file.boolean("tokenizer.ggml.add_space_prefix", true).boolean("tokenizer.ggml.remove_extra_whitespaces", true);
        const auto tokenizer = open(file);
        QVERIFY(tokenizer);
        QCOMPARE(idsOf(tokenizer, "ab", {}), (Ids{6, 1})); // EOS behind
        QCOMPARE(idsOf(tokenizer, "  ab   aab "), (Ids{6, 3, 4, 4, 5}));
        QCOMPARE(idsOf(tokenizer, "aQRb"), (Ids{3, 4, 2, 5})); // unknowns fuse
        QCOMPARE(idsOf(tokenizer, "<x>a"), (Ids{8, 3, 4}));
        QCOMPARE(tokenizer->normalized(" a  b").valueOr("?"), std::string("▁a▁b"));
    }

    void rwkv()
    {
        const auto tokenizer = open(File("rwkv", {{"<s>"}, {"a"}, {"ab"}, {"\\n"}, {"\\xe4"}, {"\\\\"}}));
        QVERIFY(tokenizer);
        QCOMPARE(idsOf(tokenizer, "aba\n\xE4\\"), (Ids{2, 1, 3, 4, 5}));
        QCOMPARE(tokenizer->bytes(4).value_or("?"), std::string("\xE4"));
        const auto lost = Encoder(tokenizer).encode("z");
        QVERIFY(!lost); // no unknown token
    }

    void preTokenizers_data()
    {
        QTest::addColumn<QByteArray>("name");
        QTest::addColumn<QByteArray>("text");
        QTest::addColumn<QByteArray>("pieces"); // joined by |
        const auto row = [](const char *name, const char *text, const char *pieces) {
            QTest::newRow((std::string(name) + " " + text).c_str()) << QByteArray(name) << QByteArray(text) << QByteArray(pieces);
        };
        row("gpt-2", "it's 12345  ok\n\n x", "it|'s| 12345| | ok|\n\n| x");
        row("llama-bpe", "it'S 12345  ok\n\n x", "it|'S| |123|45| | ok|\n\n| x");
        row("qwen2", "123 ab", "1|2|3| ab");
        row("falcon", "a,b12345", "a|,|b|123|45");
        row("starcoder", "12 ab", "1|2| ab");
        row("deepseek-v3", "12345漢字ab!?", "123|45|漢字|ab|!?");
        row("afmoe", "ab1234567", "ab|1|234|567");
        row("superbpe", "1234567", "1|234|567");
        row("kimi-k2", "漢字abc's x12345", "漢字|abc's| x|123|45");
        row("poro-chat", "ab cd, ef", "ab| cd|,| ef");
        row("tekken", "AbcDEF 12", "Abc|DEF| |1|2");
        row("gpt-4o", "don't  x/", "don't| | x|/");
        row("whitespace", "ab cd", "ab| |cd");
        row("gemma4", "ab\n\ncd", "ab|\n\n|cd");
        row("default", "a, 1234", "a|,| |123|4");
    }

    void preTokenizers()
    {
        QFETCH(QByteArray, name);
        QFETCH(QByteArray, text);
        const auto *const pre = findGgufPreTokenizer(name.toStdString());
        QVERIFY(pre);
        const auto splitter = GgufSplitter::make(pre->split);
        QVERIFY_RESULT(splitter);
        std::vector<std::size_t> ends;
        const auto done = splitter->cut(text.toStdString(), ends);
        QVERIFY_RESULT(done);
        QByteArrayList pieces;
        std::size_t begin = 0;
        for (const std::size_t end : ends) {
            pieces << text.mid(qsizetype(begin), qsizetype(end - begin));
            begin = end;
        }
        QTEST(pieces.join('|'), "pieces");
    }

    void everyPreTokenizerCompiles()
    {
        for (int split = 0; split <= int(GgufSplit::Whitespace); ++split) {
            const auto splitter = GgufSplitter::make(GgufSplit(split));
            QVERIFY2(splitter.ok(), std::to_string(split).c_str());
            std::vector<std::size_t> ends;
            const std::string text = "It's 12 漢字 ÄÖ\n\n ½…" + std::string(5000, 'a');
            const auto done = splitter->cut(text, ends);
            QVERIFY_RESULT(done);
            QCOMPARE(ends.back(), text.size());
        }
    }

    void cannotWork_data()
    {
        QTest::addColumn<int>("index");
        QTest::addColumn<QByteArray>("named");
        int index = 0;
        for (const char *const named : {"model", "\"magic\"", "no vocabulary", "pre-tokenizer", "list of texts", "every token once",
                                        "merges", "each of the 3 tokens", "bos_token_id", "trie"})
            QTest::newRow(named) << index++ << QByteArray(named);
    }

    void cannotWork()
    {
        QFETCH(int, index);
        QFETCH(QByteArray, named);
        const std::vector<Row> rows{{"a"}, {"b"}, {"c"}};
        const std::vector<std::function<File()>> files{
            [&] { return File("", rows).text("tokenizer.ggml.model", ""); },
            [&] { return File("magic", rows); },
            [&] { return File("none", rows); },
            [&] { return bpe({}, {}, "gpt-77"); },
            [&] { return File("llama", {}); },
            [&] { return File("llama", {{"a"}, {"a"}}); },
            [&] { return File("gpt2", rows, "gpt-2"); },
            [&] { return File("llama", rows).numbers("tokenizer.ggml.scores", GgufType::Float32, std::vector<float>{1}); },
            [&] { return bpe({}, {}, "glm4").boolean("tokenizer.ggml.add_bos_token", true); },
            [&] { return File("t5", rows).numbers("tokenizer.ggml.precompiled_charsmap", GgufType::Uint8, std::vector<std::uint8_t>{9, 9, 9, 9, 9}); },
        };
        const auto tokenizer = tokenizerFromGguf(files[std::size_t(index)]().content());
        QVERIFY(!tokenizer);
        QVERIFY2(describe(tokenizer.error()).find(named.toStdString()) != std::string::npos, describe(tokenizer.error()).c_str());
    }
};

PROSECTOR_TEST(TestGgufVocabulary, tst_ggufvocabulary)

#include "tst_ggufvocabulary.moc"
