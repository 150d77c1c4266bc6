// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/core/finding.h"

#include <algorithm>
#include <array>

namespace prosector {

namespace {
constexpr std::array<std::string_view, 5> severityNames{"ok", "undecidable", "info", "warning", "error"};
}

std::string_view nameOf(Severity severity)
{
    return severityNames[static_cast<std::size_t>(severity)];
}

std::optional<Severity> severityFromString(std::string_view text)
{
    const auto *const it = std::find(severityNames.begin(), severityNames.end(), text);
    if (it == severityNames.end())
        return std::nullopt;
    return static_cast<Severity>(it - severityNames.begin());
}

Severity Report::worst() const
{
    Severity worst = undecidable() ? Severity::Undecidable : Severity::Ok;
    for (const Finding &finding : findings)
        worst = std::max(worst, finding.severity);
    return worst;
}

} // namespace prosector
