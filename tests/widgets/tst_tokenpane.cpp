// SPDX-License-Identifier: GPL-3.0-or-later
// The token pane in the window: opening, finding, going to a token, selecting from elsewhere.
#include "tests/support/strict.h"
#include "tests/support/windowfixture.h"
#include "widgets/panels/tokenpane.h"
#include "widgets/views/tokenview.h"

#include <QComboBox>
#include <QLineEdit>

using namespace prosector;

class TokenPaneTest : public QObject {
    Q_OBJECT

private slots:
    void init()
    {
        failOnQtWarnings();
        m_window = std::make_unique<test::WindowFixture>();
    }
    void cleanup() { m_window.reset(); }

    void findsGoesAndFollows()
    {
        QVERIFY(test::write(m_window->model() + QStringLiteral("/tokens.json"),
                            "{\"ids\": [1, 2, 3, 4, 5], \"pieces\": [\"Hello\", \" wor\", \"ld\", \"!\", \" bye\"], \"prompt_length\": 3}"));
        QVERIFY(m_window->openModel());
        auto *const pane = qobject_cast<TokenPane *>((*m_window)->openPanel(TokenPane::paneId()));
        QVERIFY(pane);
        QTRY_VERIFY(!pane->isBusy() && pane->view()->sequence());
        QCOMPARE(pane->view()->sequence()->size(), std::uint64_t(5)); // prompt and answer as one

        pane->goTo(QStringLiteral("3"));
        QVERIFY((pane->view()->selection() == TokenRange{3, 4}));
        const Selection selection = (*m_window)->session()->hub()->selection();
        QCOMPARE(selection.size(), 1U);
        const auto *const tokens = std::get_if<TokenRange>(&selection[0].where);
        QVERIFY(tokens && (*tokens == TokenRange{3, 4}));

        pane->goTo(QStringLiteral("5")); // behind the last: stays
        QVERIFY((pane->view()->selection() == TokenRange{3, 4}));

        // A word over the border of two tokens, and a text that is not there.
        pane->startFind();
        auto *const field = qobject_cast<QLineEdit *>(QApplication::focusWidget());
        QVERIFY(field && pane->isAncestorOf(field));
        QTest::keyClicks(field, QStringLiteral("world"));
        QTest::keyClick(field, Qt::Key_Return);
        QTRY_VERIFY((pane->view()->selection() == TokenRange{1, 3}));
        field->setText(QStringLiteral("word"));
        QTest::keyClick(field, Qt::Key_Return);
        QTRY_VERIFY(!pane->isBusy());
        QVERIFY((pane->view()->selection() == TokenRange{1, 3}));

        // Chosen elsewhere, shown here.
        (*m_window)->session()->hub()->select({{Side::A, selection[0].artifact, TokenRange{4, 5}}}, nullptr);
        QTRY_VERIFY((pane->view()->selection() == TokenRange{4, 5}));
    }

    void saysWhatToOpen()
    {
        QVERIFY(m_window->openModel());
        auto *const pane = qobject_cast<TokenPane *>((*m_window)->openPanel(TokenPane::paneId()));
        QVERIFY(pane);
        QTRY_VERIFY(!pane->isBusy());
        QVERIFY(!pane->view()->sequence());
        QVERIFY(!pane->view()->isVisible());
    }

private:
    std::unique_ptr<test::WindowFixture> m_window;
};

#include "tst_tokenpane.moc"
PROSECTOR_TEST(TokenPaneTest, tst_tokenpane)
