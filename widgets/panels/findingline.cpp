// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/panels/findingline.h"

#include "models/item/format.h"
#include "widgets/icons.h"
#include "widgets/theme.h"

#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QToolButton>

namespace prosector {

FindingLine::FindingLine(QWidget *parent) : QWidget(parent), m_previous(new QToolButton(this)), m_next(new QToolButton(this))
{
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    setFocusPolicy(Qt::TabFocus);
    setCursor(Qt::PointingHandCursor);
    const auto prepare = [](QToolButton *button, const QString &icon, const QString &name) {
        button->setIcon(themedIcon(icon));
        button->setIconSize(QSize(12, 12));
        button->setToolTip(name);
        button->setAccessibleName(name);
        button->setCursor(Qt::ArrowCursor);
    };
    prepare(m_previous, QStringLiteral("previous"), tr("Previous finding in this artifact"));
    prepare(m_next, QStringLiteral("next"), tr("Next finding in this artifact"));
    connect(m_previous, &QToolButton::clicked, this, [this] { step(-1); });
    connect(m_next, &QToolButton::clicked, this, [this] { step(1); });
    connect(&Theme::instance(), &Theme::changed, this, qOverload<>(&QWidget::update));
}

void FindingLine::setEntries(std::vector<Entry> entries)
{
    m_entries = std::move(entries);
    m_at = 0;
    setVisible(!m_entries.empty());
    m_previous->setVisible(m_entries.size() > 1);
    m_next->setVisible(m_entries.size() > 1);
    if (!m_entries.empty()) {
        setAccessibleName(format::severity(m_entries[0].severity) + QStringLiteral(": ") + m_entries[0].title);
        setToolTip(m_entries[0].title);
    }
    arrange();
    update();
}

QSize FindingLine::sizeHint() const { return {200, Theme::rowHeight(fontMetrics())}; }

void FindingLine::step(int by)
{
    const auto count = static_cast<int>(m_entries.size());
    if (count == 0)
        return;
    m_at = static_cast<std::size_t>((static_cast<int>(m_at) + by + count) % count);
    setToolTip(m_entries[m_at].title);
    update();
    emit chosen(m_entries[m_at].ref);
}

void FindingLine::arrange()
{
    const int side = height();
    m_next->setGeometry(width() - side - Theme::grid, 0, side, height());
    const int count = fontMetrics().horizontalAdvance(QStringLiteral(" 00 of 00 "));
    m_previous->setGeometry(m_next->x() - count - side, 0, side, height());
}

void FindingLine::resizeEvent(QResizeEvent *) { arrange(); }

void FindingLine::mousePressEvent(QMouseEvent *event)
{
    if (event->button() == Qt::LeftButton)
        step(0);
}

void FindingLine::keyPressEvent(QKeyEvent *event)
{
    switch (event->key()) {
    case Qt::Key_Return:
    case Qt::Key_Enter:
    case Qt::Key_Space: step(0); return;
    case Qt::Key_Left: step(-1); return;
    case Qt::Key_Right: step(1); return;
    default: QWidget::keyPressEvent(event);
    }
}

void FindingLine::paintEvent(QPaintEvent *)
{
    if (m_entries.empty())
        return;
    const Theme &theme = Theme::instance();
    const Entry &entry = m_entries[m_at];
    QPainter painter(this);
    painter.fillRect(rect(), theme.tint(theme.severity(entry.severity), 0.10));
    painter.fillRect(QRect(0, height() - 1, width(), 1), theme.color(Token::Hairline));
    const int icon = fontMetrics().ascent();
    paintThemedIcon(painter, QRectF(2 * Theme::grid, (height() - icon) / 2.0, icon, icon), severityIconName(entry.severity),
                    theme.severity(entry.severity));
    const bool several = m_entries.size() > 1;
    const int right = several ? m_previous->x() : width();
    const int left = 2 * Theme::grid + icon + Theme::grid + 2;
    const QRect text(left, 0, right - left - Theme::grid, height());
    painter.setPen(theme.color(Token::Text));
    painter.drawText(text, Qt::AlignVCenter | Qt::AlignLeft, fontMetrics().elidedText(entry.title, Qt::ElideRight, text.width()));
    if (several) {
        painter.setPen(theme.color(Token::Dim));
        painter.drawText(QRect(m_previous->geometry().right(), 0, m_next->x() - m_previous->geometry().right(), height()),
                         Qt::AlignCenter, tr("%1 of %2").arg(m_at + 1).arg(m_entries.size()));
    }
    if (hasFocus()) {
        painter.setPen(theme.color(Token::Highlight));
        painter.drawRect(rect().adjusted(0, 0, -1, -1));
    }
}

} // namespace prosector
