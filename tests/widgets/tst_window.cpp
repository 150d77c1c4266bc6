// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/mainwindow.h"
#include "models/session/text.h"
#include "tests/support/strict.h"
#include "tests/support/windowfixture.h"
#include "widgets/commandpalette.h"
#include "widgets/panearea.h"
#include "widgets/panels/findingspanel.h"
#include "widgets/panels/instrumentlist.h"
#include "widgets/panels/panelheader.h"
#include "widgets/panels/sourcepane.h"
#include "widgets/views/hexview.h"
#include "widgets/views/tableview.h"
#include "widgets/views/textview.h"

#include <QApplication>
#include <QDockWidget>
#include <QDropEvent>
#include <QLineEdit>
#include <QListWidget>
#include <QMimeData>
#include <QSignalSpy>
#include <QTemporaryDir>

using namespace prosector;

using test::sickConfig;
using test::write;

class WindowTest : public QObject {
    Q_OBJECT
private slots:
    void init();
    void cleanup();
    void emptyWindowSaysWhatToDo();
    void dropFollowBackReload();
    void panelsOpenById();
    void instrumentSearch();
    void paletteFinds();
    void paletteScores_data();
    void paletteScores();
    void layoutSurvives();
    void badInputIsSaid();
    void everythingHasAName();

private:
    void drop(const QStringList &paths);
    bool openModel();
    std::unique_ptr<QTemporaryDir> m_folder;
    std::unique_ptr<MainWindow> m_window;
    QString m_model;
};

void WindowTest::init()
{
    failOnQtWarnings();
    m_folder = std::make_unique<QTemporaryDir>();
    QVERIFY(m_folder->isValid());
    m_model = m_folder->filePath(QStringLiteral("model"));
    QVERIFY(QDir().mkpath(m_model));
    QVERIFY(write(m_model + QStringLiteral("/config.json"), sickConfig));
    m_window = std::make_unique<MainWindow>(
        std::make_unique<QSettings>(m_folder->filePath(QStringLiteral("settings.ini")), QSettings::IniFormat));
    m_window->resize(1280, 800);
    m_window->show();
    QVERIFY(QTest::qWaitForWindowExposed(m_window.get()));
}

void WindowTest::cleanup()
{
    m_window.reset();
    m_folder.reset();
}

void WindowTest::drop(const QStringList &paths)
{
    QMimeData data;
    QList<QUrl> urls;
    for (const QString &path : paths)
        urls.append(QUrl::fromLocalFile(path));
    data.setUrls(urls);
    const QPoint at(400, 300);
    QDragEnterEvent enter(at, Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
    QApplication::sendEvent(m_window.get(), &enter);
    QVERIFY(enter.isAccepted());
    QDropEvent event(at, Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
    QApplication::sendEvent(m_window.get(), &event);
    QVERIFY(event.isAccepted());
}

bool WindowTest::openModel()
{
    QSignalSpy examined(m_window->session(), &Session::examinationFinished);
    drop({m_model});
    return examined.wait(30000) && m_window->session()->run() != nullptr;
}

void WindowTest::emptyWindowSaysWhatToDo()
{
    QCOMPARE(m_window->panes()->ids(), QStringList{QStringLiteral("welcome")});
    QVERIFY(m_window->panes()->current()->isVisible());
    QVERIFY(m_window->openPanel(QStringLiteral("source:config.json")) == nullptr);
}

void WindowTest::dropFollowBackReload()
{
    Session *const session = m_window->session();
    QVERIFY(openModel());
    // Something was found in config.json; it is selected, and nothing was opened over the user's work.
    TableView *const table = m_window->findings()->view();
    QVERIFY(table->model()->rowCount() > 0);
    QVERIFY(!session->hub()->selection().empty());
    QCOMPARE(m_window->panes()->ids(), QStringList{QStringLiteral("welcome")});

    // Enter on the finding shows its bytes.
    const FindingRef ref = m_window->findings()->current();
    QVERIFY(ref.valid());
    const Finding finding = session->finding(ref);
    const auto *const path = std::get_if<JsonPath>(&finding.evidence[0].where);
    QVERIFY2(path != nullptr, finding.title.c_str());
    const Value value = session->artifact(placeOf(finding.evidence[0]))->as<TreeContent>()->document->at(path->path);
    QVERIFY(value);
    table->setFocus();
    QTest::keyClick(table, Qt::Key_Return);
    auto *const pane = qobject_cast<SourcePane *>(m_window->panes()->find(QStringLiteral("source:config.json")));
    QVERIFY(pane != nullptr);
    QTRY_COMPARE(pane->selectedBytes(), value.range());
    auto *const text = pane->findChild<TextView *>();
    auto *const hex = pane->findChild<HexView *>();
    QTRY_VERIFY(text->ready());
    QCOMPARE(text->selectedText().toStdString(), std::string(value.raw()));
    QCOMPARE(hex->selection(), value.range());

    // Another place, then back.
    pane->goTo(QStringLiteral("$.model_type"));
    const Value other = session->artifact(placeOf(finding.evidence[0]))->as<TreeContent>()->document->at("$.model_type");
    QTRY_COMPARE(pane->selectedBytes(), other.range());
    QTest::keyClick(m_window.get(), Qt::Key_Left, Qt::AltModifier);
    QTRY_COMPARE(pane->selectedBytes(), value.range());
    QTest::keyClick(m_window.get(), Qt::Key_Right, Qt::AltModifier);
    QTRY_COMPARE(pane->selectedBytes(), other.range());

    // The file changes on disk; F5 sees it.
    QVERIFY(write(m_model + QStringLiteral("/config.json"), QByteArray(sickConfig).replace("\"llama\"", "\"mistral\"")));
    QSignalSpy examined(session, &Session::examinationFinished);
    QTest::keyClick(m_window.get(), Qt::Key_F5);
    QVERIFY(examined.wait(30000));
    pane->goTo(QStringLiteral("$.model_type"));
    QTRY_COMPARE(text->selectedText(), QStringLiteral("\"mistral\""));
}

void WindowTest::panelsOpenById()
{
    QVERIFY(openModel());
    for (const QString &id : m_window->panelIds()) {
        Panel *const panel = m_window->openPanel(id);
        QVERIFY2(panel != nullptr, qPrintable(id));
        QCOMPARE(panel->id(), id);
        QVERIFY(!panel->header()->name().isEmpty());
        QTRY_VERIFY2(!panel->isBusy(), qPrintable(id));
        QVERIFY(!panel->grab().isNull());
    }
    QVERIFY(m_window->openPanel(QStringLiteral("Z99")) == nullptr);
    // Closing by key leaves the others.
    const auto open = m_window->panes()->ids().size();
    QTest::keyClick(m_window.get(), Qt::Key_W, Qt::ControlModifier);
    QCOMPARE(m_window->panes()->ids().size(), open - 1);
}

void WindowTest::instrumentSearch()
{
    InstrumentList *const list = m_window->instrumentList();
    QVERIFY(list->view()->model()->rowCount() > 0);
    const QString id = toQt(m_window->session()->state(0).instrument->id);
    QTest::keyClicks(list->searchBox(), id);
    QAbstractItemModel *const model = list->view()->model();
    QCOMPARE(model->rowCount(), 1);
    QTest::keyClick(list->searchBox(), Qt::Key_Return);
    QVERIFY(m_window->panes()->find(id) != nullptr);
    list->searchBox()->setText(QStringLiteral("no instrument is called so"));
    QCOMPARE(model->rowCount(), 0);
}

void WindowTest::paletteFinds()
{
    QVERIFY(openModel());
    QTest::keyClick(m_window.get(), Qt::Key_K, Qt::ControlModifier);
    CommandPalette *const palette = m_window->palettePopup();
    QVERIFY(palette->isVisible());
    auto *const query = palette->findChild<QLineEdit *>();
    QTest::keyClicks(query, QStringLiteral("config.json"));
    QCOMPARE(palette->findChild<QListWidget *>()->item(0)->text(), QStringLiteral("config.json"));
    QTest::keyClick(query, Qt::Key_Return);
    QVERIFY(!palette->isVisible());
    QVERIFY(m_window->panes()->find(QStringLiteral("source:config.json")) != nullptr);
}

void WindowTest::paletteScores_data()
{
    QTest::addColumn<QString>("better");
    QTest::addColumn<QString>("worse");
    QTest::addColumn<QString>("query");
    QTest::newRow("start of a word") << "F5 Position-scaling audit" << "W8 Composition" << "posi";
    QTest::newRow("whole word") << "config.json" << "configuration" << "config";
    QTest::newRow("earlier") << "Reload" << "Open, then reload" << "reload";
}

void WindowTest::paletteScores()
{
    QFETCH(QString, better);
    QFETCH(QString, worse);
    QFETCH(QString, query);
    QVERIFY(CommandPalette::score(better, query) > CommandPalette::score(worse, query));
    QVERIFY(CommandPalette::score(worse, query) > 0);
    QCOMPARE(CommandPalette::score(better, query + QStringLiteral(" zzz")), 0);
}

void WindowTest::layoutSurvives()
{
    auto *const dock = m_window->findChild<QDockWidget *>(QStringLiteral("dock.inspector"));
    QVERIFY(dock != nullptr);
    QVERIFY(dock->isVisible());
    dock->hide();
    const QByteArray hidden = m_window->layoutState();
    m_window->resetLayout();
    QVERIFY(dock->isVisible());
    m_window->restoreLayout(hidden);
    QVERIFY(!dock->isVisible());
    // Closing saves it, the next window finds it.
    m_window->close();
    m_window = std::make_unique<MainWindow>(
        std::make_unique<QSettings>(m_folder->filePath(QStringLiteral("settings.ini")), QSettings::IniFormat));
    m_window->show();
    QVERIFY(!m_window->findChild<QDockWidget *>(QStringLiteral("dock.inspector"))->isVisible());
    m_window->restoreLayout("not a layout"); // is left alone
}

void WindowTest::badInputIsSaid()
{
    QSignalSpy failed(m_window->session(), &Session::openFailed);
    m_window->open({m_folder->filePath(QStringLiteral("absent"))});
    QVERIFY(failed.wait(30000));
    QVERIFY(m_window->session()->run() == nullptr);
}

void WindowTest::everythingHasAName()
{
    QVERIFY(openModel());
    m_window->openPanel(QStringLiteral("source:config.json"));
    for (const QWidget *const widget : m_window->findChildren<QWidget *>()) {
        const bool reachable = widget->focusPolicy() & Qt::TabFocus && widget->isVisibleTo(m_window.get())
            && widget->objectName() != QLatin1String("qt_spinbox_lineedit") && !widget->focusProxy();
        if (!reachable || !widget->window()->isAncestorOf(widget) || widget->metaObject()->className() == std::string_view("QTabBar"))
            continue;
        QVERIFY2(!widget->accessibleName().isEmpty() || !widget->toolTip().isEmpty(),
                 qPrintable(QLatin1String(widget->metaObject()->className()) + QLatin1Char(' ') + widget->objectName()
                            + QStringLiteral(" in ") + QLatin1String(widget->parentWidget()->metaObject()->className())));
    }
}

PROSECTOR_TEST(WindowTest, tst_window)
#include "tst_window.moc"
