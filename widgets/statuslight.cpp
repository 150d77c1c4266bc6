// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/statuslight.h"

#include "models/item/format.h"
#include "models/session/session.h"
#include "widgets/icons.h"
#include "widgets/theme.h"

#include <QDateTime>
#include <QHBoxLayout>
#include <QPainter>
#include <QLabel>
#include <QProgressBar>
#include <QTimer>
#include <QToolButton>

namespace prosector {

namespace {
constexpr int showAfter = 200; // ms: shorter jobs would only flicker
}

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
        undecidable += outcome && outcome->report && outcome->report->undecidable() ? 1 : 0;
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

JobStatus::JobStatus(Session *session, QWidget *parent)
    : QWidget(parent), m_session(session), m_title(new QLabel), m_bar(new QProgressBar), m_cancel(new QToolButton),
      m_delay(new QTimer(this))
{
    auto *const layout = new QHBoxLayout(this);
    layout->setContentsMargins(0, 0, 2 * Theme::grid, 0);
    layout->addWidget(m_title);
    layout->addWidget(m_bar);
    layout->addWidget(m_cancel);
    m_title->setForegroundRole(QPalette::PlaceholderText);
    m_bar->setTextVisible(false);
    m_bar->setFixedWidth(35 * Theme::grid);
    m_bar->setFixedHeight(2 * Theme::grid);
    m_bar->setAccessibleName(tr("Progress"));
    m_cancel->setIcon(themedIcon(QStringLiteral("close")));
    m_cancel->setIconSize(QSize(12, 12));
    m_cancel->setToolTip(tr("Cancel what is running"));
    m_cancel->setAccessibleName(tr("Cancel what is running"));
    m_delay->setSingleShot(true);
    m_delay->setInterval(showAfter);
    connect(m_cancel, &QToolButton::clicked, session->jobs(), &JobRunner::cancelAll);
    connect(m_delay, &QTimer::timeout, this, &JobStatus::update);
    connect(session->jobs(), &JobRunner::jobsChanged, this, [this] {
        if (!m_session->jobs()->jobs().isEmpty() && !m_delay->isActive())
            m_delay->start();
        if (m_session->jobs()->jobs().isEmpty())
            update();
    });
    connect(session->jobs(), &JobRunner::progressed, this, &JobStatus::update);
    setVisible(false);
}

void JobStatus::update()
{
    const QList<JobRunner::Status> jobs = m_session->jobs()->jobs();
    const qint64 now = QDateTime::currentMSecsSinceEpoch();
    const auto old = std::find_if(jobs.begin(), jobs.end(), [&](const auto &job) { return now - job.since >= showAfter; });
    const bool any = old != jobs.end();
    setVisible(any);
    if (!any) {
        if (!jobs.isEmpty())
            m_delay->start();
        return;
    }
    const QString step = old->step.isEmpty() ? old->title : old->title + QStringLiteral(": ") + old->step;
    m_title->setText(fontMetrics().elidedText(step, Qt::ElideMiddle, 60 * fontMetrics().averageCharWidth()));
    m_bar->setRange(0, old->fraction < 0 ? 0 : 1000);
    m_bar->setValue(static_cast<int>(std::max(0.0, old->fraction) * 1000));
}

} // namespace prosector
