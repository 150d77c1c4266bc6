// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/session/recentlist.h"
#include "models/session/session.h"

#include <QMainWindow>
#include <QSettings>

#include <memory>

class QLabel;

namespace prosector {

class CommandPalette;
class BookmarksPanel;
class EvidencePanel;
class FindingsPanel;
class HoverCards;
class InspectorPanel;
class InstrumentList;
class PaneArea;
class Panel;
class WelcomePane;

/// The window of DESIGN §7: wires panels, commands and the session together; holds no logic of theirs.
class MainWindow final : public QMainWindow {
    Q_OBJECT
public:
    /// `settings` keep layout, recent list and theme; the program's own when null (tests give theirs).
    explicit MainWindow(std::unique_ptr<QSettings> settings = {}, QWidget *parent = nullptr);
    ~MainWindow() override;

    Session *session() { return &m_session; }
    PaneArea *panes() const { return m_panes; }
    FindingsPanel *findings() const { return m_findings; }
    BookmarksPanel *bookmarks() const { return m_bookmarks; }
    HoverCards *cards() const { return m_cards; }
    InstrumentList *instrumentList() const { return m_instruments; }
    EvidencePanel *evidence() const { return m_evidence; }
    CommandPalette *palettePopup() const { return m_palette; }

    void open(const QStringList &paths);
    void openBaseline(const QString &path) { m_session.openBaseline({path}); }
    /// Opens or raises a panel by its id; null when there is no such panel now.
    Panel *openPanel(const QString &id);
    /// Ids that openPanel() knows now.
    QStringList panelIds() const;
    /// Selects a place and shows it in the pane that fits its artifact.
    void showPlace(const Place &place);
    /// The same, but always in the source pane.
    void showSource(const Place &place);

    /// Docks and columns of the window itself.
    QByteArray layoutState() const;
    void restoreLayout(const QByteArray &state);
    void resetLayout();
    /// The same with the panes that are open and how they lie: what a saved session keeps.
    QByteArray workState() const;
    /// Panes open once what they show is open.
    void restoreWork(const QByteArray &state);
    /// Asks for the reason; nothing modal.
    void acknowledge(FindingRef ref);

protected:
    void closeEvent(QCloseEvent *event) override;
    void dragEnterEvent(QDragEnterEvent *event) override;
    void dropEvent(QDropEvent *event) override;

private:
    void makePanels();
    void makeMenus();
    void makeStatusBar();
    void connectSession();
    void placeDocks();
    QAction *addCommand(QMenu *menu, const QString &text, const QKeySequence &keys, const std::function<void()> &act);
    Panel *createPanel(const QString &id);
    Panel *currentPanel() const;
    void showFinding(FindingRef ref);
    QString paneFor(const Place &place) const;
    void showIn(const QString &id, const Selection &places);
    void chooseFolder();
    void chooseFiles(bool baseline);
    void openPalette();
    void goTo();
    void addBookmark();
    void saveSession();
    void reopenPanes();
    void showKeys();
    void complain(const QString &text);
    void updateTitle();
    void fillRecentMenu();

    std::unique_ptr<QSettings> m_settings;
    Session m_session;
    RecentList m_recent;
    PaneArea *m_panes;
    EvidencePanel *m_evidence = nullptr;
    InstrumentList *m_instruments = nullptr;
    FindingsPanel *m_findings = nullptr;
    InspectorPanel *m_inspector = nullptr;
    BookmarksPanel *m_bookmarks = nullptr;
    HoverCards *m_cards = nullptr;
    WelcomePane *m_welcome = nullptr;
    CommandPalette *m_palette = nullptr;
    QLabel *m_notice = nullptr;
    QMenu *m_recentMenu = nullptr;
    QList<QAction *> m_commands;
    QByteArray m_firstLayout;
    QString m_sessionFile;
    struct Panes {
        QStringList ids;
        QString current;
        QByteArray state;
    };
    std::optional<Panes> m_panesToReopen; ///< of a restored session, until its run is open
    bool m_worstPending = false; ///< a new run has not had its worst finding selected yet
};

} // namespace prosector
