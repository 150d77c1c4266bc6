// SPDX-License-Identifier: GPL-3.0-or-later
// Folders as Transformers reads them, and tokenizer.json files with truncation and padding
// (fixtures/tokenizers/make_folders.py); explanations, streams, bytes that are not UTF-8.
#include "models/core/bytesource.h"
#include "models/core/utf8.h"
#include "models/tokenizers/decoder.h"
#include "models/tokenizers/decodestream.h"
#include "models/tokenizers/explanation.h"
#include "models/tokenizers/open.h"
#include "tests/support/strict.h"
#include "tests/support/tempfolder.h"

#include <array>

using namespace prosector;

namespace {

DocumentPtr folders()
{
    static const DocumentPtr document = [] {
        const auto file = openFile(PROSECTOR_TEST_SOURCE_DIR "/fixtures/tokenizers/folders.json");
        return Document::parseJson(file ? readText(**file).valueOr("") : "");
    }();
    return document;
}

std::vector<std::uint32_t> idsOf(Value list)
{
    std::vector<std::uint32_t> ids;
    for (const Value id : list)
        ids.push_back(static_cast<std::uint32_t>(*id.integer()));
    return ids;
}

Value folderNamed(std::string_view name)
{
    for (const Value row : folders()->root()) {
        if (row["name"].string("") == name)
            return row;
    }
    return {};
}

std::string contentOf(Value file)
{
    if (const auto base64 = file["base64"].string())
        return QByteArray::fromBase64(QByteArray::fromStdString(*base64)).toStdString();
    return file.string().value_or(std::string(file.raw()));
}

/// A folder of the fixture on disk, opened.
struct Folder {
    explicit Folder(Value row)
    {
        for (const Value file : row["files"])
            disk.file(file.key(), contentOf(file));
        const std::vector paths{row["alone"] ? disk.path("tokenizer.json") : disk.path()};
        run = *Run::open(paths, {});
    }
    test::TempFolder disk;
    RunPtr run;
};

} // namespace

class TestTokenizerFolder : public QObject {
    Q_OBJECT

private slots:
    void equalsTransformers_data()
    {
        QTest::addColumn<int>("index");
        int index = 0;
        for (const Value row : folders()->root())
            QTest::newRow(row["name"].string("").c_str()) << index++;
        QVERIFY(index > 30);
    }

    void equalsTransformers()
    {
        QFETCH(int, index);
        const Value row = folders()->root()[index];
        const Folder folder(row);
        const auto opened = openTokenizer(*folder.run);
        QVERIFY_RESULT(opened);
        Encoder encoder(opened->tokenizer);
        for (const Value given : row["texts"]) {
            const std::string text = *given["text"].string();
            EncodeOptions options = opened->options;
            Explanation why;
            options.why = &why;
            const auto full = encoder.encode(text, options);
            QVERIFY_RESULT(full);
            QCOMPARE(full->ids, idsOf(given["ids"]));
            QCOMPARE(why.tokens.size(), full->size());
            for (std::size_t i = 0; i < full->size(); ++i)
                QCOMPARE(why.tokens[i].source == Explanation::Source::Inserted, bool(full->inserted[i]));
            options.addSpecialTokens = false;
            const auto plain = encoder.encode(text, options);
            QVERIFY_RESULT(plain);
            QCOMPARE(plain->ids, idsOf(given["plain"]));
            if (const Value tokens = given["tokens"]) {
                for (std::size_t i = 0; i < full->size(); ++i)
                    QCOMPARE(full->tokens[i], tokens[i].string(""));
            }
            for (const char *const member : {"decoded", "skipped"}) {
                const auto expected = given[member].string();
                if (!expected)
                    continue;
                auto decoded = opened->tokenizer->decode(full->ids, std::string_view(member) == "skipped");
                QVERIFY_RESULT(decoded);
                QCOMPARE(opened->cleanUpSpaces ? cleanUpSpaces(*decoded) : *decoded, *expected);
            }
        }
    }

    void notesNameTheMember()
    {
        const Folder folder(folderNamed("llama with both"));
        const auto opened = openTokenizer(*folder.run);
        QVERIFY_RESULT(opened);
        QCOMPARE(opened->notes.size(), 1U);
        QCOMPARE(opened->notes[0], "tokenizer_config.json: tokenizer_class LlamaTokenizer rebuilds the post-processor: "
                                   "<s> in front, <e> behind");
        const Folder quiet(folderNamed("obeys the post-processor"));
        QCOMPARE(openTokenizer(*quiet.run)->notes, std::vector<std::string>());
    }

    /// A class that puts a token round the text which the tokenizer does not know.
    void frameWithoutAnId()
    {
        test::TempFolder folder;
        folder.file("tokenizer.json", folderNamed("llama adds bos by default")["files"]["tokenizer.json"].raw())
            .file("tokenizer_config.json", R"({"tokenizer_class": "GemmaTokenizer", "bos_token": {"content": 3}})");
        const auto run = Run::open(std::vector{folder.path()}, {});
        QVERIFY_RESULT(run);
        const auto opened = openTokenizer(**run);
        QVERIFY(!opened);
        QCOMPARE(describe(opened.error()), "tokenizer.json: token to put round a text at $.added_tokens (expected an id for \"<bos>\", found none)");
    }

    void nothingToOpen()
    {
        test::TempFolder folder;
        folder.file("config.json", R"({"model_type": "llama", "hidden_size": 8})");
        const auto run = Run::open(std::vector{folder.path()}, {});
        QVERIFY_RESULT(run);
        const auto opened = openTokenizer(**run);
        QVERIFY(!opened);
        QCOMPARE(opened.error().code, Errc::NotFound);
    }

    void explainsMerges()
    {
        const Folder folder(folderNamed("obeys the post-processor"));
        const auto opened = openTokenizer(*folder.run);
        Encoder encoder(opened->tokenizer);
        Explanation why;
        EncodeOptions options;
        options.why = &why;
        const auto encoding = encoder.encode("ab<e> ab", options);
        QVERIFY_RESULT(encoding);
        using Source = Explanation::Source;
        const std::array expected{Source::Inserted, Source::Model, Source::AddedToken, Source::Model, Source::Inserted};
        QCOMPARE(why.tokens.size(), expected.size());
        for (std::size_t i = 0; i < expected.size(); ++i)
            QVERIFY2(why.tokens[i].source == expected[i], std::to_string(i).c_str());
        QCOMPARE(why.matches[0].token.content, "<e>");
        QCOMPARE(why.matches[0].origin, (TextRange{2, 5}));
        QVERIFY(!why.matches[0].afterNormalizer);
        const auto &piece = why.pieces[why.tokens[3].index];
        QCOMPARE(piece.text, " ab");
        QCOMPARE(piece.origin, (TextRange{5, 8}));
        QCOMPARE(piece.model.merges.size(), 2U); // "a"+"b" ranks before " "+"a", then " "+"ab"
        QCOMPARE(piece.model.merges[0].rank, 0U);
        QCOMPARE(piece.model.merges[1].rank, 3U);
        QCOMPARE(piece.model.merges[1].begin, 0U);
        QCOMPARE(piece.model.merges[1].middle, 1U);
        QCOMPARE(piece.model.merges[1].id, encoding->ids[3]);
    }

    void explainsTheLattice()
    {
        const auto document = Document::parseJson(R"({"model": {"type": "Unigram", "unk_id": 0, "vocab":
            [["<u>", 0], ["a", -2.0], ["b", -2.0], ["ab", -3.0], ["abc", -9.0], ["c", -1.0]]}})");
        const auto tokenizer = tokenizerFromJson(document->root());
        QVERIFY_RESULT(tokenizer);
        Explanation why;
        EncodeOptions options;
        options.why = &why;
        const auto encoding = Encoder(*tokenizer).encode("abc", options);
        QVERIFY_RESULT(encoding);
        QCOMPARE(encoding->ids, (std::vector<std::uint32_t>{3, 5}));
        const ModelExplanation &model = why.pieces[0].model;
        QCOMPARE(model.pathScore, -4.0);
        QCOMPARE(model.runnerUpScore, -5.0); // a, b, c
        QCOMPARE(model.path.size(), 2U);
        QCOMPARE(model.runnerUp.size(), 3U);
        QCOMPARE(model.runnerUp[2].id, 5U);
    }

    void explainsSentencePiece()
    {
        const Folder folder(folderNamed("llama model"));
        const Artifact *const file = folder.run->byName("tokenizer.model");
        QVERIFY(file);
        const auto opened = openTokenizer(*file);
        QVERIFY_RESULT(opened);
        Explanation why;
        EncodeOptions options;
        options.why = &why;
        const auto encoding = Encoder(opened->tokenizer).encode("ab é", options);
        QVERIFY_RESULT(encoding);
        QCOMPARE(why.pieces.size(), 1U);
        QCOMPARE(why.normalizations[0].steps[0].text, "▁ab▁é");
        const ModelExplanation &model = why.pieces[0].model;
        QVERIFY(model.kind == ModelExplanation::Kind::Merges);
        // Each merge makes one symbol of two: as many are left as there are ids.
        QCOMPARE(5 - model.merges.size(), encoding->size());
        QCOMPARE(why.tokens.size(), encoding->size());
    }

    void explainsNormalisers()
    {
        const Folder folder(folderNamed("decoder changes flags"));
        const auto opened = openTokenizer(*folder.run);
        QVERIFY_RESULT(opened);
        Explanation why;
        EncodeOptions options;
        options.why = &why;
        QVERIFY_RESULT(Encoder(opened->tokenizer).encode("AB<m>ab", options));
        QCOMPARE(why.normalizations.size(), 2U);
        QCOMPARE(why.normalizations[0].steps.size(), 1U);
        QCOMPARE(why.normalizations[0].steps[0].name, "Lowercase");
        QCOMPARE(why.normalizations[0].steps[0].text, "ab");
        QVERIFY(why.normalizations[1].steps.empty()); // nothing to change there
    }

    /// No half character leaves the stream, all of it arrives, and what waits is shown.
    void stream()
    {
        const Folder folder(folderNamed("obeys the post-processor"));
        const auto opened = openTokenizer(*folder.run);
        const std::string text = "a é😀 b";
        EncodeOptions options;
        options.addSpecialTokens = false;
        const auto encoding = Encoder(opened->tokenizer).encode(text, options);
        QVERIFY_RESULT(encoding);
        DecodeStream stream(opened->tokenizer);
        std::string got, longestPending;
        for (const std::uint32_t id : encoding->ids) {
            const auto step = stream.push(id);
            QVERIFY_RESULT(step);
            QCOMPARE(firstInvalidUtf8(step->text), std::string_view::npos);
            QVERIFY(step->text.empty() || step->pending.empty());
            got += step->text;
            if (step->pending.size() > longestPending.size())
                longestPending = step->pending;
        }
        QCOMPARE(got, text);
        QCOMPARE(longestPending, std::string("\xF0\x9F\x98"));
    }

    void invalidBytesKeepTheirPlaces()
    {
        const Folder folder(folderNamed("obeys the post-processor"));
        const auto opened = openTokenizer(*folder.run);
        EncodeOptions options;
        options.addSpecialTokens = false;
        const std::string text = "a\xFF\xE2\x82 b<e>\xC3";
        const auto encoding = Encoder(opened->tokenizer).encode(text, options);
        QVERIFY_RESULT(encoding);
        QCOMPARE(encoding->invalid, (std::vector<TextRange>{{1, 2}, {2, 4}, {9, 10}}));
        std::vector<TextRange> covered; // touching or equal ranges of the input, in order
        for (std::size_t i = 0; i < encoding->size(); ++i) {
            if (encoding->tokens[i] == "<e>")
                QCOMPARE(encoding->offsets[i], (TextRange{6, 9}));
            if (covered.empty() || covered.back() != encoding->offsets[i])
                covered.push_back(encoding->offsets[i]);
        }
        QCOMPARE(covered.front(), (TextRange{0, 1}));
        QCOMPARE(covered.back(), (TextRange{9, 10}));
        QVERIFY(std::find(covered.begin(), covered.end(), TextRange{2, 4}) != covered.end());
    }
};

PROSECTOR_TEST(TestTokenizerFolder, tst_tokenizerfolder)
#include "tst_tokenizerfolder.moc"
