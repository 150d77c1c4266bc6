// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/hexview.h"

#include "widgets/theme.h"

#include <QApplication>
#include <QClipboard>
#include <QHelpEvent>
#include <QKeyEvent>
#include <QPainter>
#include <QToolTip>

#include <algorithm>

namespace prosector {

HexView::HexView(JobRunner *runner, QWidget *parent) : RowView(parent), m_pager(runner)
{
    setAccessibleName(tr("Bytes of the file"));
    connect(&m_pager, &BytePager::arrived, viewport(), qOverload<>(&QWidget::update));
}

void HexView::setSource(SourcePtr source)
{
    m_pager.setSource(std::move(source));
    m_selection = {};
    contentChanged();
}

void HexView::setMarks(std::vector<ByteMark> marks)
{
    m_marks = std::move(marks);
    viewport()->update();
}

std::uint64_t HexView::rowCount() const { return (m_pager.size() + bytesPerRow - 1) / bytesPerRow; }

QString HexView::emptyText() const
{
    return m_pager.source() ? tr("The file is empty: 0 bytes.") : tr("No file is open here.");
}

void HexView::select(const ByteRange &bytes)
{
    m_selection = {std::min(bytes.from, size()), std::min(bytes.to, size())};
    showRow(m_selection.from / bytesPerRow);
    viewport()->update();
}

QString HexView::selectedHex() const
{
    QString text;
    const std::uint64_t end = std::min(m_selection.to, m_selection.from + (1U << 20));
    for (std::uint64_t i = m_selection.from; i < end; ++i) {
        const int byte = m_pager.byteAt(i);
        if (byte < 0)
            break;
        if (!text.isEmpty())
            text += QLatin1Char(' ');
        text += QStringLiteral("%1").arg(byte, 2, 16, QLatin1Char('0')).toUpper();
    }
    return text;
}

int HexView::offsetDigits() const { return size() > 0xFFFFFFFFULL ? 12 : 8; }

int HexView::hexX(std::uint64_t column) const
{
    const int cell = fontMetrics().horizontalAdvance(QLatin1Char('0'));
    return 8 + cell * (offsetDigits() + 2) + static_cast<int>(column) * cell * 3 + (column >= 8 ? cell : 0);
}

int HexView::textX(std::uint64_t column) const
{
    const int cell = fontMetrics().horizontalAdvance(QLatin1Char('0'));
    return hexX(bytesPerRow) + cell + static_cast<int>(column) * cell;
}

int HexView::contentWidth() const { return textX(bytesPerRow) + 8; }

void HexView::prepare(std::uint64_t first, std::uint64_t count)
{
    m_pager.request(first * bytesPerRow, (first + count) * bytesPerRow);
}

const ByteMark *HexView::markAt(std::uint64_t offset) const
{
    const ByteMark *found = nullptr;
    for (const ByteMark &mark : m_marks) {
        if (offset >= mark.bytes.from && offset < mark.bytes.to && (!found || mark.severity > found->severity))
            found = &mark;
    }
    return found;
}

void HexView::paintRow(QPainter &painter, std::uint64_t row, const QRect &rect)
{
    const Theme &theme = Theme::instance();
    const int cell = fontMetrics().horizontalAdvance(QLatin1Char('0'));
    const int baseline = rect.y() + fontMetrics().ascent() + 1;
    const std::uint64_t start = row * bytesPerRow;
    painter.setPen(theme.color(Token::Dim));
    painter.drawText(rect.x() + 8, baseline,
                     QStringLiteral("%1").arg(static_cast<qulonglong>(start), offsetDigits(), 16, QLatin1Char('0')).toUpper());
    const std::uint64_t end = std::min(start + bytesPerRow, size());
    for (std::uint64_t offset = start; offset < end; ++offset) {
        const std::uint64_t column = offset - start;
        const int byte = m_pager.byteAt(offset);
        const QRect hexCell(rect.x() + hexX(column), rect.y(), cell * 2, rect.height());
        const QRect textCell(rect.x() + textX(column), rect.y(), cell, rect.height());
        if (const ByteMark *const mark = markAt(offset)) {
            const QColor tint = theme.tint(theme.severity(mark->severity), 0.22);
            const bool joined = offset + 1 < mark->bytes.to && column + 1 < bytesPerRow;
            painter.fillRect(hexCell.adjusted(0, 0, joined ? hexX(column + 1) - hexX(column) - cell * 2 : 0, 0), tint);
            painter.fillRect(textCell, tint);
        }
        const bool printable = byte >= 0x20 && byte < 0x7F;
        painter.setPen(theme.color(byte == 0 ? Token::Faint : Token::Text));
        painter.drawText(hexCell.x(), baseline,
                         byte < 0 ? QStringLiteral("··") : QStringLiteral("%1").arg(byte, 2, 16, QLatin1Char('0')).toUpper());
        painter.setPen(theme.color(printable ? Token::Text : Token::Faint));
        painter.drawText(textCell.x(), baseline, printable ? QString(QLatin1Char(static_cast<char>(byte))) : QStringLiteral("·"));
    }
    const std::uint64_t from = std::max(m_selection.from, start), to = std::min(m_selection.to, end);
    if (from < to) {
        painter.setPen(QPen(theme.color(Token::Highlight), 2));
        painter.setBrush(Qt::NoBrush);
        // The edge runs where no selected byte is right above or below.
        const std::uint64_t c0 = from - start, c1 = to - start;
        const std::uint64_t topEnd = std::min(c1, m_selection.from + bytesPerRow - std::min(start, m_selection.from + bytesPerRow));
        const std::uint64_t bottomStart = std::max(c0, m_selection.to > start + bytesPerRow ? m_selection.to - start - bytesPerRow : 0);
        const auto outline = [&](auto left, int width) {
            const int x0 = rect.x() + left(c0) - 2, x1 = rect.x() + left(c1 - 1) + width + 1;
            painter.drawLine(x0, rect.top(), x0, rect.bottom());
            painter.drawLine(x1, rect.top(), x1, rect.bottom());
            if (topEnd > c0)
                painter.drawLine(x0, rect.top() + 1, rect.x() + left(topEnd - 1) + width + 1, rect.top() + 1);
            if (bottomStart < c1)
                painter.drawLine(rect.x() + left(bottomStart) - 2, rect.bottom(), x1, rect.bottom());
        };
        outline([this](std::uint64_t column) { return hexX(column); }, cell * 2);
        outline([this](std::uint64_t column) { return textX(column); }, cell);
    }
}

std::uint64_t HexView::offsetAt(const QPoint &position) const
{
    const std::uint64_t start = rowAt(position.y()) * bytesPerRow;
    const int x = position.x() + horizontalOffset();
    const int cell = fontMetrics().horizontalAdvance(QLatin1Char('0'));
    std::uint64_t column = bytesPerRow - 1;
    if (x >= textX(0) - cell) {
        column = static_cast<std::uint64_t>(std::clamp((x - textX(0)) / cell, 0, 15));
    } else {
        for (std::uint64_t i = 0; i < bytesPerRow; ++i) {
            if (x < hexX(i) + cell * 2 + cell / 2) {
                column = i;
                break;
            }
        }
    }
    return size() == 0 ? 0 : std::min(start + column, size() - 1);
}

void HexView::mousePressEvent(QMouseEvent *event)
{
    if (event->button() != Qt::LeftButton || size() == 0)
        return;
    const std::uint64_t at = offsetAt(event->position().toPoint());
    if (event->modifiers() & Qt::ShiftModifier) {
        extendTo(at);
    } else {
        m_dragFrom = at;
        m_selection = {at, at + 1};
    }
    m_dragging = true;
    viewport()->update();
}

void HexView::mouseMoveEvent(QMouseEvent *event)
{
    if (m_dragging)
        extendTo(offsetAt(event->position().toPoint()));
}

void HexView::mouseReleaseEvent(QMouseEvent *)
{
    if (!m_dragging)
        return;
    m_dragging = false;
    emit selected(m_selection);
}

void HexView::extendTo(std::uint64_t offset)
{
    m_selection = {std::min(m_dragFrom, offset), std::max(m_dragFrom, offset) + 1};
    viewport()->update();
}

void HexView::keyPressEvent(QKeyEvent *event)
{
    if (event->matches(QKeySequence::Copy)) {
        QApplication::clipboard()->setText(selectedHex());
        return;
    }
    if (scrollByKey(event->key()))
        return;
    const std::uint64_t size = this->size();
    if (size == 0)
        return RowView::keyPressEvent(event);
    const std::uint64_t last = m_selection.size() > 0 ? m_selection.from : topRow() * bytesPerRow;
    std::uint64_t next = last;
    switch (event->key()) {
    case Qt::Key_Left: next = last > 0 ? last - 1 : 0; break;
    case Qt::Key_Right: next = std::min(last + 1, size - 1); break;
    case Qt::Key_Up: next = last >= bytesPerRow ? last - bytesPerRow : last; break;
    case Qt::Key_Down: next = last + bytesPerRow < size ? last + bytesPerRow : last; break;
    case Qt::Key_Home: next = event->modifiers() & Qt::ControlModifier ? 0 : last / bytesPerRow * bytesPerRow; break;
    case Qt::Key_End:
        next = event->modifiers() & Qt::ControlModifier
            ? size - 1
            : std::min(last / bytesPerRow * bytesPerRow + bytesPerRow - 1, size - 1);
        break;
    default: return RowView::keyPressEvent(event);
    }
    if (event->modifiers() & Qt::AltModifier)
        return RowView::keyPressEvent(event); // the window's history keys
    m_dragFrom = next;
    select({next, next + 1});
    emit selected(m_selection);
}

bool HexView::viewportEvent(QEvent *event)
{
    if (event->type() == QEvent::ToolTip) {
        const auto *const help = static_cast<QHelpEvent *>(event);
        const ByteMark *const mark = size() ? markAt(offsetAt(help->pos())) : nullptr;
        QToolTip::showText(help->globalPos(), mark ? mark->note : QString(), this);
        return true;
    }
    return RowView::viewportEvent(event);
}

} // namespace prosector
