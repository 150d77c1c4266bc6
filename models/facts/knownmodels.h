// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/core/document.h"

namespace prosector {

/// Table `resources/facts/known-models.json`.
class KnownModels {
public:
    static Result<KnownModels> parse(DocumentPtr table);
};

} // namespace prosector
