// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QStringList>
#include <QWidget>

class QLabel;
class QProgressBar;
class QTimer;
class QToolButton;

namespace prosector {

class JobRunner;

/// What a job is doing, how far it is, and a button that cancels it; there only while a job has run
/// for more than 200 ms. Of several jobs the oldest is shown.
class ProgressLine final : public QWidget {
    Q_OBJECT
public:
    /// Follows the jobs of these keys, or every job when there are none. `jobs`, not owned, must live
    /// as long.
    explicit ProgressLine(JobRunner *jobs, QStringList keys = {}, QWidget *parent = nullptr);

    static constexpr int showAfter = 200; ///< ms: shorter jobs would only flicker

private:
    void update();
    bool follows(const QString &key) const { return m_keys.isEmpty() || m_keys.contains(key); }

    JobRunner *m_jobs;
    QStringList m_keys;
    QLabel *m_title;
    QProgressBar *m_bar;
    QToolButton *m_cancel;
    QTimer *m_delay;
};

} // namespace prosector
