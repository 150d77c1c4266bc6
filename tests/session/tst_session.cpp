// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/session/session.h"
#include "models/session/text.h"

#include "tests/support/fakeinstruments.h"
#include "tests/support/settled.h"
#include "tests/support/strict.h"
#include "tests/support/tempfolder.h"

#include <QSignalSpy>
#include <QThreadPool>

using namespace prosector;
using test::settles;

namespace {

ArtifactId idOf(const Session &session, const char *name, Side side = Side::A)
{
    const Artifact *const artifact = session.run(side)->byName(name);
    return artifact ? artifact->id : ArtifactId();
}

Selection at(ArtifactId artifact, const char *path)
{
    return {Place{Side::A, artifact, JsonPath{path}}};
}

} // namespace

class TestSession : public QObject {
    Q_OBJECT

private slots:
    void init()
    {
        failOnQtWarnings();
        fake::block = false;
    }

    void opensAndExamines()
    {
        test::TempFolder folder;
        folder.file("config.json", "{\"bad\": 7, \"odd\": 1}");
        Session session(nullptr, fake::table);
        QSignalSpy run(&session, &Session::runChanged);
        QSignalSpy finished(&session, &Session::examinationFinished);
        QSignalSpy outcome(&session, &Session::outcomeChanged);
        session.open({toQt(folder.path())});
        QVERIFY(session.isOpening());
        QVERIFY(!session.run());
        QVERIFY(settles(session));
        QCOMPARE(run.size(), 1);
        QCOMPARE(finished.size(), 1);
        QVERIFY(outcome.size() >= 2 * session.instrumentCount()); // each starts and each finishes
        QCOMPARE(session.findings().all().size(), std::size_t(2));
        QCOMPARE(session.worst(), Severity::Error);
        const FindingRef worst = session.findings().all()[0];
        QCOMPARE(session.finding(worst).code, std::string("test.bad"));
        const ArtifactId config = idOf(session, "config.json");
        QCOMPARE(session.findings().touching(Side::A, config).size(), std::size_t(2));
        QCOMPARE(session.findings().worst(Side::A, config), Severity::Error);
        QVERIFY(session.findings().touching(Side::B, config).empty());
        QVERIFY(session.report(session.indexOf("M90"))->undecidable());
        QCOMPARE(session.indexOf("Z1"), -1);
        QCOMPARE(session.examination()->outcomes.size(), fake::table.size());
    }

    void severalInputsAtOnce()
    {
        test::TempFolder one, two;
        one.file("a.json", "{\"odd\": 1}");
        two.file("b.json", "{\"bad\": 1}");
        Session session(nullptr, fake::table);
        session.open({toQt(one.path()), toQt(two.path("b.json"))});
        QVERIFY(settles(session));
        QCOMPARE(session.run()->inputs().size(), std::size_t(2));
        QCOMPARE(session.run()->artifacts().size(), std::size_t(2));
        session.add({toQt(two.path("b.json"))}); // already there
        QCOMPARE(session.paths().size(), 2);
        QVERIFY(settles(session));
    }

    void failureKeepsWhatIsOpen()
    {
        test::TempFolder folder;
        folder.file("config.json", "{}");
        Session session(nullptr, fake::table);
        session.open({toQt(folder.path())});
        QVERIFY(settles(session));
        const RunPtr before = session.run();
        QSignalSpy failed(&session, &Session::openFailed);
        session.open({toQt(folder.path("absent"))});
        QTRY_COMPARE(failed.size(), 1);
        QCOMPARE(failed[0][0].value<Error>().code, Errc::NotFound);
        QCOMPARE(session.run(), before);
        QVERIFY(!session.isOpening());
        QVERIFY(session.state(0).outcome);
    }

    void aLaterOpenWins()
    {
        test::TempFolder folder;
        folder.file("one/a.json", "{}");
        folder.file("two/b.json", "{}");
        Session session(nullptr, fake::table);
        QSignalSpy run(&session, &Session::runChanged);
        session.open({toQt(folder.path("one"))});
        session.open({toQt(folder.path("two"))});
        QVERIFY(settles(session));
        QCOMPARE(run.size(), 1);
        QVERIFY(idOf(session, "b.json").valid());
    }

    void droppingTwoFoldersInARowOpensBoth()
    {
        test::TempFolder folder;
        folder.file("one/a.json", "{}");
        folder.file("two/b.json", "{}");
        Session session(nullptr, fake::table);
        session.add({toQt(folder.path("one"))});
        session.add({toQt(folder.path("two"))});
        QVERIFY(settles(session));
        QCOMPARE(session.run()->artifacts().size(), std::size_t(2));
    }

    void reloadKeepsPlacesByName()
    {
        test::TempFolder folder;
        folder.file("b.json", "{\"x\": 1}");
        folder.file("c.json", "{\"y\": 1}");
        Session session(nullptr, fake::table);
        session.open({toQt(folder.path())});
        QVERIFY(settles(session));
        session.hub()->select(at(idOf(session, "c.json"), "$.y"), nullptr);
        session.hub()->bookmark(session.hub()->selection(), QStringLiteral("note"));
        session.hub()->select(at(idOf(session, "b.json"), "$.x"), nullptr);
        folder.file("a.json", "{}"); // every id moves
        folder.remove("c.json");
        // What panes see when they take up the new run is true of the new run.
        Selection seen;
        connect(&session, &Session::runChanged, this, [&] { seen = session.hub()->selection(); });
        QSignalSpy run(&session, &Session::runChanged);
        session.reload();
        QTRY_COMPARE(run.size(), 1);
        QVERIFY(settles(session));
        const Selection expected = at(idOf(session, "b.json"), "$.x");
        QCOMPARE(session.hub()->selection(), expected);
        QCOMPARE(seen, expected);
        QVERIFY(!session.hub()->canGoBack()); // c.json is gone
        QVERIFY(session.hub()->bookmarks().empty());
        session.open({toQt(folder.path())}); // opening is not reloading
        QTRY_VERIFY(session.hub()->selection().empty());
        QVERIFY(settles(session));
    }

    void thresholdsRunOneInstrument()
    {
        test::TempFolder folder;
        folder.file("config.json", "{\"bad\": 7}");
        Session session(nullptr, fake::table);
        session.open({toQt(folder.path())});
        QVERIFY(settles(session));
        const int finder = session.indexOf("F90");
        const auto other = session.state(1).outcome;
        QCOMPARE(session.report(finder)->findings.size(), std::size_t(1));

        QSignalSpy finished(&session, &Session::examinationFinished);
        session.setParam(finder, "threshold", 8);
        QVERIFY(session.state(finder).running);
        QVERIFY(session.state(finder).outcome); // the former stands until the new one is there
        QTRY_COMPARE(finished.size(), 1);
        QVERIFY(session.report(finder)->findings.empty());
        QCOMPARE(session.params(finder)["threshold"], 8.0);
        QCOMPARE(session.state(1).outcome, other);

        session.setParam(finder, "threshold", 8); // no change, no run
        QVERIFY(!session.isExamining());
        session.setParam(finder, "threshold", 1e9);
        QCOMPARE(session.params(finder)["threshold"], 100.0); // the limit
        session.setParam(finder, "no such name", 1);
        session.resetParams(finder);
        QVERIFY(session.state(finder).changed.empty());
        QTRY_VERIFY(!session.isExamining());
        QCOMPARE(session.report(finder)->findings.size(), std::size_t(1));
    }

    void aThrowingInstrumentStopsNobody()
    {
        test::TempFolder folder;
        folder.file("config.json", "{\"throw\": 1, \"bad\": 1}");
        Session session(nullptr, fake::table);
        session.open({toQt(folder.path())});
        QVERIFY(settles(session));
        const auto &outcome = session.state(session.indexOf("W90")).outcome;
        QVERIFY(!outcome->report);
        QCOMPARE(outcome->report.error().code, Errc::Internal);
        QCOMPARE(session.findings().all().size(), std::size_t(1));
    }

    void cancelledInstrumentsSaySo()
    {
        test::TempFolder folder;
        folder.file("config.json", "{}");
        fake::block = true;
        Session session(nullptr, fake::table);
        QSignalSpy finished(&session, &Session::examinationFinished);
        session.open({toQt(folder.path())});
        QVERIFY(QTest::qWaitFor([] { return fake::started.try_acquire(); }, 30000));
        session.jobs()->cancelAll();
        QTRY_COMPARE(finished.size(), 1);
        const auto &outcome = session.state(session.indexOf("W91")).outcome;
        QVERIFY(outcome && !outcome->report);
        QCOMPARE(outcome->report.error().code, Errc::Cancelled);
    }

    void openingAnotherStopsTheInstruments()
    {
        test::TempFolder folder;
        folder.file("one/config.json", "{}");
        folder.file("two/config.json", "{\"bad\": 3}");
        fake::block = true;
        Session session(nullptr, fake::table);
        session.open({toQt(folder.path("one"))});
        QVERIFY(QTest::qWaitFor([] { return fake::started.try_acquire(); }, 30000));
        fake::block = false;
        session.open({toQt(folder.path("two"))});
        QVERIFY(settles(session));
        QVERIFY(session.state(session.indexOf("W91")).outcome->report);
        QCOMPARE(session.findings().all().size(), std::size_t(1));
    }

    void destroyedWhileExamining()
    {
        test::TempFolder folder;
        folder.file("config.json", "{}");
        fake::block = true;
        auto session = std::make_unique<Session>(nullptr, fake::table);
        session->open({toQt(folder.path())});
        QVERIFY(QTest::qWaitFor([] { return fake::started.try_acquire(); }, 30000));
        session.reset();
        QThreadPool::globalInstance()->waitForDone();
    }

    void baseline()
    {
        test::TempFolder folder;
        folder.file("good/config.json", "{}");
        folder.file("bad/config.json", "{\"bad\": 3}");
        Session session(nullptr, fake::table);
        session.openBaseline({toQt(folder.path("good"))});
        session.open({toQt(folder.path("bad"))});
        QTRY_VERIFY(session.baseline());
        QVERIFY(settles(session));
        QCOMPARE(session.findings().all().size(), std::size_t(2));
        const ArtifactId good = idOf(session, "config.json", Side::B);
        QCOMPARE(session.findings().worst(Side::B, good), Severity::Info);
        QCOMPARE(session.artifact({Side::B, good, Whole{}})->path, std::string("config.json"));
        session.closeBaseline();
        QVERIFY(settles(session));
        QCOMPARE(session.findings().all().size(), std::size_t(1));
        session.close();
        QVERIFY(!session.run() && session.findings().all().empty() && !session.examination());
    }

    void acknowledgementsSurviveReloading()
    {
        test::TempFolder folder;
        folder.file("config.json", "{\"bad\": 7}");
        Session session(nullptr, fake::table);
        session.open({toQt(folder.path())});
        QVERIFY(settles(session));
        QSignalSpy changed(&session, &Session::acknowledgementsChanged);
        const FindingRef ref = session.findings().all()[0];
        session.acknowledge(ref, QStringLiteral("known since March"));
        QCOMPARE(changed.size(), 1);
        folder.file("another.json", "{\"bad\": 9}");
        session.reload();
        QTRY_COMPARE(session.run()->artifacts().size(), std::size_t(2));
        QVERIFY(settles(session));
        int acknowledged = 0;
        for (const FindingRef now : session.findings().all()) {
            if (!session.isAcknowledged(now))
                continue;
            ++acknowledged;
            QCOMPARE(session.finding(now).title, std::string("bad is set in config.json"));
            QCOMPARE(session.acknowledgement(now), QStringLiteral("known since March"));
            session.withdraw(now);
            QVERIFY(!session.isAcknowledged(now));
        }
        QCOMPARE(acknowledged, 1);
    }

    void savesAndRestores()
    {
        test::TempFolder folder;
        folder.file("in/config.json", "{\"bad\": 7, \"x\": {\"y\": 2}}");
        folder.file("base/config.json", "{}");
        const QString file = toQt(folder.path("a.session"));
        const QByteArray layout("\x00\x01\xFF layout", 10);
        {
            Session session(nullptr, fake::table);
            session.open({toQt(folder.path("in"))});
            session.openBaseline({toQt(folder.path("base"))});
            QTRY_VERIFY(session.baseline());
            QVERIFY(settles(session));
            session.hub()->bookmark({{Side::B, idOf(session, "config.json", Side::B), Whole{}}}, QStringLiteral("B"));
            session.hub()->select(at(idOf(session, "config.json"), "$.x.y"), nullptr);
            session.setParam(0, "threshold", 50);
            QVERIFY(settles(session));
            QSignalSpy saved(&session, &Session::saved);
            session.save(file, layout);
            QVERIFY(saved.wait());
        }
        Session session(nullptr, fake::table);
        QSignalSpy restored(&session, &Session::restored);
        session.restore(file);
        QTRY_COMPARE(restored.size(), 1);
        QCOMPARE(restored[0][0].toByteArray(), layout);
        QTRY_VERIFY(session.baseline() && session.run());
        QVERIFY(settles(session));
        QCOMPARE(session.hub()->selection(), at(idOf(session, "config.json"), "$.x.y"));
        QCOMPARE(session.hub()->bookmarks().size(), std::size_t(1));
        QCOMPARE(session.hub()->bookmarks()[0].note, QStringLiteral("B"));
        QCOMPARE(session.params(0)["threshold"], 50.0);
        QVERIFY(session.report(0)->findings.size() == 1); // the baseline's only
    }

    void restoringWhatIsNoSession()
    {
        test::TempFolder folder;
        folder.file("a.session", "{\"schema\": \"something else\"}");
        const QString file = toQt(folder.path("a.session"));
        Session session(nullptr, fake::table);
        QSignalSpy failed(&session, &Session::openFailed);
        session.restore(file);
        QTRY_COMPARE(failed.size(), 1);
        QCOMPARE(failed[0][0].value<Error>().code, Errc::Malformed);
        session.restore(toQt(folder.path("absent")));
        QTRY_COMPARE(failed.size(), 2);
        session.save(toQt(folder.path("no/such/folder/x")), {});
        QTRY_COMPARE(failed.size(), 3);
    }
};

PROSECTOR_TEST(TestSession, tst_session)
#include "tst_session.moc"
