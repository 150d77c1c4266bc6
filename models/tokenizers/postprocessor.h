// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/core/document.h"
#include "models/core/result.h"
#include "models/tokenizers/encoding.h"

#include <memory>
#include <string>
#include <vector>

namespace prosector {

/// One step behind the model. Immutable; thread-safe.
class PostProcessor {
public:
    virtual ~PostProcessor() = default;
    /// `addSpecialTokens` false: only what concerns offsets. `encoding.tokens` must be filled.
    virtual void apply(Encoding &encoding, bool addSpecialTokens) const = 0;
    virtual std::string name() const = 0;
    virtual bool looksAtTokens() const { return false; }
};
using PostProcessors = std::vector<std::shared_ptr<const PostProcessor>>;

/// From `post_processor` of a tokenizer.json: TemplateProcessing, ByteLevel, RobertaProcessing,
/// BertProcessing, Sequence. Single sequences. Unsupported, with the name and the path, for anything else.
Result<PostProcessors> makePostProcessors(Value postProcessor);

/// A TemplateProcessing of fixed tokens in front of and behind the text.
struct FramingToken {
    std::string token;
    std::uint32_t id;
};
PostProcessors framing(std::vector<FramingToken> front, std::vector<FramingToken> back);

} // namespace prosector
