// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/rowview.h"

#include "widgets/theme.h"

#include <QPainter>
#include <QScrollBar>
#include <QWheelEvent>

#include <algorithm>

namespace prosector {

namespace {
constexpr std::uint64_t barSteps = 1U << 30;
}

RowView::RowView(QWidget *parent) : QAbstractScrollArea(parent)
{
    setFocusPolicy(Qt::StrongFocus);
    setFrameShape(QFrame::NoFrame);
    setVerticalScrollBarPolicy(Qt::ScrollBarAsNeeded);
    viewport()->setCursor(Qt::IBeamCursor);
    connect(&Theme::instance(), &Theme::changed, this, [this] {
        measure();
        viewport()->update();
    });
    setFont(Theme::fixedFont());
    m_lineHeight = fontMetrics().height() + 2;
}

void RowView::measure()
{
    if (font().pointSizeF() != Theme::fixedFont().pointSizeF())
        setFont(Theme::fixedFont());
    m_lineHeight = fontMetrics().height() + 2;
    fontChanged();
    updateBars();
}

void RowView::changeEvent(QEvent *event)
{
    QAbstractScrollArea::changeEvent(event);
    if (event->type() == QEvent::FontChange) {
        m_lineHeight = fontMetrics().height() + 2;
        fontChanged();
        updateBars();
    }
}

std::uint64_t RowView::visibleRows() const
{
    return static_cast<std::uint64_t>(std::max(1, viewport()->height() / m_lineHeight));
}

void RowView::setTopRow(std::uint64_t row)
{
    const std::uint64_t rows = rowCount();
    const std::uint64_t last = rows > visibleRows() ? rows - visibleRows() : 0;
    row = std::min(row, last);
    if (row != m_top) {
        m_top = row;
        viewport()->update();
    }
    updateBars();
    emit scrolled();
}

void RowView::showRow(std::uint64_t row)
{
    if (row >= m_top && row < m_top + visibleRows())
        return;
    const std::uint64_t third = visibleRows() / 3;
    setTopRow(row > third ? row - third : 0);
}

void RowView::contentChanged()
{
    setTopRow(m_top);
    viewport()->update();
}

void RowView::updateBars()
{
    m_updating = true;
    const std::uint64_t rows = rowCount();
    const std::uint64_t last = rows > visibleRows() ? rows - visibleRows() : 0;
    QScrollBar *const bar = verticalScrollBar();
    if (last <= barSteps) {
        bar->setRange(0, static_cast<int>(last));
        bar->setPageStep(static_cast<int>(visibleRows()));
        bar->setValue(static_cast<int>(m_top));
    } else {
        bar->setRange(0, static_cast<int>(barSteps));
        bar->setPageStep(1);
        bar->setValue(static_cast<int>(static_cast<long double>(m_top) / static_cast<long double>(last) * barSteps));
    }
    const int hidden = std::max(0, contentWidth() - viewport()->width());
    horizontalScrollBar()->setRange(0, hidden);
    horizontalScrollBar()->setPageStep(viewport()->width());
    horizontalScrollBar()->setSingleStep(fontMetrics().averageCharWidth() * 4);
    m_updating = false;
}

void RowView::scrollContentsBy(int dx, int dy)
{
    if (m_updating)
        return;
    if (dy != 0) {
        const std::uint64_t rows = rowCount();
        const std::uint64_t last = rows > visibleRows() ? rows - visibleRows() : 0;
        const auto value = static_cast<std::uint64_t>(verticalScrollBar()->value());
        m_top = last <= barSteps
            ? value
            : static_cast<std::uint64_t>(static_cast<long double>(value) / barSteps * static_cast<long double>(last));
        emit scrolled();
    }
    if (dx != 0 || dy != 0)
        viewport()->update();
}

int RowView::horizontalOffset() const { return horizontalScrollBar()->value(); }

std::uint64_t RowView::rowAt(int y) const
{
    const std::uint64_t rows = rowCount();
    const std::uint64_t row = m_top + static_cast<std::uint64_t>(std::max(0, y) / m_lineHeight);
    return rows == 0 ? 0 : std::min(row, rows - 1);
}

void RowView::paintEvent(QPaintEvent *)
{
    QPainter painter(viewport());
    const Theme &theme = Theme::instance();
    painter.fillRect(viewport()->rect(), theme.color(Token::Pane));
    const std::uint64_t rows = rowCount();
    if (rows == 0) {
        painter.setPen(theme.color(Token::Dim));
        painter.setFont(QWidget::parentWidget() ? parentWidget()->font() : font());
        painter.drawText(viewport()->rect().adjusted(16, 16, -16, -16), Qt::AlignCenter | Qt::TextWordWrap, emptyText());
        return;
    }
    painter.setFont(font());
    const std::uint64_t count = std::min(rows - std::min(m_top, rows), visibleRows() + 1);
    prepare(m_top, count);
    for (std::uint64_t i = 0; i < count; ++i) {
        const int y = static_cast<int>(i) * m_lineHeight;
        paintRow(painter, m_top + i, QRect(-horizontalOffset(), y, viewport()->width() + horizontalOffset(), m_lineHeight));
    }
}

void RowView::resizeEvent(QResizeEvent *event)
{
    QAbstractScrollArea::resizeEvent(event);
    contentChanged();
}

void RowView::wheelEvent(QWheelEvent *event)
{
    const QPoint angle = event->angleDelta();
    if (angle.x() != 0 && angle.y() == 0) {
        QAbstractScrollArea::wheelEvent(event);
        return;
    }
    m_wheelRest += angle.y();
    const int rows = m_wheelRest / 40; // three rows a notch of 120
    m_wheelRest -= rows * 40;
    if (rows > 0)
        setTopRow(m_top > static_cast<std::uint64_t>(rows) ? m_top - static_cast<std::uint64_t>(rows) : 0);
    else if (rows < 0)
        setTopRow(m_top + static_cast<std::uint64_t>(-rows));
    event->accept();
}

bool RowView::scrollByKey(int key)
{
    const std::uint64_t page = std::max<std::uint64_t>(1, visibleRows() - 1);
    switch (key) {
    case Qt::Key_PageUp: setTopRow(m_top > page ? m_top - page : 0); return true;
    case Qt::Key_PageDown: setTopRow(m_top + page); return true;
    default: return false;
    }
}

} // namespace prosector
