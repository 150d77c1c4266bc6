// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/item/tokensequence.h"

namespace prosector {

/// Where the rows of the wrapped view begin. A row ends behind a token with a line feed, and before one that
/// no longer fits; a token wider than a row has one of its own.
struct TokenLayout {
    std::uint32_t columns = 0; ///< of a row, in cells of a fixed font
    std::vector<std::uint64_t> starts; ///< token index at which each row begins

    std::uint64_t rowOf(std::uint64_t token) const;
    TokenRange row(std::uint64_t row, std::uint64_t tokens) const;
};
using TokenLayoutPtr = std::shared_ptr<const TokenLayout>;

/// Fails only with Cancelled.
Result<TokenLayoutPtr> layOutTokens(const TokenSequence &sequence, std::uint32_t columns, const Job &job);

} // namespace prosector
