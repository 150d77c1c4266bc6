// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

class QLabel;

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
    void keyPressEvent(QKeyEvent *event) override;
    void paintEvent(QPaintEvent *event) override;

private:
    void update();
    Session *m_session;
    QLabel *m_icon, *m_counts, *m_progress;
};

} // namespace prosector
