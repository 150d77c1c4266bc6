// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/item/instrumentmodel.h"

#include "models/item/format.h"
#include "models/item/shown.h"

#include <algorithm>

namespace prosector {

namespace {
constexpr quintptr familyId = ~quintptr(0); // an instrument's id is its family's row
}

InstrumentModel::InstrumentModel(Session *session, QObject *parent) : QAbstractItemModel(parent), m_session(session)
{
    for (int i = 0; i < session->instrumentCount(); ++i) {
        const QString family = toQt(session->state(i).instrument->family());
        if (m_families.empty() || m_families.back().name != family)
            m_families.push_back({family, {}});
        m_rows.emplace_back(static_cast<int>(m_families.size()) - 1,
                            static_cast<int>(m_families.back().instruments.size()));
        m_families.back().instruments.push_back(i);
    }
    connect(session, &Session::outcomeChanged, this, &InstrumentModel::update);
}

void InstrumentModel::update(int instrument)
{
    const QModelIndex changed = indexFor(instrument);
    emit dataChanged(changed, indexFor(instrument, ColumnCount - 1));
    const QModelIndex family = changed.parent();
    emit dataChanged(family, family.siblingAtColumn(ColumnCount - 1));
}

QModelIndex InstrumentModel::indexFor(int instrument, int column) const
{
    if (instrument < 0 || instrument >= static_cast<int>(m_rows.size()))
        return {};
    const auto [family, row] = m_rows[static_cast<std::size_t>(instrument)];
    return createIndex(row, column, static_cast<quintptr>(family));
}

int InstrumentModel::instrumentAt(const QModelIndex &index) const
{
    if (!index.isValid() || index.internalId() == familyId)
        return -1;
    return m_families[index.internalId()].instruments[static_cast<std::size_t>(index.row())];
}

QModelIndex InstrumentModel::index(int row, int column, const QModelIndex &parent) const
{
    if (row < 0 || column < 0 || column >= ColumnCount || row >= rowCount(parent))
        return {};
    return createIndex(row, column, parent.isValid() ? static_cast<quintptr>(parent.row()) : familyId);
}

QModelIndex InstrumentModel::parent(const QModelIndex &index) const
{
    if (!index.isValid() || index.internalId() == familyId)
        return {};
    return createIndex(static_cast<int>(index.internalId()), 0, familyId);
}

int InstrumentModel::rowCount(const QModelIndex &parent) const
{
    if (!parent.isValid())
        return static_cast<int>(m_families.size());
    if (parent.internalId() != familyId || parent.column() != 0)
        return 0;
    return static_cast<int>(m_families[static_cast<std::size_t>(parent.row())].instruments.size());
}

int InstrumentModel::columnCount(const QModelIndex &) const
{
    return ColumnCount;
}

std::optional<Severity> InstrumentModel::light(int instrument) const
{
    const auto &outcome = m_session->state(instrument).outcome;
    if (!outcome || m_session->state(instrument).running)
        return std::nullopt;
    if (outcome->report)
        return outcome->report->worst();
    return outcome->report.error().code == Errc::Cancelled ? std::nullopt : std::optional(Severity::Undecidable);
}

std::optional<Severity> InstrumentModel::light(const Family &family) const
{
    std::optional<Severity> worst;
    for (const int instrument : family.instruments) {
        if (const auto own = light(instrument))
            worst = std::max(worst.value_or(*own), *own);
    }
    return worst;
}

QVariant InstrumentModel::data(const QModelIndex &index, int role) const
{
    if (!index.isValid())
        return {};
    if (const int instrument = instrumentAt(index); instrument >= 0)
        return instrumentData(instrument, index.column(), role);
    return familyData(m_families[static_cast<std::size_t>(index.row())], index.column(), role);
}

QVariant InstrumentModel::instrumentData(int instrument, int column, int role) const
{
    const Session::InstrumentState &state = m_session->state(instrument);
    const auto severity = light(instrument);
    switch (role) {
    case Qt::DisplayRole:
    case CopyRole:
        if (column == NameColumn)
            return toQt(state.instrument->id) + QStringLiteral("  ") + toQt(state.instrument->name);
        if (column == LightColumn)
            return severity ? format::severity(*severity) : QString();
        if (state.running)
            return QStringLiteral("Running…");
        return state.outcome ? format::sentence(*state.outcome) : QString();
    case Qt::ToolTipRole:
        return column == VerdictColumn ? instrumentData(instrument, column, Qt::DisplayRole)
                                       : toQt(state.instrument->question);
    case SeverityRole: return severity ? severityVariant(*severity) : QVariant();
    case SortRole: return severity ? static_cast<int>(*severity) : -1;
    case RunningRole: return state.running;
    case InstrumentRole: return instrument;
    case AnchorRole: {
        // The worst finding's places: selecting an instrument shows its proof.
        const Report *const report = m_session->report(instrument);
        const Finding *worst = nullptr;
        for (std::size_t i = 0; report && i < report->findings.size(); ++i) {
            if (!worst || report->findings[i].severity > worst->severity)
                worst = &report->findings[i];
        }
        return worst ? QVariant::fromValue(placesOf(*worst)) : QVariant();
    }
    default: return {};
    }
}

QVariant InstrumentModel::familyData(const Family &family, int column, int role) const
{
    const auto severity = light(family);
    switch (role) {
    case Qt::DisplayRole:
    case CopyRole:
        if (column == NameColumn)
            return family.name;
        return column == LightColumn && severity ? format::severity(*severity) : QString();
    case SeverityRole: return severity ? severityVariant(*severity) : QVariant();
    case SortRole: return severity ? static_cast<int>(*severity) : -1;
    case RunningRole:
        return std::any_of(family.instruments.begin(), family.instruments.end(),
                           [&](int i) { return m_session->state(i).running; });
    case InstrumentRole: return -1;
    default: return {};
    }
}

QVariant InstrumentModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal || role != Qt::DisplayRole)
        return {};
    switch (section) {
    case NameColumn: return QStringLiteral("Instrument");
    case LightColumn: return QStringLiteral("Light");
    case VerdictColumn: return QStringLiteral("Verdict");
    default: return {};
    }
}

InstrumentFilter::InstrumentFilter(QObject *parent) : QSortFilterProxyModel(parent)
{
    setRecursiveFilteringEnabled(true);
    setSortRole(SortRole);
    setDynamicSortFilter(true);
}

void InstrumentFilter::setSearch(const QString &text)
{
    m_words = text.split(QLatin1Char(' '), Qt::SkipEmptyParts);
    invalidateFilter();
}

void InstrumentFilter::setSortedBySeverity(bool on)
{
    m_bySeverity = on;
    sort(on ? 0 : -1, Qt::DescendingOrder);
}

bool InstrumentFilter::filterAcceptsRow(int row, const QModelIndex &parent) const
{
    const QModelIndex index = sourceModel()->index(row, InstrumentModel::NameColumn, parent);
    if (!parent.isValid()) // a family stays when one of its instruments does, or when it was not searched
        return m_words.isEmpty();
    const QString text = index.data().toString() + QLatin1Char(' ') + index.data(Qt::ToolTipRole).toString()
        + QLatin1Char(' ') + parent.data().toString();
    return std::all_of(m_words.begin(), m_words.end(),
                       [&](const QString &word) { return text.contains(word, Qt::CaseInsensitive); });
}

bool InstrumentFilter::lessThan(const QModelIndex &left, const QModelIndex &right) const
{
    return left.data(SortRole).toInt() < right.data(SortRole).toInt();
}

} // namespace prosector
