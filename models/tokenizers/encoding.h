// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/tokenizers/alignedtext.h"

#include <cstdint>
#include <string>
#include <vector>

namespace prosector {

/// What a text became: parallel arrays, one entry a token.
struct Encoding {
    std::vector<std::uint32_t> ids;
    std::vector<std::string> tokens; ///< spelt as the tokenizer file spells them; empty if not asked for
    std::vector<Origin> offsets;     ///< bytes of the input; {0, 0} for inserted tokens
    std::vector<bool> inserted;      ///< put there by the post-processor

    std::size_t size() const { return ids.size(); }
};

struct EncodeOptions {
    bool addSpecialTokens = true; ///< run the post-processor's insertions
    bool specialsAsText = false;  ///< special spellings inside the text are ordinary text
    bool tokens = true;           ///< fill Encoding::tokens
};

} // namespace prosector
