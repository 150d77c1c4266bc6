// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/panels/tensorspane.h"

#include "models/item/format.h"
#include "models/item/tensormodel.h"
#include "models/session/session.h"
#include "widgets/panels/panelheader.h"
#include "widgets/theme.h"
#include "widgets/views/columnfit.h"
#include "widgets/views/tableview.h"

#include <QComboBox>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QStackedWidget>

namespace prosector {

TensorsPane::TensorsPane(Session *session, QWidget *parent)
    : Panel(session, paneId(), tr("Tensors"), parent), m_model(new TensorModel(session->jobs(), this)), m_view(new TableView),
      m_sources(new QComboBox), m_filter(new QLineEdit), m_stack(new QStackedWidget)
{
    m_view->setModel(m_model);
    m_view->setAccessibleName(tr("Tensors"));
    m_view->setSortingEnabled(true);
    m_view->horizontalHeader()->setSortIndicator(-1, Qt::AscendingOrder);
    new ColumnFit(m_view, m_view->horizontalHeader(),
                  {{.least = 24, .most = 60}, {.least = 5, .most = 10}, {.least = 8, .most = 24}, {.least = 8, .most = 18},
                   {.least = 7, .most = 14}, {.least = 10, .most = 44}, {.least = 8, .most = 20}});
    m_filter->setPlaceholderText(tr("Filter by name or type"));
    m_filter->setAccessibleName(tr("Filter tensors"));
    m_filter->setClearButtonEnabled(true);
    m_sources->setAccessibleName(tr("Which files' tensors"));
    m_sources->setSizeAdjustPolicy(QComboBox::AdjustToContents);
    auto *const empty = new QLabel(tr("No tensors are open. Safetensors, GGUF, PyTorch checkpoints and NumPy files list their tensors here."));
    empty->setWordWrap(true);
    empty->setMargin(3 * Theme::grid);
    empty->setAlignment(Qt::AlignTop);
    empty->setForegroundRole(QPalette::PlaceholderText);
    m_stack->addWidget(m_view);
    m_stack->addWidget(empty);
    auto *const content = new QWidget;
    auto *const column = new QVBoxLayout(content);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    auto *const bar = new QHBoxLayout;
    bar->setContentsMargins(2 * Theme::grid, Theme::grid, 2 * Theme::grid, Theme::grid);
    bar->addWidget(m_filter, 1);
    bar->addWidget(m_sources);
    column->addLayout(bar);
    column->addWidget(m_stack, 1);
    setContent(content);
    setFocusProxy(m_view);

    connect(m_filter, &QLineEdit::textChanged, m_model, &TensorModel::setFilter);
    connect(m_sources, &QComboBox::activated, this, &TensorsPane::showSource);
    connect(m_model, &TensorModel::arranged, this, &TensorsPane::updateOrigin);
    connect(m_view, &TableView::rowChosen, this, [this](const QModelIndex &index) { publish(placesAt(index)); });
    connect(m_view, &TableView::rowActivated, this, [this](const QModelIndex &index) {
        if (const Selection places = placesAt(index); !places.empty())
            emit placeActivated(places[0]);
    });
    connect(session, &Session::runChanged, this, &TensorsPane::scheduleRefresh);
}

void TensorsPane::refresh()
{
    fillSources();
    showSource();
    reveal(session()->hub()->selection());
}

void TensorsPane::fillSources()
{
    const QVariant before = m_sources->currentData();
    m_sources->clear();
    m_sources->addItem(tr("All files"), -1);
    if (const RunPtr run = session()->run()) {
        for (std::size_t i = 0; i < run->models().size() && run->models().size() > 1; ++i) {
            const ModelFolder &folder = run->models()[i];
            if (!folder.weights.empty() || !folder.gguf.empty())
                m_sources->addItem(folder.path.empty() ? tr("Top folder") : toQt(folder.path), static_cast<int>(i));
        }
    }
    m_sources->setCurrentIndex(std::max(0, m_sources->findData(before)));
    m_sources->setVisible(m_sources->count() > 1);
}

void TensorsPane::showSource()
{
    const RunPtr run = session()->run();
    const int source = m_sources->currentData().toInt();
    std::vector<ArtifactId> artifacts;
    if (run && source >= 0 && static_cast<std::size_t>(source) < run->models().size()) {
        m_model->setFolder(run, Side::A, run->models()[static_cast<std::size_t>(source)]);
    } else {
        if (run) {
            for (const Artifact &artifact : run->artifacts()) {
                if (artifact.as<TensorContent>())
                    artifacts.push_back(artifact.id);
            }
        }
        m_model->setArtifacts(run, Side::A, artifacts);
    }
    m_stack->setCurrentIndex(m_model->tensorCount() > 0 ? 0 : 1);
    updateOrigin();
}

void TensorsPane::updateOrigin()
{
    const std::size_t all = m_model->tensorCount();
    QString text = format::counted(all, "tensor", "tensors") + QStringLiteral(", ") + format::bytes(m_model->totalBytes());
    if (static_cast<std::size_t>(m_model->rowCount()) != all)
        text += tr(", %1 shown").arg(format::grouped(static_cast<std::uint64_t>(m_model->rowCount())));
    setOrigin(all > 0 ? text : QString());
}

void TensorsPane::reveal(const Selection &selection)
{
    for (const Place &place : selection) {
        if (const QModelIndex index = m_model->indexFor(place); index.isValid()) {
            m_view->showRow(index.row());
            return;
        }
    }
}

QString TensorsPane::goToHint() const { return tr("Row number or tensor name"); }

void TensorsPane::goTo(const QString &where)
{
    bool number = false;
    const int row = where.trimmed().toInt(&number);
    if (number && row >= 1 && row <= m_model->rowCount()) {
        m_view->showRow(row - 1);
        publish(placesAt(m_model->index(row - 1, 0)));
    } else {
        findText(where.trimmed(), true);
    }
}

void TensorsPane::findText(const QString &text, bool forward)
{
    // The filter searches in the background; the first row it leaves is the match.
    if (m_filter->text() != text) {
        m_filter->setText(text);
        return showFindResult(tr("rows without it are hidden"));
    }
    const int rows = m_model->rowCount();
    if (rows == 0)
        return showFindResult(tr("not found"));
    const int now = m_view->currentIndex().row();
    const int row = (now + (forward ? 1 : -1) + rows) % rows;
    m_view->showRow(row);
    publish(placesAt(m_model->index(row, 0)));
    showFindResult(tr("%1 of %2").arg(row + 1).arg(rows));
}

void TensorsPane::copy() { m_view->copySelected(); }
QAbstractItemModel *TensorsPane::csvModel() const { return m_model; }

} // namespace prosector
