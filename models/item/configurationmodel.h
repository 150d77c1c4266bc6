// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/config/effective.h"
#include "models/item/roles.h"
#include "models/session/session.h"

#include <QAbstractItemModel>

#include <memory>
#include <vector>

namespace prosector {

/// The effective configuration: for each served model its settings with the value in force, who set
/// it and what it overrode; a setting opens into every source that had a say, strongest first, then
/// into what was ignored. Worked out by the session's job runner whenever another run is opened.
class ConfigurationModel : public QAbstractItemModel {
    Q_OBJECT

public:
    enum Column { SettingColumn, ValueColumn, SetByColumn, WhereColumn, OverrodeColumn, IgnoredColumn, ColumnCount };
    /// What KeyRole says, as int.
    enum RowType { ConfigRow, SettingRow, ObservedRow, CandidateRow, IgnoredRow };

    /// Shows run A of the session, or its baseline. `session`, not owned, must outlive the model.
    explicit ConfigurationModel(Session *session, Side side = Side::A, QObject *parent = nullptr);

    /// What went wrong, when nothing could be worked out.
    const std::optional<Error> &error() const { return m_error; }
    bool isReady() const { return m_configs != nullptr; }
    const std::vector<EffectiveConfig> *configs() const { return m_configs.get(); }

    /// The row whose evidence stands at the place; the place's setting when it is several. Else invalid.
    QModelIndex indexFor(const Place &place) const;

    QModelIndex index(int row, int column, const QModelIndex &parent = {}) const override;
    QModelIndex parent(const QModelIndex &index) const override;
    int rowCount(const QModelIndex &parent = {}) const override;
    int columnCount(const QModelIndex &parent = {}) const override;
    QVariant data(const QModelIndex &index, int role = Qt::DisplayRole) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role = Qt::DisplayRole) const override;

signals:
    void ready();

private:
    // An index's id: type in the low bits, then setting, then configuration.
    struct At {
        RowType type = ConfigRow;
        std::size_t config = 0, setting = 0;
    };
    static At at(const QModelIndex &index);
    QModelIndex make(RowType type, std::size_t config, std::size_t setting, int row, int column = 0) const;
    const EffectiveSetting &settingOf(const QModelIndex &index) const;
    const Candidate *candidateOf(const QModelIndex &index) const;
    QString whereText(const Candidate &candidate) const;
    QVariant settingData(const EffectiveSetting &setting, int column, int role) const;
    QVariant candidateData(const QModelIndex &index, const Candidate &candidate, int role) const;
    void refresh();

    Session *m_session;
    Side m_side;
    QString m_key;
    RunPtr m_run; // what m_configs speaks of
    std::shared_ptr<const std::vector<EffectiveConfig>> m_configs;
    std::optional<Error> m_error;
};

} // namespace prosector
