// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/tokenizers/tokenmodel.h"

#include <array>

namespace prosector {

struct BpeOptions {
    std::optional<std::string> unknown;
    std::string continuingPrefix, wordSuffix;
    bool fuseUnknown = false, byteFallback = false, ignoreMerges = false;
    bool rawBytes = false;
};

/// Byte-pair encoding: the pair with the lowest rank merges first, of equal ranks the leftmost
/// (Sennrich et al. 2016; semantics of Hugging Face `tokenizers`, models/bpe).
class BpeModel final : public TokenModel {
public:
    struct Merge {
        std::string_view left, right;
        std::uint32_t rank; ///< merges may share one
    };
    using Step = ModelExplanation::Merge;

    /// Errors name a merge whose parts or whole are not in the vocabulary, or a missing unknown token.
    static Result<std::shared_ptr<BpeModel>> make(Vocabulary vocabulary, const std::vector<Merge> &merges,
                                                  BpeOptions options);

    std::unique_ptr<ModelState> makeState() const override;
    Result<void> tokenize(std::string_view piece, ModelState &state, std::vector<ModelToken> &out) const override;
    Result<ModelExplanation> explain(std::string_view piece) const override;
    std::string_view type() const override { return "BPE"; }

    std::size_t mergeCount() const { return m_mergeCount; }

private:
    struct Symbol {
        std::uint32_t id, length; ///< bytes of the pre-token it covers
    };
    struct MergeSlot {
        std::uint64_t pair = UINT64_MAX;
        std::uint32_t rank = 0, id = 0;
    };
    struct State;

    /// ignore_merges: the id of a pre-token that is a piece as a whole, or none.
    std::uint32_t wholePiece(std::string_view piece) const;
    Result<void> addMerges(const std::vector<Merge> &merges);
    void setMerge(std::uint32_t left, std::uint32_t right, std::uint32_t rank, std::uint32_t id);
    const MergeSlot *merge(std::uint32_t left, std::uint32_t right) const;
    /// Whether some merge joins two parts that meet between these characters (or bytes).
    bool mayJoin(char32_t left, char32_t right) const;
    void noteJoin(std::string_view left, std::string_view right);
    /// Encodes text that no merge leaves.
    Result<void> tokenizeWhole(std::string_view piece, std::uint32_t offset, State &state,
                               std::vector<ModelToken> &out) const;
    Result<void> symbols(std::string_view piece, std::vector<Symbol> &out) const;
    void mergeShort(std::vector<Symbol> &symbols, std::vector<Step> *steps) const;
    void mergeLong(std::vector<Symbol> &symbols, std::vector<Step> *steps) const;
    void mergeAll(std::vector<Symbol> &symbols, std::vector<Step> *steps) const;

    BpeOptions m_options;
    Vocabulary m_raw;  ///< rawBytes: pieces as bytes
    std::uint32_t m_unknown = Vocabulary::none;
    std::array<std::uint32_t, 256> m_byte{}; ///< rawBytes: id of each byte; byteFallback: id of <0xNN>
    /// Texts can be cut where no merge joins: every character has an id of its own or of its bytes.
    bool m_canCut = false;
    std::vector<bool> m_joins; ///< hashed pairs of neighbours; a collision only cuts less
    std::vector<MergeSlot> m_merges;
    std::size_t m_mergeCount = 0;
};

} // namespace prosector
