// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/tokenizers/alignedtext.h"

#include <cstdint>
#include <string>
#include <vector>

namespace prosector {

struct Explanation;

/// What a text became: parallel arrays, one entry a token.
struct Encoding {
    std::vector<std::uint32_t> ids;
    std::vector<std::string> tokens; ///< spelt as the tokenizer file spells them; empty if not asked for
    std::vector<TextRange> offsets;     ///< bytes of the input; {0, 0} for inserted tokens
    std::vector<bool> inserted;      ///< put there by the post-processor or as padding
    std::vector<TextRange> invalid;     ///< bytes of the input that are not UTF-8 and were read as U+FFFD

    std::size_t size() const { return ids.size(); }
    /// Takes out tokens [begin, end).
    void erase(std::size_t begin, std::size_t end);
    /// Puts `count` tokens that stand for no text in front of token `at`.
    void insert(std::size_t at, std::size_t count, std::uint32_t id, const std::string &token);
};

struct EncodeOptions {
    bool addSpecialTokens = true; ///< run the post-processor's insertions
    bool specialsAsText = false;  ///< special spellings inside the text are ordinary text
    bool tokens = true;           ///< fill Encoding::tokens
    bool truncateAndPad = true;   ///< as tokenizer.json says (Transformers takes both off before each call)
    Explanation *why = nullptr;   ///< filled if given, at several times the cost
};

} // namespace prosector
