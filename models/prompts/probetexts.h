// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>
#include <string_view>

namespace prosector {

/// A short text that a tokenizer should survive, and what it is for.
struct ProbeText {
    std::string_view group;
    std::string_view text;
};

/// The 60 built-in probes of T2 and T7: spaces, tabs, line ends, digits, CJK, emoji, right-to-left, code, accents in
/// both normal forms. No special spellings, no control characters but tab and line feed.
extern const std::array<ProbeText, 60> probeTexts;

bool isAscii(std::string_view text);

} // namespace prosector
