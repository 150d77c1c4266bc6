// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/mainwindow.h"

#include "models/session/text.h"
#include "widgets/commandpalette.h"
#include "widgets/panearea.h"
#include "widgets/hovercard.h"
#include "widgets/panels/bookmarkspanel.h"
#include "widgets/panels/configurationpane.h"
#include "widgets/panels/evidencepanel.h"
#include "widgets/panels/findingspanel.h"
#include "widgets/panels/inspectorpanel.h"
#include "widgets/panels/instrumentlist.h"
#include "widgets/panels/instrumentpanel.h"
#include "widgets/panels/logpane.h"
#include "widgets/panels/panelheader.h"
#include "widgets/panels/sourcepane.h"
#include "widgets/panels/tensorspane.h"
#include "widgets/panels/tokenpane.h"
#include "widgets/panels/welcomepane.h"
#include "widgets/progressline.h"
#include "widgets/statuslight.h"
#include "widgets/theme.h"

#include <QCloseEvent>
#include <QDataStream>
#include <QDockWidget>
#include <QDragEnterEvent>
#include <QFileInfo>
#include <QLabel>
#include <QMimeData>
#include <QStatusBar>
#include <QTimer>
#include <QUrl>

namespace prosector {

namespace {

constexpr int layoutVersion = 2; ///< raise when docks change their meaning
constexpr QSize firstSize(1280, 800);

QStringList localPaths(const QMimeData *data)
{
    QStringList paths;
    for (const QUrl &url : data->urls()) {
        if (url.isLocalFile())
            paths.append(url.toLocalFile());
    }
    return paths;
}

} // namespace

MainWindow::MainWindow(std::unique_ptr<QSettings> settings, QWidget *parent)
    : QMainWindow(parent), m_settings(settings ? std::move(settings) : std::make_unique<QSettings>()), m_recent(m_settings.get()),
      m_panes(new PaneArea(this))
{
    setObjectName(QStringLiteral("prosector"));
    setWindowIcon(QIcon(QStringLiteral(":/prosector/org.prosector.Prosector.svg")));
    setAcceptDrops(true);
    setDockNestingEnabled(true);
    setCentralWidget(m_panes);
    Theme::instance().setMode(Theme::modeFromName(m_settings->value(QStringLiteral("theme")).toString()));
    if (const double scale = m_settings->value(QStringLiteral("fontScale"), 1.0).toDouble(); scale != 1.0 && Theme::instance().fontScale() == 1.0)
        Theme::instance().setFontScale(scale);
    resize(firstSize);
    makePanels();
    makeMenus();
    makeStatusBar();
    placeDocks();
    connectSession();
    m_palette = new CommandPalette(this);
    m_firstLayout = layoutState();
    if (const QByteArray geometry = m_settings->value(QStringLiteral("geometry")).toByteArray(); !geometry.isEmpty())
        restoreGeometry(geometry);
    restoreLayout(m_settings->value(QStringLiteral("layout")).toByteArray());
    updateTitle();
}

MainWindow::~MainWindow() = default;

void MainWindow::makePanels()
{
    m_evidence = new EvidencePanel(&m_session);
    m_instruments = new InstrumentList(&m_session);
    m_findings = new FindingsPanel(&m_session);
    m_inspector = new InspectorPanel(&m_session);
    m_bookmarks = new BookmarksPanel(&m_session);
    m_welcome = new WelcomePane(&m_session, &m_recent);
    m_cards = new HoverCards(&m_session, this);
    m_panes->add(m_welcome);
    connect(m_evidence, &EvidencePanel::artifactActivated, this, &MainWindow::showPlace);
    connect(m_instruments, &InstrumentList::instrumentActivated, this, &MainWindow::openPanel);
    connect(m_findings, &FindingsPanel::findingActivated, this, &MainWindow::showFinding);
    connect(m_findings, &FindingsPanel::acknowledgeRequested, this, &MainWindow::acknowledge);
    connect(m_inspector, &InspectorPanel::placeActivated, this, &MainWindow::showPlace);
    connect(m_inspector, &InspectorPanel::acknowledgeRequested, this, &MainWindow::acknowledge);
    connect(m_bookmarks, &BookmarksPanel::bookmarkActivated, this,
            [this](const Selection &places) { showIn(paneFor(places[0]), places); });
    connect(m_cards, &HoverCards::placeActivated, this, &MainWindow::showPlace);
    connect(m_inspector, &Panel::instrumentRequested, this, &MainWindow::openPanel);
    connect(m_welcome, &Panel::instrumentRequested, this, &MainWindow::openPanel);
    connect(m_welcome, &WelcomePane::openRequested, this, &MainWindow::open);
    connect(m_welcome, &WelcomePane::openFolderRequested, this, &MainWindow::chooseFolder);
    connect(m_welcome, &WelcomePane::openFilesRequested, this, [this] { chooseFiles(false); });
    connect(m_welcome, &WelcomePane::findingActivated, this, &MainWindow::showFinding);
    connect(&m_recent, &RecentList::changed, this, &MainWindow::fillRecentMenu);
}

void MainWindow::placeDocks()
{
    QDockWidget *const evidence = dockFor(m_evidence, this);
    QDockWidget *const instruments = dockFor(m_instruments, this);
    QDockWidget *const findings = dockFor(m_findings, this);
    QDockWidget *const inspector = dockFor(m_inspector, this);
    QDockWidget *const bookmarks = dockFor(m_bookmarks, this);
    setTabPosition(Qt::BottomDockWidgetArea, QTabWidget::North);
    // The left and right columns reach to the bottom; the findings lie below the panes.
    setCorner(Qt::BottomLeftCorner, Qt::LeftDockWidgetArea);
    setCorner(Qt::BottomRightCorner, Qt::RightDockWidgetArea);
    addDockWidget(Qt::LeftDockWidgetArea, evidence);
    splitDockWidget(evidence, instruments, Qt::Vertical);
    addDockWidget(Qt::RightDockWidgetArea, inspector);
    addDockWidget(Qt::BottomDockWidgetArea, findings);
    tabifyDockWidget(findings, bookmarks);
    bookmarks->hide(); // until there is one
    findings->raise();
    const int cell = fontMetrics().averageCharWidth();
    // With large letters the panes keep half of the window.
    resizeDocks({evidence, inspector}, {std::min(cell * 40, width() * 23 / 100), std::min(cell * 46, width() * 27 / 100)}, Qt::Horizontal);
    resizeDocks({evidence, instruments}, {320, 440}, Qt::Vertical);
    resizeDocks({findings}, {Theme::rowHeight(fontMetrics()) * 9}, Qt::Vertical);
}

void MainWindow::makeStatusBar()
{
    auto *const light = new StatusLight(&m_session);
    m_notice = new QLabel;
    statusBar()->addWidget(light);
    statusBar()->addWidget(m_notice, 1);
    statusBar()->addPermanentWidget(new ProgressLine(m_session.jobs()));
    statusBar()->setSizeGripEnabled(false);
    connect(light, &StatusLight::clicked, this, [this] { m_findings->setFocus(); });
}

void MainWindow::connectSession()
{
    connect(&m_session, &Session::runChanged, this, [this] {
        m_worstPending = true;
        m_notice->clear();
        if (m_session.run())
            m_recent.add(m_session.paths());
        updateTitle();
        reopenPanes();
    });
    connect(&m_session, &Session::examinationFinished, this, [this] {
        // The worst finding is selected once, and only if the user has selected nothing meanwhile.
        if (m_worstPending && m_session.hub()->selection().empty())
            m_findings->selectWorst();
        m_worstPending = false;
    });
    connect(&m_session, &Session::openFailed, this, [this](const Error &error) { complain(toQt(describe(error))); });
    connect(&m_session, &Session::restored, this, &MainWindow::restoreWork);
    connect(m_session.hub(), &SelectionHub::bookmarksChanged, this, [this] {
        const auto count = m_session.hub()->bookmarks().size();
        if (auto *const dock = qobject_cast<QDockWidget *>(m_bookmarks->parentWidget())) {
            dock->setWindowTitle(count > 0 ? tr("Bookmarks (%1)").arg(count) : tr("Bookmarks"));
            if (count == 1 && !dock->isVisible())
                dock->show(); // a tab beside the findings
        }
    });
    connect(&m_session, &Session::saved, this, [this](const QString &file) { m_notice->setText(tr("Saved %1").arg(file)); });
}

void MainWindow::complain(const QString &text)
{
    // Not a dialog: what is open stays usable, and the reason stays readable until the next opening.
    m_notice->setText(text);
    m_notice->setToolTip(text);
}

void MainWindow::open(const QStringList &paths)
{
    QStringList absolute;
    for (const QString &path : paths)
        absolute.append(QFileInfo(path).absoluteFilePath());
    if (!absolute.isEmpty())
        m_session.open(absolute);
}

Panel *MainWindow::createPanel(const QString &id)
{
    for (const Side side : {Side::B, Side::A}) {
        const QString prefix = SourcePane::idFor(side, {});
        const RunPtr run = m_session.run(side);
        if (id.startsWith(prefix) && run && run->byName(id.mid(prefix.size()).toStdString()))
            return new SourcePane(&m_session, side, id.mid(prefix.size()));
    }
    if (id == ConfigurationPane::paneId()) {
        auto *const pane = new ConfigurationPane(&m_session);
        connect(pane, &ConfigurationPane::placeActivated, this, &MainWindow::showPlace);
        return pane;
    }
    if (id == TensorsPane::paneId()) {
        auto *const pane = new TensorsPane(&m_session);
        connect(pane, &TensorsPane::placeActivated, this, &MainWindow::showSource);
        return pane;
    }
    if (id == TokenPane::paneId())
        return new TokenPane(&m_session);
    if (id == LogPane::paneId()) {
        auto *const pane = new LogPane(&m_session);
        connect(pane, &LogPane::placeActivated, this, &MainWindow::showSource);
        return pane;
    }
    if (const int instrument = m_session.indexOf(id.toUpper().toStdString()); instrument >= 0) {
        auto *const pane = new InstrumentPanel(&m_session, instrument);
        connect(pane, &InstrumentPanel::placeActivated, this, &MainWindow::showPlace);
        connect(pane, &InstrumentPanel::acknowledgeRequested, this, &MainWindow::acknowledge);
        return pane;
    }
    return nullptr;
}

Panel *MainWindow::openPanel(const QString &id)
{
    for (Panel *const fixed : {static_cast<Panel *>(m_evidence), static_cast<Panel *>(m_instruments),
                               static_cast<Panel *>(m_findings), static_cast<Panel *>(m_inspector),
                               static_cast<Panel *>(m_bookmarks)}) {
        if (fixed->id() == id) {
            auto *const dock = qobject_cast<QDockWidget *>(fixed->parentWidget());
            dock->show();
            dock->raise();
            return fixed;
        }
    }
    if (Panel *const open = m_panes->find(id)) {
        m_panes->raisePane(open);
        return open;
    }
    Panel *const panel = createPanel(id);
    if (panel == nullptr)
        return nullptr;
    connect(panel, &Panel::instrumentRequested, this, &MainWindow::openPanel);
    m_panes->add(panel);
    return panel;
}

QStringList MainWindow::panelIds() const
{
    QStringList ids{QStringLiteral("welcome"), QStringLiteral("evidence"), QStringLiteral("instruments"),
                    QStringLiteral("findings"), QStringLiteral("inspector"), BookmarksPanel::panelId(), ConfigurationPane::paneId(), TensorsPane::paneId(),
                    LogPane::paneId(), TokenPane::paneId()};
    for (int i = 0; i < m_session.instrumentCount(); ++i)
        ids.append(toQt(m_session.state(i).instrument->id));
    for (const Side side : {Side::A, Side::B}) {
        if (const RunPtr run = m_session.run(side)) {
            for (const Artifact &artifact : run->artifacts())
                ids.append(SourcePane::idFor(side, toQt(artifact.name)));
        }
    }
    return ids;
}

QString MainWindow::paneFor(const Place &place) const
{
    const Artifact *const artifact = m_session.artifact(place);
    if (artifact == nullptr)
        return {};
    if (place.side == Side::A && std::holds_alternative<TensorBlock>(place.where))
        return TensorsPane::paneId();
    if (place.side == Side::A && std::holds_alternative<TokenRange>(place.where))
        return TokenPane::paneId();
    if (place.side == Side::A && artifact->kind == Kind::StartupLog)
        return LogPane::paneId();
    return SourcePane::idFor(place.side, toQt(artifact->name));
}

void MainWindow::showIn(const QString &id, const Selection &places)
{
    if (id.isEmpty() || places.empty())
        return;
    Panel *const panel = openPanel(id);
    m_session.hub()->select(places, nullptr);
    if (panel != nullptr) {
        panel->show(places); // also when the place was selected already, or its link is off
        panel->setFocus();
    }
}

void MainWindow::showPlace(const Place &place) { showIn(paneFor(place), {place}); }

void MainWindow::showSource(const Place &place)
{
    if (const Artifact *const artifact = m_session.artifact(place))
        showIn(SourcePane::idFor(place.side, toQt(artifact->name)), {place});
}

void MainWindow::showFinding(FindingRef ref)
{
    const Selection places = placesOf(m_session.finding(ref));
    if (!places.empty())
        showIn(paneFor(places[0]), places);
}

Panel *MainWindow::currentPanel() const
{
    for (QWidget *widget = focusWidget(); widget != nullptr; widget = widget->parentWidget()) {
        if (auto *const panel = qobject_cast<Panel *>(widget))
            return panel;
    }
    return m_panes->current();
}

QByteArray MainWindow::layoutState() const { return saveState(layoutVersion); }

void MainWindow::restoreLayout(const QByteArray &state)
{
    if (!state.isEmpty())
        restoreState(state, layoutVersion); // a state of another version is left alone
}

QByteArray MainWindow::workState() const
{
    const Panel *const current = m_panes->current();
    QByteArray bytes;
    QDataStream stream(&bytes, QIODevice::WriteOnly);
    stream.setVersion(QDataStream::Qt_6_4);
    stream << qint32(layoutVersion) << layoutState() << m_panes->ids() << (current ? current->id() : QString())
           << m_panes->saveState(layoutVersion);
    return bytes;
}

void MainWindow::restoreWork(const QByteArray &state)
{
    QDataStream stream(state);
    stream.setVersion(QDataStream::Qt_6_4);
    qint32 version = 0;
    QByteArray layout;
    Panes panes;
    stream >> version >> layout >> panes.ids >> panes.current >> panes.state;
    if (stream.status() != QDataStream::Ok || version != layoutVersion)
        return; // of another version: the places are what counts
    restoreLayout(layout);
    m_panesToReopen = panes;
}

void MainWindow::reopenPanes()
{
    if (!m_panesToReopen || !m_session.run())
        return;
    const Panes panes = *std::exchange(m_panesToReopen, std::nullopt);
    m_panes->closeAllBut(m_welcome->id());
    for (const QString &id : panes.ids)
        openPanel(id); // one whose file is gone stays closed
    m_panes->restoreState(panes.state, layoutVersion);
    if (Panel *const current = m_panes->find(panes.current))
        m_panes->raisePane(current);
}

void MainWindow::resetLayout() { restoreState(m_firstLayout, layoutVersion); }

void MainWindow::updateTitle()
{
    setWindowTitle(m_session.run() ? tr("%1 - Prosector").arg(toQt(m_session.run()->name())) : tr("Prosector"));
}

void MainWindow::closeEvent(QCloseEvent *event)
{
    m_settings->setValue(QStringLiteral("geometry"), saveGeometry());
    m_settings->setValue(QStringLiteral("layout"), layoutState());
    m_session.jobs()->cancelAll();
    event->accept();
}

void MainWindow::dragEnterEvent(QDragEnterEvent *event)
{
    if (!localPaths(event->mimeData()).isEmpty())
        event->acceptProposedAction();
}

void MainWindow::dropEvent(QDropEvent *event)
{
    const QStringList paths = localPaths(event->mimeData());
    if (paths.isEmpty())
        return;
    event->acceptProposedAction();
    // With Ctrl the dropped files join what is open.
    if ((event->modifiers() & Qt::ControlModifier) && m_session.run())
        m_session.add(paths);
    else
        open(paths);
}

} // namespace prosector
