// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/core/document.h"
#include "models/core/result.h"
#include "models/tokenizers/addedtokens.h"

#include <optional>
#include <string>
#include <vector>

namespace prosector {

/// What Transformers makes of the files beside tokenizer.json before it encodes with it (version 4:
/// tokenization_utils_base.py `_from_pretrained`, tokenization_utils_fast.py `__init__`, and
/// `update_post_processor` of the Llama, CodeLlama, Gemma and Cohere classes).
struct TransformersSettings {
    /// Laid over tokenizer.json's own, in this order. The ids are those tokenizer.json gives.
    std::vector<AddedTokenRule> added{};
    /// Spellings of the sequence start and end put round a text instead of the post-processor.
    struct Frame {
        std::optional<std::string> begin{}, end{};
    };
    std::optional<Frame> frame{};
    /// Replaces the flag of a ByteLevel pre-tokenizer that is the only step.
    std::optional<bool> addPrefixSpace{};
    bool splitSpecialTokens = false;  ///< special spellings in the text are ordinary text
    bool cleanUpSpaces = false;       ///< after decoding
    std::vector<std::string> notes{}; ///< what was changed, in words, each with the member that says so
};

/// The four files of a folder; missing values where there is no such file. Never fails: members of a
/// wrong type are as absent.
TransformersSettings transformersSettings(Value tokenizerJson, Value tokenizerConfig, Value specialTokensMap,
                                          Value addedTokens);

} // namespace prosector
