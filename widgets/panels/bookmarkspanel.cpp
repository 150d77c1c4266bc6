// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/panels/bookmarkspanel.h"

#include "models/item/bookmarkmodel.h"
#include "models/item/format.h"
#include "widgets/panels/panelheader.h"
#include "widgets/theme.h"
#include "widgets/views/columnfit.h"
#include "widgets/views/tableview.h"

#include <QAction>
#include <QHeaderView>
#include <QLabel>
#include <QStackedWidget>

#include <set>

namespace prosector {

BookmarksPanel::BookmarksPanel(Session *session, QWidget *parent)
    : Panel(session, panelId(), tr("Bookmarks"), parent), m_model(new BookmarkModel(session, this)), m_view(new TableView),
      m_stack(new QStackedWidget)
{
    m_view->setModel(m_model);
    m_view->setAccessibleName(tr("Bookmarks"));
    m_view->setEditTriggers(QAbstractItemView::EditKeyPressed);
    new ColumnFit(m_view, m_view->horizontalHeader(),
                  {{.least = 24, .most = 120, .stretch = 1}, {.least = 12, .most = 40}, {.least = 12, .most = 60}});
    auto *const empty = new QLabel(tr("No bookmarks. Select a place and press Ctrl+B to keep it here with a note."));
    empty->setWordWrap(true);
    empty->setMargin(3 * Theme::grid);
    empty->setAlignment(Qt::AlignTop);
    empty->setForegroundRole(QPalette::PlaceholderText);
    m_stack->addWidget(m_view);
    m_stack->addWidget(empty);
    setContent(m_stack);
    setFocusProxy(m_view);
    header()->setClosable(false);
    header()->setLinkVisible(false);

    const auto add = [this](const QString &text, const QKeySequence &keys, const std::function<void()> &act) {
        auto *const action = new QAction(text, m_view);
        action->setShortcut(keys);
        action->setShortcutContext(Qt::WidgetShortcut);
        connect(action, &QAction::triggered, this, act);
        m_view->addAction(action);
    };
    add(tr("Edit note"), QKeySequence(Qt::Key_F2), [this] {
        if (const QModelIndex index = m_view->currentIndex(); index.isValid())
            m_view->edit(index.siblingAtColumn(BookmarkModel::NoteColumn));
    });
    add(tr("Remove bookmark"), QKeySequence(Qt::Key_Delete), [this] { removeSelected(); });
    connect(m_view, &TableView::rowActivated, this, [this](const QModelIndex &index) {
        if (const Selection places = placesAt(index); !places.empty())
            emit bookmarkActivated(places);
    });
    connect(m_view, &TableView::rowChosen, this, [this](const QModelIndex &index) {
        if (const Selection places = placesAt(index); !places.empty())
            publish(places);
    });
    connect(m_model, &QAbstractItemModel::modelReset, this, &BookmarksPanel::refresh);
    connect(m_model, &QAbstractItemModel::dataChanged, this, &BookmarksPanel::refresh);
}

void BookmarksPanel::refresh()
{
    m_stack->setCurrentIndex(m_model->rowCount() > 0 ? 0 : 1);
    setOrigin(m_model->rowCount() > 0 ? format::counted(static_cast<std::uint64_t>(m_model->rowCount()), "place", "places") : QString());
}

void BookmarksPanel::reveal(const Selection &selection)
{
    for (int row = 0; row < m_model->rowCount(); ++row) {
        if (placesAt(m_model->index(row, 0)) == selection)
            return m_view->showRow(row);
    }
}

void BookmarksPanel::removeSelected()
{
    std::set<int, std::greater<>> rows; // from the last, so that those before keep their numbers
    for (const QModelIndex &index : m_view->selectionModel()->selectedIndexes())
        rows.insert(index.row());
    for (const int row : rows)
        m_model->removeRow(row);
}

void BookmarksPanel::copy() { m_view->copySelected(); }
QAbstractItemModel *BookmarksPanel::csvModel() const { return m_model; }

} // namespace prosector
