// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/delegates/itemdelegate.h"

#include "models/item/roles.h"
#include "widgets/icons.h"
#include "widgets/theme.h"

#include <QPainter>

namespace prosector {

ItemDelegate::ItemDelegate(int severityColumn, QObject *parent)
    : QStyledItemDelegate(parent), m_severityColumn(severityColumn)
{
}

void ItemDelegate::initStyleOption(QStyleOptionViewItem *option, const QModelIndex &index) const
{
    QStyledItemDelegate::initStyleOption(option, index);
    const int side = option->fontMetrics.ascent();
    option->decorationSize = QSize(side, side);
    option->state &= ~QStyle::State_HasFocus; // the bar and tint say it
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
    if ((option.state & QStyle::State_Selected) && option.viewItemPosition != QStyleOptionViewItem::Middle
        && option.viewItemPosition != QStyleOptionViewItem::End) {
        const int left = index.column() == 0 ? 0 : option.rect.left();
        painter->fillRect(QRect(left, option.rect.top(), 2, option.rect.height()), Theme::instance().color(Token::Highlight));
    }
}

QSize ItemDelegate::sizeHint(const QStyleOptionViewItem &option, const QModelIndex &index) const
{
    QSize size = QStyledItemDelegate::sizeHint(option, index);
    size.setHeight(Theme::rowHeight(option.fontMetrics));
    return size;
}

} // namespace prosector
