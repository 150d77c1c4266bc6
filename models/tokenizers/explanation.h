// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/tokenizers/addedtokens.h"
#include "models/tokenizers/encoding.h"
#include "models/tokenizers/modelexplanation.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace prosector {

/// Where every id of an encoding came from: filled by Tokenizer::encode() when EncodeOptions::why
/// points to one. Texts are copies; nothing refers to the tokenizer or the input.
struct Explanation {
    /// A normaliser that changed something.
    struct Step {
        std::string name; ///< "NFC", "Replace"
        std::string text; ///< what it left
    };
    /// A stretch of input between added tokens, as the normalisers saw and left it.
    struct Normalization {
        TextRange origin;
        std::vector<Step> steps;
    };
    /// What the pre-tokenizers cut out and the model saw as one.
    struct Piece {
        TextRange origin;
        std::string text; ///< normalised; of byte-level tokenizers the bytes themselves
        ModelExplanation model;
        std::uint32_t normalization; ///< index into `normalizations`
    };
    /// An added token found in the text.
    struct Match {
        TextRange origin;
        AddedTokenRule token;
        bool afterNormalizer; ///< found in normalised text, because it is `normalized: true`
    };
    enum class Source : std::uint8_t { Model, AddedToken, Inserted };
    /// Parallel to the ids.
    struct Token {
        Source source = Source::Inserted;
        std::uint32_t index = 0; ///< into `pieces` or `matches`
    };

    std::vector<Normalization> normalizations;
    std::vector<Piece> pieces;
    std::vector<Match> matches;
    std::vector<Token> tokens;

    /// For tokenizers that do not say: one opaque piece, and the added tokens among the ids.
    void guess(std::string_view input, const Encoding &encoding, const AddedTokens &added);
    /// Brings `tokens` in line with an encoding that lost `droppedInFront` and was framed since.
    void follow(const Encoding &encoding, std::size_t droppedInFront);
};

} // namespace prosector
