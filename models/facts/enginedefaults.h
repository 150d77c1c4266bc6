// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/core/document.h"

namespace prosector {

/// Table `resources/facts/engine-defaults.json`.
class EngineDefaults {
public:
    static Result<EngineDefaults> parse(DocumentPtr table);
};

} // namespace prosector
