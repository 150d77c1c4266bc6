// SPDX-License-Identifier: GPL-3.0-or-later
// Ids, spellings, offsets and decoded text against what Hugging Face `tokenizers` gave for the shared corpus.
#include "models/core/bytesource.h"
#include "models/tokenizers/tokenizer.h"
#include "tests/support/corpus.h"
#include "tests/support/strict.h"
#include "tests/support/tokenizercompare.h"

#include <QDir>

using namespace prosector;

namespace {

std::string slurp(const std::string &path)
{
    const auto file = openFile(path);
    if (!file)
        return {};
    const auto bytes = (*file)->read(0, (*file)->size());
    return bytes ? std::string(asText(*bytes)) : std::string();
}

} // namespace

class TestTokenizerOracles : public QObject {
    Q_OBJECT

private slots:
    void rust_data()
    {
        REQUIRE_SHARED(shared);
        QTest::addColumn<QString>("oracle");
        const QDir folder(QString::fromStdString(shared + "/corpus/oracles/tok_rust"));
        for (const QString &name : folder.entryList({QStringLiteral("*.jsonl")}, QDir::Files))
            QTest::newRow(qPrintable(name)) << folder.filePath(name);
    }

    void rust()
    {
        REQUIRE_SHARED(shared);
        QFETCH(QString, oracle);
        const std::string lines = slurp(oracle.toStdString());
        TokenizerPtr tokenizer;
        std::unique_ptr<Encoder> encoder;
        DocumentPtr file;
        int rows = 0, wrong = 0;
        for (std::size_t at = 0; at < lines.size();) {
            const std::size_t end = std::min(lines.find('\n', at), lines.size());
            const auto line = Document::parseJson(lines.substr(at, end - at));
            at = end + 1;
            const Value row = line->root();
            if (const Value meta = row["meta"]) {
                file = Document::parseJson(slurp(shared + "/corpus/" + meta["dir"].string("") + "/tokenizer.json"));
                auto made = Tokenizer::fromJson(file->root());
                QVERIFY_RESULT(made);
                tokenizer = *made;
                encoder = std::make_unique<Encoder>(tokenizer);
                const auto empty = encoder->encode("");
                QVERIFY_RESULT(empty);
                const Value prefix = meta["special_prefix"];
                QCOMPARE(empty->size(), prefix.size() + meta["special_suffix"].size());
                for (std::size_t i = 0; i < prefix.size(); ++i)
                    QCOMPARE(prefix[i].integer(), std::optional<std::int64_t>(empty->ids[i]));
                continue;
            }
            ++rows;
            const std::string text = row["text"].string("");
            EncodeOptions options;
            options.addSpecialTokens = false;
            const auto got = encoder->encode(text, options);
            QVERIFY_RESULT(got);
            std::string wrongness = difference(*got, row, text);
            if (wrongness.empty()) {
                const auto decoded = tokenizer->decode(got->ids, false);
                QVERIFY_RESULT(decoded);
                if (*decoded != row["decoded"].string(""))
                    wrongness = "decoded " + *decoded + " for " + row["decoded"].string("");
            }
            if (!wrongness.empty() && ++wrong <= 10)
                qInfo("%s %s: %s", row["id"].string("").c_str(), std::string(row["text"].raw().substr(0, 100)).c_str(), wrongness.c_str());
        }
        QVERIFY(rows > 100);
        QCOMPARE(wrong, 0);
    }
};

PROSECTOR_TEST(TestTokenizerOracles, tst_tokenizeroracles)

#include "tst_tokenizeroracles.moc"
