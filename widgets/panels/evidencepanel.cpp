// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/panels/evidencepanel.h"

#include "models/item/evidencemodel.h"
#include "models/item/format.h"
#include "widgets/delegates/itemdelegate.h"
#include "widgets/panels/panelheader.h"
#include "widgets/theme.h"
#include "widgets/views/tableview.h"

#include <QHeaderView>
#include <QLabel>
#include <QStackedWidget>

namespace prosector {

EvidencePanel::EvidencePanel(Session *session, QWidget *parent)
    : Panel(session, QStringLiteral("evidence"), tr("Evidence"), parent), m_model(new EvidenceModel(session, this)),
      m_view(new TreeView), m_stack(new QStackedWidget)
{
    m_view->setModel(m_model);
    m_view->setAccessibleName(tr("Evidence: opened files"));
    m_view->setTextElideMode(Qt::ElideMiddle);
    m_view->hideColumn(EvidenceModel::KindColumn);
    m_view->hideColumn(EvidenceModel::SummaryColumn);
    // The lights stand in a column of their own at the right edge, so that names stay aligned.
    auto *const delegate = new ItemDelegate(EvidenceModel::WorstColumn, m_view);
    delegate->setLightColumn(EvidenceModel::WorstColumn);
    m_view->setItemDelegate(delegate);
    m_view->header()->setStretchLastSection(false);
    m_view->header()->setSectionResizeMode(EvidenceModel::NameColumn, QHeaderView::Stretch);
    m_view->header()->setSectionResizeMode(EvidenceModel::SizeColumn, QHeaderView::ResizeToContents);
    m_view->header()->setSectionResizeMode(EvidenceModel::WorstColumn, QHeaderView::Fixed);
    m_view->header()->setMinimumSectionSize(8);
    m_view->header()->resizeSection(EvidenceModel::WorstColumn, fontMetrics().ascent() + 3 * Theme::grid);
    auto *const empty = new QLabel(
        tr("Nothing is open. Drop a model folder, a trace or files here, or press Ctrl+Shift+O to choose a folder."));
    empty->setWordWrap(true);
    empty->setAlignment(Qt::AlignTop);
    empty->setMargin(3 * Theme::grid);
    empty->setForegroundRole(QPalette::PlaceholderText);
    m_stack->addWidget(m_view);
    m_stack->addWidget(empty);
    setContent(m_stack);
    setFocusProxy(m_view);
    header()->setClosable(false);
    connect(m_view, &TreeView::rowChosen, this, [this](const QModelIndex &index) {
        if (const Selection places = placesAt(index); !places.empty())
            publish(places);
    });
    connect(m_view, &TreeView::rowActivated, this, [this](const QModelIndex &index) {
        if (const Selection places = placesAt(index); !places.empty())
            emit artifactActivated(places[0]);
        else
            m_view->setExpanded(index, !m_view->isExpanded(index));
    });
    connect(m_model, &QAbstractItemModel::modelReset, this, &EvidencePanel::scheduleRefresh);
    connect(m_model, &QAbstractItemModel::rowsInserted, this, &EvidencePanel::scheduleRefresh);
}

void EvidencePanel::refresh()
{
    const bool some = m_model->rowCount() > 0;
    m_stack->setCurrentIndex(some ? 0 : 1);
    // Inputs and their folders open; the parts of an artifact on demand.
    for (int row = 0; row < m_model->rowCount(); ++row)
        m_view->expand(m_model->index(row, 0));
    setOrigin(some ? format::counted(session()->run() ? session()->run()->artifacts().size() : 0, "artifact", "artifacts")
                   : QString());
}

void EvidencePanel::reveal(const Selection &selection)
{
    if (selection.empty())
        return;
    if (const QModelIndex index = m_model->indexFor(selection[0]); index.isValid())
        m_view->showIndex(index);
}

void EvidencePanel::copy() { m_view->copySelected(); }
QAbstractItemModel *EvidencePanel::csvModel() const { return m_model; }

} // namespace prosector
