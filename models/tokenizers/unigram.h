// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/tokenizers/tokenmodel.h"

namespace prosector {

/// The most probable segmentation under a unigram language model (Kudo 2018; Viterbi as in
/// SentencePiece's unigram_model.cc and Hugging Face `tokenizers`). Runs of unknown characters are
/// one token.
class UnigramModel final : public TokenModel {
public:
    struct Entry {
        std::string piece;
        double score;
    };
    static Result<std::shared_ptr<UnigramModel>> make(std::vector<Entry> entries, std::uint32_t unknown,
                                                      bool byteFallback);

    std::unique_ptr<ModelState> makeState() const override;
    Result<void> tokenize(std::string_view piece, ModelState &state, std::vector<ModelToken> &out) const override;
    Result<ModelExplanation> explain(std::string_view piece) const override;
    std::string_view type() const override { return "Unigram"; }
    /// Unknown text reads as itself.
    std::string spelling(const ModelToken &token, std::string_view piece) const override
    {
        return token.id == m_unknown ? std::string(piece.substr(token.begin, token.end - token.begin))
                                     : TokenModel::spelling(token, piece);
    }

    double score(std::uint32_t id) const { return m_scores[id]; }
    std::uint32_t unknown() const { return m_unknown; }
    /// Unknown characters cost this much less than the least probable piece.
    static constexpr double unknownPenalty = 10.0;

private:
    struct State;
    struct Best {
        double score = 0;
        std::uint32_t begin = UINT32_MAX, id = 0;
    };
    struct Edge {
        std::uint64_t key = UINT64_MAX; ///< node << 8 | byte
        std::uint32_t child = 0;
    };
    std::uint32_t child(std::uint32_t node, unsigned char byte) const; ///< 0 when there is none
    /// Calls use(end, id) for every piece that is text[begin, end), the shortest first.
    template<typename Use>
    void eachPieceAt(std::string_view text, std::size_t begin, Use use) const
    {
        std::uint32_t node = 0;
        for (std::size_t end = begin; end < text.size();) {
            node = child(node, static_cast<unsigned char>(text[end]));
            if (node == 0)
                return;
            ++end;
            if (const std::uint32_t id = m_nodeId[node]; id != Vocabulary::none)
                use(end, id);
        }
    }
    /// Gives runs of unknown characters, from out[before] on, their final ids.
    void spellUnknowns(std::string_view piece, std::size_t before, std::vector<ModelToken> &out) const;
    void insert(std::string_view piece, std::uint32_t id);

    std::vector<double> m_scores;
    std::vector<Edge> m_edges;            ///< open addressing
    std::vector<std::uint32_t> m_nodeId;  ///< id of the piece that ends at a node, or none
    std::size_t m_edgeCount = 0;
    double m_unknownScore = 0;
    std::uint32_t m_unknown = Vocabulary::none;
    bool m_byteFallback = false;
    std::vector<std::uint32_t> m_byte;
};

} // namespace prosector
