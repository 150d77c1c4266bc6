// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/tokenizers/scoredmerges.h"

#include "models/tokenizers/unicode.h"
#include "models/tokenizers/vocabulary.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace prosector {

std::vector<ScoredMerge> scoredMerges(const std::vector<ScoredPiece> &pieces)
{
    struct Candidate {
        ScoredMerge merge;
        std::uint32_t leftId, rightId;
        std::ptrdiff_t leftLength, rightLength; ///< characters
    };
    Vocabulary ids;
    for (std::uint32_t id = 0; id < pieces.size(); ++id)
        ids.add(pieces[id].text, id);
    const auto length = [](std::string_view text) {
        return std::count_if(text.begin(), text.end(), [](char c) { return !isContinuationByte(c); });
    };
    std::vector<Candidate> merges, local;
    for (const ScoredPiece &piece : pieces) {
        local.clear();
        for (std::size_t cut = 1; cut < piece.text.size(); ++cut) {
            if (isContinuationByte(piece.text[cut]))
                continue;
            const auto left = piece.text.substr(0, cut), right = piece.text.substr(cut);
            const std::uint32_t leftId = ids.find(left), rightId = ids.find(right);
            if (leftId != Vocabulary::none && rightId != Vocabulary::none)
                local.push_back({{left, right, piece.score}, leftId, rightId, length(left), length(right)});
        }
        std::stable_sort(local.begin(), local.end(), [](const Candidate &a, const Candidate &b) {
            return std::pair(a.leftId, a.rightId) < std::pair(b.leftId, b.rightId);
        });
        merges.insert(merges.end(), local.begin(), local.end());
    }
    std::stable_sort(merges.begin(), merges.end(), [](const Candidate &a, const Candidate &b) {
        return std::tuple(a.merge.score, a.leftLength, a.rightLength) > std::tuple(b.merge.score, b.leftLength, b.rightLength);
    });
    std::vector<ScoredMerge> list;
    for (const Candidate &candidate : merges)
        list.push_back(candidate.merge);
    return list;
}

} // namespace prosector
