// SPDX-License-Identifier: GPL-3.0-or-later
// Small SentencePiece models written here: their kinds of piece, and damage of every sort, which must be an
// error before the library sees it.
#include "models/tokenizers/sentencepiece.h"
#include "tests/support/strict.h"

#include <bit>
#include <cmath>
#include <random>

using namespace prosector;

namespace {

std::string varint(std::uint64_t value)
{
    std::string out;
    for (; value > 0x7F; value >>= 7)
        out += static_cast<char>((value & 0x7F) | 0x80);
    return out + static_cast<char>(value);
}

std::string field(unsigned int number, const std::string &bytes)
{
    return varint(number << 3 | 2) + varint(bytes.size()) + bytes;
}

std::string number(unsigned int number, std::uint64_t value)
{
    return varint(number << 3) + varint(value);
}

enum Type : std::uint8_t { Normal = 1, Unknown, Control, UserDefined, Unused, Byte };

std::string piece(const std::string &text, float score = 0, Type type = Normal)
{
    const auto bits = std::bit_cast<std::uint32_t>(score);
    std::string real(1, static_cast<char>(2 << 3 | 5));
    for (int i = 0; i < 4; ++i)
        real += static_cast<char>(bits >> (8 * i) & 0xFF);
    return field(1, field(1, text) + real + number(3, type));
}

/// A map with one node: 'A' becomes "a". Units of darts-clone in blocks of 256.
std::string charactersMap()
{
    std::vector<std::uint32_t> units(512, 0);
    constexpr std::uint32_t root = 256; // offset of the root's children: 256 ^ byte
    units[0] = root << 10;
    const std::uint32_t node = root ^ 'A';
    // Has a leaf; its children, the leaf first, are where the node is: offset 0x41 ^ ... keeps inside the block.
    const std::uint32_t offset = 'A';
    units[node] = offset << 10 | 1U << 8 | 'A';
    units[node ^ offset] = 1U << 31 | 0; // value: text at 0
    std::string blob;
    const auto word = [&](std::uint32_t value) {
        for (int i = 0; i < 4; ++i)
            blob += static_cast<char>(value >> (8 * i) & 0xFF);
    };
    word(static_cast<std::uint32_t>(units.size() * 4));
    for (const std::uint32_t unit : units)
        word(unit);
    return blob + std::string("a\0", 2);
}

const std::string basis = piece("<unk>", 0, Unknown) + piece("<s>", 0, Control) + piece("</s>", 0, Control);

std::string normalizer(const std::string &map = {})
{
    return field(3, (map.empty() ? std::string() : field(2, map)) + number(3, 1));
}

std::string unigram()
{
    return basis + piece("▁", -2) + piece("a", -2) + piece("b", -3) + piece("▁ab", -1) + piece("[X]", 0, UserDefined)
        + normalizer(charactersMap());
}

} // namespace

class TestSentencePieceModel : public QObject {
    Q_OBJECT

private slots:
    void kindsOfPiece()
    {
        const auto tokenizer = tokenizerFromSentencePiece(unigram());
        QVERIFY_RESULT(tokenizer);
        QCOMPARE((*tokenizer)->kind(), std::string("SentencePiece UNIGRAM"));
        QCOMPARE((*tokenizer)->size(), 8U);
        Encoder encoder(*tokenizer);
        const auto got = encoder.encode("AB[X]</s>");
        QVERIFY_RESULT(got);
        // The map makes a of A, B is unknown, [X] is found in the text, </s> is not.
        QCOMPARE(got->ids.at(0), 3U);
        QCOMPARE(got->ids.at(1), 4U);
        QCOMPARE(got->ids.at(2), 0U);
        QCOMPARE(got->ids.at(3), 7U);
        QVERIFY(std::find(got->ids.begin(), got->ids.end(), 2U) == got->ids.end());
        QCOMPARE(got->offsets.at(3), (TextRange{2, 5}));
        QCOMPARE(encoder.encode("ab")->ids, (std::vector<std::uint32_t>{6}));
        QCOMPARE((*tokenizer)->bytes(6).value_or("?"), std::string(" ab"));
        QCOMPARE((*tokenizer)->decode(std::vector<std::uint32_t>{1, 6, 2}, false).valueOr("?"), std::string("ab"));
        QVERIFY((*tokenizer)->isSpecial(2) && !(*tokenizer)->isSpecial(7));
        QCOMPARE((*tokenizer)->find("▁ab").value_or(99), 6U);
        QVERIFY(!(*tokenizer)->find("nothing"));
        QVERIFY(!(*tokenizer)->decode(std::vector<std::uint32_t>{8}, false));
    }

    void byteFallback()
    {
        std::string model = basis;
        static constexpr std::string_view digits = "0123456789ABCDEF";
        for (unsigned int b = 0; b < 256; ++b)
            model += piece(std::string("<0x") + digits[b >> 4] + digits[b & 15] + ">", 0, Byte);
        model += piece("▁", -1) + piece("a", -1) + field(2, number(3, 2) + number(35, 1)) + normalizer(); // BPE, byte_fallback
        const auto tokenizer = tokenizerFromSentencePiece(model);
        QVERIFY_RESULT(tokenizer);
        const auto got = Encoder(*tokenizer).encode("aä");
        QVERIFY_RESULT(got);
        QCOMPARE(got->ids, (std::vector<std::uint32_t>{259, 260, 3 + 0xC3, 3 + 0xA4}));
        QCOMPARE((*tokenizer)->decode(got->ids, false).valueOr("?"), std::string("aä"));
        QCOMPARE((*tokenizer)->bytes(3 + 0xC3).value_or("?"), std::string("\xC3"));
        QCOMPARE((*tokenizer)->normalized("aä").valueOr("?"), std::string("▁aä"));
    }

    void damaged_data()
    {
        QTest::addColumn<QByteArray>("model");
        QTest::addColumn<QByteArray>("named");
        const auto row = [](const char *name, const std::string &model, const char *named) {
            QTest::newRow(name) << QByteArray::fromStdString(model) << QByteArray(named);
        };
        row("empty", "", "pieces");
        row("no pieces", normalizer(), "pieces");
        row("piece twice", basis + piece("a") + piece("a"), "piece 4");
        row("empty piece", basis + piece(""), "piece 3");
        row("two unknowns", basis + piece("u", 0, Unknown), "UNKNOWN");
        row("no unknown", piece("a"), "UNKNOWN");
        row("no score", basis + piece("a", std::nanf("")), "NaN");
        row("no byte", basis + piece("<0xZZ>", 0, Byte), "<0x00> to <0xFF>");
        row("unknown type", basis + piece("a", 0, Type(9)), "type of a piece");
        row("NUL", basis + piece(std::string("a\0b", 3)), "NUL");
        row("cut short", unigram().substr(0, unigram().size() - 1), "");
        row("map too short", basis + piece("a") + normalizer("abc"), "trie");
        row("map without end", basis + piece("a") + normalizer(charactersMap().substr(0, charactersMap().size() - 1)), "NUL");
        std::string wild = charactersMap();
        wild[4 + 3] = '\x7F'; // the root's children far outside
        row("map leads outside", basis + piece("a") + normalizer(wild), "within the trie");
        std::string far = charactersMap();
        far[4 + 4 * 256] = 5; // the leaf's text outside
        row("map without a text", basis + piece("a") + normalizer(far), "texts within");
    }

    void damaged()
    {
        QFETCH(QByteArray, model);
        QFETCH(QByteArray, named);
        const auto tokenizer = tokenizerFromSentencePiece(model.toStdString());
        QVERIFY(!tokenizer);
        QVERIFY2(describe(tokenizer.error()).find(named.toStdString()) != std::string::npos, describe(tokenizer.error()).c_str());
    }

    /// Whatever a flipped byte makes of a model: an error or a tokenizer, and texts go through.
    void flippedBytes()
    {
        std::mt19937 random(5);
        const std::string sound = unigram();
        int loaded = 0;
        for (int i = 0; i < 1500; ++i) {
            std::string model = sound;
            for (std::size_t flips = 1 + random() % 3; flips-- > 0;)
                model[random() % model.size()] = static_cast<char>(random());
            const auto tokenizer = tokenizerFromSentencePiece(model);
            if (!tokenizer)
                continue;
            ++loaded;
            const auto got = Encoder(*tokenizer).encode("AB ab\xC3\xA4[X] a");
            if (got)
                static_cast<void>((*tokenizer)->decode(got->ids, false));
        }
        QVERIFY(loaded > 100 && loaded < 1500);
    }
};

PROSECTOR_TEST(TestSentencePieceModel, tst_sentencepiecemodel)

#include "tst_sentencepiecemodel.moc"
