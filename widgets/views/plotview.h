// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/core/finding.h"

#include <QWidget>

class QCustomPlot;

namespace prosector {

/// One series of a report: a line or bars, with the faulty places marked and labelled in the
/// picture. Drag pans, the wheel zooms, double-click shows all.
class PlotView final : public QWidget {
    Q_OBJECT
public:
    explicit PlotView(QWidget *parent = nullptr);
    void setSeries(const Series &series);
    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

private:
    void draw();
    void restyle();

    QCustomPlot *m_plot;
    Series m_series;
};

} // namespace prosector
