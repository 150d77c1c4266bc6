// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/artifacts/artifact.h"

#include <string_view>

namespace prosector {

/// Whether its reader kept nothing of it: not recognised, or damaged from the first byte on.
bool holdsNothing(const Artifact &artifact);

/// Whether a damaged file gave nothing that could be looked at: its reader reported problems and kept
/// no value, line, key or tensor. False for a file that is whole, also when it is of no known kind.
bool gaveNothing(const Artifact &artifact);

/// What a file of this name would have been, had its bytes said so: weights for `*.safetensors`,
/// configuration for `config.json`; `Unknown` for a name that promises nothing.
Kind kindByName(std::string_view path);

} // namespace prosector
