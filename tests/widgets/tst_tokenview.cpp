// SPDX-License-Identifier: GPL-3.0-or-later
// The view of tokens, driven by key and mouse.
#include "models/session/jobrunner.h"
#include "tests/support/strict.h"
#include "widgets/views/tokenview.h"

#include <QSignalSpy>

using namespace prosector;

class TestTokenView : public QObject {
    Q_OBJECT

private slots:
    void init() { failOnQtWarnings(); }

    void wrapsAndSelects()
    {
        JobRunner runner;
        TokenView view(&runner);
        view.resize(500, 300);
        view.show();
        TokenArray array;
        for (int i = 0; i < 1000; ++i)
            array.pieces.emplace_back(i % 10 == 9 ? "end\n" : " word");
        view.setSequence(TokenSequence::make({array}, {}, {}).valueOr(nullptr));
        QTRY_VERIFY(view.ready());
        QVERIFY(view.rowCount() >= 100);
        QSignalSpy selected(&view, &TokenView::selected);
        QTest::keyClick(&view, Qt::Key_End, Qt::ControlModifier);
        QVERIFY((view.selection() == TokenRange{999, 1000}));
        QVERIFY(view.topRow() > 0);
        QTest::keyClick(&view, Qt::Key_Left, Qt::ShiftModifier);
        QVERIFY((view.selection() == TokenRange{998, 1000}));
        QCOMPARE(view.selectedText(), QStringLiteral(" wordend\n"));
        QTest::keyClick(&view, Qt::Key_Home, Qt::ControlModifier);
        QVERIFY((view.selection() == TokenRange{0, 1}));
        QTest::mouseClick(view.viewport(), Qt::LeftButton, {}, QPoint(view.viewport()->width() - 2, 2));
        QVERIFY(view.selection().from > 0);
        QCOMPARE(selected.count(), 4);
        view.setMode(TokenView::Mode::List);
        QCOMPARE(view.rowCount(), 1000U);
        view.select({500, 502});
        QVERIFY(view.topRow() <= 500 && view.topRow() + view.visibleRows() > 500);
        QVERIFY(!view.grab().isNull());
        QCOMPARE(selected.count(), 4);
    }

    void anotherSequenceWhileRowsAreCut()
    {
        JobRunner runner;
        TokenView view(&runner);
        view.resize(500, 300);
        view.show();
        TokenArray longer, shorter;
        longer.pieces.assign(100'000, " word");
        shorter.pieces.assign(10, " word");
        view.setSequence(TokenSequence::make({longer}, {}, {}).valueOr(nullptr));
        view.setMode(TokenView::Mode::List);
        view.setSequence(TokenSequence::make({shorter}, {}, {}).valueOr(nullptr));
        QTRY_VERIFY(runner.jobs().isEmpty());
        view.setMode(TokenView::Mode::Wrapped);
        QTRY_VERIFY(view.ready());
        QVERIFY(view.rowCount() <= 10);
    }

    void withoutTokens()
    {
        JobRunner runner;
        TokenView view(&runner);
        view.show();
        view.setSequence({});
        QTest::keyClick(&view, Qt::Key_Down);
        QVERIFY(view.ready());
        QCOMPARE(view.rowCount(), 0U);
        QVERIFY(view.selectedText().isEmpty());
    }
};

#include "tst_tokenview.moc"
PROSECTOR_TEST(TestTokenView, tst_tokenview)
