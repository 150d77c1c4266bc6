// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/core/place.h"
#include "models/item/roles.h"
#include "models/runs/run.h"

#include <QVariant>

namespace prosector {

/// The artifact a model shows; it keeps the run alive.
struct Shown {
    RunPtr run;
    Side side = Side::A;
    ArtifactId id;

    Shown() = default;
    Shown(RunPtr r, const Place &place) : run(std::move(r)), side(place.side), id(place.artifact) {}

    /// Null when nothing is shown.
    const Artifact *artifact() const { return run && id.index < run->artifacts().size() ? run->find(id) : nullptr; }
    template<class T>
    const T *as() const
    {
        const Artifact *const shown = artifact();
        return shown ? shown->as<T>() : nullptr;
    }
    bool holds(const Place &place) const { return artifact() && place.side == side && place.artifact == id; }

    /// For AnchorRole.
    QVariant at(Anchor where) const { return QVariant::fromValue(Selection{{side, id, std::move(where)}}); }
};

inline QVariant severityVariant(Severity severity)
{
    return static_cast<int>(severity);
}

/// For Qt::TextAlignmentRole of numbers.
inline QVariant numberAlignment()
{
    return static_cast<int>(Qt::AlignRight | Qt::AlignVCenter);
}

} // namespace prosector
