// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/artifacts/tensors.h"

namespace prosector {

/// Arrays of an .npz file. Stored ones lie in the file as any tensor does; deflated ones were unpacked
/// one behind the other, and their `bytes` are ranges of `unpacked`: see sourceOf() in tensordata.h.
struct NpzContent final : TensorContent {
    SourcePtr unpacked;             ///< null when all are stored
    std::vector<bool> inUnpacked{}; ///< one for each tensor
};

} // namespace prosector
