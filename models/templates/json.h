// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/templates/value.h"

#include <optional>
#include <string>

namespace prosector::jinja {

struct JsonOptions {
    bool ensureAscii = false;
    std::optional<std::string> indent{};
    std::string itemSeparator = ", ", keySeparator = ": ";
    bool sortKeys = false;
};

/// Python's json.dumps; every string of the value stays traceable in the text.
Var toJson(const Var &value, const JsonOptions &options);

} // namespace prosector::jinja
