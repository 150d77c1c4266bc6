// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/core/finding.h"

#include <QWidget>

namespace prosector {

/// A report's grid as cells coloured by severity (tinted and shaped where something is wrong) or,
/// when all cells are numbers, as a heat map whose judged cells are framed.
class GridView final : public QWidget {
    Q_OBJECT
public:
    explicit GridView(QWidget *parent = nullptr);
    void setGrid(const Grid &grid);
    QSize sizeHint() const override;
    QSize minimumSizeHint() const override { return {200, sizeHint().height()}; }

signals:
    void chosen(const prosector::Evidence &evidence);

protected:
    void paintEvent(QPaintEvent *event) override;
    void mousePressEvent(QMouseEvent *event) override;
    void keyPressEvent(QKeyEvent *event) override;
    bool event(QEvent *event) override;

private:
    int rows() const;
    int columns() const;
    int labelWidth() const;
    int headerHeight() const;
    QRectF cellRect(int row, int column) const;
    int cellAt(const QPointF &position) const; ///< -1 outside
    void choose(int cell);

    Grid m_grid;
    std::vector<double> m_numbers; ///< empty when a cell is no number
    double m_low = 0, m_high = 1;
    int m_current = -1;
};

} // namespace prosector
