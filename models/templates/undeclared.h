// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/templates/nodes.h"

namespace prosector::jinja {

/// Which of the names the nodes read before they set them, blocks aside: Jinja's find_undeclared, whose
/// order of walking decides.
std::vector<std::string> undeclared(const Body &body, std::vector<std::string> names);

/// Whether a loop's body, or anything inside it, assigns to `loop`; the site of that, or 0.
std::uint32_t loopAssignment(const ForStmt &loop);

/// Whether a scoped block stands anywhere inside.
bool hasScopedBlock(const ForStmt &loop);

} // namespace prosector::jinja
