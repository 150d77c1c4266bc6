// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/progressline.h"

#include "models/session/jobrunner.h"
#include "widgets/icons.h"
#include "widgets/theme.h"

#include <QDateTime>
#include <QHBoxLayout>
#include <QLabel>
#include <QProgressBar>
#include <QTimer>
#include <QToolButton>

#include <algorithm>

namespace prosector {

ProgressLine::ProgressLine(JobRunner *jobs, QStringList keys, QWidget *parent)
    : QWidget(parent), m_jobs(jobs), m_keys(std::move(keys)), m_title(new QLabel), m_bar(new QProgressBar), m_cancel(new QToolButton),
      m_delay(new QTimer(this))
{
    auto *const layout = new QHBoxLayout(this);
    layout->setContentsMargins(2 * Theme::grid, 0, 2 * Theme::grid, 0);
    layout->addWidget(m_title);
    layout->addWidget(m_bar);
    layout->addWidget(m_cancel);
    layout->addStretch(m_keys.isEmpty() ? 0 : 1);
    m_title->setForegroundRole(QPalette::PlaceholderText);
    m_bar->setTextVisible(false);
    m_bar->setFixedWidth(35 * Theme::grid);
    m_bar->setFixedHeight(2 * Theme::grid);
    m_bar->setAccessibleName(tr("Progress"));
    m_cancel->setObjectName(QStringLiteral("cancel"));
    m_cancel->setIcon(themedIcon(QStringLiteral("close")));
    m_cancel->setIconSize(QSize(12, 12));
    if (!m_keys.isEmpty()) {
        m_cancel->setText(tr("Cancel"));
        m_cancel->setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
    }
    m_cancel->setToolTip(tr("Cancel what is running"));
    m_cancel->setAccessibleName(tr("Cancel what is running"));
    m_delay->setSingleShot(true);
    m_delay->setInterval(showAfter);
    connect(m_cancel, &QToolButton::clicked, this, [this] {
        for (const JobRunner::Status &job : m_jobs->jobs()) {
            if (follows(job.key))
                m_jobs->cancel(job.key);
        }
    });
    connect(m_delay, &QTimer::timeout, this, &ProgressLine::update);
    connect(jobs, &JobRunner::jobsChanged, this, [this] {
        if (isVisible())
            update();
        else if (!m_delay->isActive())
            m_delay->start();
    });
    connect(jobs, &JobRunner::progressed, this, [this](const QString &key) {
        if (isVisible() && follows(key))
            update();
    });
    setVisible(false);
    update();
}

void ProgressLine::update()
{
    const QList<JobRunner::Status> jobs = m_jobs->jobs();
    const qint64 now = QDateTime::currentMSecsSinceEpoch();
    const auto ours = [&](const JobRunner::Status &job) { return follows(job.key); };
    const auto old = std::find_if(jobs.begin(), jobs.end(), [&](const auto &job) { return ours(job) && now - job.since >= showAfter; });
    setVisible(old != jobs.end());
    if (old == jobs.end()) {
        if (std::any_of(jobs.begin(), jobs.end(), ours))
            m_delay->start();
        return;
    }
    const QString step = old->step.isEmpty() ? old->title : old->title + QStringLiteral(": ") + old->step;
    m_title->setText(fontMetrics().elidedText(step, Qt::ElideMiddle, 60 * fontMetrics().averageCharWidth()));
    m_bar->setRange(0, old->fraction < 0 ? 0 : 1000);
    m_bar->setValue(static_cast<int>(std::max(0.0, old->fraction) * 1000));
}

} // namespace prosector
