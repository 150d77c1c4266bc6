// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/item/roles.h"
#include "models/session/session.h"

#include <QAbstractTableModel>
#include <QSortFilterProxyModel>

namespace prosector {

/// Every finding of every instrument, one a row, in catalogue order; rows come and go with the
/// outcomes. Show it through a FindingFilter, which puts the worst first.
class FindingModel : public QAbstractTableModel {
    Q_OBJECT

public:
    enum Column {
        SeverityColumn,
        InstrumentColumn,
        TitleColumn,
        ArtifactColumn,
        PlaceColumn,
        NumberColumn,
        ColumnCount
    };

    explicit FindingModel(Session *session, QObject *parent = nullptr);

    FindingRef refAt(const QModelIndex &index) const;
    QModelIndex indexFor(FindingRef ref) const;
    Session *session() const { return m_session; }

    int rowCount(const QModelIndex &parent = {}) const override;
    int columnCount(const QModelIndex &parent = {}) const override;
    QVariant data(const QModelIndex &index, int role = Qt::DisplayRole) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role = Qt::DisplayRole) const override;

private:
    struct Row {
        FindingRef ref;
        std::shared_ptr<const Outcome> outcome; // what this row speaks of, whatever the session holds by now
    };
    const Finding &findingOf(const Row &row) const;
    QString acknowledged(const Row &row) const; ///< what the title adds; empty when it is not
    void update(int instrument);

    Session *m_session;
    std::vector<Row> m_rows; // ordered by ref
};

/// FindingModel sorted (worst first until a column is chosen) and filtered; next() and previous() are
/// the order of F8 and Shift+F8.
class FindingFilter : public QSortFilterProxyModel {
    Q_OBJECT

public:
    explicit FindingFilter(FindingModel *findings, QObject *parent = nullptr);

    /// Every word must stand in the title, detail, code, instrument or artifact, in any case.
    void setSearch(const QString &text);
    void setMinimumSeverity(Severity severity);
    /// Only this instrument's; all when -1.
    void setInstrument(int instrument);
    /// Only those with evidence in this artifact; all when not given.
    void setArtifact(const std::optional<Place> &artifact);
    void setAcknowledgedHidden(bool hidden);

    /// The finding `by` rows further in the order shown, around the end; the first (last) one when
    /// `from` is invalid. Invalid when nothing is shown.
    QModelIndex step(const QModelIndex &from, int by) const;
    QModelIndex next(const QModelIndex &from) const { return step(from, 1); }
    QModelIndex previous(const QModelIndex &from) const { return step(from, -1); }
    FindingRef refAt(const QModelIndex &index) const { return m_findings->refAt(mapToSource(index)); }
    QModelIndex indexFor(FindingRef ref) const { return mapFromSource(m_findings->indexFor(ref)); }

protected:
    bool filterAcceptsRow(int row, const QModelIndex &parent) const override;

private:
    FindingModel *m_findings;
    QStringList m_words;
    Severity m_minimum = Severity::Ok;
    int m_instrument = -1;
    std::optional<Place> m_artifact;
    bool m_hideAcknowledged = false;
};

} // namespace prosector

Q_DECLARE_METATYPE(prosector::FindingRef)
