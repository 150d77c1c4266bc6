// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/core/place.h"
#include "models/runs/inspect.h"

#include <QFrame>

#include <vector>

class QLabel;
class QToolButton;

namespace prosector {

class RichView;
class Session;

/// What stands at a place, as a small window beside the pointer: the row's own words, then value, raw
/// bytes, origin and links as inspect() says them. Goes when the pointer leaves the row or a key is
/// pressed; pinned it stays until closed, and its links work.
class HoverCard final : public QFrame {
    Q_OBJECT
public:
    HoverCard(Session *session, const Selection &places, const QString &text, bool pinned, QWidget *window);

    bool isPinned() const { return m_pinned; }
    QString text() const;
    /// Shows it beside the point when the facts are there.
    void showAt(const QPoint &global);

signals:
    void placeActivated(const prosector::Place &place);

protected:
    void keyPressEvent(QKeyEvent *event) override;

private:
    void compose();
    void place();

    Session *m_session;
    Selection m_places;
    QString m_text;
    std::vector<Fact> m_facts;
    RichView *m_view;
    bool m_pinned, m_wanted = false;
    QPoint m_at;
};

/// Puts a card in the stead of the tooltip of every row that stands for a place, in all lists, tables
/// and trees of the window.
class HoverCards final : public QObject {
    Q_OBJECT
public:
    HoverCards(Session *session, QWidget *window);
    /// Pins a card of the selected place: the same by keyboard.
    void pinSelection();
    HoverCard *current() const { return m_card; }

signals:
    void placeActivated(const prosector::Place &place);

protected:
    bool eventFilter(QObject *watched, QEvent *event) override;

private:
    HoverCard *make(const Selection &places, const QString &text, bool pinned);
    void drop();

    Session *m_session;
    QWidget *m_window;
    HoverCard *m_card = nullptr; ///< the unpinned one
    QRect m_row;                 ///< global; the card lives while the pointer is in it
};

} // namespace prosector
