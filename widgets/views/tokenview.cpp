// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/tokenview.h"

#include "models/item/format.h"
#include "models/session/jobrunner.h"
#include "models/session/text.h"
#include "widgets/theme.h"

#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QTimer>

#include <algorithm>
#include <array>
#include <cmath>

namespace prosector {

namespace {

constexpr int relayoutDelay = 60; // ms, so that dragging a border cuts rows once
constexpr std::array roleInks{Token::RunA, Token::RunB, Token::Ok, Token::SetRequest, Token::SetLog, Token::Warning};

} // namespace

TokenView::TokenView(JobRunner *runner, QWidget *parent)
    : RowView(parent), m_runner(runner), m_key(QStringLiteral("tokenview.%1").arg(reinterpret_cast<quintptr>(this))), m_relayout(new QTimer(this))
{
    setAccessibleName(tr("Tokens"));
    m_relayout->setSingleShot(true);
    m_relayout->setInterval(relayoutDelay);
    connect(m_relayout, &QTimer::timeout, this, &TokenView::layOut);
}

void TokenView::setSequence(TokenSequencePtr sequence)
{
    m_runner->cancel(m_key); // rows cut for the sequence before would not fit this one
    m_sequence = std::move(sequence);
    m_layout.reset();
    m_selection = {};
    m_anchor = m_cursor = 0;
    setTopRow(0);
    layOut();
}

void TokenView::setMode(Mode mode)
{
    m_mode = mode;
    contentChanged();
    showRow(rowOf(m_cursor));
    if (!ready())
        layOut();
}

std::uint64_t TokenView::rowCount() const
{
    if (!m_sequence)
        return 0;
    return m_mode == Mode::List ? m_sequence->size() : m_layout ? m_layout->starts.size() : 0;
}

QString TokenView::emptyText() const { return ready() ? tr("No tokens.") : tr("Cutting rows…"); }

int TokenView::cell() const { return std::max(1, fontMetrics().horizontalAdvance(QLatin1Char('0'))); }

int TokenView::gutter() const
{
    const auto digits = format::grouped(m_sequence ? m_sequence->size() : 0).size();
    return cell() * (static_cast<int>(digits) + 2);
}

std::uint32_t TokenView::columns() const { return static_cast<std::uint32_t>(std::max(8, (viewport()->width() - gutter()) / cell() - 1)); }

void TokenView::layOut()
{
    if (!m_sequence || m_mode == Mode::List || (m_layout && m_layout->columns == columns())) {
        contentChanged();
        return;
    }
    m_runner->start(
        m_key, tr("Cutting rows"), this, [sequence = m_sequence, columns = columns()](const Job &job) { return layOutTokens(*sequence, columns, job); },
        [this](const Result<TokenLayoutPtr> &layout) {
            if (!layout)
                return;
            // What stood at the top stays there.
            const std::uint64_t top = m_layout ? m_layout->row(topRow(), m_sequence->size()).from : 0;
            m_layout = *layout;
            contentChanged();
            setTopRow(m_layout->rowOf(top));
            if (std::exchange(m_showWhenLaidOut, false))
                showRow(rowOf(m_selection.from));
            emit laidOut();
        });
}

void TokenView::fontChanged()
{
    if (m_relayout)
        m_relayout->start();
}

void TokenView::resizeEvent(QResizeEvent *event)
{
    RowView::resizeEvent(event);
    m_relayout->start();
}

std::uint64_t TokenView::rowOf(std::uint64_t token) const { return m_mode == Mode::List ? token : m_layout ? m_layout->rowOf(token) : 0; }

void TokenView::select(const TokenRange &tokens)
{
    const std::uint64_t size = m_sequence ? m_sequence->size() : 0;
    m_selection = {std::min(tokens.from, size), std::min(std::max(tokens.from, tokens.to), size)};
    m_anchor = m_selection.from;
    m_cursor = m_selection.to > m_selection.from ? m_selection.to - 1 : m_selection.from;
    m_showWhenLaidOut = !ready();
    showRow(rowOf(m_selection.from));
    viewport()->update();
}

QString TokenView::selectedText() const
{
    constexpr std::uint64_t most = 16 << 20;
    if (!m_sequence || m_selection.from >= m_selection.to)
        return {};
    const ByteRange bytes = m_sequence->bytesOf(m_selection);
    if (bytes.size() > 0)
        return toQt(std::string_view(m_sequence->text()).substr(bytes.from, std::min(bytes.size(), most)));
    QString ids;
    for (std::uint64_t i = m_selection.from; i < m_selection.to && static_cast<std::uint64_t>(ids.size()) < most; ++i)
        ids += (ids.isEmpty() ? QString() : QStringLiteral(", ")) + QString::number(m_sequence->kind(i).id);
    return ids;
}

void TokenView::paintToken(QPainter &painter, std::uint64_t token, const QRect &rect) const
{
    const Theme &theme = Theme::instance();
    const TokenKind &kind = m_sequence->kind(token);
    const int role = m_sequence->roleOf(token);
    const float logprob = m_sequence->logprob(token);
    const Token ink = role < 0 ? Token::Info : roleInks[static_cast<std::size_t>(role) % roleInks.size()];
    QColor back = theme.tint(theme.color(ink), token % 2 == 0 ? 0.07 : 0.16);
    if (!std::isnan(logprob)) // from certain to one in a thousand
        back = theme.tint(theme.color(Token::Warning), 0.05 + 0.4 * std::clamp(-static_cast<double>(logprob) / 6.9, 0.0, 1.0));
    if (kind.isMarker()) {
        painter.setRenderHint(QPainter::Antialiasing);
        painter.setPen(QPen(theme.color(Token::Control), 1));
        painter.setBrush(back);
        painter.drawRoundedRect(QRectF(rect).adjusted(1.5, 1.5, -1.5, -1.5), rect.height() / 3.0, rect.height() / 3.0);
        painter.setRenderHint(QPainter::Antialiasing, false);
    } else {
        painter.fillRect(rect, back);
    }
    const bool faulty = kind.flags & (TokenKind::Partial | TokenKind::Unknown | TokenKind::Differs | TokenKind::Confusable);
    const bool unseen = kind.flags & (TokenKind::Control | TokenKind::Unseen);
    painter.setPen(theme.color(faulty ? Token::Error : unseen ? Token::Warning : Token::Text));
    const int ends = kind.isMarker() ? cell() : 0;
    painter.setClipRect(rect);
    painter.drawText(rect.x() + ends, rect.y() + fontMetrics().ascent() + 1, toQt(kind.shown));
    painter.setClipping(false);
    if (token >= m_selection.from && token < m_selection.to) {
        // An outline around the whole selection: its ends have sides, what lies between has none.
        painter.setPen(QPen(theme.color(Token::Highlight), 2));
        painter.drawLine(rect.left(), rect.top() + 1, rect.right(), rect.top() + 1);
        painter.drawLine(rect.left(), rect.bottom(), rect.right(), rect.bottom());
        if (token == m_selection.from)
            painter.drawLine(rect.left() + 1, rect.top(), rect.left() + 1, rect.bottom());
        if (token + 1 == m_selection.to)
            painter.drawLine(rect.right(), rect.top(), rect.right(), rect.bottom());
    }
}

void TokenView::paintLine(QPainter &painter, std::uint64_t token, const QRect &rect) const
{
    const Theme &theme = Theme::instance();
    const TokenKind &kind = m_sequence->kind(token);
    const int c = cell(), baseline = rect.y() + fontMetrics().ascent() + 1;
    int x = rect.x() + gutter();
    const auto put = [&](int width, const QString &text, Token ink) {
        painter.setPen(theme.color(ink));
        painter.drawText(x, baseline, text);
        x += width * c;
    };
    put(9, kind.id == TokenKind::noId ? QString() : QString::number(kind.id), Token::Dim);
    constexpr int most = 28;
    paintToken(painter, token, QRect(x, rect.y(), static_cast<int>(std::min<std::uint32_t>(kind.columns, most)) * c, rect.height()));
    x += (most + 2) * c;
    const ByteRange bytes = m_sequence->bytesOf(token);
    const auto head = std::as_bytes(std::span(kind.bytes)).first(std::min<std::size_t>(kind.bytes.size(), 8));
    put(28, format::hex(head) + (kind.bytes.size() > head.size() ? QStringLiteral(" …") : QString()), Token::Dim);
    put(12, format::grouped(bytes.from), Token::Dim);
    put(12, format::grouped(m_sequence->characterOffset(token)), Token::Dim);
    if (const int role = m_sequence->roleOf(token); role >= 0)
        put(14, toQt(m_sequence->roleNames()[static_cast<std::size_t>(role)]), Token::Text);
    if (const float logprob = m_sequence->logprob(token); !std::isnan(logprob))
        put(10, format::number(static_cast<double>(logprob)), Token::Text);
    put(0, toQt(kind.note), Token::Warning);
}

void TokenView::paintRow(QPainter &painter, std::uint64_t row, const QRect &rect)
{
    const TokenRange tokens = m_mode == Mode::List ? TokenRange{row, row + 1} : m_layout->row(row, m_sequence->size());
    painter.setPen(Theme::instance().color(Token::Faint));
    painter.drawText(QRect(rect.x(), rect.y(), gutter() - cell(), rect.height()), Qt::AlignRight | Qt::AlignVCenter, format::grouped(tokens.from));
    if (m_mode == Mode::List) {
        paintLine(painter, row, rect);
        return;
    }
    int x = rect.x() + gutter();
    for (std::uint64_t i = tokens.from; i < tokens.to; ++i) {
        const int width = static_cast<int>(std::min(m_sequence->kind(i).columns, m_layout->columns)) * cell();
        paintToken(painter, i, QRect(x, rect.y(), width, rect.height()));
        x += width;
    }
}

std::uint64_t TokenView::tokenAt(const QPoint &position) const
{
    const std::uint64_t row = rowAt(position.y());
    if (m_mode == Mode::List)
        return row;
    const TokenRange tokens = m_layout->row(row, m_sequence->size());
    int x = gutter() - horizontalOffset();
    for (std::uint64_t i = tokens.from; i + 1 < tokens.to; ++i) {
        x += static_cast<int>(m_sequence->kind(i).columns) * cell();
        if (position.x() < x)
            return i;
    }
    return tokens.to - 1;
}

void TokenView::moveTo(std::uint64_t token, bool extend)
{
    m_cursor = token;
    if (!extend)
        m_anchor = token;
    m_selection = {std::min(m_anchor, m_cursor), std::max(m_anchor, m_cursor) + 1};
    viewport()->update();
}

void TokenView::mousePressEvent(QMouseEvent *event)
{
    if (event->button() != Qt::LeftButton || rowCount() == 0)
        return;
    m_dragging = true;
    moveTo(tokenAt(event->position().toPoint()), event->modifiers() & Qt::ShiftModifier);
}

void TokenView::mouseMoveEvent(QMouseEvent *event)
{
    if (m_dragging && rowCount() > 0)
        moveTo(tokenAt(event->position().toPoint()), true);
}

void TokenView::mouseReleaseEvent(QMouseEvent *)
{
    if (std::exchange(m_dragging, false))
        emit selected(m_selection);
}

void TokenView::keyPressEvent(QKeyEvent *event)
{
    const std::uint64_t rows = rowCount();
    if (rows == 0)
        return RowView::keyPressEvent(event);
    const std::uint64_t last = m_sequence->size() - 1, row = rowOf(m_cursor);
    const auto begin = [&](std::uint64_t r) { return m_mode == Mode::List ? r : m_layout->starts[r]; };
    /// The same place of another row.
    const auto over = [&](std::uint64_t r) {
        const std::uint64_t end = r + 1 < rows ? begin(r + 1) : last + 1;
        return std::min(begin(r) + (m_cursor - begin(row)), end - 1);
    };
    const bool ctrl = event->modifiers() & Qt::ControlModifier;
    const std::uint64_t page = std::max<std::uint64_t>(1, visibleRows() - 1);
    std::uint64_t to = m_cursor;
    switch (event->key()) {
    case Qt::Key_Left: to = m_cursor > 0 ? m_cursor - 1 : 0; break;
    case Qt::Key_Right: to = std::min(m_cursor + 1, last); break;
    case Qt::Key_Up: to = row > 0 ? over(row - 1) : m_cursor; break;
    case Qt::Key_Down: to = row + 1 < rows ? over(row + 1) : m_cursor; break;
    case Qt::Key_PageUp: to = over(row > page ? row - page : 0); break;
    case Qt::Key_PageDown: to = over(std::min(row + page, rows - 1)); break;
    case Qt::Key_Home: to = ctrl ? 0 : begin(row); break;
    case Qt::Key_End: to = ctrl || row + 1 == rows ? last : begin(row + 1) - 1; break;
    default: RowView::keyPressEvent(event); return;
    }
    moveTo(to, event->modifiers() & Qt::ShiftModifier);
    showRow(rowOf(m_cursor));
    emit selected(m_selection);
}

} // namespace prosector
