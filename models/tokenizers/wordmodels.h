// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/tokenizers/tokenmodel.h"

namespace prosector {

/// Longest match first, from the left (Wu et al. 2016; semantics of Hugging Face `tokenizers`).
class WordPieceModel final : public TokenModel {
public:
    WordPieceModel(Vocabulary vocabulary, std::string unknown, std::string continuingPrefix, std::size_t longestWord);
    Result<void> tokenize(std::string_view piece, ModelState &state, std::vector<ModelToken> &out) const override;
    Result<ModelExplanation> explain(std::string_view piece) const override;
    std::string_view type() const override { return "WordPiece"; }

private:
    std::string m_unknownPiece, m_prefix;
    std::size_t m_longestWord; ///< characters; a longer word is unknown
};

/// Whole words or unknown.
class WordLevelModel final : public TokenModel {
public:
    WordLevelModel(Vocabulary vocabulary, std::string unknown);
    Result<void> tokenize(std::string_view piece, ModelState &state, std::vector<ModelToken> &out) const override;
    std::string_view type() const override { return "WordLevel"; }

private:
    std::string m_unknownPiece;
};

} // namespace prosector
