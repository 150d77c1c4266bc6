// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/tokenizers/decoder.h"
#include "models/tokenizers/lengthlimits.h"
#include "models/tokenizers/normalizer.h"
#include "models/tokenizers/postprocessor.h"
#include "models/tokenizers/pretokenizer.h"
#include "models/tokenizers/tokenizer.h"
#include "models/tokenizers/tokenmodel.h"
#include "models/tokenizers/transformers.h"

namespace prosector {

/// A tokenizer.json: added tokens → normalizer → pre-tokenizer → model → post-processor, and decoders
/// back. Ids and offsets equal Hugging Face `tokenizers`.
class PipelineTokenizer final : public Tokenizer {
public:
    /// The stages made elsewhere; `added` by AddedTokens::make().
    struct Stages {
        std::string kind{}; ///< empty: the model's, of a tokenizer.json
        TokenModelPtr model;
        AddedTokens added;
        Normalizers normalizers;
        PreTokenizerPlan plan;
        PostProcessors postProcessors;
        Decoders decoders;
        LengthLimits limits;
    };
    explicit PipelineTokenizer(Stages stages);
    /// `settings`: what Transformers changes before it encodes; else the file alone counts.
    static Result<std::shared_ptr<const PipelineTokenizer>> fromJson(Value root, const TransformersSettings &settings = {});

    std::string kind() const override;
    Result<Encoding> encode(std::string_view text, const EncodeOptions &options, EncoderState &state) const override;
    std::unique_ptr<EncoderState> makeState() const override;
    Result<std::string> decode(std::span<const std::uint32_t> ids, bool skipSpecialTokens) const override;
    Result<std::string> normalized(std::string_view text) const override;
    std::uint32_t size() const override { return m_size; }
    std::optional<std::string> spelling(std::uint32_t id) const override;
    std::optional<std::string> bytes(std::uint32_t id) const override;
    std::optional<std::uint32_t> find(std::string_view spelling) const override;

    const TokenModel &model() const { return *m_model; }
    const Normalizers &normalizers() const { return m_normalizers; }
    const PreTokenizerPlan &preTokenizers() const { return m_plan; }
    const PostProcessors &postProcessors() const { return m_postProcessors; }
    const Decoders &decoders() const { return m_decoders; }

private:
    struct State;
    Result<void> encodeInput(std::string_view input, const EncodeOptions &options, State &state, Encoding &out) const;
    Result<void> explain(std::string_view piece, TextRange origin, std::size_t tokens, Explanation &why) const;
    Result<void> encodeSegment(Segment segment, const EncodeOptions &options, State &state, Encoding &out) const;

    std::string m_kind;
    TokenModelPtr m_model;
    Normalizers m_normalizers;
    PreTokenizerPlan m_plan;
    PostProcessors m_postProcessors;
    Decoders m_decoders;
    LengthLimits m_limits;
    std::uint32_t m_size = 0;
};

} // namespace prosector
