// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/core/document.h"

#include <string>
#include <string_view>

namespace prosector {

/// JSON text as Python's json.dumps(sort_keys=True, separators=(",", ":"), ensure_ascii=False).
std::string canonicalJson(Value value);
/// The same for one text: in quotes, escaped.
std::string canonicalText(std::string_view text);

} // namespace prosector
