// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/templates/limits.h"

#include <optional>
#include <string>
#include <string_view>

namespace prosector {

/// strftime in the C locale. Raises nothing: an unknown directive stays as it is.
std::string formatTime(const TemplateTime &time, std::string_view format);

/// "2026-01-15", "2026-01-15T12:34:56", with fractions, a blank for the T and a zone (which is dropped:
/// templates speak of local time). Nothing for what is no such moment.
std::optional<TemplateTime> parseTime(std::string_view text);

} // namespace prosector
