// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/core/document.h"
#include "models/core/result.h"
#include "models/tokenizers/alignedtext.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace prosector {

/// A stretch of text between added tokens, and how it is cut so far.
struct Segment {
    struct Piece {
        std::size_t begin, end;  ///< bytes of `text`
        std::uint32_t inputBegin; ///< where in the input it began when it was cut
    };
    AlignedText text;
    std::vector<Piece> pieces; ///< in order, not empty, not always touching

    explicit Segment(AlignedText t);
};

/// One step that cuts pieces into smaller ones and may rewrite them. Immutable; thread-safe.
class PreTokenizer {
public:
    virtual ~PreTokenizer() = default;
    virtual Result<void> apply(Segment &segment) const = 0;
    virtual std::string name() const = 0;
};
/// Steps in order, Sequences flattened.
using PreTokenizers = std::vector<std::shared_ptr<const PreTokenizer>>;

struct PreTokenizerPlan {
    PreTokenizers steps;
    /// The last step was a ByteLevel: its rewriting into GPT-2's byte alphabet is left out, and the
    /// pieces stay the bytes they are. The model must be told.
    bool rawBytes = false;
};

/// From `pre_tokenizer` of a tokenizer.json: ByteLevel, Split, Whitespace, WhitespaceSplit, Metaspace,
/// Punctuation, Digits, BertPreTokenizer, CharDelimiterSplit, UnicodeScripts, FixedLength, Sequence.
/// Unsupported, with the name and the path, for anything else.
/// `addPrefixSpace`: in the place of a ByteLevel's own flag.
Result<PreTokenizerPlan> makePreTokenizers(Value preTokenizer, std::optional<bool> addPrefixSpace = {});


/// What the pattern matches, as bytes; what it does not match is lost. This is tiktoken.
class Pattern;
PreTokenizerPlan matchesAsBytes(Pattern pattern);

} // namespace prosector
