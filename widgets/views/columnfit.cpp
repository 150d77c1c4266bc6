// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/columnfit.h"

#include "widgets/theme.h"

#include <QAbstractItemView>
#include <QApplication>
#include <QEvent>
#include <QHeaderView>
#include <QTreeView>

#include <algorithm>

namespace prosector {

namespace {

constexpr int rowsMeasured = 100; ///< of a table that may have millions

} // namespace

ColumnFit::ColumnFit(QAbstractItemView *view, QHeaderView *header, std::vector<Column> columns)
    : QObject(view), m_view(view), m_header(header), m_columns(std::move(columns))
{
    m_header->setStretchLastSection(false);
    m_header->setResizeContentsPrecision(rowsMeasured);
    m_header->setMinimumSectionSize(8);
    connect(&Theme::instance(), &Theme::changed, this, &ColumnFit::schedule);
    connect(m_header, &QHeaderView::sectionResized, this, [this] {
        if (!m_fitting && QApplication::mouseButtons() != Qt::NoButton)
            m_byHand = true;
    });
    if (auto *const tree = qobject_cast<QTreeView *>(view)) {
        connect(tree, &QTreeView::expanded, this, &ColumnFit::schedule);
        connect(tree, &QTreeView::collapsed, this, &ColumnFit::schedule);
    }
    m_view->viewport()->installEventFilter(this);
    watchModel();
}

void ColumnFit::watchModel()
{
    QAbstractItemModel *const model = m_view->model();
    if (model == nullptr)
        return;
    connect(model, &QAbstractItemModel::modelReset, this, &ColumnFit::schedule, Qt::UniqueConnection);
    connect(model, &QAbstractItemModel::rowsInserted, this, &ColumnFit::schedule, Qt::UniqueConnection);
    connect(model, &QAbstractItemModel::rowsRemoved, this, &ColumnFit::schedule, Qt::UniqueConnection);
    connect(model, &QAbstractItemModel::layoutChanged, this, &ColumnFit::schedule, Qt::UniqueConnection);
    connect(model, &QAbstractItemModel::dataChanged, this, &ColumnFit::schedule, Qt::UniqueConnection);
    schedule();
}

void ColumnFit::reset()
{
    m_byHand = false;
    schedule();
}

void ColumnFit::schedule()
{
    if (m_byHand || m_scheduled)
        return;
    // Queued, once: many rows may change before the view is drawn.
    m_scheduled = true;
    QMetaObject::invokeMethod(this, &ColumnFit::fit, Qt::QueuedConnection);
}

bool ColumnFit::eventFilter(QObject *watched, QEvent *event)
{
    if (event->type() == QEvent::Resize || event->type() == QEvent::Show)
        schedule();
    return QObject::eventFilter(watched, event);
}

std::vector<bool> ColumnFit::filled() const
{
    const QAbstractItemModel *const model = m_view->model();
    const int columns = model->columnCount();
    std::vector<bool> filled(static_cast<std::size_t>(columns));
    const auto look = [&](const QModelIndex &row) {
        for (int c = 0; c < columns; ++c) {
            if (!filled[static_cast<std::size_t>(c)])
                filled[static_cast<std::size_t>(c)] = !row.siblingAtColumn(c).data().toString().isEmpty();
        }
    };
    if (const auto *const tree = qobject_cast<const QTreeView *>(m_view)) {
        QModelIndex index = model->index(0, 0);
        for (int i = 0; i < rowsMeasured && index.isValid(); ++i, index = tree->indexBelow(index))
            look(index);
    } else {
        for (int row = 0; row < std::min(rowsMeasured, model->rowCount()); ++row)
            look(model->index(row, 0));
    }
    return filled;
}

void ColumnFit::fit()
{
    m_scheduled = false;
    const QAbstractItemModel *const model = m_view->model();
    if (model == nullptr || m_byHand || !m_view->isVisible())
        return;
    const int columns = std::min(m_header->count(), model->columnCount());
    const int cell = m_view->fontMetrics().averageCharWidth();
    const std::vector<bool> has = filled();
    m_fitting = true;
    struct Share {
        int column, least, wanted, stretch;
    };
    std::vector<Share> shares;
    int wanted = 0, least = 0, stretch = 0;
    for (int c = 0; c < columns; ++c) {
        const Column &column = m_columns[std::min(static_cast<std::size_t>(c), m_columns.size() - 1)];
        if (column.hideEmpty || column.optional)
            m_header->setSectionHidden(c, column.hideEmpty && !has[static_cast<std::size_t>(c)] && model->rowCount() > 0);
        if (m_header->isSectionHidden(c) || m_header->sectionResizeMode(c) == QHeaderView::Fixed)
            continue;
        // Headings are words: they count as contents, but never force a column wider than its least.
        const int contents = static_cast<const QAbstractItemView *>(m_view)->sizeHintForColumn(c) + Theme::grid;
        const int title = m_header->sectionSizeHint(c);
        const int most = std::max(column.most * cell, title);
        Share share{c, 0, std::clamp(std::max(contents, title), 3 * Theme::grid, most), column.stretch};
        share.least = std::min(column.least * cell, share.wanted);
        wanted += share.wanted;
        least += share.least;
        stretch += share.stretch;
        shares.push_back(share);
    }
    int room = m_view->viewport()->width();
    for (int c = 0; c < columns; ++c) {
        if (!m_header->isSectionHidden(c) && m_header->sectionResizeMode(c) == QHeaderView::Fixed)
            room -= m_header->sectionSize(c);
    }
    for (auto share = shares.end(); least > room && share != shares.begin();) {
        --share;
        if (!m_columns[std::min(static_cast<std::size_t>(share->column), m_columns.size() - 1)].optional)
            continue;
        m_header->setSectionHidden(share->column, true);
        least -= share->least;
        wanted -= share->wanted;
        stretch -= share->stretch;
        share = shares.erase(share);
    }
    // Where they do not fit even so, the stretching columns give up to half of theirs.
    for (Share &share : shares) {
        if (share.stretch > 0 && least > room) {
            const int give = std::min(least - room, share.least / 2);
            share.least -= give;
            least -= give;
        }
    }
    for (Share &share : shares) {
        int width = share.wanted;
        if (wanted > room && wanted > least) {
            // The room above the least widths is dealt out as wanted.
            const double part = std::max(0, room - least) / static_cast<double>(wanted - least);
            width = share.least + static_cast<int>((share.wanted - share.least) * part);
        } else if (wanted < room && stretch > 0) {
            width += (room - wanted) * share.stretch / stretch;
        }
        m_header->resizeSection(share.column, width);
    }
    m_fitting = false;
}

} // namespace prosector
