// SPDX-License-Identifier: GPL-3.0-or-later
// Rank files and tekken: merging against the plain algorithm of tiktoken on random vocabularies, special
// tokens, identities, and files that cannot work.
#include "models/tokenizers/tiktoken.h"
#include "tests/support/strict.h"

#include <map>
#include <random>

using namespace prosector;

namespace {

std::string base64(const std::string &bytes)
{
    return QByteArray::fromStdString(bytes).toBase64().toStdString();
}

std::string rankFile(const std::vector<std::string> &tokens)
{
    std::string file;
    for (std::size_t rank = 0; rank < tokens.size(); ++rank)
        file += base64(tokens[rank]) + ' ' + std::to_string(rank) + '\n';
    return file;
}

std::vector<std::string> allBytes()
{
    std::vector<std::string> tokens;
    for (int byte = 0; byte < 256; ++byte)
        tokens.emplace_back(1, static_cast<char>(byte));
    return tokens;
}

/// tiktoken's `_byte_pair_merge`, as its documentation tells it: again and again the pair whose bytes have
/// the lowest rank, the leftmost of equals.
std::vector<std::uint32_t> plainMerge(const std::map<std::string, std::uint32_t> &ranks, const std::string &text)
{
    if (const auto whole = ranks.find(text); whole != ranks.end())
        return {whole->second};
    std::vector<std::string> parts;
    for (const char c : text)
        parts.emplace_back(1, c);
    for (;;) {
        std::size_t best = parts.size();
        std::uint32_t lowest = UINT32_MAX;
        for (std::size_t i = 0; i + 1 < parts.size(); ++i) {
            const auto pair = ranks.find(parts[i] + parts[i + 1]);
            if (pair != ranks.end() && pair->second < lowest) {
                lowest = pair->second;
                best = i;
            }
        }
        if (best == parts.size())
            break;
        parts[best] += parts[best + 1];
        parts.erase(parts.begin() + static_cast<std::ptrdiff_t>(best) + 1);
    }
    std::vector<std::uint32_t> ids;
    for (const std::string &part : parts)
        ids.push_back(ranks.at(part));
    return ids;
}

TiktokenEncoding everything()
{
    return {.name = "test", .pattern = "(?s:.+)"};
}

} // namespace

class TestTiktoken : public QObject {
    Q_OBJECT

private slots:
    void mergesAsTiktokenDoes()
    {
        std::mt19937 random(7);
        const auto upTo = [&](std::size_t most) { return random() % most; };
        int compared = 0;
        for (int round = 0; round < 16; ++round) {
            // Few letters, so that tokens overlap and can be cut in many ways; some tokens no pair reaches.
            std::vector<std::string> tokens = allBytes();
            std::map<std::string, std::uint32_t> ranks;
            for (std::uint32_t i = 0; i < 256; ++i)
                ranks[tokens[i]] = i;
            const std::size_t letters = 1 + upTo(4);
            for (int i = 0; i < 120; ++i) {
                std::string token;
                for (std::size_t length = 2 + upTo(6); token.size() < length;)
                    token += static_cast<char>(upTo(8) == 0 ? 0xC3 : 'a' + upTo(letters));
                if (ranks.emplace(token, tokens.size()).second)
                    tokens.push_back(token);
            }
            const auto tokenizer = tokenizerFromTiktoken(rankFile(tokens), everything());
            QVERIFY_RESULT(tokenizer);
            Encoder encoder(*tokenizer);
            for (int i = 0; i < 100; ++i) {
                std::string text;
                for (std::size_t length = 1 + upTo(i % 10 == 0 ? 300 : 30); text.size() < length;)
                    text += static_cast<char>('a' + upTo(letters));
                const auto got = encoder.encode(text);
                QVERIFY_RESULT(got);
                QCOMPARE(got->ids, plainMerge(ranks, text));
                QCOMPARE((*tokenizer)->decode(got->ids, false).valueOr("?"), text);
                ++compared;
            }
        }
        QCOMPARE(compared, 1600);
    }

    void specialTokens()
    {
        auto encoding = everything();
        encoding.specials.push_back({.content = "<|end|>", .id = 300, .special = true, .normalized = false});
        const auto tokenizer = tokenizerFromTiktoken(rankFile(allBytes()), encoding);
        QVERIFY_RESULT(tokenizer);
        Encoder encoder(*tokenizer);
        QCOMPARE(encoder.encode("a<|end|>b")->ids, (std::vector<std::uint32_t>{'a', 300, 'b'}));
        QCOMPARE(encoder.encode("a<|end|>b", {.specialsAsText = true})->ids.size(), std::size_t(9));
        QCOMPARE((*tokenizer)->decode(std::vector<std::uint32_t>{'a', 300}, true).valueOr("?"), std::string("a"));
        QCOMPARE((*tokenizer)->size(), 301U);
        QCOMPARE((*tokenizer)->kind(), std::string("tiktoken test"));
        QVERIFY(!(*tokenizer)->spelling(299));
        QVERIFY((*tokenizer)->isSpecial(300));
        QCOMPARE((*tokenizer)->bytes(0xE4).value_or("?"), std::string("\xE4"));
    }

    void knownFiles_data()
    {
        QTest::addColumn<int>("ranks");
        QTest::addColumn<QByteArray>("name");
        QTest::addColumn<QByteArray>("special");
        QTest::addColumn<int>("id");
        const auto row = [](const char *name, int ranks, const char *special, int id) {
            QTest::newRow(name) << ranks << QByteArray(name) << QByteArray(special) << id;
        };
        row("r50k_base", 50256, "<|endoftext|>", 50256);
        row("cl100k_base", 100256, "<|endofprompt|>", 100276);
        row("o200k_base", 199998, "<|endofprompt|>", 200018);
        row("Llama 3", 128000, "<|reserved_special_token_247|>", 128255);
        row("Qwen", 151643, "<|extra_204|>", 151850);
        row("Kimi K2", 163584, "[BOS]", 163584);
    }

    void knownFiles()
    {
        QFETCH(int, ranks);
        QFETCH(QByteArray, special);
        QFETCH(int, id);
        const auto known = knownTiktokenEncoding(static_cast<std::size_t>(ranks));
        QVERIFY(known);
        QTEST(QByteArray::fromStdString(known->name), "name");
        const auto found = std::find_if(known->specials.begin(), known->specials.end(),
                                        [&](const AddedTokenRule &token) { return token.content == special.toStdString(); });
        QVERIFY(found != known->specials.end());
        QCOMPARE(int(found->id), id);
        // The pattern compiles and covers a text.
        const auto tokenizer = tokenizerFromTiktoken(rankFile(allBytes()), TiktokenEncoding{.name = known->name, .pattern = known->pattern});
        QVERIFY_RESULT(tokenizer);
        const std::string text = "It's 12345 words\n\n  of 漢字かな ÄÖ, <tag/> \t and more's  ";
        QCOMPARE(Encoder(*tokenizer).encode(text)->size(), text.size());
    }

    void kimiKeepsHanApart()
    {
        auto tokens = allBytes();
        tokens.push_back("漢a");
        tokens.push_back("ab");
        auto encoding = *knownTiktokenEncoding(163584);
        encoding.specials.clear();
        const auto tokenizer = tokenizerFromTiktoken(rankFile(tokens), encoding);
        QVERIFY_RESULT(tokenizer);
        const auto got = Encoder(*tokenizer).encode("漢ab");
        QVERIFY_RESULT(got);
        QCOMPARE(got->ids, (std::vector<std::uint32_t>{0xE6, 0xBC, 0xA2, 257}));
    }

    void cannotWork_data()
    {
        QTest::addColumn<QByteArray>("file");
        QTest::addColumn<QByteArray>("named");
        const std::string bytes = rankFile(allBytes());
        const auto row = [](const char *name, const std::string &file, const char *named) {
            QTest::newRow(name) << QByteArray::fromStdString(file) << QByteArray(named);
        };
        row("empty", "", "lines of base64");
        row("no rank", bytes + "YWI=\n", "line 257");
        row("no base64", bytes + "a* 256\n", "line 257");
        row("rank twice", bytes + "YWI= 7\n", "a rank that no line before has");
        row("token twice", bytes + "YQ== 256\n", "every token once");
        row("rank too high", bytes + "YWI= 99999999\n", "a rank below");
        row("a byte is missing", "YQ== 0\n", "each of the 256 bytes");
    }

    void cannotWork()
    {
        QFETCH(QByteArray, file);
        QFETCH(QByteArray, named);
        const auto tokenizer = tokenizerFromTiktoken(file.toStdString(), everything());
        QVERIFY(!tokenizer);
        QVERIFY2(describe(tokenizer.error()).find(named.toStdString()) != std::string::npos, describe(tokenizer.error()).c_str());
    }

    void unknownFile()
    {
        const auto tokenizer = tokenizerFromTiktoken(rankFile(allBytes()));
        QVERIFY(!tokenizer);
        QCOMPARE(tokenizer.error().code, Errc::Unsupported);
    }

    void tekken()
    {
        // 3 special tokens, ranks cut at 257 of 258.
        auto tokens = allBytes();
        tokens.push_back("ab");
        tokens.push_back("abab");
        std::string json = "{\"config\":{\"pattern\":\"[a-z]+|.\",\"default_vocab_size\":260,\"default_num_special_tokens\":3,"
                           "\"version\":\"v3\"},\"special_tokens\":[{\"rank\":1,\"token_str\":\"<s>\",\"is_control\":true}],\"vocab\":[";
        for (std::size_t rank = 0; rank < tokens.size(); ++rank)
            json += (rank ? "," : "") + std::string("{\"rank\":") + std::to_string(rank) + ",\"token_bytes\":\"" + base64(tokens[rank]) + "\"}";
        const auto document = Document::parseJson(json + "]}");
        const auto tokenizer = tokenizerFromTekken(document->root());
        QVERIFY_RESULT(tokenizer);
        QCOMPARE((*tokenizer)->kind(), std::string("tekken v3"));
        QCOMPARE((*tokenizer)->size(), 260U);
        QCOMPARE((*tokenizer)->spelling(1).value_or(""), std::string("<s>"));
        QCOMPARE((*tokenizer)->spelling(2).value_or(""), std::string("<SPECIAL_2>"));
        Encoder encoder(*tokenizer);
        QCOMPARE(encoder.encode("abab")->ids, (std::vector<std::uint32_t>{259, 259}));
        QCOMPARE(encoder.encode("<s>")->ids, (std::vector<std::uint32_t>{'<' + 3, 's' + 3, '>' + 3}));
        QCOMPARE((*tokenizer)->decode(std::vector<std::uint32_t>{1, 259}, true).valueOr("?"), std::string("ab"));
    }

    void tekkenCannotWork_data()
    {
        QTest::addColumn<QByteArray>("json");
        QTest::addColumn<QByteArray>("named");
        const auto row = [](const char *name, const char *json, const char *named) {
            QTest::newRow(name) << QByteArray(json) << QByteArray(named);
        };
        row("no pattern", "{\"config\":{}}", "pattern");
        row("no room", "{\"config\":{\"pattern\":\".\",\"default_vocab_size\":2,\"default_num_special_tokens\":3}}", "above");
        row("ranks missing", "{\"config\":{\"pattern\":\".\",\"default_vocab_size\":5,\"default_num_special_tokens\":3},\"vocab\":[]}", "each rank below 2");
        row("special twice",
            "{\"config\":{\"pattern\":\".\",\"default_vocab_size\":5,\"default_num_special_tokens\":3},\"special_tokens\":["
            "{\"rank\":1,\"token_str\":\"a\"},{\"rank\":1,\"token_str\":\"b\"}],\"vocab\":[]}", "of its own");
    }

    void tekkenCannotWork()
    {
        QFETCH(QByteArray, json);
        QFETCH(QByteArray, named);
        const auto document = Document::parseJson(json.toStdString());
        const auto tokenizer = tokenizerFromTekken(document->root());
        QVERIFY(!tokenizer);
        QVERIFY2(describe(tokenizer.error()).find(named.toStdString()) != std::string::npos, describe(tokenizer.error()).c_str());
    }
};

PROSECTOR_TEST(TestTiktoken, tst_tiktoken)

#include "tst_tiktoken.moc"
