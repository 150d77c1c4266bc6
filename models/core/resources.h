// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>

namespace prosector {

/// Folder that holds `facts/`, `help/`, `cases/`, without a trailing slash. In this order: the
/// environment's PROSECTOR_RESOURCES; `../share/prosector` beside the program; the source tree it
/// was built from.
std::string resourceFolder();

} // namespace prosector
