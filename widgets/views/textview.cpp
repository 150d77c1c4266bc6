// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/textview.h"

#include "models/session/jobrunner.h"
#include "models/session/text.h"
#include "widgets/theme.h"

#include <QApplication>
#include <QClipboard>
#include <QHelpEvent>
#include <QKeyEvent>
#include <QPainter>
#include <QTextLayout>
#include <QTimer>
#include <QToolTip>

#include <algorithm>

namespace prosector {

namespace {

constexpr int relayoutAfter = 120; // ms: while a splitter is dragged the rows stay as they are

struct Piece {
    std::shared_ptr<const std::string> text;
    std::shared_ptr<const TextLines> lines;
};

Result<Piece> cut(std::shared_ptr<const std::string> text, std::uint64_t base, std::uint32_t columns, const Job &job)
{
    auto lines = std::make_shared<const TextLines>(text, base, 1, columns, job);
    if (job.cancelled())
        return Job::cancelledError();
    return Piece{std::move(text), std::move(lines)};
}

/// Lays out one row; the returned layout has one line.
void layOutRow(QTextLayout &layout, const DisplayRow &row)
{
    const Theme &theme = Theme::instance();
    QTextOption option;
    option.setWrapMode(QTextOption::NoWrap);
    option.setTextDirection(Qt::LeftToRight);
    layout.setTextOption(option);
    QList<QTextLayout::FormatRange> formats;
    for (const DisplayRow::Span &span : row.shown) {
        QTextLayout::FormatRange range;
        range.start = span.from;
        range.length = span.length;
        range.format.setForeground(theme.color(Token::Faint));
        formats.append(range);
    }
    layout.setFormats(formats);
    layout.beginLayout();
    layout.createLine();
    layout.endLayout();
}

} // namespace

TextView::TextView(JobRunner *runner, QWidget *parent)
    : RowView(parent), m_runner(runner), m_key(QStringLiteral("text.%1").arg(reinterpret_cast<quintptr>(this), 0, 16)),
      m_relayout(new QTimer(this))
{
    setAccessibleName(tr("Text of the file"));
    m_relayout->setSingleShot(true);
    connect(m_relayout, &QTimer::timeout, this, [this] {
        if (m_source && !m_text && !m_runner->isRunning(m_key))
            load(0);
        else if (m_text && (columns() != m_columns || !m_lines))
            layOut();
        else
            emit loaded();
    });
    connect(this, &RowView::scrolled, this, &TextView::followScroll);
}

void TextView::followScroll()
{
    constexpr std::uint64_t half = TextLines::pieceSize / 2;
    if (!m_lines || !m_source || m_source->size() <= TextLines::pieceSize || m_runner->isRunning(m_key))
        return;
    if (topRow() + visibleRows() >= rowCount() && m_lines->end() < m_source->size()) {
        m_keepTop = m_lines->rowStart(topRow());
        load(m_base + half);
    } else if (topRow() == 0 && m_base > 0) {
        m_keepTop = m_lines->rowStart(0);
        load(m_base - std::min(m_base, half));
    }
}

void TextView::setSource(SourcePtr source, std::shared_ptr<const std::string> whole)
{
    if (source == m_source)
        return;
    m_source = std::move(source);
    m_text.reset();
    m_lines.reset();
    m_problem.clear();
    m_selection = {};
    m_wantedLines.reset();
    m_base = 0;
    if (whole && m_source && whole->size() == m_source->size() && whole->size() <= TextLines::pieceSize) {
        m_text = std::move(whole);
    }
    // In the next turn of the event loop the pane has the width that decides where rows end.
    m_relayout->start(0);
    contentChanged();
}

std::uint32_t TextView::columns() const
{
    const int cell = std::max(1, fontMetrics().horizontalAdvance(QLatin1Char('0')));
    return static_cast<std::uint32_t>(std::max(24, (viewport()->width() - gutter() - 12) / cell));
}

int TextView::gutter() const
{
    // As wide before anything is read as for most files after: the gutter decides where rows end.
    constexpr int usualDigits = 4;
    const int digits = m_lines ? std::max(usualDigits, static_cast<int>(std::to_string(m_lines->lastLine()).size())) : usualDigits;
    return fontMetrics().horizontalAdvance(QLatin1Char('0')) * digits + 20;
}

void TextView::load(std::uint64_t base)
{
    m_base = base;
    m_columns = columns();
    m_runner->start(
        m_key, tr("Reading %1").arg(toQt(m_source->name())), this,
        [source = m_source, base, columns = m_columns](const Job &job) -> Result<Piece> {
            auto bytes = source->readUpTo(base, TextLines::pieceSize);
            if (!bytes)
                return bytes.error();
            return cut(std::make_shared<const std::string>(asText(*bytes)), base, columns, job);
        },
        [this](const Result<Piece> &piece) {
            if (!piece) {
                if (piece.error().code != Errc::Cancelled)
                    m_problem = toQt(describe(piece.error()));
                viewport()->update();
                return;
            }
            m_text = piece->text;
            m_lines = piece->lines;
            contentChanged();
            layOutAgainIfNeeded();
            if (m_keepTop) {
                const std::uint64_t offset = *m_keepTop;
                m_keepTop.reset();
                setTopRow(m_lines->rowOfOffset(offset));
            }
            showSelection();
            emit loaded();
        });
}

void TextView::layOut()
{
    m_columns = columns();
    const std::uint64_t shown = m_lines && rowCount() > 0 ? m_lines->rowStart(std::min(topRow(), rowCount() - 1)) : 0;
    m_runner->start(
        m_key, tr("Laying out %1").arg(toQt(m_source->name())), this,
        [text = m_text, base = m_base, columns = m_columns](const Job &job) { return cut(text, base, columns, job); },
        [this, shown](const Result<Piece> &piece) {
            if (!piece)
                return;
            const bool first = m_lines == nullptr;
            m_lines = piece->lines;
            contentChanged();
            layOutAgainIfNeeded();
            if (first)
                showSelection();
            else
                setTopRow(m_lines->rowOfOffset(shown));
            emit loaded();
        });
}

void TextView::layOutAgainIfNeeded()
{
    if (columns() != m_columns) // more digits in the gutter than it was cut for
        m_relayout->start(0);
}

void TextView::setMarks(std::vector<ByteMark> marks)
{
    m_marks = std::move(marks);
    viewport()->update();
}

void TextView::select(const ByteRange &bytes)
{
    m_selection = bytes;
    m_wantedLines.reset();
    m_showWhenLoaded = true;
    if (m_lines && (bytes.from < m_lines->base() || bytes.from >= std::max(m_lines->end(), m_lines->base() + 1)) && m_source
        && bytes.from < m_source->size()) {
        m_lines.reset();
        load(bytes.from / (TextLines::pieceSize / 2) * (TextLines::pieceSize / 2));
    } else {
        showSelection();
    }
    viewport()->update();
}

void TextView::selectLines(std::uint64_t from, std::uint64_t to)
{
    m_wantedLines = {from, std::max(from, to)};
    m_showWhenLoaded = true;
    showSelection();
}

void TextView::showSelection()
{
    if (!m_lines || !m_showWhenLoaded || rowCount() == 0)
        return;
    m_showWhenLoaded = false;
    if (m_wantedLines) {
        const std::uint64_t first = m_lines->rowOfLine(m_wantedLines->first);
        const std::uint64_t behind = m_lines->rowOfLine(m_wantedLines->second + 1);
        const bool last = m_wantedLines->second >= m_lines->lastLine();
        const std::uint64_t end = last ? m_lines->end() : m_lines->rowStart(behind) - 1;
        m_selection = {m_lines->rowStart(first), std::max(m_lines->rowStart(first), end)};
        m_wantedLines.reset();
    }
    showRow(m_lines->rowOfOffset(m_selection.from));
    viewport()->update();
}

std::uint64_t TextView::lineOf(std::uint64_t offset) const
{
    return m_lines && rowCount() > 0 && m_lines->base() == 0 && offset >= m_lines->base() && offset <= m_lines->end()
        ? m_lines->lineOf(m_lines->rowOfOffset(offset))
        : 0;
}

QString TextView::selectedText() const
{
    if (!m_lines || m_selection.from < m_lines->base() || m_selection.from >= m_lines->end())
        return {};
    const std::uint64_t length = std::min<std::uint64_t>({m_selection.size(), m_lines->end() - m_selection.from, 16U << 20});
    return toQt(std::string_view(*m_text).substr(m_selection.from - m_lines->base(), length));
}

QString TextView::emptyText() const
{
    if (!m_problem.isEmpty())
        return m_problem;
    return m_source ? tr("Reading…") : tr("No file is open here.");
}

void TextView::fontChanged() { m_relayout->start(relayoutAfter); }

bool TextView::ready() const { return m_lines != nullptr && !m_relayout->isActive() && m_columns == columns(); }

void TextView::resizeEvent(QResizeEvent *event)
{
    RowView::resizeEvent(event);
    if (m_source)
        m_relayout->start(m_lines ? relayoutAfter : 0);
}

void TextView::paintRow(QPainter &painter, std::uint64_t index, const QRect &rect)
{
    const Theme &theme = Theme::instance();
    const int left = gutter();
    const std::uint64_t start = m_lines->rowStart(index);
    const std::string_view bytes = m_lines->row(index);
    const std::uint64_t end = start + bytes.size();
    const bool selectedRow = m_selection.size() > 0 && m_selection.from <= end && m_selection.to > start;

    if (m_lines->startsLine(index)) {
        painter.setPen(theme.color(selectedRow ? Token::Text : Token::Faint));
        // In a later piece of a large file the lines before it were never counted.
        if (m_lines->base() == 0) {
            painter.drawText(QRect(0, rect.y(), left - 12, rect.height()), Qt::AlignRight | Qt::AlignVCenter,
                             QString::number(m_lines->lineOf(index)));
        }
    }
    const DisplayRow row = displayRow(bytes);
    QTextLayout layout(row.text, font(), viewport());
    layOutRow(layout, row);
    const QTextLine line = layout.lineAt(0);
    const auto spanOf = [&](const ByteRange &range) {
        const auto from = static_cast<std::uint32_t>(std::clamp(range.from, start, end) - start);
        const auto to = static_cast<std::uint32_t>(std::clamp(range.to, start, end) - start);
        const qreal x0 = line.cursorToX(row.indexOf(from)), x1 = line.cursorToX(row.indexOf(to));
        return QRectF(left + std::min(x0, x1), rect.y(), std::max(std::abs(x1 - x0), 4.0), rect.height());
    };
    for (const ByteMark &mark : m_marks) {
        if (mark.bytes.from <= end && mark.bytes.to > start && (mark.bytes.from < end || bytes.empty())) {
            painter.fillRect(spanOf(mark.bytes), theme.tint(theme.severity(mark.severity), 0.18));
            // The gutter's bar: seen when the bytes themselves are many or few.
            painter.fillRect(QRect(left - 8, rect.y(), 3, rect.height()), theme.severity(mark.severity));
        }
    }
    painter.setPen(theme.color(Token::Text));
    layout.draw(&painter, QPointF(left, rect.y() + 1));
    if (selectedRow) {
        const QRectF box = spanOf(m_selection);
        painter.setPen(QPen(theme.color(Token::Highlight), 2));
        painter.setBrush(Qt::NoBrush);
        const QRectF frame = box.adjusted(-1, 1, 1, -1);
        painter.drawLine(frame.bottomLeft(), frame.bottomRight());
        painter.drawLine(frame.topLeft(), frame.topRight());
        if (m_selection.from >= start)
            painter.drawLine(frame.topLeft(), frame.bottomLeft());
        if (m_selection.to <= end)
            painter.drawLine(frame.topRight(), frame.bottomRight());
    }
}

std::uint64_t TextView::offsetAt(const QPoint &position) const
{
    const std::uint64_t index = rowAt(position.y());
    const DisplayRow row = displayRow(m_lines->row(index));
    QTextLayout layout(row.text, font());
    layOutRow(layout, row);
    const int at = layout.lineAt(0).xToCursor(position.x() - gutter());
    return m_lines->rowStart(index) + row.byteOf[static_cast<std::size_t>(at)];
}

void TextView::mousePressEvent(QMouseEvent *event)
{
    if (event->button() != Qt::LeftButton || rowCount() == 0)
        return;
    const std::uint64_t at = offsetAt(event->position().toPoint());
    if (event->modifiers() & Qt::ShiftModifier) {
        m_selection = {std::min(m_dragFrom, at), std::max(m_dragFrom, at)};
    } else {
        m_dragFrom = at;
        m_selection = {at, at};
    }
    m_dragging = true;
    viewport()->update();
}

void TextView::mouseMoveEvent(QMouseEvent *event)
{
    if (!m_dragging)
        return;
    const int y = event->position().toPoint().y();
    if (y < 0 && topRow() > 0)
        setTopRow(topRow() - 1);
    else if (y > viewport()->height())
        setTopRow(topRow() + 1);
    const std::uint64_t at = offsetAt(QPoint(event->position().toPoint().x(), std::clamp(y, 0, viewport()->height() - 1)));
    m_selection = {std::min(m_dragFrom, at), std::max(m_dragFrom, at)};
    viewport()->update();
}

void TextView::mouseReleaseEvent(QMouseEvent *)
{
    if (!m_dragging)
        return;
    m_dragging = false;
    emit selected(m_selection);
}

void TextView::mouseDoubleClickEvent(QMouseEvent *event)
{
    if (rowCount() > 0)
        selectWordAt(offsetAt(event->position().toPoint()));
}

void TextView::selectWordAt(std::uint64_t offset)
{
    const std::string_view text = *m_text;
    const auto inWord = [&](std::uint64_t at) {
        const auto c = static_cast<unsigned char>(text[at - m_base]);
        return c >= 0x80 || c == '_' || (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
    };
    std::uint64_t from = offset, to = offset;
    while (from > m_base && inWord(from - 1))
        --from;
    while (to < m_base + text.size() && inWord(to))
        ++to;
    m_dragFrom = from;
    m_selection = {from, to};
    viewport()->update();
    emit selected(m_selection);
}

void TextView::keyPressEvent(QKeyEvent *event)
{
    if (event->matches(QKeySequence::Copy)) {
        QApplication::clipboard()->setText(selectedText());
        return;
    }
    if (event->matches(QKeySequence::SelectAll) && m_lines) {
        m_selection = {m_lines->base(), m_lines->end()};
        viewport()->update();
        emit selected(m_selection);
        return;
    }
    if (scrollByKey(event->key()))
        return;
    if (rowCount() == 0 || (event->modifiers() & Qt::AltModifier))
        return RowView::keyPressEvent(event);
    std::uint64_t row = std::min(m_selection.to > 0 || m_selection.size() ? m_lines->rowOfOffset(m_selection.from) : topRow(), rowCount() - 1);
    switch (event->key()) {
    case Qt::Key_Up: row = row > 0 ? row - 1 : 0; break;
    case Qt::Key_Down: row = std::min(row + 1, rowCount() - 1); break;
    case Qt::Key_Home: row = 0; break;
    case Qt::Key_End: row = rowCount() - 1; break;
    default: return RowView::keyPressEvent(event);
    }
    const std::uint64_t start = m_lines->rowStart(row);
    m_dragFrom = start;
    select({start, start + m_lines->row(row).size()});
    emit selected(m_selection);
}

bool TextView::viewportEvent(QEvent *event)
{
    if (event->type() == QEvent::ToolTip && rowCount() > 0) {
        const auto *const help = static_cast<QHelpEvent *>(event);
        const std::uint64_t at = offsetAt(help->pos());
        QString note;
        for (const ByteMark &mark : m_marks) {
            if (at >= mark.bytes.from && at <= mark.bytes.to)
                note = mark.note;
        }
        QToolTip::showText(help->globalPos(), note, this);
        return true;
    }
    return RowView::viewportEvent(event);
}

} // namespace prosector
