// SPDX-License-Identifier: GPL-3.0-or-later
// Token arrays made ready to be shown, laid out and searched.
#include "models/core/textpattern.h"
#include "models/item/tokenfind.h"
#include "models/item/tokenlayout.h"
#include "models/item/tokensequence.h"
#include "tests/support/strict.h"
#include "tests/support/tempfolder.h"

#include <cmath>

using namespace prosector;

namespace {

TokenArray pieces(std::vector<std::string> list, std::vector<std::int64_t> ids = {})
{
    TokenArray array;
    array.pieces = std::move(list);
    array.ids = std::move(ids);
    return array;
}

TokenSequencePtr made(const std::vector<TokenArray> &arrays, const TokenizerPtr &tokenizer = {})
{
    return TokenSequence::make(arrays, tokenizer, {}).valueOr(nullptr);
}

TokenMatches found(const TokenSequence &sequence, TokenQuery::By by, std::string text)
{
    return findTokens(sequence, {by, std::move(text)}, {}).valueOr(TokenMatches{});
}

Job stopped()
{
    std::stop_source source;
    source.request_stop();
    return Job(source.get_token());
}

} // namespace

class TestTokenSequence : public QObject {
    Q_OBJECT

private slots:
    void init() { failOnQtWarnings(); }

    void looks_data()
    {
        QTest::addColumn<QByteArray>("bytes");
        QTest::addColumn<QString>("shown");
        QTest::addColumn<int>("flags");
        QTest::newRow("blank") << QByteArray(" the") << QStringLiteral("·the") << 0;
        QTest::newRow("tab and line feed") << QByteArray("\t\n") << QStringLiteral("⇥⏎") << 0;
        QTest::newRow("zero width") << QByteArray("a\xE2\x80\x8B") << QStringLiteral("a‹U+200B›") << -1;
        QTest::newRow("no break") << QByteArray("\xC2\xA0") << QStringLiteral("⍽") << int(TokenKind::Unseen);
        QTest::newRow("two bytes of three") << QByteArray("x\xE2\x9D") << QStringLiteral("x‹E2 9D›") << int(TokenKind::Partial);
        QTest::newRow("a byte of the middle") << QByteArray("\x93") << QStringLiteral("‹93›") << int(TokenKind::Partial);
        QTest::newRow("Cyrillic among Latin") << QByteArray("p\xD0\xB0y") << QStringLiteral("pаy") << int(TokenKind::Confusable);
        QTest::newRow("Russian") << QByteArray("\xD0\xB0\xD1\x81") << QStringLiteral("ас") << 0;
    }

    void looks()
    {
        QFETCH(QByteArray, bytes);
        QFETCH(QString, shown);
        QFETCH(int, flags);
        TokenKind kind;
        kind.bytes = bytes.toStdString();
        describeToken(kind);
        QCOMPARE(QString::fromStdString(kind.shown), shown);
        if (flags >= 0)
            QCOMPARE(int(kind.flags), flags);
        else
            QVERIFY(kind.note.find("ZERO WIDTH SPACE") != std::string::npos);
    }

    void offsets()
    {
        // More than one checkpoint, with a character split over two tokens in each turn.
        std::vector<std::string> list;
        for (int i = 0; i < 100; ++i) {
            list.emplace_back("ab");
            list.emplace_back("\xE2\x9D");
            list.emplace_back("\xA4");
        }
        const auto sequence = made({pieces(list)});
        QVERIFY(sequence);
        QCOMPARE(sequence->size(), 300U);
        QCOMPARE(sequence->kinds().size(), 3U);
        for (std::uint64_t i = 0; i < 300; ++i) {
            const std::uint64_t from = i / 3 * 5 + (i % 3 == 0 ? 0 : i % 3 == 1 ? 2 : 4);
            QCOMPARE(sequence->bytesOf(i).from, from);
            QCOMPARE(sequence->characterOffset(i), i / 3 * 3 + (i % 3 == 0 ? 0 : i % 3 == 1 ? 2 : 3));
            QCOMPARE(sequence->tokenAt(from), i);
        }
        QCOMPARE(sequence->tokenAt(500), 300U);
        QVERIFY((sequence->tokensOf({1, 5}) == TokenRange{0, 3}));
    }

    void idsAlone()
    {
        TokenArray array;
        array.ids = {7, -100, 7, 1LL << 40};
        const auto sequence = made({array});
        QCOMPARE(sequence->kinds().size(), 3U);
        QCOMPARE(sequence->kind(1).shown, std::string("‹-100›"));
        QVERIFY(sequence->text().empty());
        QCOMPARE(sequence->tokenAt(0), 4U);
        const auto matches = found(*sequence, TokenQuery::By::Id, "7");
        QCOMPARE(matches.ranges.size(), 2U);
        QCOMPARE(found(*sequence, TokenQuery::By::Id, "7, 1099511627776").ranges.size(), 1U);
    }

    void joinedAtPromptLength()
    {
        test::TempFolder folder;
        folder.file("tokens.json", R"({"ids": [1, 2, 3, 4], "pieces": ["a", "b", "c", "d"], "prompt_length": 3,
            "logprobs": [null, -1.5, -0.5, -2], "ranks": [0, 2, 1, 9],
            "top_logprobs": [null, [{"token": "x", "logprob": -0.1}], {"c": -0.5}, null]})");
        const std::vector paths{folder.path()};
        const auto run = Run::open(paths, {});
        QVERIFY_RESULT(run);
        const auto arrays = tokenArrays(**run, {});
        QVERIFY_RESULT(arrays);
        QCOMPARE(arrays->size(), 2U);
        QCOMPARE(arrays->at(1).logprobs.size(), 1U);
        QCOMPARE(arrays->at(0).alternatives[1][0].piece, std::string("x"));
        QCOMPARE(arrays->at(0).alternatives[2][0].logprob, -0.5F);
        const auto groups = joinedArrays(*arrays);
        QCOMPARE(groups.size(), 1U);
        const auto sequence = made(*arrays);
        QCOMPARE(sequence->size(), 4U);
        QCOMPARE(sequence->text(), std::string("abcd"));
        QCOMPARE(sequence->roles().size(), 2U);
        QCOMPARE(sequence->roleNames()[static_cast<std::size_t>(sequence->roleOf(3))], std::string("completion"));
        QVERIFY(std::isnan(sequence->logprob(0)));
        QCOMPARE(sequence->logprob(3), -2.0F);
        QCOMPARE(sequence->rank(1), 2U);
    }

    void numbersOfAnotherLengthAreLeftOut()
    {
        test::TempFolder folder;
        folder.file("tokens.json", R"({"ids": [1, 2], "logprobs": [-1], "top_logprobs": 5, "ranks": "no"})");
        const std::vector paths{folder.path()};
        const auto run = Run::open(paths, {});
        const auto arrays = tokenArrays(**run, {});
        QVERIFY_RESULT(arrays);
        QCOMPARE(arrays->size(), 1U);
        QVERIFY(arrays->at(0).logprobs.empty() && arrays->at(0).alternatives.empty() && arrays->at(0).ranks.empty());
    }

    void rows()
    {
        const auto sequence = made({pieces({"aaaa", "bbbb", "cc\n", "d", "eeeeeeeeeeeeeeee", "f"})});
        const auto layout = layOutTokens(*sequence, 8, {});
        QVERIFY_RESULT(layout);
        QVERIFY(((*layout)->starts == std::vector<std::uint64_t>{0, 2, 3, 4, 5}));
        QCOMPARE((*layout)->rowOf(1), 0U);
        QCOMPARE((*layout)->rowOf(5), 4U);
        QVERIFY(((*layout)->row(4, 6) == TokenRange{5, 6}));
        QVERIFY(((*layout)->row(9, 6) == TokenRange{6, 6}));
        QVERIFY((*layOutTokens(*made({}), 8, {}))->starts.empty());
    }

    void find()
    {
        const auto sequence = made({pieces({"Hel", "lo", " wor", "ld", "\n", "Hel", "lo"})});
        QVERIFY((found(*sequence, TokenQuery::By::Text, "lo w").ranges == std::vector<TokenRange>{{1, 3}}));
        const auto hello = found(*sequence, TokenQuery::By::Text, "Hello");
        QVERIFY((hello.ranges == std::vector<TokenRange>{{0, 2}, {5, 7}}));
        QCOMPARE(hello.next(0, true, true).value(), 0U);
        QCOMPARE(hello.next(0, true, false).value(), 1U);
        QCOMPARE(hello.next(5, true, false).value(), 0U);
        QCOMPARE(hello.next(0, false, false).value(), 1U);
        QVERIFY(found(*sequence, TokenQuery::By::Text, "").ranges.empty());
        QVERIFY((found(*sequence, TokenQuery::By::Expression, "^H\\w+$").ranges == std::vector<TokenRange>{{5, 7}}));
        QVERIFY((found(*sequence, TokenQuery::By::Expression, "o\\sw|(?<=wor)l").ranges == std::vector<TokenRange>{{1, 3}, {3, 4}}));
    }

    void findFails()
    {
        const auto sequence = made({pieces(std::vector<std::string>(3000, "aaaaaaaaaa"))});
        const auto fails = [&](TokenQuery::By by, const char *text, const Job &job = {}) { return findTokens(*sequence, {by, text}, job).error().code; };
        QCOMPARE(fails(TokenQuery::By::Id, "five"), Errc::Malformed);
        QCOMPARE(fails(TokenQuery::By::Expression, "(a"), Errc::Malformed);
        QCOMPARE(fails(TokenQuery::By::Expression, "(?:a|aa)+[bc]"), Errc::TooLarge);
        for (const auto by : {TokenQuery::By::Text, TokenQuery::By::Expression})
            QCOMPARE(fails(by, "b", stopped()), Errc::Cancelled);
        QCOMPARE(TokenSequence::make({pieces({"a"})}, {}, stopped()).error().code, Errc::Cancelled);
        QCOMPARE(layOutTokens(*sequence, 8, stopped()).error().code, Errc::Cancelled);
    }

    void expressionOverBrokenBytes()
    {
        const auto sequence = made({pieces({"ab", "\xE2\x9D", "ab"})});
        QVERIFY((found(*sequence, TokenQuery::By::Expression, "ab").ranges == std::vector<TokenRange>{{0, 1}, {2, 3}}));
    }
};

#include "tst_tokensequence.moc"
PROSECTOR_TEST(TestTokenSequence, tst_tokensequence)
