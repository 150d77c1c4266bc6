// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>

#include <vector>

class QAbstractItemView;
class QHeaderView;

namespace prosector {

/// Gives the columns of a table or tree the room their cells need: measured on the first rows, kept
/// between a least and a most, shrunk together where the view is narrower, hidden where every cell is
/// empty or the view is too narrow. Measures again when rows, fonts or the view's width change, until the user drags a border.
class ColumnFit final : public QObject {
    Q_OBJECT
public:
    struct Column {
        int least = 6;        ///< average characters below which the column is never shrunk
        int most = 40;        ///< and which its contents never widen it beyond
        int stretch = 0;      ///< share of the room that is left over
        bool hideEmpty = false;
        bool optional = false; ///< hidden, the last first, where not even the least widths fit
    };

    /// Owned by the view. Columns without an entry are as the last one says.
    ColumnFit(QAbstractItemView *view, QHeaderView *header, std::vector<Column> columns);
    /// Measures again although the user has set widths.
    void reset();
    /// The model was exchanged.
    void watchModel();

protected:
    bool eventFilter(QObject *watched, QEvent *event) override;

private:
    void schedule();
    void fit();
    std::vector<bool> filled() const;

    QAbstractItemView *m_view;
    QHeaderView *m_header;
    std::vector<Column> m_columns;
    bool m_fitting = false, m_byHand = false, m_scheduled = false;
};

} // namespace prosector
