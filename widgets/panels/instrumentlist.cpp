// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/panels/instrumentlist.h"

#include "models/item/instrumentmodel.h"
#include "widgets/icons.h"
#include "widgets/panels/panelheader.h"
#include "widgets/theme.h"
#include "widgets/views/tableview.h"

#include <QHeaderView>
#include <QLineEdit>
#include <QToolButton>
#include <QVBoxLayout>

namespace prosector {

InstrumentList::InstrumentList(Session *session, QWidget *parent)
    : Panel(session, QStringLiteral("instruments"), tr("Instruments"), parent), m_model(new InstrumentModel(session, this)),
      m_filter(new InstrumentFilter(this)), m_view(new TreeView), m_search(new QLineEdit)
{
    m_filter->setSourceModel(m_model);
    m_view->setModel(m_filter);
    m_view->setAccessibleName(tr("Instruments"));
    m_view->hideColumn(InstrumentModel::LightColumn);
    m_view->hideColumn(InstrumentModel::VerdictColumn);
    m_view->header()->setStretchLastSection(true);
    m_search->setPlaceholderText(tr("Search by id, name or question"));
    m_search->setAccessibleName(tr("Search instruments"));
    m_search->setClearButtonEnabled(true);
    auto *const content = new QWidget;
    auto *const layout = new QVBoxLayout(content);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    auto *const box = new QVBoxLayout;
    box->setContentsMargins(Theme::grid, Theme::grid, Theme::grid, Theme::grid);
    box->addWidget(m_search);
    layout->addLayout(box);
    layout->addWidget(m_view, 1);
    setContent(content);
    setFocusProxy(m_view);
    header()->setClosable(false);
    header()->setLinkVisible(false);

    auto *const sort = new QToolButton;
    sort->setIcon(themedIcon(QStringLiteral("sort")));
    sort->setIconSize(QSize(14, 14));
    sort->setCheckable(true);
    sort->setToolTip(tr("Sort by severity"));
    sort->setAccessibleName(tr("Sort by severity"));
    header()->addTool(sort);
    connect(sort, &QToolButton::toggled, this, [this](bool on) {
        m_filter->setSortedBySeverity(on);
        m_view->expandAll();
    });
    connect(m_search, &QLineEdit::textChanged, this, [this](const QString &text) {
        m_filter->setSearch(text);
        m_view->expandAll();
        updateOrigin();
    });
    connect(m_search, &QLineEdit::returnPressed, this, [this] {
        for (QModelIndex index = m_filter->index(0, 0); index.isValid(); index = m_view->indexBelow(index)) {
            if (m_model->instrumentAt(m_filter->mapToSource(index)) >= 0) {
                m_view->showIndex(index);
                emit m_view->rowActivated(index);
                return;
            }
        }
    });
    connect(m_view, &TreeView::rowActivated, this, [this](const QModelIndex &index) {
        const int instrument = m_model->instrumentAt(m_filter->mapToSource(index));
        if (instrument >= 0) {
            const std::string_view id = this->session()->state(instrument).instrument->id;
            emit instrumentActivated(QString::fromUtf8(id.data(), static_cast<qsizetype>(id.size())));
        }
    });
    connect(session, &Session::examinationFinished, this, &InstrumentList::updateOrigin);
    connect(session, &Session::runChanged, this, &InstrumentList::updateOrigin);
}

void InstrumentList::refresh()
{
    m_view->expandAll();
    updateOrigin();
}

void InstrumentList::updateOrigin()
{
    int shown = 0;
    for (int family = 0; family < m_filter->rowCount(); ++family)
        shown += m_filter->rowCount(m_filter->index(family, 0));
    setOrigin(shown == session()->instrumentCount() ? QString::number(shown) : tr("%1 of %2").arg(shown).arg(session()->instrumentCount()));
}

void InstrumentList::copy() { m_view->copySelected(); }
QAbstractItemModel *InstrumentList::csvModel() const { return m_filter; }

} // namespace prosector
