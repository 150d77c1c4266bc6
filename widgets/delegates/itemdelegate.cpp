// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/delegates/itemdelegate.h"

#include "models/item/roles.h"
#include "widgets/icons.h"
#include "widgets/theme.h"

#include <QPainter>
#include <QTreeView>

namespace prosector {

ItemDelegate::ItemDelegate(int severityColumn, QObject *parent)
    : QStyledItemDelegate(parent), m_severityColumn(severityColumn)
{
}

void ItemDelegate::initStyleOption(QStyleOptionViewItem *option, const QModelIndex &index) const
{
    QStyledItemDelegate::initStyleOption(option, index);
    const int side = option->fontMetrics.height() - 1;
    option->decorationSize = QSize(side, side);
    option->state &= ~QStyle::State_HasFocus; // the bar and tint say it
    if (index.column() == m_lightColumn)
        option->text.clear(); // the words are in the tooltip and for screen readers
    if (index.column() == m_severityColumn) {
        if (index.data(RunningRole).toBool())
            option->icon = themedIcon(QStringLiteral("running"), Token::Undecidable);
        else if (const auto severity = severityAt(index))
            option->icon = severityIcon(*severity);
        if (!option->icon.isNull())
            option->features |= QStyleOptionViewItem::HasDecoration;
    }
    if (index.data(AcknowledgedRole).toBool())
        option->palette.setColor(QPalette::Text, Theme::instance().color(Token::Dim));
}

void ItemDelegate::paint(QPainter *painter, const QStyleOptionViewItem &option, const QModelIndex &index) const
{
    QStyledItemDelegate::paint(painter, option, index);
    if ((option.state & QStyle::State_Selected) && index.column() == 0) {
        const bool tree = qobject_cast<const QTreeView *>(option.widget) != nullptr;
        painter->save();
        painter->setClipping(false); // a tree's bar stands at the left edge, outside the item
        painter->fillRect(QRect(tree ? 0 : option.rect.left(), option.rect.top(), 2, option.rect.height()),
                          Theme::instance().color(Token::Highlight));
        painter->restore();
    }
}

QSize ItemDelegate::sizeHint(const QStyleOptionViewItem &option, const QModelIndex &index) const
{
    QSize size = QStyledItemDelegate::sizeHint(option, index);
    size.setHeight(Theme::rowHeight(option.fontMetrics));
    return size;
}

} // namespace prosector
