// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/gridview.h"

#include "models/session/text.h"
#include "widgets/icons.h"
#include "widgets/theme.h"

#include <QHelpEvent>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QToolTip>

#include <algorithm>
#include <cmath>

namespace prosector {

GridView::GridView(QWidget *parent) : QWidget(parent)
{
    setFocusPolicy(Qt::TabFocus);
    setMouseTracking(true);
    connect(&Theme::instance(), &Theme::changed, this, [this] {
        updateGeometry();
        update();
    });
}

void GridView::setGrid(const Grid &grid)
{
    m_grid = grid;
    m_current = -1;
    m_numbers.clear();
    for (const Cell &cell : grid.cells) {
        bool number = false;
        const double value = toQt(cell.text).toDouble(&number);
        if (!number || !cell.numeric) {
            m_numbers.clear();
            break;
        }
        m_numbers.push_back(value);
    }
    if (!m_numbers.empty()) {
        m_low = *std::min_element(m_numbers.begin(), m_numbers.end());
        m_high = *std::max_element(m_numbers.begin(), m_numbers.end());
    }
    setAccessibleName(toQt(grid.title));
    updateGeometry();
    update();
}

int GridView::rows() const { return static_cast<int>(m_grid.rowLabels.size()); }
int GridView::columns() const { return static_cast<int>(m_grid.columnLabels.size()); }

int GridView::labelWidth() const
{
    int width = 0;
    for (const std::string &label : m_grid.rowLabels)
        width = std::max(width, fontMetrics().horizontalAdvance(toQt(label)));
    return std::min(width, 240) + 2 * Theme::grid;
}

int GridView::headerHeight() const { return fontMetrics().height() + Theme::grid; }

QSize GridView::sizeHint() const
{
    const int cell = std::max(rows() > 64 ? 8 : 16, rows() > 24 ? fontMetrics().height() - 2 : Theme::rowHeight(fontMetrics()));
    return {480, headerHeight() + rows() * cell + Theme::grid};
}

QRectF GridView::cellRect(int row, int column) const
{
    const double left = labelWidth(), top = headerHeight();
    const double w = std::min((width() - left) / std::max(1, columns()), 160.0);
    const double h = (height() - top - Theme::grid) / std::max(1, rows());
    return {left + column * w, top + row * h, w, h};
}

int GridView::cellAt(const QPointF &position) const
{
    if (rows() == 0 || columns() == 0)
        return -1;
    const QRectF first = cellRect(0, 0);
    const int column = static_cast<int>(std::floor((position.x() - first.x()) / first.width()));
    const int row = static_cast<int>(std::floor((position.y() - first.y()) / first.height()));
    const bool inside = row >= 0 && column >= 0 && row < rows() && column < columns();
    const int cell = row * columns() + column;
    return inside && static_cast<std::size_t>(cell) < m_grid.cells.size() ? cell : -1;
}

void GridView::paintEvent(QPaintEvent *)
{
    const Theme &theme = Theme::instance();
    QPainter painter(this);
    painter.setPen(theme.color(Token::Dim));
    int labelEnd = 0;
    for (int c = 0; c < columns(); ++c) {
        const QRectF cell = cellRect(0, c);
        const QString text = toQt(m_grid.columnLabels[static_cast<std::size_t>(c)]);
        const bool last = c + 1 == columns();
        // Labels that would run into the one before are left out; the hover card names every cell.
        if (cell.x() < labelEnd && !last)
            continue;
        const int wide = std::max(static_cast<int>(cell.width()), std::min(fontMetrics().horizontalAdvance(text), 120));
        const int x = std::min(static_cast<int>(cell.x()), width() - wide);
        if (x < labelEnd)
            continue;
        painter.drawText(QRect(x, 0, wide, headerHeight()), Qt::AlignLeft | Qt::AlignVCenter,
                         fontMetrics().elidedText(text, Qt::ElideRight, wide));
        labelEnd = x + wide + Theme::grid;
    }
    int rowEnd = 0;
    for (int r = 0; r < rows(); ++r) {
        const QRectF cell = cellRect(r, 0);
        if (cell.y() >= rowEnd) {
            painter.drawText(QRectF(0, cell.center().y() - fontMetrics().height() / 2.0, labelWidth() - Theme::grid, fontMetrics().height()),
                             Qt::AlignRight | Qt::AlignVCenter,
                             fontMetrics().elidedText(toQt(m_grid.rowLabels[static_cast<std::size_t>(r)]), Qt::ElideMiddle,
                                                      labelWidth() - Theme::grid));
            rowEnd = static_cast<int>(cell.center().y()) + fontMetrics().height() / 2 + 1;
        }
    }
    const bool roomForText = rows() > 0 && cellRect(0, 0).height() >= fontMetrics().height();
    for (std::size_t i = 0; i < m_grid.cells.size(); ++i) {
        const Cell &cell = m_grid.cells[i];
        const int r = static_cast<int>(i) / std::max(1, columns()), c = static_cast<int>(i) % std::max(1, columns());
        const QRectF box = cellRect(r, c).adjusted(0.5, 0.5, -0.5, -0.5);
        const bool judged = cell.severity > Severity::Ok;
        QColor fill = theme.tint(theme.severity(cell.severity), judged ? 0.35 : 0.14);
        if (cell.text.empty())
            fill = theme.color(Token::Stripe);
        else if (!m_numbers.empty())
            fill = theme.heat(m_high > m_low ? (m_numbers[i] - m_low) / (m_high - m_low) : 0.5);
        painter.fillRect(box, fill);
        if (judged) {
            painter.setPen(QPen(theme.severity(cell.severity), 2));
            painter.drawRect(box.adjusted(1, 1, -1, -1));
        }
        if (roomForText && m_numbers.empty()) {
            painter.setPen(theme.color(Token::Text));
            const QRectF text = box.adjusted(4, 0, -2, 0);
            painter.drawText(text, Qt::AlignVCenter | Qt::AlignLeft,
                             fontMetrics().elidedText(toQt(cell.text), Qt::ElideRight, static_cast<int>(text.width())));
        }
    }
    if (m_current >= 0) {
        painter.setPen(QPen(theme.color(Token::Highlight), 2));
        painter.drawRect(cellRect(m_current / columns(), m_current % columns()));
    }
}

void GridView::choose(int cell)
{
    if (cell < 0)
        return;
    m_current = cell;
    update();
    if (const auto &source = m_grid.cells[static_cast<std::size_t>(cell)].source)
        emit chosen(*source);
}

void GridView::mousePressEvent(QMouseEvent *event) { choose(cellAt(event->position())); }

void GridView::keyPressEvent(QKeyEvent *event)
{
    if (m_grid.cells.empty())
        return QWidget::keyPressEvent(event);
    int by = 0;
    switch (event->key()) {
    case Qt::Key_Left: by = -1; break;
    case Qt::Key_Right: by = 1; break;
    case Qt::Key_Up: by = -columns(); break;
    case Qt::Key_Down: by = columns(); break;
    default: return QWidget::keyPressEvent(event);
    }
    choose(std::clamp(m_current + by, 0, static_cast<int>(m_grid.cells.size()) - 1));
}

bool GridView::event(QEvent *event)
{
    if (event->type() == QEvent::ToolTip) {
        const auto *const help = static_cast<QHelpEvent *>(event);
        const int at = cellAt(help->pos());
        QString text;
        if (at >= 0) {
            text = tr("%1, %2: %3").arg(toQt(m_grid.rowLabels[static_cast<std::size_t>(at / columns())]),
                                        toQt(m_grid.columnLabels[static_cast<std::size_t>(at % columns())]),
                                        toQt(m_grid.cells[static_cast<std::size_t>(at)].text));
        }
        QToolTip::showText(help->globalPos(), text, this);
        return true;
    }
    return QWidget::event(event);
}

} // namespace prosector
