// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/tokenizers/addedtokens.h"
#include "models/tokenizers/decoder.h"
#include "models/tokenizers/encoding.h"
#include "models/tokenizers/normalizer.h"
#include "models/tokenizers/postprocessor.h"
#include "models/tokenizers/pretokenizer.h"
#include "models/tokenizers/tokenmodel.h"

#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace prosector {

/// A tokenizer as its file describes it: added tokens → normalizer → pre-tokenizer → model →
/// post-processor, and decoders back. Ids and offsets equal Hugging Face `tokenizers`. Immutable; any
/// number of threads may use it, each through an Encoder of its own.
class Tokenizer {
public:
    /// A parsed tokenizer.json. Errors name the component and its JSON path.
    static Result<std::shared_ptr<const Tokenizer>> fromJson(Value root);

    /// Texts of the ids; ids nobody knows are left out, as in Hugging Face.
    Result<std::string> decode(std::span<const std::uint32_t> ids, bool skipSpecialTokens) const;

    std::optional<std::string> spelling(std::uint32_t id) const; ///< added tokens first
    const TokenModel &model() const { return *m_model; }
    const AddedTokens &addedTokens() const { return m_added; }
    const Normalizers &normalizers() const { return m_normalizers; }
    const PreTokenizers &preTokenizers() const { return m_plan.steps; }

private:
    friend class Encoder;
    TokenModelPtr m_model;
    AddedTokens m_added;
    Normalizers m_normalizers;
    PreTokenizerPlan m_plan;
    PostProcessors m_postProcessors;
    Decoders m_decoders;
};
using TokenizerPtr = std::shared_ptr<const Tokenizer>;

/// Encodes with a tokenizer, keeping caches between texts. Not thread-safe.
class Encoder {
public:
    explicit Encoder(TokenizerPtr tokenizer);

    /// `text` should be UTF-8 and below 4 GiB; bytes that are not UTF-8 are read as U+FFFD each.
    Result<Encoding> encode(std::string_view text, const EncodeOptions &options = {});

private:
    Result<void> encodeSegment(Segment segment, const EncodeOptions &options, Encoding &out);
    void add(const AddedTokenRule &token, std::string_view text, Origin origin, const EncodeOptions &options, Encoding &out) const;

    TokenizerPtr m_tokenizer;
    std::unique_ptr<ModelState> m_state;
    std::vector<ModelToken> m_tokens;
};

} // namespace prosector
