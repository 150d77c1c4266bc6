// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/statuslight.h"

#include "models/item/format.h"
#include "models/session/session.h"
#include "widgets/icons.h"
#include "widgets/theme.h"

#include <QHBoxLayout>
#include <QKeyEvent>
#include <QPainter>
#include <QLabel>

namespace prosector {

StatusLight::StatusLight(Session *session, QWidget *parent)
    : QWidget(parent), m_session(session), m_icon(new QLabel), m_counts(new QLabel), m_progress(new QLabel)
{
    auto *const layout = new QHBoxLayout(this);
    layout->setContentsMargins(2 * Theme::grid, 0, 2 * Theme::grid, 0);
    layout->setSpacing(2 * Theme::grid);
    layout->addWidget(m_icon);
    layout->addWidget(m_counts);
    layout->addSpacing(4 * Theme::grid);
    layout->addWidget(m_progress);
    setFocusPolicy(Qt::TabFocus);
    setToolTip(tr("Go to the findings"));
    setCursor(Qt::PointingHandCursor);
    m_progress->setForegroundRole(QPalette::PlaceholderText);
    for (const auto signal : {&Session::findingsChanged, &Session::runChanged, &Session::openingChanged, &Session::examinationFinished})
        connect(session, signal, this, &StatusLight::update);
    connect(session, &Session::outcomeChanged, this, &StatusLight::update);
    connect(&Theme::instance(), &Theme::changed, this, &StatusLight::update);
    update();
}

QString StatusLight::text() const { return m_counts->text(); }

void StatusLight::update()
{
    const FindingIndex &findings = m_session->findings();
    int ran = 0, undecidable = 0, failed = 0;
    for (int i = 0; i < m_session->instrumentCount(); ++i) {
        const auto &outcome = m_session->state(i).outcome;
        ran += outcome ? 1 : 0;
        undecidable += outcome && outcome->standing() == Outcome::Standing::Undecidable ? 1 : 0;
        failed += outcome && !outcome->report ? 1 : 0;
    }
    QStringList parts;
    const auto add = [&](std::size_t count, const char *one, const char *many) {
        if (count > 0)
            parts.append(format::counted(count, one, many));
    };
    add(findings.count(Severity::Error), "error", "errors");
    add(findings.count(Severity::Warning), "warning", "warnings");
    add(findings.count(Severity::Info), "note", "notes");
    const bool open = m_session->run() != nullptr;
    const bool done = open && !m_session->isExamining();
    QString icon = severityIconName(findings.worst());
    QColor color = Theme::instance().severity(findings.worst());
    if (!open || (!done && parts.isEmpty())) {
        icon = QStringLiteral("running");
        color = Theme::instance().color(Token::Undecidable);
    } else if (parts.isEmpty() && undecidable == ran) {
        // Nothing was judged: that is no all clear.
        icon = severityIconName(Severity::Undecidable);
        color = Theme::instance().severity(Severity::Undecidable);
    }
    const int side = fontMetrics().ascent() + 2;
    QPixmap pixmap(QSize(side, side) * devicePixelRatioF());
    pixmap.setDevicePixelRatio(devicePixelRatioF());
    pixmap.fill(Qt::transparent);
    QPainter painter(&pixmap);
    paintThemedIcon(painter, QRectF(0, 0, side, side), icon, color);
    painter.end();
    m_icon->setPixmap(pixmap);
    m_counts->setText(!open ? tr("Nothing open")
                          : parts.isEmpty() ? (done ? tr("No findings") : tr("Examining"))
                                            : parts.join(QStringLiteral(", ")));
    QString progress;
    if (m_session->isOpening())
        progress = tr("Opening…");
    else if (open) {
        progress = tr("%1 of %2 instruments ran").arg(ran).arg(m_session->instrumentCount());
        if (undecidable > 0)
            progress += tr(", %1 lacked an input").arg(undecidable);
        if (failed > 0)
            progress += tr(", %1 failed").arg(failed);
    }
    m_progress->setText(progress);
    setAccessibleName(m_counts->text() + QStringLiteral(". ") + progress);
}

void StatusLight::keyPressEvent(QKeyEvent *event)
{
    if (event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter || event->key() == Qt::Key_Space)
        emit clicked();
    else
        QWidget::keyPressEvent(event);
}

void StatusLight::paintEvent(QPaintEvent *)
{
    if (!hasFocus())
        return;
    QPainter painter(this);
    painter.setPen(Theme::instance().color(Token::Highlight));
    painter.drawRect(rect().adjusted(0, 0, -1, -1));
}

} // namespace prosector
