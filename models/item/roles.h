// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/core/place.h"

#include <QMetaType>
#include <QModelIndex>

#include <optional>

namespace prosector {

/// Roles every model of this folder answers beside Qt's own. Qt::DisplayRole is one short line,
/// Qt::ToolTipRole the whole of it.
enum ItemRole : int {
    AnchorRole = Qt::UserRole + 1, ///< Selection: what the row or cell stands for; invalid when nothing
    SeverityRole,                  ///< int of Severity; invalid where nothing was judged
    SortRole,                      ///< what to sort by: numbers as numbers
    CopyRole,                      ///< QString for the clipboard: exact, not elided
    RunningRole,                   ///< bool: the row's work is under way (InstrumentModel)
    SideRole,                      ///< int of Side
    FindingRole,                   ///< FindingRef (FindingModel)
    InstrumentRole,                ///< int: the instrument's number in the session
    AcknowledgedRole,              ///< bool (FindingModel)
    KeyRole,                       ///< what kind of row: see the model
};

inline Selection placesAt(const QModelIndex &index)
{
    return index.data(AnchorRole).value<Selection>();
}

inline std::optional<Severity> severityAt(const QModelIndex &index)
{
    const QVariant value = index.data(SeverityRole);
    return value.isValid() ? std::optional(static_cast<Severity>(value.toInt())) : std::nullopt;
}

} // namespace prosector

Q_DECLARE_METATYPE(prosector::Place)
Q_DECLARE_METATYPE(prosector::Selection)
