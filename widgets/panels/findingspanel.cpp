// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/panels/findingspanel.h"

#include "models/item/findingmodel.h"
#include "models/item/format.h"
#include "widgets/panels/panelheader.h"
#include "widgets/theme.h"
#include "widgets/views/columnfit.h"
#include "widgets/views/tableview.h"

#include <QAction>
#include <QComboBox>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QStackedWidget>

namespace prosector {

FindingsPanel::FindingsPanel(Session *session, QWidget *parent)
    : Panel(session, QStringLiteral("findings"), tr("Findings"), parent), m_model(new FindingModel(session, this)),
      m_filter(new FindingFilter(m_model, this)), m_view(new TableView), m_search(new QLineEdit),
      m_stack(new QStackedWidget), m_empty(new QLabel)
{
    m_view->setModel(m_filter);
    m_view->setAccessibleName(tr("Findings"));
    m_view->setSortingEnabled(true);
    m_view->sortByColumn(FindingModel::SeverityColumn, Qt::DescendingOrder);
    new ColumnFit(m_view, m_view->horizontalHeader(),
                  {{.least = 14, .most = 16},
                   {.least = 5, .most = 8},
                   {.least = 76, .most = 160, .stretch = 1},
                   {.least = 12, .most = 30},
                   {.least = 8, .most = 40, .hideEmpty = true, .optional = true},
                   {.least = 10, .most = 24, .hideEmpty = true}});
    m_empty->setWordWrap(true);
    m_empty->setMargin(3 * Theme::grid);
    m_empty->setAlignment(Qt::AlignTop);
    m_empty->setForegroundRole(QPalette::PlaceholderText);
    m_stack->addWidget(m_view);
    m_stack->addWidget(m_empty);
    setContent(m_stack);
    setFocusProxy(m_view);
    header()->setClosable(false);

    auto *const filter = new QWidget;
    auto *const row = new QHBoxLayout(filter);
    row->setContentsMargins(2 * Theme::grid, Theme::grid / 2, 2 * Theme::grid, Theme::grid / 2);
    row->setSpacing(2 * Theme::grid);
    m_search->setPlaceholderText(tr("Filter findings"));
    m_search->setAccessibleName(tr("Filter findings"));
    m_search->setClearButtonEnabled(true);
    row->addWidget(m_search, 1);
    auto *const severity = new QComboBox;
    severity->setAccessibleName(tr("Least severity shown"));
    severity->addItem(tr("All severities"), static_cast<int>(Severity::Ok));
    severity->addItem(tr("Notes and worse"), static_cast<int>(Severity::Info));
    severity->addItem(tr("Warnings and errors"), static_cast<int>(Severity::Warning));
    severity->addItem(tr("Errors only"), static_cast<int>(Severity::Error));
    row->addWidget(severity);
    static_cast<QVBoxLayout *>(layout())->insertWidget(layout()->indexOf(m_stack), filter);

    const auto add = [this](const QString &text, const QKeySequence &keys, const std::function<void(FindingRef)> &act) {
        auto *const action = new QAction(text, m_view);
        action->setShortcut(keys);
        action->setShortcutContext(Qt::WidgetShortcut);
        connect(action, &QAction::triggered, this, [this, act] {
            if (const FindingRef ref = current(); ref.valid())
                act(ref);
        });
        m_view->addAction(action);
    };
    add(tr("Show the evidence"), {}, [this](FindingRef ref) { emit findingActivated(ref); });
    add(tr("Acknowledge with a reason…"), QKeySequence(Qt::Key_Insert), [this](FindingRef ref) { emit acknowledgeRequested(ref); });
    add(tr("Withdraw the acknowledgement"), QKeySequence(Qt::Key_Delete), [this](FindingRef ref) { this->session()->withdraw(ref); });
    connect(m_search, &QLineEdit::textChanged, this, [this](const QString &text) {
        m_filter->setSearch(text);
        updateCounts();
    });
    connect(severity, &QComboBox::currentIndexChanged, this, [this, severity] {
        m_filter->setMinimumSeverity(static_cast<Severity>(severity->currentData().toInt()));
        updateCounts();
    });
    connect(m_view, &TableView::rowChosen, this, &FindingsPanel::choose);
    connect(m_view, &TableView::rowActivated, this, [this](const QModelIndex &index) {
        choose(index);
        emit findingActivated(m_filter->refAt(index));
    });
    for (const auto signal : {&Session::findingsChanged, &Session::runChanged, &Session::openingChanged, &Session::examinationFinished})
        connect(session, signal, this, &FindingsPanel::updateCounts);
    connect(session, &Session::acknowledgementsChanged, this, &FindingsPanel::updateCounts);
}

void FindingsPanel::choose(const QModelIndex &index)
{
    const FindingRef ref = m_filter->refAt(index);
    if (ref.valid())
        publish(placesOf(session()->finding(ref)));
}

FindingRef FindingsPanel::current() const
{
    return m_view->currentIndex().isValid() ? m_filter->refAt(m_view->currentIndex()) : FindingRef{};
}

bool FindingsPanel::step(int by)
{
    const QModelIndex index = m_filter->step(m_view->currentIndex(), by);
    if (!index.isValid())
        return false;
    m_view->showRow(index.row());
    choose(index);
    return true;
}

void FindingsPanel::selectWorst()
{
    if (m_filter->rowCount() == 0)
        return;
    const QModelIndex first = m_filter->indexFor(session()->findings().all().empty() ? FindingRef{} : session()->findings().all()[0]);
    const QModelIndex index = first.isValid() ? first : m_filter->index(0, 0);
    m_view->showRow(index.row());
    choose(index);
}

void FindingsPanel::refresh() { updateCounts(); }

void FindingsPanel::updateCounts()
{
    const FindingIndex &findings = session()->findings();
    QStringList parts;
    const auto add = [&](Severity severity, const QString &text) {
        if (findings.count(severity) > 0)
            parts.append(text);
    };
    add(Severity::Error, format::counted(findings.count(Severity::Error), "error", "errors"));
    add(Severity::Warning, format::counted(findings.count(Severity::Warning), "warning", "warnings"));
    add(Severity::Info, format::counted(findings.count(Severity::Info), "note", "notes"));
    std::size_t seen = 0;
    for (const FindingRef ref : findings.all())
        seen += session()->isAcknowledged(ref) ? 1 : 0;
    if (seen > 0)
        parts.append(tr("%1 of them acknowledged").arg(seen));
    setOrigin(parts.join(QStringLiteral(", ")));
    const bool some = m_filter->rowCount() > 0;
    if (!some) {
        if (m_model->rowCount() > 0)
            m_empty->setText(tr("The filter hides %1.").arg(format::counted(static_cast<std::uint64_t>(m_model->rowCount()), "finding", "findings")));
        else if (session()->isOpening() || session()->isExamining())
            m_empty->setText(tr("The instruments are running; findings appear here as they come."));
        else if (session()->run())
            m_empty->setText(tr("No findings. The instrument list says which instruments passed and which lacked an input."));
        else
            m_empty->setText(tr("Findings appear here once something is open."));
    }
    m_stack->setCurrentIndex(some ? 0 : 1);
}

void FindingsPanel::reveal(const Selection &selection)
{
    if (selection.empty())
        return;
    // The finding whose evidence this is, worst first; the present one if it fits.
    const auto fits = [&](FindingRef ref) {
        const Selection places = placesOf(session()->finding(ref));
        return std::find(places.begin(), places.end(), selection[0]) != places.end();
    };
    if (const FindingRef now = current(); now.valid() && fits(now))
        return;
    for (const FindingRef ref : session()->findings().touching(selection[0].side, selection[0].artifact)) {
        if (fits(ref)) {
            if (const QModelIndex index = m_filter->indexFor(ref); index.isValid())
                m_view->showRow(index.row());
            return;
        }
    }
}

void FindingsPanel::copy() { m_view->copySelected(); }
QAbstractItemModel *FindingsPanel::csvModel() const { return m_filter; }

} // namespace prosector
