// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/core/place.h"

#include <QObject>
#include <QString>

#include <functional>
#include <optional>
#include <vector>

namespace prosector {

struct Bookmark {
    Selection selection;
    QString note;
    bool operator==(const Bookmark &) const = default;
};

/// The one place through which panes link. A pane that is clicked calls select(…, this); every
/// pane hears selectionChanged and reveals it unless `origin` is itself. Lives in the GUI thread.
class SelectionHub : public QObject {
    Q_OBJECT

public:
    /// Steps that back() remembers at most.
    static constexpr std::size_t historyLimit = 500;

    using QObject::QObject;

    const Selection &selection() const { return m_selection; }
    const Selection &hovered() const { return m_hovered; }

    /// Selecting what is selected already tells nobody. Each other non-empty selection is a step of
    /// the history; selecting after back() forgets the steps ahead. `origin` may be null.
    void select(const Selection &selection, const QObject *origin);
    /// Hovering is not part of the history.
    void hover(const Selection &selection, const QObject *origin);

    bool canGoBack() const { return m_at > 0; }
    bool canGoForward() const { return m_at + 1 < m_history.size(); }
    /// One step; the hub itself is the origin, so that every pane follows.
    void back();
    void forward();

    const std::vector<Bookmark> &bookmarks() const { return m_bookmarks; }
    /// Appended; a selection that is bookmarked already gets the new note instead. Empty selections
    /// are ignored.
    void bookmark(const Selection &selection, const QString &note);
    void setNote(std::size_t bookmark, const QString &note);
    void removeBookmark(std::size_t bookmark);
    void setBookmarks(std::vector<Bookmark> bookmarks);

    // When other artifacts are opened the state changes first and is told later, so that panes which
    // look here while they take up the new run never see ids of the old one.

    /// Forgets everything. Tells nobody until announce().
    void clear();
    /// Every place is replaced by what `map` makes of it, or dropped; selections left empty leave
    /// history and bookmarks. Tells nobody until announce().
    void remap(const std::function<std::optional<Place>(const Place &)> &map);
    /// Emits all signals, with the hub as origin.
    void announce();

signals:
    void selectionChanged(const prosector::Selection &selection, const QObject *origin);
    void hoverChanged(const prosector::Selection &selection, const QObject *origin);
    /// canGoBack() or canGoForward() has changed.
    void historyChanged();
    void bookmarksChanged();

private:
    void goTo(std::size_t step);

    Selection m_selection, m_hovered;
    std::vector<Selection> m_history; // m_history[m_at] was selected last
    std::size_t m_at = 0;
    std::vector<Bookmark> m_bookmarks;
};

} // namespace prosector
