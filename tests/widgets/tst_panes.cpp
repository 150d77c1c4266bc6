// SPDX-License-Identifier: GPL-3.0-or-later
// What single panes and docks do, driven as a user would.
#include "models/item/configurationmodel.h"
#include "models/item/findingmodel.h"
#include "models/session/text.h"
#include "tests/support/fakeinstruments.h"
#include "tests/support/settled.h"
#include "tests/support/strict.h"
#include "tests/support/tempfolder.h"
#include "tests/support/windowfixture.h"
#include "widgets/hovercard.h"
#include "widgets/panearea.h"
#include "widgets/panels/bookmarkspanel.h"
#include "widgets/panels/configurationpane.h"
#include "widgets/panels/evidencepanel.h"
#include "widgets/panels/exporting.h"
#include "widgets/panels/findingspanel.h"
#include "widgets/panels/inspectorpanel.h"
#include "widgets/panels/instrumentpanel.h"
#include "widgets/panels/logpane.h"
#include "widgets/progressline.h"
#include "widgets/views/richview.h"
#include "widgets/views/tableview.h"

#include <QApplication>
#include <QClipboard>
#include <QComboBox>
#include <QDialog>
#include <QDockWidget>
#include <QHeaderView>
#include <QHelpEvent>
#include <QInputDialog>
#include <QLabel>
#include <QStandardItemModel>
#include <QToolButton>

using namespace prosector;

namespace {

int shownWidth(const QHeaderView *header)
{
    int width = 0;
    for (int c = 0; c < header->count(); ++c)
        width += header->isSectionHidden(c) ? 0 : header->sectionSize(c);
    return width;
}

QString textOf(Panel *panel)
{
    QString text;
    for (const RichView *const view : panel->findChildren<RichView *>())
        text += view->toPlainText() + QLatin1Char('\n');
    return text;
}

/// The dialog the window has opened, once it is there.
QInputDialog *inputDialog(MainWindow *window)
{
    QInputDialog *dialog = nullptr;
    [&] { QTRY_VERIFY((dialog = window->findChild<QInputDialog *>()) != nullptr); }();
    return dialog;
}

} // namespace

class PanesTest : public QObject {
    Q_OBJECT
private slots:
    void init()
    {
        failOnQtWarnings();
        fake::block = false;
        m_window = std::make_unique<test::WindowFixture>();
    }
    void cleanup() { m_window.reset(); }

    void logPaneListsLogsOnly();
    void configurationOfFilesAlone();
    void columnsFit_data();
    void columnsFit();
    void findingsWorstFirst();
    void instrumentPageSaysItsNameOnce();
    void inspectorLooksUp();
    void bookmarks();
    void acknowledging();
    void sessionKeepsPanes();
    void hoverShowsCard();
    void progressAndCancel();
    void treesAsCsv();
    void copyCellAndRow();
    void keysAreListed();
    void findingsByKey();

private:
    std::unique_ptr<test::WindowFixture> m_window;
};

void PanesTest::logPaneListsLogsOnly()
{
    auto &window = *m_window;
    QVERIFY(test::write(window.model() + QStringLiteral("/notes.txt"), "just words\nof somebody\n"));
    QVERIFY(test::write(window.model() + QStringLiteral("/start.log"),
                        "INFO 07-01 10:00:00 [api_server.py:1] vLLM API server version 0.9.1\n"
                        "WARNING 07-01 10:00:01 [config.py:2] Casting torch.bfloat16 to torch.float16.\n"));
    QVERIFY(window.openModel());
    Panel *const pane = window->openPanel(LogPane::paneId());
    const auto *const logs = pane->findChild<QComboBox *>();
    QTRY_COMPARE(logs->count(), 1);
    QCOMPARE(logs->currentText(), QStringLiteral("start.log"));
    // The text begins right behind the number and the level.
    const auto *const view = pane->findChild<TableView *>();
    QTRY_VERIFY(!pane->isBusy());
    const QHeaderView *const header = view->horizontalHeader();
    QTRY_VERIFY(header->sectionViewportPosition(3) < 24 * view->fontMetrics().averageCharWidth());
}

void PanesTest::configurationOfFilesAlone()
{
    auto &window = *m_window;
    // Two models, and nothing says which was served or by what.
    QVERIFY(QDir().mkpath(window.model() + QStringLiteral("/draft")));
    QVERIFY(test::write(window.model() + QStringLiteral("/draft/config.json"),
                        QByteArray(test::sickConfig).replace("\"hidden_size\": 64", "\"hidden_size\": 32")));
    QVERIFY(window.openModel());
    Panel *const pane = window->openPanel(ConfigurationPane::paneId());
    QTRY_VERIFY(!pane->isBusy());
    const auto *const view = pane->findChild<TreeView *>();
    QVERIFY(view->isVisible());
    const QAbstractItemModel *const model = view->model();
    QCOMPARE(model->rowCount(), 2);
    QStringList sizes;
    for (int row = 0; row < 2; ++row) {
        const QModelIndex top = model->index(row, 0);
        QCOMPARE(top.siblingAtColumn(ConfigurationModel::ValueColumn).data().toString(), QStringLiteral("engine unknown"));
        for (int s = 0; s < model->rowCount(top); ++s) {
            const QModelIndex setting = model->index(s, 0, top);
            if (setting.data().toString() == QLatin1String("hidden_size"))
                sizes.append(setting.siblingAtColumn(ConfigurationModel::ValueColumn).data().toString());
        }
    }
    QCOMPARE(sizes, (QStringList{QStringLiteral("64"), QStringLiteral("32")}));
}

void PanesTest::columnsFit_data()
{
    QTest::addColumn<QString>("panel");
    QTest::newRow("configuration") << QStringLiteral("configuration");
    QTest::newRow("findings") << QStringLiteral("findings");
}

void PanesTest::columnsFit()
{
    QFETCH(QString, panel);
    QVERIFY(m_window->openModel());
    Panel *const pane = (*m_window)->openPanel(panel);
    QTRY_VERIFY(!pane->isBusy());
    const auto *const view = pane->findChild<QAbstractItemView *>();
    const auto *const header = view->findChild<QHeaderView *>();
    const QHeaderView *const columns = qobject_cast<const QTableView *>(view) ? qobject_cast<const QTableView *>(view)->horizontalHeader() : header;
    QTRY_VERIFY(shownWidth(columns) <= view->viewport()->width());
    QVERIFY(shownWidth(columns) > view->viewport()->width() / 2);
}

void PanesTest::findingsWorstFirst()
{
    auto &window = *m_window;
    // A note beside the error of the configuration.
    QVERIFY(window.openModel());
    const QAbstractItemModel *const model = window->findings()->view()->model();
    QVERIFY(model->rowCount() > 1);
    for (int row = 1; row < model->rowCount(); ++row)
        QVERIFY(model->index(row, 0).data(SeverityRole).toInt() <= model->index(row - 1, 0).data(SeverityRole).toInt());
    const QHeaderView *const header = window->findings()->view()->horizontalHeader();
    QTRY_VERIFY(header->sectionSize(FindingModel::TitleColumn) > window->findings()->width() / 2);
}

void PanesTest::instrumentPageSaysItsNameOnce()
{
    QVERIFY(m_window->openModel());
    Panel *const pane = (*m_window)->openPanel(QStringLiteral("F5"));
    QTRY_VERIFY(!pane->isBusy());
    const QString text = textOf(pane);
    QVERIFY(text.contains(QLatin1String("What it checks"))); // the help page is there
    QVERIFY(!text.contains(QLatin1String("F5 Position-scaling audit")));
    QVERIFY(!text.contains(QLatin1String("Asks.")));
}

void PanesTest::inspectorLooksUp()
{
    QVERIFY(m_window->openModel());
    MainWindow &window = *m_window->window();
    const Artifact *const config = window.session()->run()->byName("config.json");
    window.session()->hub()->select({{Side::A, config->id, JsonPath{"$.hidden_size"}}}, nullptr);
    auto *const inspector = static_cast<InspectorPanel *>(window.openPanel(QStringLiteral("inspector")));
    QTRY_VERIFY(inspector->view()->toPlainText().contains(QLatin1String("$.hidden_size")));
    const QString text = inspector->view()->toPlainText();
    for (const char *const said : {"Offset", "2 bytes", "36 34", "Value", "64", "config.json"})
        QVERIFY2(text.contains(QLatin1String(said)), qPrintable(text));
    QVERIFY(inspector->csvModel() != nullptr);
    QVERIFY(CsvRows(*inspector->csvModel()).take(100).contains(QLatin1String("Length,2 bytes")));
}

void PanesTest::bookmarks()
{
    QVERIFY(m_window->openModel());
    MainWindow &window = *m_window->window();
    const Artifact *const config = window.session()->run()->byName("config.json");
    const Selection place{{Side::A, config->id, JsonPath{"$.model_type"}}};
    window.session()->hub()->select(place, nullptr);
    QTest::keyClick(&window, Qt::Key_B, Qt::ControlModifier);
    QInputDialog *const dialog = inputDialog(&window);
    dialog->setTextValue(QStringLiteral("look here"));
    dialog->accept();
    BookmarksPanel *const panel = window.bookmarks();
    QCOMPARE(window.openPanel(QStringLiteral("bookmarks")), panel);
    TableView *const view = panel->view();
    QTRY_COMPARE(view->model()->rowCount(), 1);
    QTRY_VERIFY(view->isVisible());
    QCOMPARE(view->model()->index(0, 0).data().toString(), QStringLiteral("look here"));
    QCOMPARE(panel->parentWidget()->windowTitle(), QStringLiteral("Bookmarks (1)"));

    // Enter shows the place, wherever the selection has gone meanwhile.
    window.session()->hub()->select({{Side::A, config->id, JsonPath{"$.vocab_size"}}}, nullptr);
    view->setFocus();
    view->showRow(0);
    QTest::keyClick(view, Qt::Key_Return);
    QCOMPARE(window.session()->hub()->selection(), place);
    QVERIFY(window.panes()->find(QStringLiteral("source:config.json")) != nullptr);

    QVERIFY(view->model()->setData(view->model()->index(0, 0), QStringLiteral("or here")));
    QCOMPARE(window.session()->hub()->bookmarks()[0].note, QStringLiteral("or here"));
    view->setFocus();
    view->showRow(0);
    QTest::keyClick(view, Qt::Key_Delete);
    QCOMPARE(view->model()->rowCount(), 0);
    QVERIFY(window.session()->hub()->bookmarks().empty());
}

void PanesTest::acknowledging()
{
    QVERIFY(m_window->openModel());
    MainWindow &window = *m_window->window();
    TableView *const view = window.findings()->view();
    const int rows = view->model()->rowCount();
    const FindingRef ref = window.findings()->current();
    QVERIFY(ref.valid());
    QTest::keyClick(&window, Qt::Key_A, Qt::ControlModifier | Qt::ShiftModifier);
    QInputDialog *const dialog = inputDialog(&window);
    QVERIFY(!dialog->isModal());
    dialog->setTextValue(QStringLiteral("meant so"));
    dialog->accept();
    QVERIFY(window.session()->isAcknowledged(ref));
    QCOMPARE(view->model()->rowCount(), rows); // shown as acknowledged, not hidden
    const QModelIndex title = view->currentIndex().siblingAtColumn(FindingModel::TitleColumn);
    QVERIFY(title.data().toString().endsWith(QLatin1String("(acknowledged: meant so)")));
    QVERIFY(title.data(AcknowledgedRole).toBool());
    auto *const inspector = static_cast<InspectorPanel *>(window.openPanel(QStringLiteral("inspector")));
    QTRY_VERIFY(inspector->view()->toPlainText().contains(QLatin1String("meant so")));

    // It outlives a reload, and a saved session.
    QSignalSpy examined(window.session(), &Session::examinationFinished);
    window.session()->reload();
    QVERIFY(examined.wait(30000));
    QVERIFY(window.session()->isAcknowledged(ref));
    QCOMPARE(window.session()->toFile({}).acknowledged.size(), std::size_t{1});
    view->setFocus();
    for (int row = 0; row < rows; ++row) {
        if (view->model()->index(row, 0).data(FindingRole).value<FindingRef>() == ref)
            view->showRow(row);
    }
    QCOMPARE(window.findings()->current(), ref);
    window.activateWindow(); // offscreen, a closed dialog leaves no window active
    QVERIFY(QTest::qWaitForWindowActive(&window));
    view->setFocus();
    QTRY_VERIFY(view->hasFocus());
    QTest::keyClick(view, Qt::Key_Delete);
    QVERIFY(!window.session()->isAcknowledged(ref));
}

void PanesTest::sessionKeepsPanes()
{
    QVERIFY(m_window->openModel());
    const QString file = m_window->path(QStringLiteral("s.prosector"));
    {
        MainWindow &window = *m_window->window();
        for (const char *const id : {"source:config.json", "F5", "configuration"})
            QVERIFY(window.openPanel(QLatin1String(id)) != nullptr);
        window.panes()->raisePane(window.panes()->find(QStringLiteral("F5")));
        window.findChild<QDockWidget *>(QStringLiteral("dock.inspector"))->hide();
        QSignalSpy saved(window.session(), &Session::saved);
        window.session()->save(file, window.workState());
        QVERIFY(saved.wait(30000));
    }
    m_window->renew();
    MainWindow &window = *m_window->window();
    QCOMPARE(window.panes()->ids(), QStringList{QStringLiteral("welcome")});
    QSignalSpy examined(window.session(), &Session::examinationFinished);
    window.session()->restore(file);
    QVERIFY(examined.wait(30000));
    QStringList ids = window.panes()->ids();
    ids.sort();
    QCOMPARE(ids, (QStringList{QStringLiteral("F5"), QStringLiteral("configuration"), QStringLiteral("source:config.json"),
                               QStringLiteral("welcome")}));
    QCOMPARE(window.panes()->current()->id(), QStringLiteral("F5"));
    QVERIFY(!window.findChild<QDockWidget *>(QStringLiteral("dock.inspector"))->isVisible());
    window.restoreWork("of another version"); // is left alone
}

void PanesTest::hoverShowsCard()
{
    QVERIFY(m_window->openModel());
    MainWindow &window = *m_window->window();
    TreeView *const view = window.evidence()->view();
    const QModelIndex file = view->indexBelow(view->model()->index(0, 0));
    QVERIFY(!placesAt(file).empty());
    const QPoint at = view->visualRect(file).center();
    QHelpEvent help(QEvent::ToolTip, at, view->viewport()->mapToGlobal(at));
    QApplication::sendEvent(view->viewport(), &help);
    QVERIFY(window.cards()->current() != nullptr);
    QTRY_VERIFY(window.cards()->current()->isVisible());
    QVERIFY(window.cards()->current()->text().contains(QLatin1String("Config files")));
    QCOMPARE(window.session()->hub()->hovered(), placesAt(file));
    QTest::keyClick(view, Qt::Key_Down);
    QVERIFY(window.cards()->current() == nullptr);
    // By key, pinned: stays until it is closed.
    QTest::keyClick(&window, Qt::Key_I, Qt::ControlModifier);
    HoverCard *pinned = nullptr;
    QTRY_VERIFY((pinned = window.findChild<HoverCard *>()) != nullptr && pinned->isPinned() && pinned->isVisible());
    QTest::keyClick(pinned, Qt::Key_Escape);
    QTRY_VERIFY(window.findChild<HoverCard *>() == nullptr);
}

void PanesTest::progressAndCancel()
{
    test::TempFolder folder;
    folder.file("in/config.json", "{\"bad\": 7}");
    Session session(nullptr, fake::table);
    const int waits = session.indexOf("W91");
    InstrumentPanel panel(&session, waits);
    panel.resize(640, 480);
    panel.setVisible(true);
    fake::block = true;
    session.open({toQt(folder.path("in"))});
    QVERIFY(QTest::qWaitFor([&] { return session.state(waits).running; }, 30000));
    auto *const line = panel.findChild<ProgressLine *>();
    QVERIFY(line != nullptr);
    QTRY_VERIFY(line->isVisible());
    fake::started.acquire();
    QTest::mouseClick(line->findChild<QToolButton *>(QStringLiteral("cancel")), Qt::LeftButton);
    QTRY_VERIFY(!session.state(waits).running);
    QTRY_VERIFY(!line->isVisible());
    QTRY_VERIFY(textOf(&panel).contains(QLatin1String("Run again")));
    fake::block = false;
    session.rerun(waits);
    QVERIFY(test::settles(session));
    QTRY_VERIFY(textOf(&panel).contains(QLatin1String("Nothing found.")));
}

void PanesTest::treesAsCsv()
{
    QStandardItemModel model;
    model.setHorizontalHeaderLabels({QStringLiteral("Name"), QStringLiteral("Value")});
    const auto row = [](const char *a, const char *b) {
        return QList<QStandardItem *>{new QStandardItem(QLatin1String(a)), new QStandardItem(QLatin1String(b))};
    };
    model.appendRow(row("one", "a,b"));
    model.item(0)->appendRow(row("deep", "\"q\""));
    model.appendRow(row("two", ""));
    CsvRows rows(model);
    QString text;
    while (!rows.atEnd())
        text += rows.take(1); // however it is cut
    QCOMPARE(text, QStringLiteral("Level,Name,Value\r\n0,one,\"a,b\"\r\n1,deep,\"\"\"q\"\"\"\r\n0,two,\r\n"));
    model.clear();
    QCOMPARE(CsvRows(model).take(10), QStringLiteral("\r\n"));
}

void PanesTest::copyCellAndRow()
{
    QVERIFY(m_window->openModel());
    TableView *const view = (*m_window)->findings()->view();
    view->setFocus();
    view->setCurrentIndex(view->model()->index(0, FindingModel::ArtifactColumn));
    QTest::keyClick(view, Qt::Key_C, Qt::ControlModifier | Qt::ShiftModifier);
    QCOMPARE(QApplication::clipboard()->text(), QStringLiteral("config.json"));
    view->selectRow(0);
    QTest::keyClick(view, Qt::Key_C, Qt::ControlModifier);
    QVERIFY(QApplication::clipboard()->text().startsWith(QLatin1String("Error\t")));
}

void PanesTest::keysAreListed()
{
    MainWindow &window = *m_window->window();
    QTest::keyClick(&window, Qt::Key_Question);
    QDialog *dialog = nullptr;
    QTRY_VERIFY((dialog = window.findChild<QDialog *>()) != nullptr);
    QString text;
    for (const QLabel *const label : dialog->findChildren<QLabel *>())
        text += label->text();
    for (const char *const key : {"Ctrl+O", "Ctrl+Shift+O", "F5", "Ctrl+K", "Ctrl+F", "Ctrl+G", "F8", "Shift+F8", "Alt+Left", "Alt+Right",
                                  "Ctrl+B", "Ctrl+S", "Ctrl+E", "Ctrl+I", "Ctrl+Shift+A"})
        QVERIFY2(text.contains(QLatin1String("<b>") + QLatin1String(key) + QLatin1String("</b>")), key);
}

void PanesTest::findingsByKey()
{
    QVERIFY(m_window->openModel());
    MainWindow &window = *m_window->window();
    const int rows = window.findings()->view()->model()->rowCount();
    QVERIFY(rows > 1);
    const FindingRef worst = window.findings()->current();
    QTest::keyClick(&window, Qt::Key_F8);
    QVERIFY(window.findings()->current() != worst);
    QTest::keyClick(&window, Qt::Key_F8, Qt::ShiftModifier);
    QVERIFY(window.findings()->current() == worst);
}

PROSECTOR_TEST(PanesTest, tst_panes)
#include "tst_panes.moc"
