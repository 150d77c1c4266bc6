// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/tableview.h"

#include "models/item/roles.h"
#include "widgets/delegates/itemdelegate.h"
#include "widgets/panels/exporting.h"
#include "widgets/theme.h"

#include <QApplication>
#include <QClipboard>
#include <QContextMenuEvent>
#include <QHeaderView>
#include <QKeyEvent>
#include <QMenu>

namespace prosector {

namespace {

void copyToClipboard(const QString &text) { QApplication::clipboard()->setText(text); }

QString exactText(const QModelIndex &index)
{
    const QVariant exact = index.data(CopyRole);
    return exact.isValid() ? exact.toString() : index.data().toString();
}

QString rowText(const QModelIndex &index, const QString &separator, QString (*quote)(const QString &))
{
    QStringList cells;
    for (int c = 0; c < index.model()->columnCount(index.parent()); ++c)
        cells.append(quote(exactText(index.siblingAtColumn(c))));
    return cells.join(separator);
}

QString plain(const QString &text) { return text; }

void copyMenu(QAbstractItemView *view, QContextMenuEvent *event)
{
    const bool byKey = event->reason() == QContextMenuEvent::Keyboard;
    const QModelIndex index = byKey ? view->currentIndex() : view->indexAt(event->pos());
    if (!index.isValid())
        return;
    auto *const menu = new QMenu(view);
    menu->setAttribute(Qt::WA_DeleteOnClose);
    const QString cell = exactText(index), row = rowText(index, QStringLiteral("\t"), plain),
                  csv = rowText(index, QStringLiteral(","), csvField);
    for (QAction *const action : view->actions())
        menu->addAction(action); // what the pane can do with a row
    if (!menu->isEmpty())
        menu->addSeparator();
    menu->addAction(QObject::tr("Copy cell\tCtrl+Shift+C"), view, [cell] { copyToClipboard(cell); });
    menu->addAction(QObject::tr("Copy row\tCtrl+C"), view, [row] { copyToClipboard(row); });
    menu->addAction(QObject::tr("Copy row as CSV"), view, [csv] { copyToClipboard(csv); });
    menu->addSeparator();
    menu->addAction(QObject::tr("Copy all rows as CSV"), view, [view] { copyToClipboard(CsvRows(*view->model()).take(20000)); });
    menu->addAction(QObject::tr("Export all rows as CSV…"), view, [view] { exportCsv(view->model(), view->accessibleName(), view); });
    menu->popup(byKey ? view->viewport()->mapToGlobal(view->visualRect(index).bottomLeft()) : event->globalPos());
}

bool isCopyCell(const QKeyEvent *event)
{
    return event->key() == Qt::Key_C && event->modifiers() == (Qt::ControlModifier | Qt::ShiftModifier);
}

bool isActivation(const QKeyEvent *event)
{
    return (event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter) && event->modifiers() == Qt::NoModifier;
}

} // namespace

TableView::TableView(QWidget *parent) : QTableView(parent)
{
    setItemDelegate(new ItemDelegate(0, this));
    setSelectionBehavior(SelectRows);
    setSelectionMode(ExtendedSelection);
    setShowGrid(false);
    setWordWrap(false);
    setTextElideMode(Qt::ElideRight);
    setHorizontalScrollMode(ScrollPerPixel);
    setTabKeyNavigation(false);
    verticalHeader()->hide();
    verticalHeader()->setSectionResizeMode(QHeaderView::Fixed);
    horizontalHeader()->setDefaultAlignment(Qt::AlignLeft | Qt::AlignVCenter);
    horizontalHeader()->setHighlightSections(false);
    horizontalHeader()->setStretchLastSection(false);
    const auto measure = [this] {
        verticalHeader()->setMinimumSectionSize(8);
        verticalHeader()->setDefaultSectionSize(Theme::rowHeight(fontMetrics()));
    };
    measure();
    connect(&Theme::instance(), &Theme::changed, this, measure);
    connect(this, &QTableView::doubleClicked, this, &TableView::rowActivated);
    connect(this, &QTableView::clicked, this, &TableView::rowChosen);
}

void TableView::copySelected() { copyToClipboard(selectedText(*this)); }

void TableView::showRow(int row)
{
    m_quiet = true;
    const QModelIndex index = model()->index(row, 0, rootIndex());
    if (selectionModel())
        selectionModel()->setCurrentIndex(index, QItemSelectionModel::ClearAndSelect | QItemSelectionModel::Rows);
    scrollTo(index, EnsureVisible);
    m_quiet = false;
}

void TableView::keyPressEvent(QKeyEvent *event)
{
    if (event->matches(QKeySequence::Copy))
        copySelected();
    else if (isCopyCell(event))
        copyToClipboard(exactText(currentIndex()));
    else if (isActivation(event) && currentIndex().isValid())
        emit rowActivated(currentIndex());
    else
        QTableView::keyPressEvent(event);
}

void TableView::contextMenuEvent(QContextMenuEvent *event) { copyMenu(this, event); }

void TableView::currentChanged(const QModelIndex &current, const QModelIndex &previous)
{
    QTableView::currentChanged(current, previous);
    // Only keys: a click tells by itself, and a model that sorts must not look like a user.
    if (!m_quiet && current.isValid() && hasFocus() && QApplication::mouseButtons() == Qt::NoButton
        && current.row() != previous.row())
        emit rowChosen(current);
}

TreeView::TreeView(QWidget *parent) : QTreeView(parent)
{
    setItemDelegate(new ItemDelegate(0, this));
    setSelectionBehavior(SelectRows);
    setUniformRowHeights(true);
    setHeaderHidden(true);
    setHorizontalScrollMode(ScrollPerPixel);
    setExpandsOnDoubleClick(false);
    const auto measure = [this] { setIndentation(fontMetrics().height()); };
    measure();
    connect(&Theme::instance(), &Theme::changed, this, measure);
    connect(this, &QTreeView::doubleClicked, this, &TreeView::rowActivated);
    connect(this, &QTreeView::clicked, this, &TreeView::rowChosen);
}

void TreeView::copySelected() { copyToClipboard(selectedText(*this)); }

void TreeView::showIndex(const QModelIndex &index)
{
    m_quiet = true;
    if (selectionModel())
        selectionModel()->setCurrentIndex(index, QItemSelectionModel::ClearAndSelect | QItemSelectionModel::Rows);
    scrollTo(index, EnsureVisible);
    m_quiet = false;
}

void TreeView::keyPressEvent(QKeyEvent *event)
{
    if (event->matches(QKeySequence::Copy))
        copySelected();
    else if (isCopyCell(event))
        copyToClipboard(exactText(currentIndex()));
    else if (isActivation(event) && currentIndex().isValid())
        emit rowActivated(currentIndex());
    else
        QTreeView::keyPressEvent(event);
}

void TreeView::contextMenuEvent(QContextMenuEvent *event) { copyMenu(this, event); }

void TreeView::currentChanged(const QModelIndex &current, const QModelIndex &previous)
{
    QTreeView::currentChanged(current, previous);
    if (!m_quiet && current.isValid() && hasFocus() && QApplication::mouseButtons() == Qt::NoButton)
        emit rowChosen(current);
}

} // namespace prosector
