// SPDX-License-Identifier: GPL-3.0-or-later
// Models over one artifact's content: text, bytes, tensors, GGUF metadata, logs.
#include "models/item/ggufmodel.h"
#include "models/item/hexmodel.h"
#include "models/item/logmodel.h"
#include "models/item/tensormodel.h"
#include "models/item/textlinesmodel.h"

#include "tests/support/ggufwriter.h"
#include "tests/support/safetensorswriter.h"
#include "tests/support/strict.h"
#include "tests/support/tempfolder.h"

#include <QAbstractItemModelTester>
#include <QSignalSpy>

#include <set>

using namespace prosector;

namespace {

RunPtr open(const std::string &path)
{
    const std::vector<std::string> paths{path};
    auto run = Run::open(paths, Job());
    return run ? *run : nullptr;
}

Place whole(const RunPtr &run, const char *name)
{
    const Artifact *const artifact = run->byName(name);
    return {Side::A, artifact ? artifact->id : ArtifactId(), Whole{}};
}

/// Zeros without end: what a file of terabytes looks like to a view.
class EndlessSource final : public ByteSource {
public:
    explicit EndlessSource(std::uint64_t size) : ByteSource("endless", size) {}
    mutable int reads = 0;

protected:
    Result<void> readInside(std::uint64_t offset, std::span<std::byte> out) const override
    {
        ++reads;
        for (std::size_t i = 0; i < out.size(); ++i)
            out[i] = static_cast<std::byte>((offset + i) / HexModel::rowBytes);
        return {};
    }
};

class FailingSource final : public ByteSource {
public:
    FailingSource() : ByteSource("failing", 100) {}

protected:
    Result<void> readInside(std::uint64_t, std::span<std::byte>) const override
    {
        return Error{Errc::Truncated, "failing: it shrank"};
    }
};

QString cell(const QAbstractItemModel &model, int row, int column)
{
    return model.index(row, column).data().toString();
}

} // namespace

class TestContentModels : public QObject {
    Q_OBJECT

private slots:
    void init() { failOnQtWarnings(); }

    void textLines()
    {
        test::TempFolder folder;
        folder.file("config.json", "{\r\n  \"model_type\": \"llama\",\n  \"x\": 1\n}");
        const RunPtr run = open(folder.path());
        TextLinesModel model;
        const QAbstractItemModelTester tester(&model);
        QCOMPARE(model.rowCount(), 0);
        model.setArtifact(run, whole(run, "config.json"));
        QCOMPARE(model.rowCount(), 4);
        QCOMPARE(cell(model, 0, TextLinesModel::TextColumn), QStringLiteral("{"));
        QCOMPARE(cell(model, 3, TextLinesModel::LineColumn), QStringLiteral("4"));
        QCOMPARE(model.rowFor(JsonPath{"$.x"}), 2);
        QCOMPARE(model.rowFor(JsonPath{"$.absent"}), -1);
        QCOMPARE(model.rowOfByte(0), 0);
        QCOMPARE(model.rowOfByte(3), 1);
        QCOMPARE(placesAt(model.index(2, 0))[0].where, Anchor(ByteRange{28, 36}));
    }

    void aLineOfAMegabyteIsCut()
    {
        test::TempFolder folder;
        folder.file("config.json", "{\"model_type\": \"" + std::string(1 << 20, 'x') + "\"}");
        const RunPtr run = open(folder.path());
        TextLinesModel model;
        model.setArtifact(run, whole(run, "config.json"));
        QCOMPARE(model.rowCount(), 1);
        QCOMPARE(cell(model, 0, TextLinesModel::TextColumn).size(), qsizetype(TextLinesModel::lineLimit + 1));
    }

    void jsonLinesAsText()
    {
        test::TempFolder folder;
        folder.file("requests.jsonl", "{\"messages\": [], \"model\": \"m\"}\n\n{\"messages\": [], \"model\": \"n\"}\n");
        const RunPtr run = open(folder.path());
        TextLinesModel model;
        const QAbstractItemModelTester tester(&model);
        model.setArtifact(run, whole(run, "requests.jsonl"));
        QCOMPARE(model.rowCount(), 2);
        QCOMPARE(cell(model, 1, TextLinesModel::LineColumn), QStringLiteral("3"));
        QCOMPARE(cell(model, 1, TextLinesModel::TextColumn), QStringLiteral("{\"messages\": [], \"model\": \"n\"}"));
        QCOMPARE(model.rowFor(LogLine{3, 3}), 1);
    }

    void hexRows()
    {
        test::TempFolder folder;
        folder.file("data.bin", std::string_view("0123456789abcdefXYZ\0\xFF", 21));
        const RunPtr run = open(folder.path());
        HexModel model;
        const QAbstractItemModelTester tester(&model);
        model.setArtifact(run, whole(run, "data.bin"));
        QCOMPARE(model.rowCount(), 2);
        QCOMPARE(cell(model, 1, HexModel::OffsetColumn), QStringLiteral("0x00000010"));
        QCOMPARE(cell(model, 1, HexModel::HexColumn), QStringLiteral("58 59 5A 00 FF"));
        QCOMPARE(cell(model, 1, HexModel::TextColumn), QStringLiteral("XYZ\u00B7\u00B7"));
        QCOMPARE(placesAt(model.index(1, 0))[0].where, Anchor(ByteRange{16, 21}));
        QCOMPARE(model.show(ByteRange{17, 18}).row(), 1);
        QVERIFY(!model.show(ByteRange{40, 41}).isValid());
        QCOMPARE(model.byte(20), std::optional(std::byte(0xFF)));
        QVERIFY(!model.byte(21));
    }

    void hexOfAHugeFile()
    {
        const auto source = std::make_shared<EndlessSource>(100'000'000'000'007);
        HexModel model;
        const QAbstractItemModelTester tester(&model);
        model.setSource(source);
        QCOMPARE(model.rowCount(), int(HexModel::pageRows));
        source->reads = 0;
        for (int row = 0; row < 1000; ++row)
            cell(model, row, HexModel::HexColumn);
        QVERIFY2(source->reads <= 2, qPrintable(QString::number(source->reads)));
        const std::uint64_t far = 99'999'999'999'999;
        const QModelIndex index = model.showByte(far);
        QCOMPARE(index.siblingAtColumn(HexModel::OffsetColumn).data().toString(),
                 QStringLiteral("0x%1").arg(far / 16 * 16, 0, 16));
        QCOMPARE(model.page(), far / HexModel::pageBytes);
        model.setPage(model.pageCount() - 1);
        QVERIFY(model.rowCount() > 0 && model.rowCount() <= int(HexModel::pageRows));
        const int last = model.rowCount() - 1;
        QCOMPARE(cell(model, last, HexModel::HexColumn).split(QLatin1Char(' '), Qt::SkipEmptyParts).size(),
                 qsizetype(7));
        model.setPage(model.pageCount()); // no such page: stays
        QCOMPARE(model.page(), model.pageCount() - 1);
    }

    void hexSaysWhatCannotBeRead()
    {
        HexModel model;
        model.setSource(std::make_shared<FailingSource>());
        QCOMPARE(cell(model, 0, HexModel::HexColumn), QStringLiteral("failing: it shrank"));
        QVERIFY(!model.byte(0));
    }

    void tensors()
    {
        test::TempFolder folder;
        folder.file("config.json", "{\"model_type\": \"llama\"}");
        folder.file("model-00001-of-00002.safetensors",
                    SafetensorsWriter()
                        .tensor("b.weight", "F32", {2, 3}, std::string(24, '\0'))
                        .tensor("a.weight", "BF16", {4}, std::string(8, '\0'))
                        .bytes());
        folder.file("model-00002-of-00002.safetensors",
                    SafetensorsWriter().tensor("C.bias", "F32", {10}, std::string(40, '\0')).bytes());
        const RunPtr run = open(folder.path());
        QCOMPARE(run->models().size(), std::size_t(1));
        JobRunner jobs;
        TensorModel model(&jobs);
        const QAbstractItemModelTester tester(&model);
        model.setFolder(run, Side::A, run->models()[0]);
        const auto names = [&] {
            QStringList list;
            for (int row = 0; row < model.rowCount(); ++row)
                list.append(cell(model, row, TensorModel::NameColumn));
            return list.join(QLatin1Char(' '));
        };
        QCOMPARE(model.rowCount(), 3);
        QCOMPARE(model.tensorCount(), std::size_t(3));
        QCOMPARE(model.totalBytes(), std::uint64_t(72));
        const QString fileOrder = names();
        const Selection places = placesAt(model.index(2, 0));
        QCOMPARE(model.indexFor(places[0]), model.index(2, 0));
        QCOMPARE(cell(model, 2, TensorModel::FileColumn), QStringLiteral("model-00002-of-00002.safetensors"));

        QSignalSpy arranged(&model, &TensorModel::arranged);
        model.sort(TensorModel::NameColumn);
        QVERIFY(arranged.wait());
        QCOMPARE(names(), QStringLiteral("C.bias a.weight b.weight"));
        QCOMPARE(model.indexFor(places[0]).row(), 0);
        model.setFilter(QStringLiteral("WEIGHT"));
        QVERIFY(arranged.wait());
        QCOMPARE(names(), QStringLiteral("a.weight b.weight"));
        QVERIFY(!model.indexFor(places[0]).isValid()); // filtered out
        model.sort(TensorModel::BytesColumn, Qt::DescendingOrder);
        QVERIFY(arranged.wait());
        QCOMPARE(names(), QStringLiteral("b.weight a.weight"));
        model.setFilter(QStringLiteral("nothing has this name"));
        QVERIFY(arranged.wait());
        QCOMPARE(model.rowCount(), 0);
        model.setFilter(QStringLiteral("bf16"));
        QVERIFY(arranged.wait());
        QCOMPARE(names(), QStringLiteral("a.weight"));
        model.sort(-1);
        model.setFilter({});
        QVERIFY(arranged.wait());
        QCOMPARE(names(), fileOrder);
        model.setArtifacts(nullptr, Side::A, {});
        QCOMPARE(model.rowCount(), 0);
    }

    void sortingTensorsByEachColumn_data()
    {
        QTest::addColumn<int>("column");
        for (int column = 0; column < TensorModel::ColumnCount; ++column)
            QTest::addRow("%d", column) << column;
    }
    void sortingTensorsByEachColumn()
    {
        QFETCH(int, column);
        test::TempFolder folder;
        SafetensorsWriter writer;
        for (int i = 0; i < 50; ++i)
            writer.tensor("t" + std::to_string(i * 37 % 50), i % 3 ? "F32" : "I32", {std::uint64_t(i % 7 + 1)},
                          std::string(std::size_t(i % 7 + 1) * 4, '\0'));
        folder.file("m.safetensors", writer.bytes());
        const RunPtr run = open(folder.path());
        JobRunner jobs;
        TensorModel model(&jobs);
        model.setArtifacts(run, Side::A, {whole(run, "m.safetensors").artifact});
        QSignalSpy arranged(&model, &TensorModel::arranged);
        model.sort(column, Qt::DescendingOrder);
        QVERIFY(arranged.wait());
        QCOMPARE(model.rowCount(), 50);
        std::set<QString> seen;
        for (int row = 0; row < 50; ++row)
            seen.insert(cell(model, row, TensorModel::NameColumn));
        QCOMPARE(seen.size(), std::size_t(50));
        if (column == TensorModel::OffsetColumn || column == TensorModel::BytesColumn
            || column == TensorModel::ElementsColumn) {
            for (int row = 1; row < 50; ++row)
                QVERIFY(model.index(row - 1, column).data(CopyRole).toULongLong()
                        >= model.index(row, column).data(CopyRole).toULongLong());
        }
    }

    void gguf()
    {
        test::TempFolder folder;
        folder.file("m.gguf",
                    GgufWriter()
                        .string("general.architecture", "llama")
                        .u32("llama.block_count", 2)
                        .strings("tokenizer.ggml.tokens", {"<s>", "a\nb"})
                        .numbers<std::int32_t>("tokenizer.ggml.token_type", GgufType::Int32, {3, 1})
                        .string("general.architecture", "second of its name")
                        .tensor("token_embd.weight", 0, {2, 2}, std::string(16, '\0'))
                        .bytes());
        const RunPtr run = open(folder.path());
        GgufModel model;
        const QAbstractItemModelTester tester(&model);
        model.setArtifact(run, whole(run, "m.gguf"));
        QVERIFY(model.rowCount() >= 4);
        QCOMPARE(cell(model, 1, GgufModel::KeyColumn), QStringLiteral("llama.block_count"));
        QCOMPARE(cell(model, 1, GgufModel::ValueColumn), QStringLiteral("2"));
        const QModelIndex tokens = model.indexFor(GgufContent::anchor("tokenizer.ggml.tokens"));
        QCOMPARE(tokens.row(), 2);
        QCOMPARE(model.rowCount(tokens), 2);
        const QModelIndex second = model.index(1, 0, tokens);
        QCOMPARE(second.siblingAtColumn(GgufModel::ValueColumn).data().toString(), QStringLiteral("a\u23CEb"));
        QCOMPARE(model.indexFor(placesAt(second)[0].where), second);
        const QModelIndex types = model.index(3, 0);
        QCOMPARE(model.index(0, GgufModel::ValueColumn, types).data().toString(), QStringLiteral("3"));
        QVERIFY(!model.indexFor(JsonPath{"$[\"absent\"]"}).isValid());
        QVERIFY(!model.indexFor(JsonPath{"$[\"tokenizer.ggml.tokens\"][7]"}).isValid());
        const ByteRange bytes = run->artifact({0}).as<GgufContent>()->entries[3].bytes;
        QCOMPARE(model.indexFor(ByteRange{bytes.from, bytes.from + 1}), types);
    }

    void log()
    {
        test::TempFolder folder;
        folder.file("server.log",
                    "llama_model_loader: - kv   0: general.architecture str = llama\n"
                    "nothing of note\n"
                    "llama_context: n_ctx_per_seq (4096) < n_ctx_train (131072) -- the full capacity of the model will "
                    "not be utilized\n"
                    "\x1B[31mllama_context: n_ctx         = 4096\x1B[0m\n");
        const RunPtr run = open(folder.path());
        const Place place = whole(run, "server.log");
        QVERIFY(run->artifact(place.artifact).as<TextContent>());
        const auto facts = Facts::load();
        QVERIFY_RESULT(facts);
        JobRunner jobs;
        LogModel model(&jobs);
        const QAbstractItemModelTester tester(&model);
        QSignalSpy triaged(&model, &LogModel::triaged);
        model.setArtifact(run, place, *facts);
        QVERIFY(model.rowCount() >= 4); // at once
        QCOMPARE(cell(model, 1, LogModel::TextColumn), QStringLiteral("nothing of note"));
        QVERIFY(triaged.wait());
        const LogHit *const hit = model.hitAt(model.index(2, 0));
        QVERIFY(hit);
        QVERIFY(severityAt(model.index(2, 0)));
        QVERIFY(!cell(model, 2, LogModel::ClassColumn).isEmpty());
        QVERIFY(!model.hitAt(model.index(1, 0)));
        QVERIFY(!severityAt(model.index(1, 0)));
        QVERIFY(!cell(model, 3, LogModel::TextColumn).contains(QChar(0x1B)));
        QCOMPARE(placesAt(model.index(2, 0))[0].where, Anchor(LogLine{3, 3}));
        QCOMPARE(model.indexFor(LogLine{3, 3}).row(), 2);
        QVERIFY(!model.indexFor(LogLine{300, 300}).isValid());
        model.setFilter(Severity::Ok);
        std::set<std::uint64_t> recognised;
        for (const LogHit &each : model.triage()->hits)
            recognised.insert(each.line);
        QCOMPARE(model.rowCount(), int(recognised.size()));
        QCOMPARE(placesAt(model.indexFor(LogLine{3, 3}))[0].where, Anchor(LogLine{3, 3}));
        model.setFilter(std::nullopt);
        QVERIFY(model.rowCount() >= 4);
    }
};

PROSECTOR_TEST(TestContentModels, tst_contentmodels)
#include "tst_contentmodels.moc"
