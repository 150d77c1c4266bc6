// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/panels/panel.h"

class QStackedWidget;

namespace prosector {

class BookmarkModel;
class TableView;

/// The bookmarked places with their notes: Enter or double-click shows the place, F2 edits the note,
/// Delete removes.
class BookmarksPanel final : public Panel {
    Q_OBJECT
public:
    explicit BookmarksPanel(Session *session, QWidget *parent = nullptr);
    static QString panelId() { return QStringLiteral("bookmarks"); }

    TableView *view() const { return m_view; }
    void copy() override;
    QAbstractItemModel *csvModel() const override;

signals:
    void bookmarkActivated(const prosector::Selection &places);

protected:
    void refresh() override;
    void reveal(const Selection &selection) override;

private:
    void removeSelected();

    BookmarkModel *m_model;
    TableView *m_view;
    QStackedWidget *m_stack;
};

} // namespace prosector
