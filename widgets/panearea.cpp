// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/panearea.h"

#include "widgets/panels/panel.h"
#include "widgets/panels/panelheader.h"

#include <QApplication>
#include <QDockWidget>

#include <algorithm>

namespace prosector {

QDockWidget *dockFor(Panel *panel, QMainWindow *window)
{
    auto *const dock = new QDockWidget(panel->name(), window);
    dock->setObjectName(QStringLiteral("dock.") + panel->id());
    dock->setWidget(panel);
    dock->setTitleBarWidget(panel->header());
    QObject::connect(panel, &Panel::nameChanged, dock, [dock, panel] { dock->setWindowTitle(panel->name()); });
    return dock;
}

PaneArea::PaneArea(QWidget *parent) : QMainWindow(parent)
{
    setWindowFlags(Qt::Widget);
    setDockNestingEnabled(true);
    setTabPosition(Qt::AllDockWidgetAreas, QTabWidget::North);
    setDocumentMode(true);
    connect(qApp, &QApplication::focusChanged, this, [this](QWidget *, QWidget *now) { onFocusChanged(now); });
}

void PaneArea::add(Panel *panel)
{
    QDockWidget *const dock = dockFor(panel, this);
    QDockWidget *beside = nullptr;
    if (Panel *const present = current()) {
        const auto at = std::find_if(m_panes.begin(), m_panes.end(), [&](const auto &pane) { return pane.first == present; });
        if (!at->second->isFloating())
            beside = at->second;
    }
    addDockWidget(Qt::TopDockWidgetArea, dock);
    if (beside)
        tabifyDockWidget(beside, dock);
    m_panes.emplace_back(panel, dock);
    connect(panel, &Panel::closeRequested, this, [this, panel] { closePane(panel->id()); });
    connect(dock, &QDockWidget::visibilityChanged, this, [this, panel](bool visible) {
        if (visible && m_current != panel) {
            m_current = panel;
            emit currentChanged();
        }
    });
    dock->show();
    dock->raise();
    m_current = panel;
    emit currentChanged();
}

Panel *PaneArea::find(const QString &id) const
{
    const auto at = std::find_if(m_panes.begin(), m_panes.end(), [&](const auto &pane) { return pane.first->id() == id; });
    return at == m_panes.end() ? nullptr : at->first;
}

void PaneArea::raisePane(Panel *panel)
{
    for (const auto &[known, dock] : m_panes) {
        if (known == panel) {
            dock->show();
            dock->raise();
            m_current = panel;
            emit currentChanged();
        }
    }
}

Panel *PaneArea::current() const { return m_current ? m_current : m_panes.empty() ? nullptr : m_panes.back().first; }

QStringList PaneArea::ids() const
{
    QStringList ids;
    for (const auto &[panel, dock] : m_panes)
        ids.append(panel->id());
    return ids;
}

void PaneArea::closePane(const QString &id)
{
    const auto at = std::find_if(m_panes.begin(), m_panes.end(), [&](const auto &pane) { return pane.first->id() == id; });
    if (at == m_panes.end())
        return;
    QDockWidget *const dock = at->second;
    if (m_current == at->first)
        m_current = nullptr;
    m_panes.erase(at);
    dock->disconnect(this);
    removeDockWidget(dock);
    dock->deleteLater();
    // The dock that the tab bar shows now is the present one.
    for (const auto &[panel, other] : m_panes) {
        if (m_current == nullptr && !other->visibleRegion().isEmpty())
            m_current = panel;
    }
    emit currentChanged();
}

void PaneArea::closeAllBut(const QString &id)
{
    for (const QString &open : ids()) {
        if (open != id)
            closePane(open);
    }
}

void PaneArea::splitCurrent()
{
    if (m_panes.size() < 2 || m_current == nullptr)
        return;
    QDockWidget *moving = nullptr, *staying = nullptr;
    for (const auto &[panel, dock] : m_panes)
        (panel == m_current ? moving : staying) = dock;
    splitDockWidget(staying, moving, Qt::Horizontal);
    moving->show();
}

void PaneArea::onFocusChanged(QWidget *now)
{
    for (QWidget *widget = now; widget != nullptr && widget != this; widget = widget->parentWidget()) {
        if (auto *const panel = qobject_cast<Panel *>(widget)) {
            const bool ours = std::any_of(m_panes.begin(), m_panes.end(), [&](const auto &pane) { return pane.first == panel; });
            if (ours && m_current != panel) {
                m_current = panel;
                emit currentChanged();
            }
            return;
        }
    }
}

} // namespace prosector
