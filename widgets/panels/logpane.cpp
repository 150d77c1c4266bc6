// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/panels/logpane.h"

#include "models/config/logtriage.h"
#include "models/item/format.h"
#include "models/item/logmodel.h"
#include "models/session/session.h"
#include "widgets/panels/panelheader.h"
#include "widgets/theme.h"
#include "widgets/views/columnfit.h"
#include "widgets/views/overviewstrip.h"
#include "widgets/views/tableview.h"

#include <QComboBox>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QStackedWidget>

namespace prosector {

LogPane::LogPane(Session *session, QWidget *parent)
    : Panel(session, paneId(), tr("Log"), parent), m_model(new LogModel(session->jobs(), this)), m_view(new TableView),
      m_strip(new OverviewStrip), m_logs(new QComboBox), m_level(new QComboBox), m_stack(new QStackedWidget)
{
    m_view->setModel(m_model);
    m_view->setAccessibleName(tr("Log lines"));
    m_view->setFont(Theme::fixedFont());
    m_view->horizontalHeader()->setFont(font());
    connect(&Theme::instance(), &Theme::changed, m_view, [this] { m_view->setFont(Theme::fixedFont()); });
    // The text begins beside its number; what a line is about stands at the right edge.
    m_view->horizontalHeader()->moveSection(LogModel::ClassColumn, LogModel::TextColumn);
    new ColumnFit(m_view, m_view->horizontalHeader(),
                  {{.least = 4, .most = 14}, {.least = 4, .most = 10, .hideEmpty = true}, {.least = 8, .most = 20, .hideEmpty = true},
                   {.least = 24, .most = 100, .stretch = 1}});
    m_logs->setAccessibleName(tr("Which log"));
    m_level->setAccessibleName(tr("Which lines"));
    m_level->addItem(tr("All lines"), -1);
    m_level->addItem(tr("Recognised lines only"), static_cast<int>(Severity::Info));
    m_level->addItem(tr("Warnings and errors only"), static_cast<int>(Severity::Warning));
    m_level->addItem(tr("Errors only"), static_cast<int>(Severity::Error));
    auto *const empty = new QLabel(tr("No log is open. Save what the server prints from its start to the first request, standard "
                                      "error included (vllm serve … 2>&1 | tee start.log), and drop it here."));
    empty->setWordWrap(true);
    empty->setMargin(3 * Theme::grid);
    empty->setAlignment(Qt::AlignTop);
    empty->setForegroundRole(QPalette::PlaceholderText);
    auto *const lines = new QWidget;
    auto *const row = new QHBoxLayout(lines);
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacing(0);
    row->addWidget(m_view, 1);
    row->addWidget(m_strip);
    m_stack->addWidget(lines);
    m_stack->addWidget(empty);
    auto *const content = new QWidget;
    auto *const column = new QVBoxLayout(content);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    auto *const bar = new QHBoxLayout;
    bar->setContentsMargins(2 * Theme::grid, Theme::grid, 2 * Theme::grid, Theme::grid);
    bar->addWidget(m_logs, 1);
    bar->addWidget(m_level);
    column->addLayout(bar);
    column->addWidget(m_stack, 1);
    setContent(content);
    setFocusProxy(m_view);

    connect(m_logs, &QComboBox::activated, this, &LogPane::showChosen);
    connect(m_level, &QComboBox::currentIndexChanged, this, [this] {
        const int level = m_level->currentData().toInt();
        m_model->setFilter(level < 0 ? std::nullopt : std::optional(static_cast<Severity>(level)));
    });
    connect(m_view, &TableView::rowChosen, this, [this](const QModelIndex &index) { publish(placesAt(index)); });
    connect(m_view, &TableView::rowActivated, this, [this](const QModelIndex &index) {
        if (const Selection places = placesAt(index); !places.empty())
            emit placeActivated(places[0]);
    });
    connect(m_model, &LogModel::triaged, this, [this] {
        updateStrip();
        emit settled();
    });
    connect(m_strip, &OverviewStrip::jump, this, [this](double share) {
        const int rows = m_model->rowCount();
        if (rows > 0)
            m_view->scrollTo(m_model->index(std::min(rows - 1, static_cast<int>(share * rows)), 0), QAbstractItemView::PositionAtCenter);
    });
    connect(session, &Session::runChanged, this, &LogPane::scheduleRefresh);
    connect(session, &Session::findingsChanged, this, &LogPane::updateStrip);
}

bool LogPane::isBusy() const { return m_logs->count() > 0 && session()->facts() && m_model->triage() == nullptr; }

void LogPane::fillLogs()
{
    const QString before = m_logs->currentText();
    m_logs->clear();
    if (const RunPtr run = session()->run()) {
        for (const Artifact &artifact : run->artifacts()) {
            if (isLog(artifact))
                m_logs->addItem(toQt(artifact.name), artifact.id.index);
        }
    }
    m_logs->setCurrentIndex(m_logs->count() ? std::max(0, m_logs->findText(before)) : -1);
    m_stack->setCurrentIndex(m_logs->count() > 0 ? 0 : 1);
}

void LogPane::refresh()
{
    fillLogs();
    showChosen();
    reveal(session()->hub()->selection());
}

void LogPane::showLog(ArtifactId artifact)
{
    const int at = m_logs->findData(artifact.index);
    if (at >= 0 && at != m_logs->currentIndex()) {
        m_logs->setCurrentIndex(at);
        showChosen();
    }
}

void LogPane::showChosen()
{
    if (m_logs->currentIndex() < 0) {
        m_model->setArtifact(nullptr, {}, nullptr);
        m_strip->setMarks({});
        setOrigin({});
        return;
    }
    const ArtifactId id{m_logs->currentData().toUInt()};
    m_model->setArtifact(session()->run(), {Side::A, id}, session()->facts());
    setArtifact(Side::A, id);
    updateStrip();
}

void LogPane::updateStrip()
{
    std::vector<OverviewStrip::Mark> marks;
    const LogTriage *const triage = m_model->triage();
    const auto shown = artifactShown();
    const Artifact *const artifact = shown && session()->run() ? session()->run()->find(shown->second) : nullptr;
    const auto *const text = artifact ? artifact->as<TextContent>() : nullptr;
    if (triage != nullptr && text != nullptr) {
        const auto lines = static_cast<double>(text->lineCount());
        for (const LogHit &hit : triage->hits) {
            const Severity severity = LogModel::severityOf(*hit.pattern);
            if (severity >= Severity::Warning)
                marks.push_back({static_cast<double>(hit.line - 1) / lines, static_cast<double>(hit.line) / lines, severity, tr("line %1").arg(hit.line)});
        }
    }
    m_strip->setMarks(std::move(marks));
}

void LogPane::reveal(const Selection &selection)
{
    for (const Place &place : selection) {
        const Artifact *const artifact = place.side == Side::A ? session()->artifact(place) : nullptr;
        if (artifact == nullptr || !isLog(*artifact) || std::holds_alternative<Whole>(place.where))
            continue;
        showLog(place.artifact);
        if (const QModelIndex index = m_model->indexFor(place.where); index.isValid()) {
            m_view->showRow(index.row());
            return;
        }
    }
}

QString LogPane::goToHint() const { return tr("Line number"); }

void LogPane::goTo(const QString &where)
{
    bool number = false;
    const qulonglong line = where.trimmed().toULongLong(&number);
    if (!number || line < 1)
        return;
    if (const QModelIndex index = m_model->indexFor(LogLine{line, line}); index.isValid()) {
        m_view->showRow(index.row());
        publish(placesAt(index));
    }
}

void LogPane::findText(const QString &text, bool forward)
{
    // Row by row, at most as many as take a moment; the source pane searches files of any size.
    const int rows = m_model->rowCount();
    const int start = m_view->currentIndex().row();
    for (int i = 1; i <= std::min(rows, 20000); ++i) {
        const int row = ((start + (forward ? i : -i)) % rows + rows) % rows;
        if (m_model->index(row, LogModel::TextColumn).data().toString().contains(text, Qt::CaseInsensitive)) {
            m_view->showRow(row);
            publish(placesAt(m_model->index(row, 0)));
            return showFindResult(tr("row %1").arg(row + 1));
        }
    }
    showFindResult(rows > 20000 ? tr("not in the next 20000 rows") : tr("not found"));
}

void LogPane::copy() { m_view->copySelected(); }
QAbstractItemModel *LogPane::csvModel() const { return m_model; }

} // namespace prosector
