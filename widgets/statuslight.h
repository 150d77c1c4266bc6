// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

class QLabel;
class QProgressBar;
class QTimer;
class QToolButton;

namespace prosector {

class Session;

/// Left end of the status bar: the worst severity's shape with counts, and how far the instruments are.
class StatusLight final : public QWidget {
    Q_OBJECT
public:
    explicit StatusLight(Session *session, QWidget *parent = nullptr);
    QString text() const;

signals:
    void clicked();

protected:
    void mousePressEvent(QMouseEvent *) override { emit clicked(); }

private:
    void update();
    Session *m_session;
    QLabel *m_icon, *m_counts, *m_progress;
};

/// Right end: the job that takes longest, with a cancel button; shown after 200 ms.
class JobStatus final : public QWidget {
    Q_OBJECT
public:
    explicit JobStatus(Session *session, QWidget *parent = nullptr);

private:
    void update();
    Session *m_session;
    QLabel *m_title;
    QProgressBar *m_bar;
    QToolButton *m_cancel;
    QTimer *m_delay;
};

} // namespace prosector
