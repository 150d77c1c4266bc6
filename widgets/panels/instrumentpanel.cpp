// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/panels/instrumentpanel.h"

#include "models/core/resources.h"
#include "models/item/format.h"
#include "models/item/reporttablemodel.h"
#include "models/item/roles.h"
#include "models/session/session.h"
#include "widgets/icons.h"
#include "widgets/panels/capturehints.h"
#include "widgets/panels/findingtext.h"
#include "widgets/panels/thresholdeditor.h"
#include "widgets/theme.h"
#include "widgets/views/columnfit.h"
#include "widgets/views/gridview.h"
#include "widgets/views/plotview.h"
#include "widgets/views/richview.h"
#include "widgets/views/tableview.h"

#include <QApplication>
#include <QClipboard>
#include <QFile>
#include <QHeaderView>
#include <QRegularExpression>
#include <QScrollArea>
#include <QScrollBar>
#include <QVBoxLayout>

namespace prosector {

namespace {

constexpr int rowsShown = 16; ///< of a table before it scrolls by itself

QString heading(const QString &text) { return QStringLiteral("<h2>%1</h2>").arg(RichView::escaped(text)); }

/// The help page without what the panel says itself: the licence line of the source tree, the name,
/// the question.
QString helpBody(const QString &page)
{
    QString body = page;
    if (body.startsWith(QLatin1String("<!--")))
        body.remove(0, body.indexOf(QLatin1String("-->")) + 3);
    QStringList paragraphs = body.trimmed().split(QStringLiteral("\n\n"));
    while (!paragraphs.isEmpty()
           && (paragraphs[0].startsWith(QLatin1String("# ")) || paragraphs[0].startsWith(QLatin1String("**Asks"))))
        paragraphs.removeFirst();
    // Its headings are smaller than the page's.
    static const QRegularExpression headings(QStringLiteral("^#+ +(.*)$"), QRegularExpression::MultilineOption);
    return paragraphs.join(QStringLiteral("\n\n")).replace(headings, QStringLiteral("**\\1**"));
}

} // namespace

namespace {

std::string exact(double number) { return QString::number(number, 'g', 17).toStdString(); }

Table tableOf(const Series &series)
{
    Table table{series.title, {series.xLabel, series.yLabel}, {}};
    for (std::size_t i = 0; i < std::min(series.x.size(), series.y.size()); ++i)
        table.rows.push_back({Cell{exact(series.x[i])}, Cell{exact(series.y[i])}});
    return table;
}

Table tableOf(const Grid &grid)
{
    Table table{grid.title, {""}, {}};
    table.columns.insert(table.columns.end(), grid.columnLabels.begin(), grid.columnLabels.end());
    for (std::size_t r = 0; r < grid.rowLabels.size(); ++r) {
        std::vector<Cell> row{Cell{grid.rowLabels[r]}};
        for (std::size_t c = 0; c < grid.columnLabels.size(); ++c)
            row.push_back(grid.cells[r * grid.columnLabels.size() + c]);
        table.rows.push_back(std::move(row));
    }
    return table;
}

} // namespace

InstrumentPanel::InstrumentPanel(Session *session, int instrument, QWidget *parent)
    : Panel(session, toQt(session->state(instrument).instrument->id),
            toQt(session->state(instrument).instrument->id) + QLatin1Char(' ') + toQt(session->state(instrument).instrument->name), parent),
      m_number(instrument), m_instrument(session->state(instrument).instrument), m_scroll(new QScrollArea)
{
    m_scroll->setWidgetResizable(true);
    m_scroll->setFrameShape(QFrame::NoFrame);
    m_scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAsNeeded);
    m_scroll->setBackgroundRole(QPalette::Base);
    setContent(m_scroll);
    setOrigin(toQt(m_instrument->family()));
    watchJobs({session->jobKey(instrument)});
    connect(session, &Session::outcomeChanged, this, [this](int changed) {
        if (changed == m_number)
            scheduleRefresh();
    });
    connect(session, &Session::runChanged, this, &InstrumentPanel::scheduleRefresh);
    connect(session, &Session::acknowledgementsChanged, this, &InstrumentPanel::scheduleRefresh);
    loadHelp();
}

void InstrumentPanel::loadHelp()
{
    const QString file = toQt(resourceFolder()) + QStringLiteral("/help/") + toQt(m_instrument->slug) + QStringLiteral(".md");
    session()->jobs()->start(
        id() + QStringLiteral(".help"), tr("Reading help"), this,
        [file](const Job &) -> Result<QString> {
            QFile page(file);
            return page.open(QIODevice::ReadOnly) ? QString::fromUtf8(page.read(1 << 20)) : QString();
        },
        [this](const Result<QString> &help) {
            m_helpLoading = false;
            m_help = help.valueOr({});
            m_help = helpBody(m_help);
            scheduleRefresh();
            emit settled();
        });
}

bool InstrumentPanel::isBusy() const { return m_helpLoading || session()->state(m_number).running; }

QWidget *InstrumentPanel::makePage()
{
    auto *const page = new QWidget;
    page->setBackgroundRole(QPalette::Base);
    page->setAutoFillBackground(true);
    m_page = new QVBoxLayout(page);
    m_page->setContentsMargins(2 * Theme::grid, 2 * Theme::grid, 4 * Theme::grid, 4 * Theme::grid);
    m_page->setSpacing(3 * Theme::grid);
    return page;
}

void InstrumentPanel::addText(const QString &html)
{
    auto *const text = new RichView;
    text->setFitting(true);
    text->setBody(html);
    connect(text, &RichView::anchorClicked, this, &InstrumentPanel::follow);
    m_page->addWidget(text);
}

void InstrumentPanel::refresh()
{
    const int scrolled = m_scroll->verticalScrollBar()->value();
    QWidget *const page = makePage();
    m_tables.clear();
    addText(QStringLiteral("<h1>%1</h1>%2").arg(RichView::escaped(toQt(m_instrument->question)), verdictHtml()));
    const Report *const report = session()->report(m_number);
    if (report != nullptr)
        addReport(*report);
    addFoot(report);
    addHelp();
    m_page->addStretch(1);
    m_scroll->setWidget(page); // deletes the page before
    page->setAccessibleName(name());
    m_scroll->verticalScrollBar()->setValue(scrolled);
}

QString InstrumentPanel::verdictHtml() const
{
    const auto &state = session()->state(m_number);
    const auto line = [](const QString &icon, const QString &text) {
        return QStringLiteral("<p><img src=\"icon:%1\"> <b>%2</b></p>").arg(icon, RichView::escaped(text));
    };
    if (session()->run() == nullptr)
        return line(QStringLiteral("running"), tr("Nothing is open. Drop a model folder or a trace on the window."));
    if (!state.outcome)
        return line(QStringLiteral("running"), state.running ? tr("Running…") : tr("Waiting to run."));
    if (!state.outcome->report && !state.running) {
        return line(severityIconName(Severity::Undecidable), format::sentence(*state.outcome))
            + QStringLiteral("<p>%1</p>").arg(RichView::link(QStringLiteral("rerun:"), tr("Run again")));
    }
    const Severity severity = state.outcome->report ? state.outcome->report->worst() : Severity::Undecidable;
    return line(severityIconName(severity), format::sentence(*state.outcome));
}

QString InstrumentPanel::missingHtml(const Report &report) const
{
    QString html = heading(tr("Which input is missing, and how to capture it"));
    for (const std::string &kind : report.missing) {
        html += QStringLiteral("<p><b>%1</b><br>%2</p>")
                    .arg(RichView::escaped(format::kind(kindFromString(kind)) == format::kind(Kind::Unknown) ? toQt(kind) : format::kind(kindFromString(kind))),
                         RichView::escaped(captureHint(kindFromString(kind))));
    }
    return html;
}

void InstrumentPanel::addReport(const Report &report)
{
    if (report.undecidable())
        addText(missingHtml(report));
    addFindings(report);
    for (const Series &series : report.series) {
        addText(heading(toQt(series.title)));
        auto *const plot = new PlotView;
        plot->setSeries(series);
        addTable(tableOf(series));
        m_page->addWidget(plot);
    }
    for (const Grid &grid : report.grids) {
        addText(heading(toQt(grid.title)));
        auto *const view = new GridView;
        view->setGrid(grid);
        addTable(tableOf(grid));
        connect(view, &GridView::chosen, this, [this](const Evidence &evidence) { publish({placeOf(evidence)}); });
        m_page->addWidget(view);
    }
    addTables(report);
}

void InstrumentPanel::addTable(const Table &table)
{
    auto *const model = new ReportTableModel(m_page);
    model->setTable(table);
    m_tables.push_back({toQt(table.title), model});
}

void InstrumentPanel::addFindings(const Report &report)
{
    // Worst first; the worst one's sentence is the verdict above, so it is not said twice.
    std::vector<int> order(report.findings.size());
    for (std::size_t i = 0; i < order.size(); ++i)
        order[i] = static_cast<int>(i);
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
        return report.findings[static_cast<std::size_t>(a)].severity > report.findings[static_cast<std::size_t>(b)].severity;
    });
    for (const int index : order) {
        const bool first = index == order.front();
        QString html = findingHtml(*session(), {m_number, index}, !first);
        if (!first)
            html.replace(QLatin1String("<h1>"), QLatin1String("<h2>")).replace(QLatin1String("</h1>"), QLatin1String("</h2>"));
        addText(html + acknowledgementHtml(*session(), {m_number, index}));
    }
}

void InstrumentPanel::addTables(const Report &report)
{
    for (std::size_t i = 0; i < report.tables.size(); ++i) {
        const Table &table = report.tables[i];
        addText(heading(toQt(table.title)));
        auto *const view = new TableView;
        auto *const model = new ReportTableModel(view);
        model->setTable(session()->state(m_number).outcome, i);
        view->setModel(model);
        m_tables.push_back({toQt(table.title), model});
        view->setAccessibleName(toQt(table.title));
        new ColumnFit(view, view->horizontalHeader(), {{.least = 6, .most = 56}});
        const int rows = std::min(std::max(1, model->rowCount()), rowsShown);
        view->setFixedHeight(rows * Theme::rowHeight(fontMetrics()) + view->horizontalHeader()->sizeHint().height() + 2
                             + view->horizontalScrollBar()->sizeHint().height());
        const auto placeAt = [](const QModelIndex &index) {
            Selection places = placesAt(index);
            for (int c = 0; places.empty() && c < index.model()->columnCount(); ++c)
                places = placesAt(index.siblingAtColumn(c));
            return places;
        };
        connect(view, &TableView::rowChosen, this, [this, placeAt](const QModelIndex &index) {
            if (const Selection places = placeAt(index); !places.empty())
                publish(places);
        });
        connect(view, &TableView::rowActivated, this, [this, placeAt](const QModelIndex &index) {
            if (const Selection places = placeAt(index); !places.empty())
                emit placeActivated(places[0]);
        });
        m_page->addWidget(view);
    }
}

void InstrumentPanel::addFoot(const Report *report)
{
    QString html;
    if (report != nullptr && !report->notSeen.empty()) {
        html += heading(tr("Not seen")) + QStringLiteral("<ul>");
        for (const std::string &part : report->notSeen)
            html += QStringLiteral("<li>%1</li>").arg(RichView::escaped(toQt(part)));
        html += QStringLiteral("</ul>");
    }
    if (!html.isEmpty())
        addText(html);
    if (!m_instrument->params.empty()) {
        addText(heading(tr("Thresholds in force")));
        m_page->addWidget(new ThresholdEditor(session(), m_number));
    }
}

void InstrumentPanel::addHelp()
{
    if (m_help.isEmpty())
        return;
    addText(heading(tr("About this instrument")));
    auto *const help = new RichView;
    help->setFitting(true);
    help->setMarkdownBody(m_help);
    m_page->addWidget(help);
}

void InstrumentPanel::follow(const QUrl &url)
{
    const FindingLink link = FindingLink::parse(url);
    if (url.scheme() == QLatin1String("rerun")) {
        session()->rerun(m_number);
    } else if (link.type == FindingLink::Type::Acknowledge) {
        emit acknowledgeRequested(link.ref);
    } else if (link.type == FindingLink::Type::Withdraw) {
        session()->withdraw(link.ref);
    } else if (link.type == FindingLink::Type::Instrument) {
        emit instrumentRequested(link.instrument);
    } else if (link.type == FindingLink::Type::Evidence) {
        const Finding &finding = session()->finding(link.ref);
        if (link.evidence < finding.evidence.size())
            emit placeActivated(placeOf(finding.evidence[link.evidence]));
    }
}

void InstrumentPanel::copy()
{
    QStringList parts;
    for (const RichView *const text : m_scroll->widget()->findChildren<RichView *>())
        parts.append(text->toPlainText());
    QApplication::clipboard()->setText(parts.join(QStringLiteral("\n\n")));
}

std::vector<Panel::NamedTable> InstrumentPanel::tables() const { return m_tables; }

} // namespace prosector
