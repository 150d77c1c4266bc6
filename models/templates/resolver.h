// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/templates/nodes.h"

namespace prosector::jinja {

/// Decides where every variable lives, as the functions Jinja's compiler writes would have it, and refuses
/// what that compiler refuses (unknown filters and tests, break outside loops). Raises with a site.
void resolve(Tree &tree);

} // namespace prosector::jinja
