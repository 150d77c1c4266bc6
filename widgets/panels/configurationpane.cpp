// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/panels/configurationpane.h"

#include "models/config/effective.h"
#include "models/item/configurationmodel.h"
#include "models/item/format.h"
#include "models/session/session.h"
#include "widgets/delegates/itemdelegate.h"
#include "widgets/panels/panelheader.h"
#include "widgets/theme.h"
#include "widgets/views/columnfit.h"
#include "widgets/views/tableview.h"

#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QPainter>
#include <QSortFilterProxyModel>
#include <QStackedWidget>

namespace prosector {

namespace {

Token tokenOf(Origin origin)
{
    switch (origin) {
    case Origin::Request:
    case Origin::Gateway: return Token::SetRequest;
    case Origin::Flag:
    case Origin::Environment: return Token::SetFlag;
    case Origin::LogLine: return Token::SetLog;
    case Origin::CheckpointFile: return Token::SetCheckpoint;
    case Origin::EngineDefault:
    case Origin::EngineOverride:
    case Origin::Hardware: break;
    }
    return Token::SetDefault;
}

constexpr Origin origins[] = {Origin::Request, Origin::Gateway, Origin::Flag, Origin::Environment, Origin::LogLine,
                              Origin::CheckpointFile, Origin::EngineDefault, Origin::EngineOverride, Origin::Hardware};

/// Colours value and source by who set it; strikes what had no effect.
class SettingDelegate final : public ItemDelegate {
public:
    explicit SettingDelegate(QObject *parent) : ItemDelegate(-1, parent) {}

protected:
    void initStyleOption(QStyleOptionViewItem *option, const QModelIndex &index) const override
    {
        ItemDelegate::initStyleOption(option, index);
        const Theme &theme = Theme::instance();
        const int type = index.data(KeyRole).toInt();
        if (type == ConfigurationModel::ConfigRow)
            option->font.setWeight(QFont::DemiBold);
        if (type == ConfigurationModel::IgnoredRow) {
            option->font.setStrikeOut(index.column() <= ConfigurationModel::ValueColumn);
            option->palette.setColor(QPalette::Text, theme.color(Token::Dim));
        }
        if (index.column() == ConfigurationModel::ValueColumn || index.column() == ConfigurationModel::SetByColumn) {
            const QString by = index.siblingAtColumn(ConfigurationModel::SetByColumn).data().toString();
            for (const Origin origin : origins) {
                if (by == toQt(nameOf(origin)) && type != ConfigurationModel::IgnoredRow)
                    option->palette.setColor(QPalette::Text, theme.color(tokenOf(origin)));
            }
        }
        // The selected row keeps its colours: the tint is light enough.
        option->palette.setColor(QPalette::HighlightedText, option->palette.color(QPalette::Text));
    }
};

} // namespace

ConfigurationPane::ConfigurationPane(Session *session, QWidget *parent)
    : Panel(session, paneId(), tr("Configuration"), parent), m_model(new ConfigurationModel(session, Side::A, this)),
      m_filter(new QSortFilterProxyModel(this)), m_view(new TreeView), m_search(new QLineEdit), m_empty(new QLabel),
      m_stack(new QStackedWidget)
{
    m_filter->setSourceModel(m_model);
    m_filter->setFilterKeyColumn(-1);
    m_filter->setFilterCaseSensitivity(Qt::CaseInsensitive);
    m_filter->setRecursiveFilteringEnabled(true);
    m_view->setModel(m_filter);
    m_view->setItemDelegate(new SettingDelegate(m_view));
    m_view->setHeaderHidden(false);
    m_view->setAccessibleName(tr("Effective configuration"));
    new ColumnFit(m_view, m_view->header(),
                  {{.least = 20, .most = 44},
                   {.least = 10, .most = 32},
                   {.least = 17, .most = 18},
                   {.least = 12, .most = 48},
                   {.least = 10, .most = 70, .hideEmpty = true},
                   {.least = 10, .most = 70, .hideEmpty = true}});
    m_search->setPlaceholderText(tr("Filter settings, values and sources"));
    m_search->setAccessibleName(tr("Filter settings"));
    m_search->setClearButtonEnabled(true);
    m_empty->setWordWrap(true);
    m_empty->setMargin(3 * Theme::grid);
    m_empty->setAlignment(Qt::AlignTop);
    m_empty->setForegroundRole(QPalette::PlaceholderText);
    m_stack->addWidget(m_view);
    m_stack->addWidget(m_empty);
    auto *const content = new QWidget;
    auto *const column = new QVBoxLayout(content);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    auto *const bar = new QHBoxLayout;
    bar->setContentsMargins(2 * Theme::grid, Theme::grid, 2 * Theme::grid, Theme::grid);
    bar->addWidget(m_search);
    column->addLayout(bar);
    column->addWidget(m_stack, 1);
    setContent(content);
    setFocusProxy(m_view);
    connect(m_search, &QLineEdit::textChanged, this, [this](const QString &text) {
        m_filter->setFilterFixedString(text);
        for (int row = 0; row < m_filter->rowCount(); ++row)
            m_view->expand(m_filter->index(row, 0));
    });
    connect(m_view, &TreeView::rowChosen, this, [this](const QModelIndex &index) {
        if (const Selection places = placesAt(index); !places.empty())
            publish(places);
    });
    connect(m_view, &TreeView::rowActivated, this, [this](const QModelIndex &index) {
        if (const Selection places = placesAt(index); !places.empty())
            emit placeActivated(places[0]);
        else
            m_view->setExpanded(index, !m_view->isExpanded(index));
    });
    connect(m_model, &ConfigurationModel::ready, this, [this] {
        scheduleRefresh();
        emit settled();
    });
    connect(session, &Session::runChanged, this, &ConfigurationPane::scheduleRefresh);
}

bool ConfigurationPane::isBusy() const { return session()->run() && !m_model->isReady() && !m_model->error(); }

void ConfigurationPane::refresh()
{
    const auto *const configs = m_model->configs();
    std::size_t settings = 0;
    if (configs != nullptr) {
        for (const EffectiveConfig &config : *configs)
            settings += config.settings.size();
    }
    if (!session()->run())
        m_empty->setText(tr("Nothing is open. A model folder, engine arguments, a start-up log or a request fill this table."));
    else if (m_model->error())
        m_empty->setText(toQt(describe(*m_model->error())));
    else if (!m_model->isReady())
        m_empty->setText(tr("Working out what is in force…"));
    else
        m_empty->setText(tr("Nothing among what is open says what an engine ran with. Add the engine's arguments, its start-up log, "
                            "a request or the sampling values it used, and press F5."));
    m_stack->setCurrentIndex(settings > 0 ? 0 : 1);
    setOrigin(settings > 0 ? format::counted(settings, "setting", "settings") : QString());
    for (int row = 0; row < m_filter->rowCount(); ++row)
        m_view->expand(m_filter->index(row, 0));
    reveal(session()->hub()->selection());
}

void ConfigurationPane::reveal(const Selection &selection)
{
    for (const Place &place : selection) {
        if (std::holds_alternative<Whole>(place.where))
            continue;
        if (const QModelIndex index = m_filter->mapFromSource(m_model->indexFor(place)); index.isValid()) {
            m_view->showIndex(index);
            return;
        }
    }
}

void ConfigurationPane::findText(const QString &text, bool)
{
    m_search->setText(text);
    showFindResult(m_filter->rowCount() > 0 ? tr("rows without it are hidden") : tr("not found"));
}

void ConfigurationPane::copy() { m_view->copySelected(); }
QAbstractItemModel *ConfigurationPane::csvModel() const { return m_model; }

} // namespace prosector
