// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/session/selectionhub.h"

#include <algorithm>
#include <utility>

namespace prosector {

void SelectionHub::select(const Selection &selection, const QObject *origin)
{
    if (selection == m_selection)
        return;
    m_selection = selection;
    if (!selection.empty() && (m_history.empty() || m_history[m_at] != selection)) {
        if (!m_history.empty())
            m_history.resize(m_at + 1);
        m_history.push_back(selection);
        if (m_history.size() > historyLimit)
            m_history.erase(m_history.begin());
        m_at = m_history.size() - 1;
        emit historyChanged();
    }
    // A copy: a receiver may select again while the others still read the argument.
    emit selectionChanged(Selection(selection), origin);
}

void SelectionHub::hover(const Selection &selection, const QObject *origin)
{
    if (selection == m_hovered)
        return;
    m_hovered = selection;
    emit hoverChanged(Selection(selection), origin);
}

void SelectionHub::back()
{
    if (canGoBack())
        goTo(m_at - 1);
}

void SelectionHub::forward()
{
    if (canGoForward())
        goTo(m_at + 1);
}

void SelectionHub::goTo(std::size_t step)
{
    m_at = step;
    m_selection = m_history[step];
    emit historyChanged();
    emit selectionChanged(Selection(m_selection), this);
}

void SelectionHub::bookmark(const Selection &selection, const QString &note)
{
    if (selection.empty())
        return;
    const auto same = std::find_if(m_bookmarks.begin(), m_bookmarks.end(),
                                   [&](const Bookmark &b) { return b.selection == selection; });
    if (same == m_bookmarks.end())
        m_bookmarks.push_back({selection, note});
    else
        same->note = note;
    emit bookmarksChanged();
}

void SelectionHub::setNote(std::size_t bookmark, const QString &note)
{
    if (bookmark >= m_bookmarks.size())
        return;
    m_bookmarks[bookmark].note = note;
    emit bookmarksChanged();
}

void SelectionHub::removeBookmark(std::size_t bookmark)
{
    if (bookmark >= m_bookmarks.size())
        return;
    m_bookmarks.erase(m_bookmarks.begin() + static_cast<std::ptrdiff_t>(bookmark));
    emit bookmarksChanged();
}

void SelectionHub::setBookmarks(std::vector<Bookmark> bookmarks)
{
    m_bookmarks = std::move(bookmarks);
    emit bookmarksChanged();
}

void SelectionHub::clear()
{
    m_history.clear();
    m_at = 0;
    m_selection.clear();
    m_hovered.clear();
    m_bookmarks.clear();
}

void SelectionHub::remap(const std::function<std::optional<Place>(const Place &)> &map)
{
    const auto mapped = [&](const Selection &old) {
        Selection selection;
        for (const Place &place : old) {
            if (auto target = map(place))
                selection.push_back(std::move(*target));
        }
        return selection;
    };

    std::vector<Selection> history;
    std::size_t at = 0;
    for (std::size_t i = 0; i < m_history.size(); ++i) {
        Selection selection = mapped(m_history[i]);
        if (!selection.empty() && (history.empty() || history.back() != selection))
            history.push_back(std::move(selection));
        if (i == m_at)
            at = history.empty() ? 0 : history.size() - 1;
    }
    m_history = std::move(history);
    m_at = at;

    std::vector<Bookmark> bookmarks;
    for (const Bookmark &old : m_bookmarks) {
        Bookmark bookmark{mapped(old.selection), old.note};
        if (!bookmark.selection.empty())
            bookmarks.push_back(std::move(bookmark));
    }
    m_bookmarks = std::move(bookmarks);

    m_hovered.clear();
    m_selection = mapped(m_selection);
}

void SelectionHub::announce()
{
    emit historyChanged();
    emit bookmarksChanged();
    emit hoverChanged(Selection(m_hovered), this);
    emit selectionChanged(Selection(m_selection), this);
}

} // namespace prosector
