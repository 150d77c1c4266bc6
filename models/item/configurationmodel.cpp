// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/item/configurationmodel.h"

#include "models/item/format.h"
#include "models/item/shown.h"

#include <algorithm>

namespace prosector {

namespace {

std::size_t rowsOf(const EffectiveSetting &setting)
{
    return (setting.observed ? 1 : 0) + setting.candidates.size() + setting.ignored.size();
}

/// What runs, then what the files of the models set that nothing says were served.
Result<std::vector<EffectiveConfig>> configsOf(const Run &run, const Facts &facts, const Job &job)
{
    auto configs = effectiveConfigs(run, facts, job);
    if (!configs)
        return configs;
    std::erase_if(*configs, [](const EffectiveConfig &config) { return config.settings.empty(); });
    for (std::size_t model = 0; model < run.models().size(); ++model) {
        if (std::any_of(configs->begin(), configs->end(), [&](const EffectiveConfig &config) { return config.model == model; }))
            continue;
        auto declared = declaredConfig(run, facts, model, job);
        if (!declared)
            return declared.error();
        if (!declared->settings.empty())
            configs->push_back(std::move(*declared));
    }
    return configs;
}

const Candidate *inForce(const EffectiveSetting &setting)
{
    return setting.observed ? &*setting.observed : setting.chosenBy();
}

} // namespace

ConfigurationModel::ConfigurationModel(Session *session, Side side, QObject *parent)
    : QAbstractItemModel(parent), m_session(session), m_side(side)
{
    static int models = 0; // GUI thread only: each model has its own job
    m_key = QStringLiteral("configuration/%1").arg(++models);
    connect(session, &Session::runChanged, this, &ConfigurationModel::refresh);
    connect(session, &Session::factsLoaded, this, &ConfigurationModel::refresh);
    refresh();
}

void ConfigurationModel::refresh()
{
    beginResetModel();
    m_run = m_session->run(m_side);
    m_configs.reset();
    m_error.reset();
    endResetModel();
    m_session->jobs()->cancel(m_key);
    if (!m_run || !m_session->facts())
        return;
    m_session->jobs()->start(
        m_key, QStringLiteral("Working out the effective configuration"), this,
        [run = m_run, facts = m_session->facts()](const Job &job) { return configsOf(*run, *facts, job); },
        [this, run = m_run](Result<std::vector<EffectiveConfig>> configs) {
            if (run != m_run)
                return;
            beginResetModel();
            if (configs)
                m_configs = std::make_shared<const std::vector<EffectiveConfig>>(std::move(*configs));
            else
                m_error = configs.error();
            endResetModel();
            emit ready();
        },
        1);
}

ConfigurationModel::At ConfigurationModel::at(const QModelIndex &index)
{
    const quintptr id = index.internalId();
    return {static_cast<RowType>(id & 7), (id >> 32) & 0xFFFFFFF, (id >> 3) & 0x1FFFFFFF};
}

QModelIndex ConfigurationModel::make(RowType type, std::size_t config, std::size_t setting, int row, int column) const
{
    return createIndex(row, column, (quintptr(config) << 32) | (quintptr(setting) << 3) | static_cast<quintptr>(type));
}

QModelIndex ConfigurationModel::index(int row, int column, const QModelIndex &parent) const
{
    if (row < 0 || column < 0 || column >= ColumnCount || row >= rowCount(parent))
        return {};
    const auto position = static_cast<std::size_t>(row);
    if (!parent.isValid())
        return make(ConfigRow, position, 0, row, column);
    const At above = at(parent);
    if (above.type == ConfigRow)
        return make(SettingRow, above.config, position, row, column);
    const EffectiveSetting &setting = (*m_configs)[above.config].settings[above.setting];
    const std::size_t observed = setting.observed ? 1 : 0;
    const RowType type = position < observed              ? ObservedRow
        : position < observed + setting.candidates.size() ? CandidateRow
                                                          : IgnoredRow;
    return make(type, above.config, above.setting, row, column);
}

QModelIndex ConfigurationModel::parent(const QModelIndex &index) const
{
    if (!index.isValid())
        return {};
    const At here = at(index);
    if (here.type == ConfigRow)
        return {};
    if (here.type == SettingRow)
        return make(ConfigRow, here.config, 0, static_cast<int>(here.config));
    return make(SettingRow, here.config, here.setting, static_cast<int>(here.setting));
}

int ConfigurationModel::rowCount(const QModelIndex &parent) const
{
    if (!m_configs)
        return 0;
    if (!parent.isValid())
        return static_cast<int>(m_configs->size());
    if (parent.column() != 0)
        return 0;
    const At here = at(parent);
    if (here.type == ConfigRow)
        return static_cast<int>((*m_configs)[here.config].settings.size());
    return here.type == SettingRow ? static_cast<int>(rowsOf((*m_configs)[here.config].settings[here.setting])) : 0;
}

int ConfigurationModel::columnCount(const QModelIndex &) const
{
    return ColumnCount;
}

const EffectiveSetting &ConfigurationModel::settingOf(const QModelIndex &index) const
{
    const At here = at(index);
    return (*m_configs)[here.config].settings[here.setting];
}

const Candidate *ConfigurationModel::candidateOf(const QModelIndex &index) const
{
    const EffectiveSetting &setting = settingOf(index);
    auto position = static_cast<std::size_t>(index.row());
    if (setting.observed && position-- == 0)
        return &*setting.observed;
    if (position < setting.candidates.size())
        return &setting.candidates[position];
    return &setting.ignored[position - setting.candidates.size()];
}

QString ConfigurationModel::whereText(const Candidate &candidate) const
{
    return candidate.evidence ? format::place(placeOf(*candidate.evidence), m_run.get()) : toQt(candidate.source);
}

QVariant ConfigurationModel::data(const QModelIndex &index, int role) const
{
    if (!index.isValid())
        return {};
    const At here = at(index);
    if (role == KeyRole)
        return static_cast<int>(here.type);
    if (role == SideRole)
        return static_cast<int>(m_side);
    if (here.type == SettingRow)
        return settingData(settingOf(index), index.column(), role);
    if (here.type != ConfigRow)
        return candidateData(index, *candidateOf(index), role);
    const EffectiveConfig &config = (*m_configs)[here.config];
    if (role == Qt::DisplayRole || role == CopyRole) {
        if (index.column() == SettingColumn)
            return config.scope.empty() ? toQt(m_run->name()) : toQt(config.scope);
        if (index.column() == ValueColumn)
            return config.engine.empty() ? QStringLiteral("engine unknown")
                                         : toQt(config.engine + (config.version.empty() ? "" : " " + config.version));
        if (index.column() == WhereColumn && config.engine.empty())
            return QStringLiteral("what the model's own files set");
    }
    if (role == Qt::ToolTipRole && config.engine.empty())
        return QStringLiteral("No engine arguments, start-up log or status page is open that names the engine. "
                              "These are the values the files set; whether they hold is the engine's choice.");
    if (role == Qt::ToolTipRole && !config.precedence.empty())
        return toQt(config.precedence).join(QStringLiteral(" → ")) + QLatin1Char('\n') + toQt(config.precedenceSource);
    return {};
}

QVariant ConfigurationModel::settingData(const EffectiveSetting &setting, int column, int role) const
{
    const Candidate *const force = inForce(setting);
    switch (role) {
    case Qt::DisplayRole:
    case CopyRole:
        switch (column) {
        case SettingColumn: return toQt(setting.name);
        case ValueColumn: return role == CopyRole ? toQt(setting.value()) : format::literal(setting.value());
        case SetByColumn: {
            const Candidate *const chosen = setting.chosenBy();
            return chosen ? toQt(nameOf(chosen->origin))
                : force   ? toQt(nameOf(force->origin))
                          : QStringLiteral("not known");
        }
        case WhereColumn: return force ? whereText(*force) : QString();
        case OverrodeColumn: {
            QStringList others;
            for (const Candidate &candidate : setting.candidates) {
                if (&candidate != setting.chosenBy() && candidate.value != setting.value())
                    others.append(toQt(nameOf(candidate.origin)) + QLatin1Char(' ')
                                  + format::literal(candidate.value, 60));
            }
            return others.join(QStringLiteral(", "));
        }
        case IgnoredColumn: {
            QStringList ignored;
            for (const Candidate &candidate : setting.ignored)
                ignored.append(toQt(nameOf(candidate.origin)) + QLatin1Char(' ')
                               + format::literal(candidate.value, 60));
            return ignored.join(QStringLiteral(", "));
        }
        default: return {};
        }
    case Qt::ToolTipRole:
        return column == SettingColumn ? toQt(setting.category) : settingData(setting, column, Qt::DisplayRole);
    case AnchorRole: {
        Selection places;
        if (force && force->evidence)
            places.push_back(placeOf(*force->evidence));
        for (const Candidate &candidate : setting.candidates) {
            if (&candidate != force && candidate.evidence)
                places.push_back(placeOf(*candidate.evidence));
        }
        return places.empty() ? QVariant() : QVariant::fromValue(places);
    }
    case SeverityRole: return setting.ignored.empty() ? QVariant() : severityVariant(Severity::Info);
    default: return {};
    }
}

QVariant ConfigurationModel::candidateData(const QModelIndex &index, const Candidate &candidate, int role) const
{
    const RowType type = at(index).type;
    switch (role) {
    case Qt::DisplayRole:
    case CopyRole:
        switch (index.column()) {
        case SettingColumn: return toQt(candidate.spelling);
        case ValueColumn:
            return role == CopyRole ? toQt(candidate.raw)
                                    : format::literal(candidate.raw.empty() ? candidate.value : candidate.raw);
        case SetByColumn: return toQt(nameOf(candidate.origin));
        case WhereColumn: return whereText(candidate);
        case OverrodeColumn:
            if (type == ObservedRow)
                return QStringLiteral("observed");
            return type == CandidateRow && &candidate == settingOf(index).chosenBy() ? QStringLiteral("chosen")
                                                                                     : QString();
        case IgnoredColumn:
            return type != IgnoredRow    ? QString()
                : candidate.note.empty() ? QStringLiteral("ignored")
                                         : format::oneLine(candidate.note);
        default: return {};
        }
    case Qt::ToolTipRole: {
        QStringList lines;
        for (const std::string &text : {candidate.note, candidate.source}) {
            if (!text.empty())
                lines.append(toQt(text));
        }
        return lines.isEmpty() ? QVariant() : lines.join(QLatin1Char('\n'));
    }
    case AnchorRole:
        return candidate.evidence ? QVariant::fromValue(Selection{placeOf(*candidate.evidence)}) : QVariant();
    case SeverityRole: return type == IgnoredRow ? severityVariant(Severity::Info) : QVariant();
    default: return {};
    }
}

QVariant ConfigurationModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal || role != Qt::DisplayRole)
        return {};
    switch (section) {
    case SettingColumn: return QStringLiteral("Setting");
    case ValueColumn: return QStringLiteral("Value in force");
    case SetByColumn: return QStringLiteral("Set by");
    case WhereColumn: return QStringLiteral("Where");
    case OverrodeColumn: return QStringLiteral("Overrode");
    case IgnoredColumn: return QStringLiteral("Ignored");
    default: return {};
    }
}

QModelIndex ConfigurationModel::indexFor(const Place &place) const
{
    for (int c = 0; c < rowCount(); ++c) {
        const QModelIndex config = index(c, 0);
        for (int s = 0; s < rowCount(config); ++s) {
            const QModelIndex setting = index(s, 0, config);
            for (int r = 0; r < rowCount(setting); ++r) {
                const auto &evidence = candidateOf(index(r, 0, setting))->evidence;
                if (evidence && placeOf(*evidence) == place)
                    return index(r, 0, setting);
            }
        }
    }
    return {};
}

} // namespace prosector
