// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/config/descriptions.h"
#include "models/core/job.h"

#include <string>
#include <vector>

namespace prosector {

/// What became of one statement of the source in the converted file.
struct LedgerRow {
    enum class Class : std::uint8_t {
        Kept,
        ByDefault,  ///< not written, and the target's default is the same value
        Changed,
        Lost,
        Unmappable, ///< the target format has no place for it
    };
    std::string code; ///< of the finding: "conversion.architecture"
    std::string key;  ///< as the source calls it
    Class outcome = Class::Kept;
    Severity severity = Severity::Ok; ///< Ok: no finding
    std::string sourceText{}, convertedText{};
    std::string title{}, detail{};
    std::vector<Evidence> evidence{};
};
std::string_view nameOf(LedgerRow::Class outcome);

struct Ledger {
    std::vector<LedgerRow> rows;
    std::vector<std::string> notSeen;
};

/// Layers, sizes, heads, window, eps, caps, multipliers, experts, the output head, the rotation, and
/// tensors that the source has and the converted file dropped.
void compareArchitecture(const Conversion &conversion, const Job &job, Ledger &ledger);

/// Vocabulary, special ids, who adds BOS, the chat template, generation defaults.
void compareTokenizer(const Conversion &conversion, Ledger &ledger);

} // namespace prosector
