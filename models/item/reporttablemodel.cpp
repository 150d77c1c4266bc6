// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/item/reporttablemodel.h"

#include "models/item/format.h"
#include "models/item/shown.h"

namespace prosector {

void ReportTableModel::setTable(std::shared_ptr<const Outcome> outcome, std::size_t table)
{
    beginResetModel();
    m_table.reset();
    if (outcome && outcome->report && table < outcome->report->tables.size()) {
        const Table *const shown = &outcome->report->tables[table];
        m_table = std::shared_ptr<const Table>(std::move(outcome), shown);
    }
    endResetModel();
}

void ReportTableModel::setTable(Table table)
{
    beginResetModel();
    m_table = std::make_shared<const Table>(std::move(table));
    endResetModel();
}

QString ReportTableModel::title() const
{
    return m_table ? toQt(m_table->title) : QString();
}

int ReportTableModel::rowCount(const QModelIndex &parent) const
{
    return parent.isValid() || !m_table ? 0 : static_cast<int>(m_table->rows.size());
}

int ReportTableModel::columnCount(const QModelIndex &parent) const
{
    return parent.isValid() || !m_table ? 0 : static_cast<int>(m_table->columns.size());
}

const Cell *ReportTableModel::cellAt(int row, int column) const
{
    const auto &cells = m_table->rows[static_cast<std::size_t>(row)];
    return static_cast<std::size_t>(column) < cells.size() ? &cells[static_cast<std::size_t>(column)] : nullptr;
}

QVariant ReportTableModel::data(const QModelIndex &index, int role) const
{
    const Cell *const cell = index.isValid() ? cellAt(index.row(), index.column()) : nullptr;
    if (!cell)
        return {};
    switch (role) {
    case Qt::DisplayRole: return format::literal(cell->text);
    case CopyRole: return toQt(cell->text);
    case Qt::ToolTipRole:
        return toQt(cell->source && !cell->source->note.empty() ? cell->text + "\n" + cell->source->note : cell->text);
    case Qt::TextAlignmentRole: return cell->numeric ? numberAlignment() : QVariant();
    case SortRole: {
        bool number = false;
        const double value = toQt(cell->text).remove(QChar(0x2009)).toDouble(&number);
        return number ? QVariant(value) : QVariant(toQt(cell->text));
    }
    case AnchorRole: return cell->source ? QVariant::fromValue(Selection{placeOf(*cell->source)}) : QVariant();
    case SeverityRole: return cell->severity == Severity::Ok ? QVariant() : severityVariant(cell->severity);
    default: return {};
    }
}

QVariant ReportTableModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal || role != Qt::DisplayRole || section < 0 || section >= columnCount())
        return {};
    return toQt(m_table->columns[static_cast<std::size_t>(section)]);
}

QString ReportTableModel::toCsv() const
{
    const auto quoted = [](QString text) {
        if (text.contains(QLatin1Char('"')) || text.contains(QLatin1Char(',')) || text.contains(QLatin1Char('\n'))
            || text.contains(QLatin1Char('\r')))
            text = QLatin1Char('"') + text.replace(QLatin1Char('"'), QStringLiteral("\"\"")) + QLatin1Char('"');
        return text;
    };
    QString csv;
    for (int row = -1; row < rowCount(); ++row) {
        QStringList cells;
        for (int column = 0; column < columnCount(); ++column)
            cells.append(quoted(row < 0 ? headerData(column, Qt::Horizontal).toString()
                                        : data(index(row, column), CopyRole).toString()));
        csv += cells.join(QLatin1Char(',')) + QStringLiteral("\r\n");
    }
    return csv;
}

} // namespace prosector
