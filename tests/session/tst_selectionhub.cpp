// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/session/selectionhub.h"

#include "tests/support/strict.h"

#include <QSignalSpy>

using namespace prosector;

namespace {

Selection at(std::uint32_t artifact, std::uint64_t line = 1)
{
    return {Place{Side::A, {artifact}, LogLine{line, line}}};
}

} // namespace

class TestSelectionHub : public QObject {
    Q_OBJECT

private slots:
    void init() { failOnQtWarnings(); }

    void passesTheOriginOn()
    {
        SelectionHub hub;
        const QObject pane;
        const QObject *heard = nullptr;
        Selection selected;
        connect(&hub, &SelectionHub::selectionChanged, this, [&](const Selection &s, const QObject *origin) {
            selected = s;
            heard = origin;
        });
        hub.select(at(3, 7), &pane);
        QCOMPARE(selected, at(3, 7));
        QCOMPARE(heard, &pane);
        hub.select(at(4), nullptr);
        QVERIFY(!heard);
        hub.back();
        QCOMPARE(selected, at(3, 7));
        QCOMPARE(heard, static_cast<const QObject *>(&hub));
    }

    void repeatsAreNotSteps()
    {
        SelectionHub hub;
        QSignalSpy changed(&hub, &SelectionHub::selectionChanged);
        hub.select(at(1), nullptr);
        hub.select(at(1), nullptr);
        QCOMPARE(changed.size(), 1);
        hub.select({}, nullptr); // nothing selected is told, but is no step
        hub.select(at(1), nullptr);
        QCOMPARE(changed.size(), 3);
        QVERIFY(!hub.canGoBack());
        hub.select(at(2), nullptr);
        hub.back();
        QCOMPARE(hub.selection(), at(1));
        QVERIFY(!hub.canGoBack() && hub.canGoForward());
    }

    void selectingForgetsTheStepsAhead()
    {
        SelectionHub hub;
        for (std::uint32_t i = 1; i <= 4; ++i)
            hub.select(at(i), nullptr);
        hub.back();
        hub.back();
        QCOMPARE(hub.selection(), at(2));
        hub.forward();
        QCOMPARE(hub.selection(), at(3));
        hub.back();
        hub.select(at(9), nullptr);
        QVERIFY(!hub.canGoForward());
        hub.back();
        QCOMPARE(hub.selection(), at(2));
        hub.back();
        hub.back(); // at the start: stays
        QCOMPARE(hub.selection(), at(1));
    }

    void historyIsLimited()
    {
        SelectionHub hub;
        for (std::uint32_t i = 0; i < SelectionHub::historyLimit + 10; ++i)
            hub.select(at(i), nullptr);
        std::size_t steps = 1;
        for (; hub.canGoBack(); hub.back())
            ++steps;
        QCOMPARE(steps, SelectionHub::historyLimit);
        QCOMPARE(hub.selection(), at(10));
    }

    void hoverStaysOutOfHistory()
    {
        SelectionHub hub;
        QSignalSpy hovered(&hub, &SelectionHub::hoverChanged);
        hub.select(at(1), nullptr);
        hub.hover(at(2), nullptr);
        hub.hover(at(2), nullptr);
        QCOMPARE(hovered.size(), 1);
        QCOMPARE(hub.selection(), at(1));
        QVERIFY(!hub.canGoBack());
    }

    void bookmarks()
    {
        SelectionHub hub;
        QSignalSpy changed(&hub, &SelectionHub::bookmarksChanged);
        hub.bookmark({}, QStringLiteral("nothing"));
        QCOMPARE(changed.size(), 0);
        hub.bookmark(at(1), QStringLiteral("first"));
        hub.bookmark(at(2), QStringLiteral("second"));
        hub.bookmark(at(1), QStringLiteral("again"));
        QCOMPARE(hub.bookmarks().size(), std::size_t(2));
        QCOMPARE(hub.bookmarks()[0].note, QStringLiteral("again"));
        hub.removeBookmark(0);
        hub.removeBookmark(5);
        QCOMPARE(hub.bookmarks().size(), std::size_t(1));
        hub.setNote(0, QStringLiteral("kept"));
        QCOMPARE(hub.bookmarks()[0], (Bookmark{at(2), QStringLiteral("kept")}));
    }

    void remapFollowsTheArtifacts()
    {
        SelectionHub hub;
        hub.select(at(1), nullptr);
        hub.select(at(2), nullptr); // will vanish
        hub.select(at(3), nullptr);
        hub.bookmark(at(2), QStringLiteral("gone"));
        hub.bookmark({at(1)[0], at(2)[0]}, QStringLiteral("half"));
        QSignalSpy changed(&hub, &SelectionHub::selectionChanged);
        hub.remap([](const Place &place) -> std::optional<Place> {
            if (place.artifact.index == 2)
                return std::nullopt;
            return Place{place.side, {place.artifact.index + 10}, place.where};
        });
        QCOMPARE(changed.size(), 0);
        hub.announce();
        QCOMPARE(changed.size(), 1);
        QCOMPARE(hub.selection(), at(13));
        QCOMPARE(hub.bookmarks().size(), std::size_t(1));
        QCOMPARE(hub.bookmarks()[0], (Bookmark{at(11), QStringLiteral("half")}));
        hub.back();
        QCOMPARE(hub.selection(), at(11));
        QVERIFY(!hub.canGoBack());
    }

    void mayBeSelectedAgainWhileTelling()
    {
        SelectionHub hub;
        std::vector<Selection> heard;
        connect(&hub, &SelectionHub::selectionChanged, this, [&](const Selection &s) {
            if (s == at(1))
                hub.select(at(2), nullptr);
            heard.push_back(s);
        });
        hub.select(at(1), nullptr);
        QCOMPARE(heard, (std::vector<Selection>{at(2), at(1)}));
        QCOMPARE(hub.selection(), at(2));
    }
};

PROSECTOR_TEST(TestSelectionHub, tst_selectionhub)
#include "tst_selectionhub.moc"
