// SPDX-License-Identifier: GPL-3.0-or-later
// Models over a session: evidence, instruments, findings, bookmarks, configuration, report tables.
#include "models/item/bookmarkmodel.h"
#include "models/item/configurationmodel.h"
#include "models/item/evidencemodel.h"
#include "models/item/findingmodel.h"
#include "models/item/instrumentmodel.h"
#include "models/item/reporttablemodel.h"
#include "models/item/runsummary.h"
#include "models/session/text.h"

#include "tests/support/fakeinstruments.h"
#include "tests/support/safetensorswriter.h"
#include "tests/support/settled.h"
#include "tests/support/strict.h"
#include "tests/support/tempfolder.h"

#include <QAbstractItemModelTester>
#include <QSignalSpy>

using namespace prosector;
using test::settles;

namespace {

QStringList openPaths(const test::TempFolder &folder, const char *name = "in")
{
    return {toQt(folder.path(name))};
}

QStringList column(const QAbstractItemModel &model, int column, const QModelIndex &parent = {})
{
    QStringList texts;
    for (int row = 0; row < model.rowCount(parent); ++row)
        texts.append(model.index(row, column, parent).data().toString());
    return texts;
}

QModelIndex child(const QAbstractItemModel &model, const QString &name, const QModelIndex &parent = {})
{
    const qsizetype row = column(model, 0, parent).indexOf(name);
    return row < 0 ? QModelIndex() : model.index(static_cast<int>(row), 0, parent);
}

/// A folder with a sick and an odd file, a template, tensors and a damaged file.
void fill(test::TempFolder &folder)
{
    folder.file("in/config.json", "{\"model_type\": \"llama\", \"bad\": 7}");
    folder.file("in/sub/odd.json", "{\"odd\": 1}");
    folder.file("in/sub/broken.json", "{\"x\": ");
    folder.file("in/tokenizer_config.json",
                "{\"tokenizer_class\": \"X\", \"chat_template\": [{\"name\": \"default\", \"template\": \"{{ x }}\"},"
                "{\"name\": \"tools\", \"template\": \"y\"}]}");
    folder.file("in/model.safetensors", SafetensorsWriter().tensor("w", "F32", {2}, std::string(8, '\0')).bytes());
}

} // namespace

class TestSessionModels : public QObject {
    Q_OBJECT

private slots:
    void init()
    {
        failOnQtWarnings();
        fake::block = false;
    }

    void evidence()
    {
        test::TempFolder folder;
        fill(folder);
        Session session(nullptr, fake::table);
        EvidenceModel model(&session);
        const QAbstractItemModelTester tester(&model);
        QCOMPARE(model.rowCount(), 0);
        session.open(openPaths(folder));
        QVERIFY(settles(session));
        QCOMPARE(column(model, 0), QStringList{QStringLiteral("in")});
        const QModelIndex in = model.index(0, 0);
        QCOMPARE(model.rowType(in), EvidenceModel::InputRow);
        QCOMPARE(model.rowCount(in), 4);
        const QModelIndex config = child(model, QStringLiteral("config.json"), in);
        QVERIFY(config.isValid());
        QTRY_COMPARE(severityAt(config), std::optional(Severity::Error));
        QCOMPARE(severityAt(in), std::optional(Severity::Error));
        QCOMPARE(config.siblingAtColumn(EvidenceModel::WorstColumn).data().toString(),
                 QStringLiteral("bad is set in config.json"));
        QCOMPARE(config.siblingAtColumn(EvidenceModel::SizeColumn).data(CopyRole).toString(), QStringLiteral("33"));

        const QModelIndex sub = child(model, QStringLiteral("sub"), in);
        QCOMPARE(model.rowType(sub), EvidenceModel::FolderRow);
        QCOMPARE(severityAt(sub), std::optional(Severity::Warning));
        QVERIFY(!sub.data(AnchorRole).isValid());
        const QModelIndex broken = child(model, QStringLiteral("broken.json"), sub);
        QCOMPARE(severityAt(broken), std::optional(Severity::Warning));
        QCOMPARE(model.rowCount(broken), 1);
        QCOMPARE(model.rowType(model.index(0, 0, broken)), EvidenceModel::ProblemRow);

        const QModelIndex tokenizer = child(model, QStringLiteral("tokenizer_config.json"), in);
        QCOMPARE(column(model, 0, tokenizer),
                 (QStringList{QStringLiteral("chat_template default"), QStringLiteral("chat_template tools")}));
        const QModelIndex tools = model.index(1, 0, tokenizer);
        QCOMPARE(placesAt(tools)[0].where, Anchor(JsonPath{"$.chat_template[1].template"}));
        QCOMPARE(model.indexFor(placesAt(tools)[0]), tools);
        QCOMPARE(model.indexFor(placesAt(config)[0]), config);
        QCOMPARE(model.indexFor({Side::A, placesAt(config)[0].artifact, JsonPath{"$.bad"}}), config);
        QVERIFY(!model.indexFor({Side::B, placesAt(config)[0].artifact, Whole{}}).isValid());
        QVERIFY(!severityAt(tokenizer)); // nothing was found there

        const QModelIndex weights = child(model, QStringLiteral("model.safetensors"), in);
        const QModelIndex tensors = model.index(0, 0, weights);
        QCOMPARE(model.rowType(tensors), EvidenceModel::TensorsRow);
        QCOMPARE(tensors.siblingAtColumn(EvidenceModel::SummaryColumn).data().toString(),
                 QStringLiteral("1 tensor · F32 · 8\u00A0B"));
        std::uint64_t sum = 0;
        for (const Artifact &artifact : session.run()->artifacts())
            sum += artifact.size;
        QCOMPARE(in.siblingAtColumn(EvidenceModel::SizeColumn).data(CopyRole).toString(), QString::number(sum));
        session.close();
        QCOMPARE(model.rowCount(), 0);
    }

    void evidenceOfTwoSidesAndOfAFile()
    {
        test::TempFolder folder;
        fill(folder);
        Session session(nullptr, fake::table);
        EvidenceModel model(&session);
        const QAbstractItemModelTester tester(&model);
        session.open({toQt(folder.path("in/config.json"))});
        session.openBaseline(openPaths(folder));
        QTRY_VERIFY(session.baseline());
        QVERIFY(settles(session));
        QCOMPARE(column(model, 0), (QStringList{QStringLiteral("config.json"), QStringLiteral("in")}));
        QCOMPARE(model.rowType(model.index(0, 0)), EvidenceModel::ArtifactRow); // a single file needs no row above
        QCOMPARE(model.index(1, 0).data(SideRole).toInt(), int(Side::B));
    }

    void instrumentsSettleOneByOne()
    {
        test::TempFolder folder;
        fill(folder);
        fake::block = true;
        Session session(nullptr, fake::table);
        InstrumentModel model(&session);
        const QAbstractItemModelTester tester(&model);
        QCOMPARE(column(model, 0),
                 (QStringList{QStringLiteral("Configuration and start-up"), QStringLiteral("Masks and positions"),
                              QStringLiteral("Weights, adapters, quantization")}));
        const QModelIndex finder = model.indexFor(session.indexOf("F90"));
        const QModelIndex waiter = model.indexFor(session.indexOf("W91"));
        QCOMPARE(finder.data().toString(), QStringLiteral("F90  Bad finder"));
        QVERIFY(!severityAt(finder));
        session.open(openPaths(folder));
        QVERIFY(QTest::qWaitFor([] { return fake::started.try_acquire(); }, 30000));
        QTRY_COMPARE(severityAt(finder), std::optional(Severity::Error));
        QVERIFY(!severityAt(waiter) && waiter.data(RunningRole).toBool());
        QVERIFY(waiter.parent().data(RunningRole).toBool());
        QCOMPARE(waiter.siblingAtColumn(InstrumentModel::VerdictColumn).data().toString(),
                 QStringLiteral("Running\u2026"));
        QCOMPARE(finder.siblingAtColumn(InstrumentModel::VerdictColumn).data().toString(),
                 QStringLiteral("bad is set in config.json"));
        QCOMPARE(severityAt(finder.parent()), std::optional(Severity::Error));
        fake::block = false;
        session.rerun(session.indexOf("W91"));
        QVERIFY(settles(session));
        QCOMPARE(severityAt(waiter), std::optional(Severity::Ok));
        QCOMPARE(severityAt(model.indexFor(session.indexOf("M90"))), std::optional(Severity::Undecidable));
        QVERIFY(!placesAt(finder).empty() && placesAt(waiter).empty());
    }

    void instrumentSearchAndOrder()
    {
        test::TempFolder folder;
        fill(folder);
        Session session(nullptr, fake::table);
        InstrumentModel model(&session);
        InstrumentFilter filter;
        filter.setSourceModel(&model);
        const QAbstractItemModelTester tester(&filter);
        const auto shown = [&] {
            QStringList ids;
            for (int family = 0; family < filter.rowCount(); ++family) {
                for (const QString &name : column(filter, 0, filter.index(family, 0)))
                    ids.append(name.left(3));
            }
            return ids.join(QLatin1Char(' '));
        };
        QCOMPARE(shown(), QStringLiteral("F90 F91 M90 W90 W91"));
        filter.setSearch(QStringLiteral("f9"));
        QCOMPARE(shown(), QStringLiteral("F90 F91"));
        filter.setSearch(QStringLiteral("mask say")); // name and question
        QCOMPARE(shown(), QStringLiteral("M90"));
        filter.setSearch(QStringLiteral("weights stopped")); // family and question
        QCOMPARE(shown(), QStringLiteral("W91"));
        filter.setSearch(QStringLiteral("nothing such"));
        QCOMPARE(filter.rowCount(), 0);
        filter.setSearch({});
        session.open({toQt(folder.path("in/sub/odd.json"))});
        QVERIFY(settles(session));
        filter.setSortedBySeverity(true);
        QCOMPARE(shown(), QStringLiteral("F91 F90 M90 W90 W91"));
        session.open(openPaths(folder));
        QTRY_COMPARE(session.run()->artifacts().size(), std::size_t(5));
        QVERIFY(settles(session));
        QCOMPARE(shown(), QStringLiteral("F90 F91 M90 W90 W91")); // resorted as outcomes came
        filter.setSortedBySeverity(false);
        QCOMPARE(shown(), QStringLiteral("F90 F91 M90 W90 W91"));
    }

    void findings()
    {
        test::TempFolder folder;
        fill(folder);
        folder.file("in/worse.json", "{\"bad\": 50}");
        folder.file("base/x.json", "{}");
        Session session(nullptr, fake::table);
        FindingModel model(&session);
        FindingFilter filter(&model);
        const QAbstractItemModelTester tester(&model);
        const QAbstractItemModelTester filterTester(&filter);
        session.open(openPaths(folder));
        session.openBaseline(openPaths(folder, "base"));
        QTRY_VERIFY(session.baseline());
        QVERIFY(settles(session));
        const QString error1 = QStringLiteral("bad is set in config.json"),
                      error2 = QStringLiteral("bad is set in worse.json"), warning = QStringLiteral("odd is set"),
                      info = QStringLiteral("there is a baseline");
        QCOMPARE(column(model, FindingModel::TitleColumn), (QStringList{error1, error2, info, warning}));
        QCOMPARE(column(filter, FindingModel::TitleColumn), (QStringList{error1, error2, warning, info}));
        QCOMPARE(column(filter, FindingModel::NumberColumn)[1], QStringLiteral("50 bads"));
        QCOMPARE(column(filter, FindingModel::ArtifactColumn)[3], QStringLiteral("x.json"));
        QCOMPARE(column(filter, FindingModel::PlaceColumn)[0], QStringLiteral("$.bad"));

        // F8 walks them and comes around; Shift+F8 goes back.
        QModelIndex at;
        QStringList walked;
        for (int i = 0; i < 5; ++i) {
            at = filter.next(at);
            walked.append(at.siblingAtColumn(FindingModel::TitleColumn).data().toString());
        }
        QCOMPARE(walked, (QStringList{error1, error2, warning, info, error1}));
        QCOMPARE(filter.previous(at).row(), 3);
        QCOMPARE(filter.previous({}).row(), 3);
        QCOMPARE(filter.indexFor(filter.refAt(filter.index(2, 0))).row(), 2);

        filter.setMinimumSeverity(Severity::Warning);
        QCOMPARE(filter.rowCount(), 3);
        filter.setMinimumSeverity(Severity::Ok);
        filter.setInstrument(session.indexOf("F91"));
        QCOMPARE(column(filter, FindingModel::TitleColumn), QStringList{warning});
        filter.setInstrument(-1);
        filter.setArtifact(placesAt(model.index(1, 0))[0]);
        QCOMPARE(column(filter, FindingModel::TitleColumn), QStringList{error2});
        filter.setArtifact(std::nullopt);
        filter.setSearch(QStringLiteral("DETAIL worse"));
        QCOMPARE(column(filter, FindingModel::TitleColumn), QStringList{error2});
        filter.setSearch({});
        filter.sort(FindingModel::NumberColumn, Qt::DescendingOrder);
        QCOMPARE(column(filter, FindingModel::TitleColumn)[0], error2);
        filter.sort(FindingModel::SeverityColumn, Qt::DescendingOrder);

        const FindingRef first = filter.refAt(filter.index(0, 0));
        session.acknowledge(first, QStringLiteral("fine"));
        QVERIFY(filter.index(0, 0).data(AcknowledgedRole).toBool());
        filter.setAcknowledgedHidden(true);
        QCOMPARE(filter.rowCount(), 3);
        session.withdraw(first);
        QCOMPARE(filter.rowCount(), 4);

        session.setParam(session.indexOf("F90"), "threshold", 20);
        QCOMPARE(filter.rowCount(), 4); // stand until the instrument has run again
        QVERIFY(settles(session));
        QCOMPARE(column(filter, FindingModel::TitleColumn), (QStringList{error2, warning, info}));
        session.close();
        QCOMPARE(filter.rowCount(), 0);
        QVERIFY(!filter.next({}).isValid());
    }

    void bookmarks()
    {
        test::TempFolder folder;
        fill(folder);
        Session session(nullptr, fake::table);
        BookmarkModel model(&session);
        const QAbstractItemModelTester tester(&model);
        session.open(openPaths(folder));
        QVERIFY(settles(session));
        const Place place{Side::A, session.run()->byName("config.json")->id, JsonPath{"$.bad"}};
        session.hub()->bookmark({place}, QStringLiteral("look"));
        QCOMPARE(model.rowCount(), 1);
        QCOMPARE(model.index(0, BookmarkModel::ArtifactColumn).data().toString(), QStringLiteral("config.json"));
        QCOMPARE(model.index(0, BookmarkModel::PlaceColumn).data().toString(), QStringLiteral("$.bad"));
        QCOMPARE(placesAt(model.index(0, 0)), Selection{place});
        QCOMPARE(severityAt(model.index(0, 0)), std::optional(Severity::Error));
        QVERIFY(model.setData(model.index(0, 0), QStringLiteral("edited")));
        QVERIFY(!model.setData(model.index(0, 1), QStringLiteral("x")));
        QCOMPARE(session.hub()->bookmarks()[0].note, QStringLiteral("edited"));
        QVERIFY(model.removeRows(0, 1));
        QVERIFY(session.hub()->bookmarks().empty());
        QVERIFY(!model.removeRows(0, 1));
    }

    void reportTables()
    {
        test::TempFolder folder;
        fill(folder);
        Session session(nullptr, fake::table);
        session.open(openPaths(folder));
        QVERIFY(settles(session));
        ReportTableModel model;
        const QAbstractItemModelTester tester(&model);
        QCOMPARE(model.columnCount(), 0);
        model.setTable(session.state(session.indexOf("F90")).outcome, 0);
        QCOMPARE(model.title(), QStringLiteral("Values"));
        QCOMPARE(model.rowCount(), 5);
        QCOMPARE(model.headerData(1, Qt::Horizontal).toString(), QStringLiteral("bad, \"or not\""));
        QCOMPARE(model.index(0, 1).data().toString(), QStringLiteral("7"));
        QCOMPARE(severityAt(model.index(0, 1)), std::optional(Severity::Warning));
        QCOMPARE(placesAt(model.index(0, 1))[0].where, Anchor(JsonPath{"$.bad"}));
        QVERIFY(!model.index(0, 0).data(AnchorRole).isValid());
        QVERIFY(model.toCsv().startsWith(QStringLiteral("File,\"bad, \"\"or not\"\"\"\r\nconfig.json,7\r\n")));
        session.close(); // the model keeps what it shows
        QCOMPARE(model.index(0, 1).data().toString(), QStringLiteral("7"));
        model.setTable(session.state(0).outcome, 0);
        QCOMPARE(model.rowCount(), 0);
        model.setTable(Table{"T", {"a", "b"}, {{Cell{"short row"}}}});
        QVERIFY(!model.index(0, 1).data().isValid());
    }

    void configuration()
    {
        test::TempFolder folder;
        folder.file("in/config.json",
                    "{\"model_type\": \"llama\", \"architectures\": [\"LlamaForCausalLM\"], "
                    "\"max_position_embeddings\": 8192, \"rope_theta\": 500000.0, \"eos_token_id\": 2}");
        folder.file("in/generation_config.json", "{\"temperature\": 0.6, \"top_p\": 0.9, \"eos_token_id\": [2, 3]}");
        Session session(nullptr, fake::table);
        ConfigurationModel model(&session);
        const QAbstractItemModelTester tester(&model);
        QSignalSpy ready(&model, &ConfigurationModel::ready);
        session.open(openPaths(folder));
        QTRY_VERIFY(model.isReady());
        QVERIFY(settles(session));
        QVERIFY(model.rowCount() >= 1);
        const QModelIndex config = model.index(0, 0);
        const QModelIndex temperature = child(model, QStringLiteral("temperature"), config);
        QVERIFY2(temperature.isValid(), qPrintable(column(model, 0, config).join(QLatin1Char(' '))));
        QVERIFY(model.rowCount(temperature) >= 1);
        const Place place = {Side::A, session.run()->byName("generation_config.json")->id, JsonPath{"$.temperature"}};
        const QModelIndex candidate = model.indexFor(place);
        QCOMPARE(candidate.parent(), temperature);
        QCOMPARE(placesAt(candidate), Selection{place});
        QCOMPARE(candidate.siblingAtColumn(ConfigurationModel::ValueColumn).data().toString(), QStringLiteral("0.6"));
        session.close();
        QCOMPARE(model.rowCount(), 0);
    }

    void summary()
    {
        test::TempFolder folder;
        fill(folder);
        const std::vector<std::string> paths{folder.path("in")};
        const auto run = Run::open(paths, Job());
        QVERIFY_RESULT(run);
        const RunSummary summary = summarise(**run);
        QCOMPARE(summary.title, QStringLiteral("in"));
        QVERIFY2(summary.sentence.contains(QStringLiteral("1 file with 1 tensor")), qPrintable(summary.sentence));
        QVERIFY(std::any_of(summary.lines.begin(), summary.lines.end(), [](const RunSummary::Line &line) {
            return line.label == QStringLiteral("Not readable") && line.value.startsWith(QLatin1Char('1'));
        }));
    }
};

PROSECTOR_TEST(TestSessionModels, tst_sessionmodels)
#include "tst_sessionmodels.moc"
