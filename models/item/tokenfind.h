// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/item/tokensequence.h"

namespace prosector {

struct TokenQuery {
    enum class By : std::uint8_t {
        Text,       ///< these bytes, also across token borders
        Id,         ///< these ids in a row, "42" or "42, 7"
        Expression, ///< a regular expression on the text (TextPattern)
    };
    By by = By::Text;
    std::string text;
    bool operator==(const TokenQuery &) const = default;
};

/// Tokens of each match, in order.
struct TokenMatches {
    static constexpr std::size_t most = 1'000'000;
    std::vector<TokenRange> ranges;
    bool complete = true; ///< false when there are more than `most`

    /// The first match that begins behind `token` (or at it, if `here`), forward or backward, going round at the
    /// ends. Nothing when there is none at all.
    std::optional<std::size_t> next(std::uint64_t token, bool forward, bool here) const;
};

/// Malformed for text that is no list of ids or no expression; TooLarge for one that backtracks without end.
Result<TokenMatches> findTokens(const TokenSequence &sequence, const TokenQuery &query, const Job &job);

} // namespace prosector
