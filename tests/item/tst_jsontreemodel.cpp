// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/item/jsontreemodel.h"

#include "tests/support/strict.h"
#include "tests/support/tempfolder.h"

#include <QAbstractItemModelTester>

using namespace prosector;

namespace {

RunPtr open(const test::TempFolder &folder)
{
    const std::vector<std::string> paths{folder.path()};
    auto run = Run::open(paths, Job());
    return run ? *run : nullptr;
}

Place whole(const RunPtr &run, const char *name)
{
    return {Side::A, run->byName(name)->id, Whole{}};
}

/// Every index below `parent`, in the order of the rows.
void walk(const QAbstractItemModel &model, const QModelIndex &parent, QModelIndexList &all)
{
    for (int row = 0; row < model.rowCount(parent); ++row) {
        const QModelIndex index = model.index(row, 0, parent);
        all.append(index);
        walk(model, index, all);
    }
}

} // namespace

class TestJsonTreeModel : public QObject {
    Q_OBJECT

private slots:
    void init() { failOnQtWarnings(); }

    void showsTheTree()
    {
        JsonTreeModel model;
        const QAbstractItemModelTester tester(&model);
        model.setDocument(
            Document::parseJson("{\"a\": [1, 2.5, {\"b\": null}], \"c\\n\": \"x\\ty\", \"d\": {}, \"e\": true}"));
        const QModelIndex root = model.index(0, 0);
        QCOMPARE(model.rowCount(), 1);
        QCOMPARE(root.data().toString(), QStringLiteral("$"));
        QCOMPARE(root.siblingAtColumn(JsonTreeModel::ValueColumn).data().toString(), QStringLiteral("{4 members}"));
        QCOMPARE(model.rowCount(root), 4);
        const QModelIndex a = model.index(0, 0, root);
        QCOMPARE(a.data().toString(), QStringLiteral("a"));
        QCOMPARE(a.siblingAtColumn(JsonTreeModel::TypeColumn).data().toString(), QStringLiteral("array"));
        QCOMPARE(model.index(1, 0, a).data().toString(), QStringLiteral("[1]"));
        QCOMPARE(model.index(1, JsonTreeModel::ValueColumn, a).data().toString(), QStringLiteral("2.5"));
        QCOMPARE(model.index(1, JsonTreeModel::TypeColumn, a).data().toString(), QStringLiteral("number"));
        QCOMPARE(model.index(0, JsonTreeModel::TypeColumn, a).data().toString(), QStringLiteral("integer"));
        QCOMPARE(model.index(0, JsonTreeModel::BytesColumn, a).data().toString(), QStringLiteral("7–8"));
        const QModelIndex c = model.index(1, JsonTreeModel::ValueColumn, root);
        QCOMPARE(c.siblingAtColumn(0).data().toString(), QString(QStringLiteral("c") + QChar(0x23CE)));
        QCOMPARE(c.data().toString(), QStringLiteral("\"x\\ty\""));    // as it stands
        QCOMPARE(c.data(CopyRole).toString(), QStringLiteral("x\ty")); // as it means
        QVERIFY(!model.hasChildren(model.index(2, 0, root)));
        QVERIFY(!root.data(AnchorRole).isValid()); // no artifact
    }

    void everyRowIsFoundByItsAnchor()
    {
        test::TempFolder folder;
        folder.file("config.json",
                    " {\"a\": {\"b.c\": [10, [20, {\"d\": 1}]], \"e\": \"\\\"\"}, \"a\": 2, \"f\": []} ");
        const RunPtr run = open(folder);
        QVERIFY(run);
        JsonTreeModel model;
        const QAbstractItemModelTester tester(&model);
        model.setArtifact(run, whole(run, "config.json"));
        QVERIFY(model.holds(whole(run, "config.json")));
        QModelIndexList all;
        walk(model, {}, all);
        QCOMPARE(all.size(), 11);
        int byPath = 0;
        for (const QModelIndex &index : all) {
            const Selection places = placesAt(index);
            QCOMPARE(places.size(), std::size_t(1));
            byPath += model.indexFor(places[0].where) == index;
            const Value value = model.valueAt(index);
            QCOMPARE(model.indexFor(ByteRange{value.range().from, value.range().from + 1}), index);
        }
        // $, the later $.a and $.f: a path means the later of two equal keys, so nothing of the earlier one.
        QCOMPARE(byPath, 3);
    }

    void anchorsThatAreNotHere()
    {
        JsonTreeModel model;
        QVERIFY(!model.indexFor(Whole{}).isValid());
        model.setDocument(Document::parseJson("{\"a\": 1}"));
        QCOMPARE(model.indexFor(Whole{}), model.index(0, 0));
        QCOMPARE(model.indexFor(JsonPath{"$.a"}).data().toString(), QStringLiteral("a"));
        QVERIFY(!model.indexFor(JsonPath{"$.b"}).isValid());
        QVERIFY(!model.indexFor(ByteRange{100, 101}).isValid());
        QVERIFY(!model.indexFor(LogLine{1, 1}).isValid());
        QVERIFY(!model.indexFor(TokenRange{0, 1}).isValid());
    }

    void damaged_data()
    {
        QTest::addColumn<QByteArray>("text");
        QTest::newRow("nothing") << QByteArray();
        QTest::newRow("cut in a string") << QByteArray("{\"a\": [1, 2, {\"b\": \"x");
        QTest::newRow("cut behind a key") << QByteArray("{\"a\": 1, \"b\":");
        QTest::newRow("cut in an array") << QByteArray("[1, [2, [3, ");
        QTest::newRow("bad literal") << QByteArray("[1, tru, 3]");
        QTest::newRow("scalar") << QByteArray("17");
    }
    void damaged()
    {
        QFETCH(QByteArray, text);
        JsonTreeModel model;
        const QAbstractItemModelTester tester(&model);
        model.setDocument(Document::parseJson(text.toStdString()));
        QModelIndexList all;
        walk(model, {}, all);
        for (const QModelIndex &index : all)
            QCOMPARE(model.rowCount(index) > 0, model.hasChildren(index));
    }

    void lines()
    {
        test::TempFolder folder;
        folder.file("requests.jsonl",
                    "{\"messages\": [{\"role\": \"user\", \"content\": \"x\"}], \"model\": \"m\"}\n\n"
                    "{\"messages\": [{\"role\": \"user\", \"content\": \"y\"}], \"model\": \"n\"}\n{\"cut\": \n");
        const RunPtr run = open(folder);
        QVERIFY(run);
        const Place place = whole(run, "requests.jsonl");
        QVERIFY(run->artifact(place.artifact).as<LinesContent>());
        JsonTreeModel model;
        const QAbstractItemModelTester tester(&model);
        model.setArtifact(run, place);
        QCOMPARE(model.rowCount(), 3);
        const QModelIndex second = model.index(1, 0);
        QCOMPARE(second.data().toString(), QStringLiteral("line 3"));
        QCOMPARE(placesAt(second)[0].where, Anchor(LogLine{3, 3}));
        QCOMPARE(model.indexFor(LogLine{3, 3}), second);
        QVERIFY(!model.indexFor(LogLine{2, 2}).isValid());
        const QModelIndex name = model.index(1, 0, second);
        QCOMPARE(name.data().toString(), QStringLiteral("model"));
        QCOMPARE(model.indexFor(placesAt(name)[0].where), name);
    }

    void aMillionChildrenAreReachedDirectly()
    {
        constexpr int count = 1'000'000;
        std::string text = "[";
        for (int i = 0; i < count; ++i)
            text += i ? ",1" : "1";
        text += ']';
        JsonTreeModel model;
        model.setDocument(Document::parseJson(std::move(text)));
        const QModelIndex root = model.index(0, 0);
        QCOMPARE(model.rowCount(root), count);
        const QModelIndex last = model.index(count - 1, 0, root);
        QCOMPARE(last.data().toString(), QStringLiteral("[999999]"));
        QCOMPARE(last.parent(), root);
        QCOMPARE(model.indexFor(ByteRange{1 + 2 * 500'000, 2 + 2 * 500'000}).row(), 500'000);
    }
};

PROSECTOR_TEST(TestJsonTreeModel, tst_jsontreemodel)
#include "tst_jsontreemodel.moc"
