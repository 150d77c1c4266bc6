// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QMainWindow>

#include <map>

class QDockWidget;

namespace prosector {

class Panel;

/// Puts a panel into a dock whose title bar is the panel's header; the dock's object name is the
/// panel's id prefixed with "dock.".
QDockWidget *dockFor(Panel *panel, QMainWindow *window);

/// The centre of the window: panes as docks in tabs, side by side or afloat, opened on demand.
class PaneArea final : public QMainWindow {
    Q_OBJECT
public:
    explicit PaneArea(QWidget *parent = nullptr);

    /// Takes the panel, puts it into the tabs of the current one and raises it.
    void add(Panel *panel);
    Panel *find(const QString &id) const;
    void raisePane(Panel *panel);
    /// The pane that last had focus, else the one on top; null when none is open.
    Panel *current() const;
    QStringList ids() const; ///< open panes in the order they were opened
    void closePane(const QString &id);
    /// Closes every pane but the one named.
    void closeAllBut(const QString &id);
    /// Next to the present tabs instead of among them, when there is room.
    void splitCurrent();

signals:
    void currentChanged();

private:
    void onFocusChanged(QWidget *now);
    std::vector<std::pair<Panel *, QDockWidget *>> m_panes;
    Panel *m_current = nullptr;
};

} // namespace prosector
