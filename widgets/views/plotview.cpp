// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/plotview.h"

#include "models/session/text.h"
#include "widgets/theme.h"

#include <QVBoxLayout>
#include <qcustomplot.h>

#include <algorithm>
#include <cmath>

namespace prosector {

PlotView::PlotView(QWidget *parent) : QWidget(parent), m_plot(new QCustomPlot(this))
{
    auto *const layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->addWidget(m_plot);
    m_plot->setInteractions(QCP::iRangeDrag | QCP::iRangeZoom);
    m_plot->setNoAntialiasingOnDrag(true);
    connect(m_plot, &QCustomPlot::mouseDoubleClick, this, [this] {
        m_plot->rescaleAxes();
        m_plot->replot(QCustomPlot::rpQueuedReplot);
    });
    connect(&Theme::instance(), &Theme::changed, this, [this] { draw(); });
}

QSize PlotView::sizeHint() const { return {480, 14 * fontMetrics().height()}; }
QSize PlotView::minimumSizeHint() const { return {240, 10 * fontMetrics().height()}; }

void PlotView::setSeries(const Series &series)
{
    m_series = series;
    setAccessibleName(toQt(series.title));
    draw();
}

void PlotView::restyle()
{
    const Theme &theme = Theme::instance();
    m_plot->setBackground(QBrush(theme.color(Token::Pane)));
    for (QCPAxis *const axis : {m_plot->xAxis, m_plot->yAxis}) {
        axis->setBasePen(QPen(theme.color(Token::Control)));
        axis->setTickPen(QPen(theme.color(Token::Control)));
        axis->setSubTickPen(QPen(theme.color(Token::Hairline)));
        axis->setTickLabelColor(theme.color(Token::Dim));
        axis->setLabelColor(theme.color(Token::Dim));
        axis->setTickLabelFont(font());
        axis->setLabelFont(font());
        axis->grid()->setPen(QPen(theme.color(Token::Hairline), 1, Qt::SolidLine));
        axis->grid()->setZeroLinePen(QPen(theme.color(Token::Control), 1));
    }
}

void PlotView::draw()
{
    const Theme &theme = Theme::instance();
    m_plot->clearPlottables();
    m_plot->clearItems();
    restyle();
    const QList<double> x(m_series.x.begin(), m_series.x.end()), y(m_series.y.begin(), m_series.y.end());
    const QColor ink = theme.color(Token::RunA);
    if (m_series.bars) {
        auto *const bars = new QCPBars(m_plot->xAxis, m_plot->yAxis);
        double step = 1;
        for (qsizetype i = 1; i < x.size(); ++i)
            step = i == 1 ? x[i] - x[i - 1] : std::min(step, x[i] - x[i - 1]);
        bars->setWidth(step * 0.8);
        bars->setPen(Qt::NoPen);
        bars->setBrush(ink);
        bars->setData(x, y);
    } else {
        QCPGraph *const graph = m_plot->addGraph();
        graph->setPen(QPen(ink, 1.5));
        if (x.size() < 200)
            graph->setScatterStyle(QCPScatterStyle(QCPScatterStyle::ssDisc, ink, ink, 5));
        graph->setAdaptiveSampling(true); // keeps minimum and maximum of each pixel column
        graph->setData(x, y);
    }
    m_plot->xAxis->setLabel(toQt(m_series.xLabel));
    m_plot->yAxis->setLabel(toQt(m_series.yLabel));
    m_plot->rescaleAxes();
    m_plot->yAxis->scaleRange(1.15);
    m_plot->xAxis->scaleRange(1.04);
    for (const Series::Mark &mark : m_series.marks) {
        const QColor color = theme.severity(mark.severity);
        auto *const line = new QCPItemStraightLine(m_plot);
        line->setPen(QPen(color, 1, Qt::DashLine));
        line->point1->setCoords(mark.x, m_plot->yAxis->range().lower);
        line->point2->setCoords(mark.x, m_plot->yAxis->range().upper);
        auto *const dot = new QCPItemTracer(m_plot);
        dot->setStyle(QCPItemTracer::tsCircle);
        dot->setSize(9);
        dot->setPen(QPen(color, 2));
        dot->position->setCoords(mark.x, mark.y);
        auto *const label = new QCPItemText(m_plot);
        label->setText(toQt(mark.label));
        label->setFont(font());
        label->setColor(color);
        label->setBrush(QBrush(theme.color(Token::Pane)));
        label->setPadding(QMargins(4, 1, 4, 1));
        // On the side where there is room.
        const bool right = mark.x > m_plot->xAxis->range().center();
        label->setPositionAlignment((right ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignBottom);
        label->position->setCoords(mark.x, mark.y);
    }
    m_plot->replot(QCustomPlot::rpQueuedReplot);
}

} // namespace prosector
