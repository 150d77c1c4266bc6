// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <chrono>
#include <cstdint>

namespace prosector {

/// What one rendering may use up. Whatever is reached first ends it with an error that names it.
/// All but `time` are counted, so that the same template and inputs end the same way everywhere.
struct RenderLimits {
    std::uint64_t steps = 50'000'000;          ///< nodes evaluated, and 256 bytes or items gone through
    std::uint64_t outputBytes = 64 << 20;
    std::uint64_t memoryBytes = 256 << 20;     ///< of all values alive at once
    std::uint32_t macroDepth = 200;            ///< calls inside calls; Python stops at about 190
    std::uint32_t nesting = 4000;              ///< evaluations inside evaluations
    std::chrono::milliseconds time{0};         ///< 0: none
};

/// The moment templates are told it is, in local time of wherever the prompt was made.
struct TemplateTime {
    int year = 2024, month = 7, day = 26; ///< the date Llama 3.1 templates fall back on
    int hour = 12, minute = 0, second = 0, microsecond = 0;
    bool operator==(const TemplateTime &) const = default;
};

} // namespace prosector
