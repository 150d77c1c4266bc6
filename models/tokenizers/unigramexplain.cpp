// SPDX-License-Identifier: GPL-3.0-or-later
// The two best segmentations under a unigram model: Viterbi with two entries per byte.
#include "models/tokenizers/unigram.h"

#include "models/core/utf8.h"

#include <algorithm>
#include <array>

namespace prosector {

namespace {

struct Way {
    double score = 0;
    std::uint32_t begin = UINT32_MAX, id = 0;
    int rank = 0; ///< which way of reaching `begin` it goes on from
    double piece = 0;
    bool exists() const { return begin != UINT32_MAX; }
};
using Ways = std::array<Way, 2>; ///< best first; of equal scores the earlier found

void offer(Ways &ways, const Way &way)
{
    if (!ways[0].exists() || way.score > ways[0].score) {
        ways[1] = ways[0];
        ways[0] = way;
    } else if (!ways[1].exists() || way.score > ways[1].score) {
        ways[1] = way;
    }
}

std::vector<ModelExplanation::PathPiece> pathTo(const std::vector<Ways> &reached, std::size_t end, int rank)
{
    std::vector<ModelExplanation::PathPiece> path;
    while (end > 0) {
        const Way &way = reached[end][static_cast<std::size_t>(rank)];
        path.push_back({way.id, way.begin, static_cast<std::uint32_t>(end), way.piece});
        end = way.begin;
        rank = way.rank;
    }
    std::reverse(path.begin(), path.end());
    return path;
}

} // namespace

Result<ModelExplanation> UnigramModel::explain(std::string_view piece) const
{
    std::vector<Ways> reached(piece.size() + 1);
    reached[0][0].begin = 0;
    const auto extend = [&](std::size_t begin, std::size_t end, std::uint32_t id, double score) {
        for (int rank = 0; rank < 2; ++rank) {
            const Way &from = reached[begin][static_cast<std::size_t>(rank)];
            if (from.exists())
                offer(reached[end], {from.score + score, static_cast<std::uint32_t>(begin), id, rank, score});
        }
    };
    for (std::size_t begin = 0; begin < piece.size();) {
        const std::size_t single = decodeUtf8(piece, begin).length;
        bool hasSingle = false;
        eachPieceAt(piece, begin, [&](std::size_t end, std::uint32_t id) {
            extend(begin, end, id, m_scores[id]);
            hasSingle = hasSingle || end - begin == single;
        });
        if (!hasSingle)
            extend(begin, begin + single, m_unknown, m_unknownScore);
        begin += single;
    }
    ModelExplanation why;
    why.kind = ModelExplanation::Kind::Lattice;
    const Ways &last = reached[piece.size()];
    why.path = pathTo(reached, piece.size(), 0);
    why.pathScore = last[0].score;
    if (last[1].exists()) {
        why.runnerUp = pathTo(reached, piece.size(), 1);
        why.runnerUpScore = last[1].score;
    }
    return why;
}

} // namespace prosector
