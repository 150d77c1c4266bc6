// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/item/roles.h"
#include "models/session/session.h"

#include <QAbstractItemModel>
#include <QSortFilterProxyModel>

namespace prosector {

/// The instruments by family, each with its light and verdict, settling one by one while they run.
/// SeverityRole of an instrument is its light: invalid until it has an outcome (nothing opened,
/// waiting, running, cancelled). A family shows the worst light of its instruments.
class InstrumentModel : public QAbstractItemModel {
    Q_OBJECT

public:
    enum Column { NameColumn, LightColumn, VerdictColumn, ColumnCount };

    explicit InstrumentModel(Session *session, QObject *parent = nullptr);

    QModelIndex indexFor(int instrument, int column = 0) const;
    /// -1 for a family.
    int instrumentAt(const QModelIndex &index) const;

    QModelIndex index(int row, int column, const QModelIndex &parent = {}) const override;
    QModelIndex parent(const QModelIndex &index) const override;
    int rowCount(const QModelIndex &parent = {}) const override;
    int columnCount(const QModelIndex &parent = {}) const override;
    QVariant data(const QModelIndex &index, int role = Qt::DisplayRole) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role = Qt::DisplayRole) const override;

private:
    struct Family {
        QString name;
        std::vector<int> instruments;
    };
    std::optional<Severity> light(int instrument) const;
    std::optional<Severity> light(const Family &family) const;
    QVariant instrumentData(int instrument, int column, int role) const;
    QVariant familyData(const Family &family, int column, int role) const;
    void update(int instrument);

    Session *m_session;
    std::vector<Family> m_families;
    std::vector<std::pair<int, int>> m_rows; // instrument: family and row in it
};

/// InstrumentModel searched and, on demand, sorted by severity (worst first; catalogue order else).
class InstrumentFilter : public QSortFilterProxyModel {
    Q_OBJECT

public:
    explicit InstrumentFilter(QObject *parent = nullptr);

    /// Every word must stand in the id, name, question or family, in any case.
    void setSearch(const QString &text);
    void setSortedBySeverity(bool on);
    bool isSortedBySeverity() const { return m_bySeverity; }

protected:
    bool filterAcceptsRow(int row, const QModelIndex &parent) const override;
    bool lessThan(const QModelIndex &left, const QModelIndex &right) const override;

private:
    QStringList m_words;
    bool m_bySeverity = false;
};

} // namespace prosector
