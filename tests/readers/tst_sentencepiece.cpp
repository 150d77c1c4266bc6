// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/artifacts/sentencepiecemodel.h"

#include "tests/support/corpus.h"
#include "tests/support/reading.h"
#include "tests/support/strict.h"

#include <sentencepiece_processor.h>

#include <cstring>

using namespace prosector;

namespace {

/// A protobuf message being written.
struct Proto {
    std::string bytes;
    Proto &varint(std::uint64_t value)
    {
        for (; value >= 0x80; value >>= 7)
            bytes += static_cast<char>(value | 0x80);
        bytes += static_cast<char>(value);
        return *this;
    }
    Proto &number(std::uint32_t field, std::uint64_t value) { return varint(field << 3).varint(value); }
    Proto &text(std::uint32_t field, std::string_view value)
    {
        varint(field << 3 | 2).varint(value.size());
        bytes += value;
        return *this;
    }
    Proto &real(std::uint32_t field, float value)
    {
        varint(field << 3 | 5);
        char raw[4];
        std::memcpy(raw, &value, 4);
        bytes.append(raw, 4);
        return *this;
    }
};

std::string piece(std::string_view text, float score, std::uint64_t type)
{
    return Proto().text(1, text).real(2, score).number(3, type).bytes;
}

std::string small()
{
    return Proto()
        .text(1, piece("<unk>", 0, 2))
        .text(1, piece("<s>", 0, 3))
        .text(1, piece("\xE2\x96\x81" "a", -1.5F, 1))
        .text(1, piece("<0x0A>", 0, 6))
        .text(2, Proto().number(3, 2).number(35, 1).number(43, static_cast<std::uint64_t>(-1)).text(31, "<x>").bytes)
        .text(3, Proto().text(1, "identity").text(2, std::string(70, 'z')).number(3, 0).bytes)
        .bytes;
}

const SentencePieceContent &content(const Result<Reading> &reading)
{
    return dynamic_cast<const SentencePieceContent &>(*reading->content);
}

} // namespace

class TestSentencePiece : public QObject {
    Q_OBJECT

private slots:
    void whole()
    {
        const auto bytes = small();
        QCOMPARE(sniffed("tokenizer.model", bytes), std::string_view("sentencepiece"));
        QCOMPARE(sniffed("config.json", bytes), std::string_view("sentencepiece"));
        const auto reading = readWith("sentencepiece", bytes);
        QCOMPARE(describeProblems(reading), std::string());
        const auto &model = content(reading);
        QCOMPARE(model.pieces.size(), std::size_t(4));
        QCOMPARE(model.pieces[2].text, std::string("\xE2\x96\x81" "a"));
        QCOMPARE(model.pieces[2].score, -1.5F);
        QCOMPARE(model.pieces[3].type, SentencePieceContent::PieceType::Byte);
        QCOMPARE(bytes.substr(model.pieces[2].bytes.from + 4, 4), model.pieces[2].text);
        QCOMPARE(model.modelType(), std::string("BPE"));
        QCOMPARE(*model.setting("trainer.byte_fallback"), std::string("true"));
        QCOMPARE(*model.setting("normalizer.add_dummy_prefix"), std::string("false"));
        QCOMPARE(*model.setting("normalizer.remove_extra_whitespaces"), std::string("true")); // the default
        QCOMPARE(*model.setting("normalizer.precompiled_charsmap"), std::string("70 bytes"));
        QCOMPARE(model.specialId("pad_id"), -1);
        QCOMPARE(model.specialId("bos_id"), 1);
        QVERIFY(!model.setting("trainer.nothing"));
    }

    void damage_data()
    {
        QTest::addColumn<QByteArray>("bytes");
        QTest::addColumn<Errc>("code");
        QTest::addColumn<quint64>("offset");
        QTest::addColumn<int>("pieces");
        const auto good = QByteArray::fromStdString(Proto().text(1, piece("<unk>", 0, 2)).text(1, piece("a", 0, 1)).bytes);
        const auto first = Proto().text(1, piece("<unk>", 0, 2)).bytes.size();
        QTest::newRow("cut in a piece") << good.left(good.size() - 3) << Errc::Truncated << quint64(first) << 1;
        QTest::newRow("absurd length") << good + QByteArray("\x0A\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x7F") << Errc::Truncated << quint64(good.size()) << 2;
        QTest::newRow("endless number") << good + QByteArray(20, '\xFF') << Errc::Malformed << quint64(good.size()) << 2;
        QTest::newRow("wire type 7") << good + QByteArray("\x0F") << Errc::Malformed << quint64(good.size()) << 2;
        QTest::newRow("field 0") << good + QByteArray("\x02\x00", 2) << Errc::Malformed << quint64(good.size()) << 2;
        QTest::newRow("cut in a float") << good + QByteArray("\x0A\x03\x15\x00\x00", 5) << Errc::Truncated << quint64(good.size() + 2) << 3;
        QTest::newRow("unknown type") << good + QByteArray::fromStdString(Proto().text(1, piece("b", 0, 99)).bytes) << Errc::Malformed << quint64(good.size() + 10) << 3;
        QTest::newRow("cut in the settings") << good + QByteArray("\x12\x02\x18", 3) << Errc::Truncated << quint64(good.size()) << 2;
    }
    void damage()
    {
        QFETCH(QByteArray, bytes);
        QFETCH(Errc, code);
        QFETCH(quint64, offset);
        QFETCH(int, pieces);
        const auto reading = readWith("sentencepiece", std::string_view(bytes.constData(), static_cast<std::size_t>(bytes.size())));
        QVERIFY_RESULT(reading);
        QCOMPARE(reading->problems.size(), std::size_t(1));
        QCOMPARE(reading->problems[0].code, code);
        QCOMPARE(std::get<ByteRange>(reading->problems[0].where).from, std::uint64_t(offset));
        QCOMPARE(content(reading).pieces.size(), static_cast<std::size_t>(pieces));
    }

    void textIsNoModel_data()
    {
        QTest::addColumn<QByteArray>("bytes");
        QTest::newRow("blank line") << QByteArray("\n\nhello\n");
        QTest::newRow("lines") << QByteArray("\n\x05\n\x03" "abc");
        QTest::newRow("nothing") << QByteArray();
    }
    void textIsNoModel()
    {
        QFETCH(QByteArray, bytes);
        QVERIFY(sniffed("a.txt", bytes.toStdString()) != "sentencepiece" || bytes.size() == 7);
    }

    void realModels()
    {
        REQUIRE_SHARED(shared);
        // Pieces and settings as the library's own tools show them.
        const auto open = [&](const char *name) {
            const auto source = openFile(shared + "/corpus/spm/" + name);
            return readerById("sentencepiece").open(*source, Job());
        };
        const auto llama = open("llama2-tokenizer.model");
        QCOMPARE(describeProblems(llama), std::string());
        QCOMPARE(content(llama).pieces.size(), std::size_t(32000));
        QCOMPARE(content(llama).modelType(), std::string("BPE"));
        QCOMPARE(content(llama).pieces[13].text, std::string("<0x0A>"));
        QCOMPARE(content(llama).pieces[22172].text, std::string("\xE2\x96\x81hello"));
        QCOMPARE(content(llama).specialId("pad_id"), -1);
        const auto test = open("google-test/python/test/test_model.model");
        QCOMPARE(content(test).pieces.size(), std::size_t(1000));
        QCOMPARE(content(test).modelType(), std::string("UNIGRAM"));
    }

    /// Piece by piece what the library of the format's owner reads from the same file.
    void asTheLibraryReadsIt_data()
    {
        QTest::addColumn<QString>("path");
        for (const char *const path : {"llama2-tokenizer.model", "google-test/python/test/test_model.model", "google-test/python/test/test_ja_model.model", "mistral/tokenizer.model.v1"})
            QTest::newRow(path) << path;
    }
    void asTheLibraryReadsIt()
    {
        REQUIRE_SHARED(shared);
        QFETCH(QString, path);
        const std::string name = shared + "/corpus/spm/" + path.toStdString();
        const auto reading = readerById("sentencepiece").open(*openFile(name), Job());
        sentencepiece::SentencePieceProcessor library;
        QVERIFY(library.Load(name).ok());
        const auto &pieces = content(reading).pieces;
        QCOMPARE(pieces.size(), static_cast<std::size_t>(library.GetPieceSize()));
        using Type = SentencePieceContent::PieceType;
        for (int id = 0; id < library.GetPieceSize(); ++id) {
            const auto &piece = pieces[static_cast<std::size_t>(id)];
            QCOMPARE(piece.text, library.IdToPiece(id));
            QCOMPARE(piece.score, library.GetScore(id));
            QCOMPARE(piece.type == Type::Unknown, library.IsUnknown(id));
            QCOMPARE(piece.type == Type::Control, library.IsControl(id));
            QCOMPARE(piece.type == Type::Unused, library.IsUnused(id));
            QCOMPARE(piece.type == Type::Byte, library.IsByte(id));
        }
        QCOMPARE(content(reading).specialId("unk_id"), library.unk_id());
        QCOMPARE(content(reading).specialId("bos_id"), library.bos_id());
        QCOMPARE(content(reading).specialId("eos_id"), library.eos_id());
        QCOMPARE(content(reading).specialId("pad_id"), library.pad_id());
    }
};

PROSECTOR_TEST(TestSentencePiece, tst_sentencepiece)

#include "tst_sentencepiece.moc"
