// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/core/place.h"
#include "models/runs/inspect.h"

#include <QString>

#include <functional>
#include <vector>

class QObject;

namespace prosector {

class Session;

/// inspect() by the session's job runner, on what the session holds now; `done` is called in the
/// session's thread unless `context` dies or the key is started again first. An empty selection, and
/// places that are not open, give no facts.
void startInspecting(Session &session, const QString &key, const Selection &selection, const QObject *context,
                     std::function<void(std::vector<Fact>)> done);

} // namespace prosector
