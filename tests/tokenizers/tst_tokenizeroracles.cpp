// SPDX-License-Identifier: GPL-3.0-or-later
// Ids, spellings, offsets and decoded text against what the reference libraries gave for the shared corpus.
#include "models/artifacts/reader.h"
#include "models/tokenizers/gguf.h"
#include "models/tokenizers/pipeline.h"
#include "models/tokenizers/sentencepiece.h"
#include "models/tokenizers/tiktoken.h"
#include "tests/support/corpus.h"
#include "tests/support/oracle.h"
#include "tests/support/strict.h"
#include "tests/support/tokenizercompare.h"

#include <functional>

namespace prosector {
extern constinit const Reader reader_gguf;
}

using namespace prosector;

namespace {

/// Runs `check` on every row; it gives a difference or nothing.
int countWrong(const Oracle &oracle, const std::function<std::string(Value row)> &check)
{
    int wrong = 0;
    for (const auto &line : oracle.rows) {
        const Value row = line->root();
        const std::string difference = check(row);
        if (!difference.empty() && ++wrong <= 10)
            qInfo("%s %s: %s", row["id"].string("").c_str(), std::string(row["text"].raw().substr(0, 100)).c_str(), difference.c_str());
    }
    return wrong;
}

Result<TokenizerPtr> openGguf(const std::string &path)
{
    const auto source = openFile(path);
    if (!source)
        return source.error();
    const auto reading = reader_gguf.open(*source, Job());
    if (!reading)
        return reading.error();
    return tokenizerFromGguf(dynamic_cast<const GgufContent &>(*reading->content));
}

std::string decodeDifference(const Tokenizer &tokenizer, const std::vector<std::uint32_t> &ids, Value row)
{
    const auto decoded = tokenizer.decode(ids, false);
    if (!decoded)
        return describe(decoded.error());
    return *decoded == row["decoded"].string("") ? std::string() : "decoded " + *decoded + " for " + row["decoded"].string("");
}

} // namespace

class TestTokenizerOracles : public QObject {
    Q_OBJECT

private slots:
    void rust_data()
    {
        REQUIRE_SHARED(shared);
        addOracleRows(shared + "/corpus/oracles/tok_rust");
    }

    void rust()
    {
        REQUIRE_SHARED(shared);
        QFETCH(QString, oracle);
        const Oracle given = Oracle::read(oracle.toStdString());
        const auto file = Document::parseJson(slurp(shared + "/corpus/" + given.meta()["dir"].string("") + "/tokenizer.json"));
        const auto tokenizer = tokenizerFromJson(file->root());
        QVERIFY_RESULT(tokenizer);
        Encoder encoder(*tokenizer);
        const auto empty = encoder.encode("");
        QVERIFY_RESULT(empty);
        const Value prefix = given.meta()["special_prefix"];
        QCOMPARE(empty->size(), prefix.size() + given.meta()["special_suffix"].size());
        for (std::size_t i = 0; i < prefix.size(); ++i)
            QCOMPARE(prefix[i].integer(), std::optional<std::int64_t>(empty->ids[i]));
        QVERIFY(given.rows.size() > 100);
        QCOMPARE(countWrong(given, [&](Value row) {
            const std::string text = row["text"].string("");
            const auto got = encoder.encode(text, {.addSpecialTokens = false});
            if (!got)
                return describe(got.error());
            const std::string wrong = difference(*got, row, text);
            return wrong.empty() ? decodeDifference(**tokenizer, got->ids, row) : wrong;
        }), 0);
    }

    /// The ranks are those of the tokenizer.json that was made from the rank file.
    void tiktoken()
    {
        REQUIRE_SHARED(shared);
        const auto source = Document::parseJson(slurp(shared + "/corpus/folders/lenml-gpt35turbo/tokenizer.json"));
        const auto converted = tokenizerFromJson(source->root());
        QVERIFY_RESULT(converted);
        std::string ranks;
        for (std::uint32_t id = 0; id < 100256; ++id) {
            const std::string bytes = (*converted)->bytes(id).value_or("");
            ranks += QByteArray::fromStdString(bytes).toBase64().toStdString() + ' ' + std::to_string(id) + '\n';
        }
        const auto tokenizer = tokenizerFromTiktoken(ranks);
        QVERIFY_RESULT(tokenizer);
        Encoder encoder(*tokenizer);
        const Oracle given = Oracle::read(shared + "/corpus/oracles/tok_tiktoken/cl100k_base.jsonl");
        QVERIFY(given.rows.size() > 100);
        QCOMPARE(countWrong(given, [&](Value row) {
            for (const bool specialsAsText : {true, false}) {
                const auto got = encoder.encode(row["text"].string(""), {.specialsAsText = specialsAsText});
                if (!got)
                    return describe(got.error());
                const Value ids = !specialsAsText && row["ids_special"] ? row["ids_special"] : row["ids"];
                const std::string wrong = idDifference(got->ids, ids);
                if (!wrong.empty())
                    return wrong;
            }
            return std::string();
        }), 0);
    }

    void sentencePiece_data()
    {
        REQUIRE_SHARED(shared);
        addOracleRows(shared + "/corpus/oracles/tok_sentencepiece");
    }

    void sentencePiece()
    {
        REQUIRE_SHARED(shared);
        QFETCH(QString, oracle);
        const Oracle given = Oracle::read(oracle.toStdString());
        const auto tokenizer = tokenizerFromSentencePiece(slurp(shared + "/corpus/" + given.meta()["file"].string("")));
        QVERIFY_RESULT(tokenizer);
        QCOMPARE(std::int64_t((*tokenizer)->size()), given.meta()["vocab_size"].integer().value_or(0));
        Encoder encoder(*tokenizer);
        QVERIFY(given.rows.size() > 100);
        QCOMPARE(countWrong(given, [&](Value row) {
            const std::string text = row["text"].string("");
            const auto got = encoder.encode(text);
            if (!got)
                return describe(got.error());
            const std::string wrong = difference(*got, row, text, "pieces");
            return wrong.empty() ? decodeDifference(**tokenizer, got->ids, row) : wrong;
        }), 0);
    }

    void llamaCpp_data()
    {
        REQUIRE_SHARED(shared);
        addOracleRows(shared + "/corpus/oracles/tok_llamacpp");
    }

    void llamaCpp()
    {
        REQUIRE_SHARED(shared);
        QFETCH(QString, oracle);
        const Oracle given = Oracle::read(oracle.toStdString());
        const auto tokenizer = openGguf(shared + "/corpus/" + given.meta()["file"].string(""));
        QVERIFY_RESULT(tokenizer);
        Encoder encoder(*tokenizer);
        QVERIFY(given.rows.size() > 100);
        QCOMPARE(countWrong(given, [&](Value row) {
            const std::string text = row["text"].string("");
            for (const bool specialsAsText : {true, false}) {
                const auto got = encoder.encode(text, {.addSpecialTokens = false, .specialsAsText = specialsAsText});
                if (!got)
                    return describe(got.error());
                const Value ids = !specialsAsText && row["ids_parse_special"] ? row["ids_parse_special"] : row["ids"];
                const std::string wrong = idDifference(got->ids, ids);
                if (!wrong.empty())
                    return wrong;
                // Offsets are not llama.cpp's, but must rise and stay inside.
                std::uint32_t last = 0;
                for (const TextRange origin : got->offsets) {
                    if (origin.begin > origin.end || origin.end > text.size() || origin.begin < last)
                        return "offset " + std::to_string(origin.begin) + '-' + std::to_string(origin.end);
                    last = origin.begin;
                }
            }
            return std::string();
        }), 0);
    }

    /// The expected ids that llama.cpp keeps beside its own test vocabularies.
    void llamaCppsOwn_data()
    {
        REQUIRE_SHARED(shared);
        QTest::addColumn<QString>("file");
        const QDir folder(QString::fromStdString(shared + "/corpus/gguf"));
        for (const QString &name : folder.entryList({QStringLiteral("*.gguf")}, QDir::Files)) {
            if (folder.exists(name + QStringLiteral(".inp")))
                QTest::newRow(qPrintable(name)) << folder.filePath(name);
        }
    }

    void llamaCppsOwn()
    {
        QFETCH(QString, file);
        const auto tokenizer = openGguf(file.toStdString());
        QVERIFY_RESULT(tokenizer);
        Encoder encoder(*tokenizer);
        QString inputs = QString::fromStdString(slurp(file.toStdString() + ".inp"));
        const QStringList texts = inputs.split(QStringLiteral("\n__ggml_vocab_test__\n"));
        const QStringList lines = QString::fromStdString(slurp(file.toStdString() + ".out")).split(QLatin1Char('\n'));
        QVERIFY(texts.size() > 40 && lines.size() >= texts.size());
        for (int i = 0; i < texts.size(); ++i) {
            if (i + 1 == texts.size() && texts[i].isEmpty())
                break;
            const auto got = encoder.encode(texts[i].toStdString(), {.addSpecialTokens = false, .specialsAsText = true});
            QVERIFY_RESULT(got);
            QStringList ids;
            for (const std::uint32_t id : got->ids)
                ids << QString::number(id);
            QCOMPARE(ids, lines[i].split(QLatin1Char(' '), Qt::SkipEmptyParts));
        }
    }
};

PROSECTOR_TEST(TestTokenizerOracles, tst_tokenizeroracles)

#include "tst_tokenizeroracles.moc"
