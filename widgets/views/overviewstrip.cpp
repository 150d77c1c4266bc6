// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/overviewstrip.h"

#include "widgets/theme.h"

#include <QHelpEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QToolTip>

#include <algorithm>

namespace prosector {

OverviewStrip::OverviewStrip(QWidget *parent) : QWidget(parent)
{
    setSizePolicy(QSizePolicy::Fixed, QSizePolicy::Expanding);
    setCursor(Qt::PointingHandCursor);
    setAccessibleName(tr("Overview of findings"));
    connect(&Theme::instance(), &Theme::changed, this, qOverload<>(&QWidget::update));
}

void OverviewStrip::setMarks(std::vector<Mark> marks)
{
    std::stable_sort(marks.begin(), marks.end(), [](const Mark &a, const Mark &b) { return a.severity < b.severity; });
    m_marks = std::move(marks);
    setAccessibleDescription(tr("Marks: %1").arg(m_marks.size()));
    update();
}

void OverviewStrip::setWindow(double from, double to)
{
    m_from = from;
    m_to = to;
    update();
}

QSize OverviewStrip::sizeHint() const { return {3 * Theme::grid, 64}; }

QRect OverviewStrip::rectOf(const Mark &mark) const
{
    const int y = static_cast<int>(std::clamp(mark.from, 0.0, 1.0) * (height() - 3));
    const int end = static_cast<int>(std::clamp(mark.to, 0.0, 1.0) * (height() - 3));
    return {2, y, width() - 4, std::max(3, end - y)};
}

void OverviewStrip::paintEvent(QPaintEvent *)
{
    const Theme &theme = Theme::instance();
    QPainter painter(this);
    painter.fillRect(rect(), theme.color(Token::Window));
    painter.fillRect(QRect(0, 0, 1, height()), theme.color(Token::Hairline));
    const int top = static_cast<int>(m_from * height());
    painter.fillRect(QRect(1, top, width() - 1, std::max(4, static_cast<int>((m_to - m_from) * height()))),
                     theme.color(Token::Hairline));
    for (const Mark &mark : m_marks)
        painter.fillRect(rectOf(mark), theme.severity(mark.severity));
}

void OverviewStrip::mousePressEvent(QMouseEvent *event)
{
    if (event->buttons() & Qt::LeftButton)
        emit jump(std::clamp(event->position().y() / std::max(1, height()), 0.0, 1.0));
}

void OverviewStrip::mouseMoveEvent(QMouseEvent *event) { mousePressEvent(event); }

bool OverviewStrip::event(QEvent *event)
{
    if (event->type() == QEvent::ToolTip) {
        const auto *const help = static_cast<QHelpEvent *>(event);
        QStringList notes;
        for (const Mark &mark : m_marks) {
            if (rectOf(mark).adjusted(-4, -2, 4, 2).contains(help->pos()) && notes.size() < 8)
                notes.prepend(mark.note);
        }
        QToolTip::showText(help->globalPos(), notes.join(QLatin1Char('\n')), this);
        return true;
    }
    return QWidget::event(event);
}

} // namespace prosector
