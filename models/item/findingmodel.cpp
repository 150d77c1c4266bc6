// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/item/findingmodel.h"

#include "models/item/format.h"
#include "models/item/shown.h"

#include <algorithm>

namespace prosector {

FindingModel::FindingModel(Session *session, QObject *parent) : QAbstractTableModel(parent), m_session(session)
{
    connect(session, &Session::outcomeChanged, this, &FindingModel::update);
    connect(session, &Session::acknowledgementsChanged, this, [this] {
        if (!m_rows.empty())
            emit dataChanged(index(0, 0), index(rowCount() - 1, ColumnCount - 1));
    });
    for (int i = 0; i < session->instrumentCount(); ++i)
        update(i);
}

void FindingModel::update(int instrument)
{
    const auto &outcome = m_session->state(instrument).outcome;
    const auto begin = std::partition_point(m_rows.begin(), m_rows.end(),
                                            [&](const Row &row) { return row.ref.instrument < instrument; });
    const auto end =
        std::partition_point(begin, m_rows.end(), [&](const Row &row) { return row.ref.instrument == instrument; });
    if (begin != end && begin->outcome == outcome)
        return; // started again: the old findings stand until the new ones are there
    const int first = static_cast<int>(begin - m_rows.begin());
    if (begin != end) {
        beginRemoveRows({}, first, static_cast<int>(end - m_rows.begin()) - 1);
        m_rows.erase(begin, end);
        endRemoveRows();
    }
    const Report *const report = m_session->report(instrument);
    if (!report || report->findings.empty())
        return;
    std::vector<Row> rows;
    for (std::size_t i = 0; i < report->findings.size(); ++i)
        rows.push_back({{instrument, static_cast<int>(i)}, outcome});
    beginInsertRows({}, first, first + static_cast<int>(rows.size()) - 1);
    m_rows.insert(m_rows.begin() + first, rows.begin(), rows.end());
    endInsertRows();
}

QString FindingModel::acknowledged(const Row &row) const
{
    if (row.outcome != m_session->state(row.ref.instrument).outcome || !m_session->isAcknowledged(row.ref))
        return {};
    const QString reason = m_session->acknowledgement(row.ref);
    return reason.isEmpty() ? QStringLiteral(" (acknowledged)") : QStringLiteral(" (acknowledged: %1)").arg(reason);
}

const Finding &FindingModel::findingOf(const Row &row) const
{
    return row.outcome->report->findings[static_cast<std::size_t>(row.ref.finding)];
}

FindingRef FindingModel::refAt(const QModelIndex &index) const
{
    return index.isValid() ? m_rows[static_cast<std::size_t>(index.row())].ref : FindingRef();
}

QModelIndex FindingModel::indexFor(FindingRef ref) const
{
    const auto it = std::lower_bound(m_rows.begin(), m_rows.end(), ref,
                                     [](const Row &row, FindingRef wanted) { return row.ref < wanted; });
    return it != m_rows.end() && it->ref == ref ? index(static_cast<int>(it - m_rows.begin()), 0) : QModelIndex();
}

int FindingModel::rowCount(const QModelIndex &parent) const
{
    return parent.isValid() ? 0 : static_cast<int>(m_rows.size());
}

int FindingModel::columnCount(const QModelIndex &parent) const
{
    return parent.isValid() ? 0 : ColumnCount;
}

QVariant FindingModel::data(const QModelIndex &index, int role) const
{
    if (!index.isValid())
        return {};
    const Row &row = m_rows[static_cast<std::size_t>(index.row())];
    const Finding &finding = findingOf(row);
    const auto place = [&] { return finding.evidence.empty() ? Place() : placeOf(finding.evidence.front()); };
    const auto run = [&] { return m_session->run(place().side); };
    switch (role) {
    case Qt::DisplayRole:
    case CopyRole:
        switch (index.column()) {
        case SeverityColumn: return format::severity(finding.severity);
        case InstrumentColumn: return toQt(row.outcome->instrument->id);
        case TitleColumn: return (role == CopyRole ? toQt(finding.title) : format::oneLine(finding.title)) + acknowledged(row);
        case ArtifactColumn: return format::artifactName(place(), run().get());
        case PlaceColumn: return toQt(describe(place().where));
        case NumberColumn: return finding.measure ? format::measured(*finding.measure) : QString();
        default: return {};
        }
    case Qt::ToolTipRole:
        if (index.column() == InstrumentColumn)
            return toQt(row.outcome->instrument->name);
        return index.column() == TitleColumn ? toQt(finding.title + "\n" + finding.detail)
                                             : data(index, Qt::DisplayRole);
    case Qt::TextAlignmentRole: return index.column() == NumberColumn ? numberAlignment() : QVariant();
    case SortRole:
        switch (index.column()) {
        case SeverityColumn: return static_cast<int>(finding.severity);
        case InstrumentColumn: return row.ref.instrument;
        case NumberColumn: return finding.measure ? finding.measure->number : 0.0;
        default: return data(index, Qt::DisplayRole);
        }
    case AnchorRole: return QVariant::fromValue(placesOf(finding));
    case SeverityRole: return severityVariant(finding.severity);
    case FindingRole: return QVariant::fromValue(row.ref);
    case InstrumentRole: return row.ref.instrument;
    case SideRole: return static_cast<int>(place().side);
    case AcknowledgedRole:
        return !acknowledged(row).isEmpty();
    default: return {};
    }
}

QVariant FindingModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal || role != Qt::DisplayRole)
        return {};
    switch (section) {
    case SeverityColumn: return QStringLiteral("Severity");
    case InstrumentColumn: return QStringLiteral("By");
    case TitleColumn: return QStringLiteral("Finding");
    case ArtifactColumn: return QStringLiteral("Artifact");
    case PlaceColumn: return QStringLiteral("Place");
    case NumberColumn: return QStringLiteral("Number");
    default: return {};
    }
}

FindingFilter::FindingFilter(FindingModel *findings, QObject *parent)
    : QSortFilterProxyModel(parent), m_findings(findings)
{
    setSortRole(SortRole);
    setSortCaseSensitivity(Qt::CaseInsensitive);
    setDynamicSortFilter(true);
    setSourceModel(findings);
    sort(FindingModel::SeverityColumn, Qt::DescendingOrder);
}

void FindingFilter::setSearch(const QString &text)
{
    m_words = text.split(QLatin1Char(' '), Qt::SkipEmptyParts);
    invalidateFilter();
}

void FindingFilter::setMinimumSeverity(Severity severity)
{
    m_minimum = severity;
    invalidateFilter();
}

void FindingFilter::setInstrument(int instrument)
{
    m_instrument = instrument;
    invalidateFilter();
}

void FindingFilter::setArtifact(const std::optional<Place> &artifact)
{
    m_artifact = artifact;
    invalidateFilter();
}

void FindingFilter::setAcknowledgedHidden(bool hidden)
{
    m_hideAcknowledged = hidden;
    invalidateFilter();
}

bool FindingFilter::filterAcceptsRow(int row, const QModelIndex &) const
{
    const QModelIndex index = m_findings->index(row, FindingModel::TitleColumn);
    if (severityAt(index).value_or(Severity::Ok) < m_minimum)
        return false;
    if (m_instrument >= 0 && index.data(InstrumentRole).toInt() != m_instrument)
        return false;
    if (m_hideAcknowledged && index.data(AcknowledgedRole).toBool())
        return false;
    if (m_artifact) {
        const Selection places = placesAt(index);
        if (std::none_of(places.begin(), places.end(), [&](const Place &place) {
                return place.side == m_artifact->side && place.artifact == m_artifact->artifact;
            }))
            return false;
    }
    if (m_words.isEmpty())
        return true;
    QString text = index.data(Qt::ToolTipRole).toString();
    for (const int column : {FindingModel::InstrumentColumn, FindingModel::ArtifactColumn, FindingModel::PlaceColumn})
        text += QLatin1Char(' ') + index.siblingAtColumn(column).data().toString();
    text += QLatin1Char(' ') + index.siblingAtColumn(FindingModel::InstrumentColumn).data(Qt::ToolTipRole).toString();
    return std::all_of(m_words.begin(), m_words.end(),
                       [&](const QString &word) { return text.contains(word, Qt::CaseInsensitive); });
}

QModelIndex FindingFilter::step(const QModelIndex &from, int by) const
{
    const int rows = rowCount();
    if (rows == 0)
        return {};
    if (!from.isValid())
        return index(by >= 0 ? 0 : rows - 1, 0);
    return index(((from.row() + by) % rows + rows) % rows, 0);
}

} // namespace prosector
