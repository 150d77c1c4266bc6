// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/config/logtriage.h"
#include "models/facts/facts.h"
#include "models/item/shown.h"
#include "models/session/jobrunner.h"

#include <QAbstractTableModel>

#include <memory>
#include <vector>

namespace prosector {

/// A log line by line, with the lines that the log-lines table recognises marked by class and
/// severity. The triage is done by the job runner and arrives with triaged(); lines are shown at
/// once. Lines beyond the first 1000 of one pattern are counted, not marked (LogTriage).
class LogModel : public QAbstractTableModel {
    Q_OBJECT

public:
    enum Column { LineColumn, LevelColumn, ClassColumn, TextColumn, ColumnCount };
    static constexpr int lineLimit = 4000; ///< characters shown of one line

    /// `jobs`, not owned, must outlive the model.
    explicit LogModel(JobRunner *jobs, QObject *parent = nullptr);

    /// An artifact with TextContent; anything else shows nothing. Without facts nothing is marked.
    void setArtifact(const RunPtr &run, const Place &place, const FactsPtr &facts);
    bool holds(const Place &place) const { return m_shown.holds(place); }

    /// Only recognised lines at or above the severity; all lines when none is given.
    void setFilter(std::optional<Severity> minimum);
    std::optional<Severity> filter() const { return m_minimum; }

    /// Null until it has been triaged.
    const LogTriage *triage() const { return m_triage.get(); }
    /// What was recognised in the row's line, or null.
    const LogHit *hitAt(const QModelIndex &index) const;
    /// The row of a place in this log; of the next row shown when a filter hides it.
    QModelIndex indexFor(const Anchor &where) const;
    /// "info" and "watch" of the table are notes, "warn" warnings, "serious" errors.
    static Severity severityOf(const LogPattern &pattern);

    int rowCount(const QModelIndex &parent = {}) const override;
    int columnCount(const QModelIndex &parent = {}) const override;
    QVariant data(const QModelIndex &index, int role = Qt::DisplayRole) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role = Qt::DisplayRole) const override;

signals:
    void triaged();

private:
    /// Counted from 0.
    std::size_t lineOf(int row) const;
    const LogHit *hitOnLine(std::size_t line) const;
    void applyFilter();

    JobRunner *m_jobs;
    QString m_key;
    Shown m_shown;
    const TextContent *m_text = nullptr; // owned by m_shown's run
    FactsPtr m_facts;                    // owns the patterns of m_triage
    std::shared_ptr<const LogTriage> m_triage;
    std::optional<Severity> m_minimum;
    std::vector<std::uint64_t> m_rows; // lines shown while a filter is set
};

} // namespace prosector
