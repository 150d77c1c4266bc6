// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/session/findingindex.h"
#include "models/core/finding.h"

#include <QWidget>

#include <vector>

class QToolButton;

namespace prosector {

/// One line under a pane's header: the worst finding's sentence, and arrows to step through all
/// that touch the artifact. Hidden when there are none.
class FindingLine final : public QWidget {
    Q_OBJECT
public:
    struct Entry {
        FindingRef ref;
        Severity severity;
        QString title;
        QString instrument;
    };

    explicit FindingLine(QWidget *parent = nullptr);
    /// Worst first.
    void setEntries(std::vector<Entry> entries);
    QSize sizeHint() const override;

signals:
    void chosen(prosector::FindingRef ref);

protected:
    void paintEvent(QPaintEvent *event) override;
    void resizeEvent(QResizeEvent *event) override;
    void mousePressEvent(QMouseEvent *event) override;
    void keyPressEvent(QKeyEvent *event) override;

private:
    void step(int by);
    void arrange();

    std::vector<Entry> m_entries;
    std::size_t m_at = 0;
    QToolButton *m_previous, *m_next;
};

} // namespace prosector
