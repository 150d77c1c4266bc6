// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/item/tokenlayout.h"

#include <algorithm>

namespace prosector {

std::uint64_t TokenLayout::rowOf(std::uint64_t token) const
{
    const auto after = std::upper_bound(starts.begin(), starts.end(), token);
    return after == starts.begin() ? 0 : static_cast<std::uint64_t>(after - starts.begin() - 1);
}

TokenRange TokenLayout::row(std::uint64_t row, std::uint64_t tokens) const
{
    if (row >= starts.size())
        return {tokens, tokens};
    return {starts[row], row + 1 < starts.size() ? starts[row + 1] : tokens};
}

Result<TokenLayoutPtr> layOutTokens(const TokenSequence &sequence, std::uint32_t columns, const Job &job)
{
    constexpr std::uint64_t stride = 1 << 16;
    const auto layout = std::make_shared<TokenLayout>();
    layout->columns = std::max(1U, columns);
    std::uint64_t used = 0;
    bool fresh = true; // the next token begins a row
    for (std::uint64_t i = 0; i < sequence.size(); ++i) {
        if (i % stride == 0) {
            if (job.cancelled())
                return Job::cancelledError();
            job.progress(static_cast<double>(i) / static_cast<double>(sequence.size()));
        }
        const TokenKind &kind = sequence.kind(i);
        if (fresh || used + kind.columns > layout->columns) {
            layout->starts.push_back(i);
            used = 0;
        }
        used += kind.columns;
        fresh = kind.endsLine;
    }
    return TokenLayoutPtr(layout);
}

} // namespace prosector
