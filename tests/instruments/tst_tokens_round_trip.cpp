// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/core/utf8.h"
#include "tests/support/corpus.h"
#include "tests/support/instrumenttest.h"
#include "tests/support/tempfolder.h"

using namespace prosector;
using namespace prosector::test;

namespace prosector {
extern const Instrument tokens_round_trip;
}

class TestRoundTrip : public QObject {
    Q_OBJECT

    const Instrument &t2 = tokens_round_trip;

private slots:
    void probe()
    {
        const Examined sick = examineWith(t2, {fixture(t2.slug, "sick")});
        VERIFY_WORST(t2, sick, Severity::Error);
        const Finding *const lost = sick.find("tokens.trip.lost");
        QVERIFY2(lost, qPrintable(sick.summary()));
        QVERIFY2(QString::fromStdString(lost->title).contains(QLatin1String("(space, byte ")), lost->title.c_str());
        QVERIFY(sick.pointsAt(*lost, "tokenizer.json", JsonPath{"$.pre_tokenizer"}));
        const Examined healthy = examineWith(t2, {fixture(t2.slug, "healthy")});
        VERIFY_WORST(t2, healthy, Severity::Ok);
    }

    void declared_data()
    {
        QTest::addColumn<QString>("folder");
        QTest::addColumn<Severity>("worst");
        QTest::newRow("lower case is declared") << "lower" << Severity::Info;
        QTest::newRow("clean-up") << "cleanup" << Severity::Info;
    }
    void declared()
    {
        QFETCH(QString, folder);
        QFETCH(Severity, worst);
        VERIFY_WORST(t2, examineWith(t2, {fixture(t2.slug, folder.toStdString())}), worst);
    }

    /// A byte-level BPE of all bytes with another decoder, or with some bytes left out.
    static std::string bytes(const std::string &decoder, const std::vector<int> &without = {})
    {
        std::string vocab;
        int next = 256, id = 0;
        for (int byte = 0; byte < 256; ++byte) { // GPT-2's letters
            const bool shown = (byte > 32 && byte < 127) || (byte > 160 && byte != 173);
            std::string letter;
            appendUtf8(letter, static_cast<char32_t>(shown ? byte : next++));
            if (std::find(without.begin(), without.end(), byte) == without.end())
                vocab += (id ? ", \"" : "\"") + std::string(letter == "\"" || letter == "\\" ? "\\" : "") + letter + "\": " + std::to_string(id);
            ++id;
        }
        return "{\"added_tokens\": [], \"pre_tokenizer\": {\"type\": \"ByteLevel\", \"add_prefix_space\": false, \"trim_offsets\": true, \"use_regex\": true}, \"decoder\": " + decoder
               + ", \"model\": {\"type\": \"BPE\", \"vocab\": {" + vocab + ", \"he\": 256}, \"merges\": [\"h e\"]}}";
    }

    void losses_data()
    {
        QTest::addColumn<QString>("decoder");
        QTest::addColumn<int>("without");
        QTest::addColumn<QString>("code");
        QTest::addColumn<QString>("loss");
        QTest::addColumn<QString>("place");
        const QString level = QStringLiteral("{\"type\": \"ByteLevel\"}");
        QTest::newRow("whole") << level << -1 << "" << "" << "";
        QTest::newRow("no piece for a blank") << level << 32 << "tokens.trip.lost" << "(space, " << "$.pre_tokenizer";
        QTest::newRow("no piece for a letter") << level << int('o') << "tokens.trip.lost" << "(dropped, " << "$.pre_tokenizer";
        QTest::newRow("no piece for a byte of emoji") << level << 0xF0 << "tokens.trip.lost_beyond_ascii" << "(dropped, " << "";
        QTest::newRow("the decoder leaves the letters of bytes") << "{\"type\": \"Sequence\", \"decoders\": [{\"type\": \"Fuse\"}]}" << -1 << "tokens.trip.lost" << "(added, " << "$.decoder";
        QTest::newRow("the decoder adds a letter") << "{\"type\": \"Sequence\", \"decoders\": [{\"type\": \"ByteLevel\"}, {\"type\": \"Replace\", \"pattern\": {\"String\": \"a\"}, \"content\": \"ab\"}]}"
                                                   << -1 << "tokens.trip.lost" << "(added, " << "$.decoder";
    }
    void losses()
    {
        QFETCH(QString, decoder);
        QFETCH(int, without);
        QFETCH(QString, code);
        QFETCH(QString, loss);
        QFETCH(QString, place);
        TempFolder folder;
        folder.file("tokenizer.json", bytes(decoder.toStdString(), {without}));
        const Examined examined = examineWith(t2, {folder.path()});
        QVERIFY_RESULT(examined.report);
        QCOMPARE(examined.report->findings.size(), std::size_t(code.isEmpty() ? 0 : 1)); // one fault is told once
        if (code.isEmpty())
            return;
        const Finding *const finding = examined.find(code.toStdString());
        QVERIFY2(finding, qPrintable(examined.summary()));
        QVERIFY2(QString::fromStdString(finding->title).contains(loss), finding->title.c_str());
        QVERIFY2(place.isEmpty() || examined.pointsAt(*finding, "tokenizer.json", JsonPath{place.toStdString()}), qPrintable(examined.summary()));
    }

    void missingInputs()
    {
        TempFolder folder;
        folder.file("config.json", "{\"model_type\": \"llama\", \"vocab_size\": 100}");
        QCOMPARE(examineWith(t2, {folder.path()}).report->missing, std::vector<std::string>{"tokenizer_files"});
        TempFolder excerpt; // no merges: it cannot encode
        excerpt.file("tokenizer.json", "{\"added_tokens\": [], \"model\": {\"type\": \"BPE\", \"vocab\": {\"a\": 0, \"ab\": 1}, \"merges\": []}}");
        const Examined examined = examineWith(t2, {excerpt.path()});
        QVERIFY2(examined.report->undecidable() && !examined.report->notSeen.empty(), qPrintable(examined.summary()));
    }

    void realFiles_data()
    {
        QTest::addColumn<QString>("path");
        QTest::addColumn<Severity>("worst");
        QTest::newRow("t5") << "ort/tokenizer/t5-small" << Severity::Info;
        QTest::newRow("distilbert") << "folders/lora-distilbert-imdb" << Severity::Info;
        QTest::newRow("llama 3.1") << "folders/lenml-llama3_1" << Severity::Info;
        QTest::newRow("phi-3") << "ort/phi-3" << Severity::Info;
    }
    void realFiles()
    {
        QFETCH(QString, path);
        QFETCH(Severity, worst);
        REQUIRE_SHARED(shared);
        const Examined examined = examineWith(t2, {shared + "/corpus/" + path.toStdString()});
        QVERIFY2(examined.worst() <= worst && !examined.report->undecidable(), qPrintable(examined.summary()));
    }

    void damageAndCancel()
    {
        QCOMPARE(faultUnderDamage(t2, fixture(t2.slug, "sick")), QString());
        QCOMPARE(faultWhenCancelled(t2, fixture(t2.slug, "sick")), QString());
    }
};

PROSECTOR_TEST(TestRoundTrip, tst_tokens_round_trip)

#include "tst_tokens_round_trip.moc"
