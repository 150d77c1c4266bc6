// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/core/document.h"

namespace prosector {

/// Table `resources/facts/log-lines.json`.
class LogPatterns {
public:
    static Result<LogPatterns> parse(DocumentPtr table);
};

} // namespace prosector
