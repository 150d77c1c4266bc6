// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QStyledItemDelegate>

namespace prosector {

/// Rows of all lists, trees and tables: the severity's shape from SeverityRole, numbers to the
/// right, one row height, a bar at the left of the selected row beside its tint.
class ItemDelegate : public QStyledItemDelegate {
    Q_OBJECT
public:
    /// `severityColumn`: where the shape is drawn; -1 for none.
    explicit ItemDelegate(int severityColumn = 0, QObject *parent = nullptr);

    /// A column that shows its shape alone.
    void setLightColumn(int column) { m_lightColumn = column; }

    void paint(QPainter *painter, const QStyleOptionViewItem &option, const QModelIndex &index) const override;
    QSize sizeHint(const QStyleOptionViewItem &option, const QModelIndex &index) const override;

protected:
    void initStyleOption(QStyleOptionViewItem *option, const QModelIndex &index) const override;

private:
    int m_severityColumn;
    int m_lightColumn = -1;
};

} // namespace prosector
