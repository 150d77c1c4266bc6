// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/core/finding.h"
#include "models/runs/inspect.h"

#include <QString>
#include <QUrl>

#include <vector>

namespace prosector {

/// What inspect() says as rich text: where and what first, then the file, the linked places and the
/// findings as links `fact:N`. `limit`: characters of one value.
QString factsHtml(const std::vector<Fact> &facts, int limit = 4000);

/// The fact a link of factsHtml() names; null for other links.
const Fact *factOf(const QUrl &url, const std::vector<Fact> &facts);

/// The same as a table of two columns, for export.
Table factsTable(const std::vector<Fact> &facts);

} // namespace prosector
