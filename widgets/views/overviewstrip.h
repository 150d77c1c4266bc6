// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/core/finding.h"

#include <QWidget>

#include <vector>

namespace prosector {

/// A thin strip beside a long view with the marks of all findings, like an editor's search strip.
/// A mark is never thinner than two pixels, and a worse one is never hidden by a better one.
class OverviewStrip final : public QWidget {
    Q_OBJECT
public:
    struct Mark {
        double from = 0, to = 0; ///< shares of the whole, 0..1
        Severity severity = Severity::Info;
        QString note;
    };

    explicit OverviewStrip(QWidget *parent = nullptr);
    void setMarks(std::vector<Mark> marks);
    const std::vector<Mark> &marks() const { return m_marks; }
    /// The part of the whole that is in view.
    void setWindow(double from, double to);
    QSize sizeHint() const override;

signals:
    void jump(double share);

protected:
    void paintEvent(QPaintEvent *event) override;
    void mousePressEvent(QMouseEvent *event) override;
    void mouseMoveEvent(QMouseEvent *event) override;
    bool event(QEvent *event) override;

private:
    QRect rectOf(const Mark &mark) const;
    std::vector<Mark> m_marks; ///< worst last
    double m_from = 0, m_to = 1;
};

} // namespace prosector
