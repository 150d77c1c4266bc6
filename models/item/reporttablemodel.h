// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/instruments/instrument.h"
#include "models/item/roles.h"

#include <QAbstractTableModel>

#include <memory>

namespace prosector {

/// One table of an instrument's report. A cell's AnchorRole is where its value comes from.
class ReportTableModel : public QAbstractTableModel {
    Q_OBJECT

public:
    using QAbstractTableModel::QAbstractTableModel;

    /// Keeps the outcome alive. Shows nothing when it has no such table.
    void setTable(std::shared_ptr<const Outcome> outcome, std::size_t table);
    /// A table that stands by itself.
    void setTable(Table table);
    QString title() const;
    /// Every cell, exact, as comma-separated values (RFC 4180) with a header line.
    QString toCsv() const;

    int rowCount(const QModelIndex &parent = {}) const override;
    int columnCount(const QModelIndex &parent = {}) const override;
    QVariant data(const QModelIndex &index, int role = Qt::DisplayRole) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role = Qt::DisplayRole) const override;

private:
    const Cell *cellAt(int row, int column) const;

    std::shared_ptr<const Table> m_table; // shares ownership with its outcome
};

} // namespace prosector
