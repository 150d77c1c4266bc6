// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <vector>

namespace prosector {

/// Why a model cut a pre-token as it did. Positions are bytes of the pre-token.
struct ModelExplanation {
    enum class Kind {
        Lookup,       ///< the whole pre-token is a piece (or unknown) and was not looked into
        Merges,       ///< byte-pair encoding: `merges`
        LongestMatch, ///< WordPiece: from the left, the longest piece that fits
        Lattice,      ///< unigram: `path`, and what it was chosen over
        Opaque,       ///< the library that cut it does not say
    };
    /// One merge that was made, in the order made.
    struct Merge {
        std::uint32_t rank;               ///< line of the merge table, from 0
        std::uint32_t begin, middle, end; ///< [begin, middle) and [middle, end) became one
        std::uint32_t id;                 ///< of the result
    };
    struct PathPiece {
        std::uint32_t id, begin, end;
        double score; ///< logarithm of the piece's probability
    };

    Kind kind = Kind::Lookup;
    std::vector<Merge> merges{};
    std::vector<PathPiece> path{};     ///< the most probable segmentation, before unknowns are spelt in bytes
    std::vector<PathPiece> runnerUp{}; ///< the next one; empty when there is only one
    double pathScore = 0, runnerUpScore = 0;
};

} // namespace prosector
