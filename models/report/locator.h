// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/core/document.h"

#include <optional>

namespace prosector {

/// The anchor that `locatorJson` (report.h) wrote, or nothing when the object is none.
std::optional<Anchor> anchorFromLocator(Value locator);

} // namespace prosector
