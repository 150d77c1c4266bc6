// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/tokenizers/alignedtext.h"

#include <string>
#include <string_view>
#include <vector>

namespace prosector {

/// A text made valid UTF-8 for libraries that take nothing else, and the way back to its own bytes.
/// Costs nothing when the text is valid: then it is a view.
class RepairedText {
public:
    explicit RepairedText(std::string_view input);

    std::string_view text() const { return m_runs.empty() ? m_input : std::string_view(m_repaired); }
    /// Bytes of the input for bytes of text().
    TextRange toInput(TextRange repaired) const;
    /// Bytes of the input that stand as U+FFFD in text().
    std::vector<TextRange> invalid() const;

private:
    struct Run {
        TextRange input;
        std::uint32_t repaired; ///< where its U+FFFD stands
    };
    std::uint32_t positionInInput(std::uint32_t repaired, bool isEnd) const;

    std::string_view m_input;
    std::string m_repaired;
    std::vector<Run> m_runs;
};

} // namespace prosector
