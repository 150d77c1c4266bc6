// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/core/finding.h"
#include "models/session/findingindex.h"

#include <QString>
#include <QUrl>

#include <optional>

namespace prosector {

class Session;

/// A finding as rich text: sentence, number with interval and n, what happened, evidence as links,
/// false if, what it rules out, what to read next.
/// `narrow`: notes below their places instead of beside them.
QString findingHtml(const Session &session, FindingRef ref, bool withTitle = true, bool narrow = false);

/// Whether the finding is acknowledged, with the reason, and the link that changes it.
QString acknowledgementHtml(const Session &session, FindingRef ref);

/// "2.4 s [1.1, 3.0], p 0.01, n 20", or empty.
QString measureText(const std::optional<Measure> &measure);

/// The links findingHtml writes.
struct FindingLink {
    enum class Type { None, Evidence, Instrument, Acknowledge, Withdraw } type = Type::None;
    FindingRef ref;
    std::size_t evidence = 0;
    QString instrument;
    static FindingLink parse(const QUrl &url);
};

} // namespace prosector
