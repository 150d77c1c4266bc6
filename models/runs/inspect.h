// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/core/place.h"
#include "models/instruments/instrument.h"
#include "models/runs/run.h"

#include <string>
#include <vector>

namespace prosector {

/// "48 65 6C".
std::string hexText(std::span<const std::byte> bytes);

/// One line of the inspector.
struct Fact {
    enum class Kind : std::uint8_t { Artifact, Where, Raw, Decoded, Link, Finding };
    Kind kind;
    std::string label;                ///< "File", "Offset", "Bytes", "Value", "Type", "Finding F5"
    std::string value;                ///< UTF-8
    Selection places{};               ///< where following this line leads; empty: nowhere
    Severity severity = Severity::Ok; ///< of a finding
};

/// What the inspector shows of the leading place of a selection: the file, offset and length, an
/// excerpt of the raw bytes, the decoded value, the other places of the selection, and the findings
/// with evidence at an overlapping place, worst first. Reads at most `excerptBytes` from the file.
/// Where bytes cannot be read the reason stands in their place.
std::vector<Fact> inspect(const Run &run, const Selection &selection, std::span<const Outcome *const> outcomes);
inline constexpr std::size_t excerptBytes = 256;

} // namespace prosector
