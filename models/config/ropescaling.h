// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/config/descriptions.h"
#include "models/core/job.h"

#include <optional>
#include <string>
#include <vector>

namespace prosector {

/// One thing that is wrong with how positions are scaled.
struct RopeFault {
    enum class Kind : std::uint8_t {
        UnknownType, MissingKey, WrongValue, TypesDisagree, ///< one declaration by itself
        Lost, Changed, BaseChanged,                         ///< a conversion against its source
    };
    Kind kind;
    std::string title, detail;
    std::vector<Evidence> evidence{};
    std::string sourceText{}, convertedText{}; ///< for tables
};

/// What is wrong with each declaration of one model by itself: unknown type, missing factor, lists of
/// the wrong length, `type` against `rope_type`.
std::vector<RopeFault> ropeFaults(const ModelDescription &model);

/// What of the source's scaling and base the converted file lacks or changed. `notSeen` says what could
/// not be looked at. Reads `rope_freqs.weight` (a few hundred bytes).
struct RopeCarriage {
    std::vector<RopeFault> faults;
    std::vector<std::string> notSeen;
};
RopeCarriage ropeCarriage(const Conversion &conversion, const Job &job);

/// Divisors of the inverse frequencies under `llama3` scaling, one per rotated pair: 1 for short
/// wavelengths, the factor for long ones, a blend between (Llama 3.1's reference code; llama.cpp
/// stores them as rope_freqs.weight). Empty when a number is missing.
std::vector<double> llama3Divisors(const RopeSettings &rope, double base, double rotaryDim);

/// The longest context a declaration is good for: the window, or factor times original length for yarn
/// and linear if that is more. Nothing when it is not stated.
std::optional<double> reachOf(const Architecture &arch);

/// "llama3, factor 8, original 8192"; "none".
std::string describe(const RopeSettings &rope);

} // namespace prosector
