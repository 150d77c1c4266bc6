// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/item/logmodel.h"

#include "models/item/format.h"
#include "models/runs/locate.h"

#include <algorithm>

namespace prosector {

LogModel::LogModel(JobRunner *jobs, QObject *parent) : QAbstractTableModel(parent), m_jobs(jobs)
{
    static int models = 0; // GUI thread only: each model has its own job
    m_key = QStringLiteral("log/%1").arg(++models);
}

void LogModel::setArtifact(const RunPtr &run, const Place &place, const FactsPtr &facts)
{
    beginResetModel();
    m_jobs->cancel(m_key);
    m_shown = Shown(run, place);
    m_text = m_shown.as<TextContent>();
    m_facts = facts;
    m_triage.reset();
    m_rows.clear();
    endResetModel();
    if (!m_text || !facts)
        return;
    m_jobs->start(
        m_key, QStringLiteral("Reading ") + toQt(m_shown.artifact()->path), this,
        [run, text = m_text, facts](const Job &job) { return triageLog(*text, facts->logPatterns, job); },
        [this, text = m_text](Result<LogTriage> triage) {
            if (!triage || text != m_text)
                return;
            // Every visible line may have changed; with a filter the rows too.
            beginResetModel();
            m_triage = std::make_shared<const LogTriage>(std::move(*triage));
            applyFilter();
            endResetModel();
            emit triaged();
        },
        1);
}

void LogModel::setFilter(std::optional<Severity> minimum)
{
    if (minimum == m_minimum)
        return;
    beginResetModel();
    m_minimum = minimum;
    applyFilter();
    endResetModel();
}

void LogModel::applyFilter()
{
    m_rows.clear();
    if (!m_minimum || !m_triage)
        return;
    for (const LogHit &hit : m_triage->hits) {
        const std::uint64_t line = hit.line - 1;
        if (severityOf(*hit.pattern) >= *m_minimum && (m_rows.empty() || m_rows.back() != line))
            m_rows.push_back(line);
    }
}

Severity LogModel::severityOf(const LogPattern &pattern)
{
    if (pattern.severity == "serious")
        return Severity::Error;
    return pattern.severity == "warn" ? Severity::Warning : Severity::Info;
}

std::size_t LogModel::lineOf(int row) const
{
    return m_minimum ? static_cast<std::size_t>(m_rows[static_cast<std::size_t>(row)]) : static_cast<std::size_t>(row);
}

const LogHit *LogModel::hitOnLine(std::size_t line) const
{
    if (!m_triage)
        return nullptr;
    const auto begin = std::lower_bound(m_triage->hits.begin(), m_triage->hits.end(), line + 1,
                                        [](const LogHit &hit, std::uint64_t number) { return hit.line < number; });
    const LogHit *worst = nullptr;
    for (auto hit = begin; hit != m_triage->hits.end() && hit->line == line + 1; ++hit) {
        if (!worst || severityOf(*hit->pattern) > severityOf(*worst->pattern))
            worst = &*hit;
    }
    return worst;
}

const LogHit *LogModel::hitAt(const QModelIndex &index) const
{
    return index.isValid() ? hitOnLine(lineOf(index.row())) : nullptr;
}

QModelIndex LogModel::indexFor(const Anchor &where) const
{
    if (!m_text || rowCount() == 0)
        return {};
    std::uint64_t line = 0;
    if (const auto *const lines = std::get_if<LogLine>(&where)) {
        line = std::max<std::uint64_t>(lines->from, 1) - 1;
    } else {
        const auto bytes = anchorToBytes(*m_shown.artifact(), where);
        if (!bytes)
            return {};
        line = m_text->lineAt(bytes->from);
    }
    if (line >= m_text->lineCount())
        return {};
    if (!m_minimum)
        return index(static_cast<int>(line), TextColumn);
    const auto row = std::lower_bound(m_rows.begin(), m_rows.end(), line);
    return row == m_rows.end() ? QModelIndex() : index(static_cast<int>(row - m_rows.begin()), TextColumn);
}

int LogModel::rowCount(const QModelIndex &parent) const
{
    if (parent.isValid() || !m_text)
        return 0;
    return static_cast<int>(m_minimum ? m_rows.size() : m_text->lineCount());
}

int LogModel::columnCount(const QModelIndex &parent) const
{
    return parent.isValid() ? 0 : ColumnCount;
}

QVariant LogModel::data(const QModelIndex &index, int role) const
{
    if (!index.isValid())
        return {};
    const std::size_t line = lineOf(index.row());
    const LogHit *const hit = hitOnLine(line);
    const auto text = [&](std::size_t limit) {
        std::string buffer;
        return std::string(withoutColour(m_text->line(line).substr(0, limit), buffer));
    };
    switch (role) {
    case Qt::DisplayRole:
    case CopyRole:
        switch (index.column()) {
        case LineColumn: return role == CopyRole ? QString::number(line + 1) : format::grouped(std::uint64_t(line) + 1);
        case LevelColumn: return m_facts ? toQt(m_facts->logPatterns.prefix(text(lineLimit)).level) : QString();
        case ClassColumn:
            return hit ? toQt(hit->pattern->logClass).replace(QLatin1Char('_'), QLatin1Char(' ')) : QString();
        case TextColumn:
            return role == CopyRole ? toQt(m_text->line(line)) : format::oneLine(text(lineLimit * 4), lineLimit);
        default: return {};
        }
    case Qt::ToolTipRole: {
        if (!hit)
            return {};
        QStringList lines{toQt(hit->pattern->engine) + QStringLiteral(": ") + toQt(hit->pattern->note)};
        for (const Capture &capture : hit->captures)
            lines.append(toQt(capture.name) + QStringLiteral(" = ") + toQt(capture.text));
        lines.append(toQt(hit->pattern->citation()));
        return lines.join(QLatin1Char('\n'));
    }
    case Qt::TextAlignmentRole: return index.column() == LineColumn ? numberAlignment() : QVariant();
    case AnchorRole: return m_shown.at(LogLine{line + 1, line + 1});
    case SeverityRole: return hit ? severityVariant(severityOf(*hit->pattern)) : QVariant();
    default: return {};
    }
}

QVariant LogModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal || role != Qt::DisplayRole)
        return {};
    switch (section) {
    case LineColumn: return QStringLiteral("Line");
    case LevelColumn: return QStringLiteral("Level");
    case ClassColumn: return QStringLiteral("About");
    case TextColumn: return QStringLiteral("Text");
    default: return {};
    }
}

} // namespace prosector
