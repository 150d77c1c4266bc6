// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/core/result.h"
#include "models/tokenizers/addedtokens.h"
#include "models/tokenizers/encoding.h"

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace prosector {

/// What an encoder keeps between texts: caches and buffers.
struct EncoderState {
    virtual ~EncoderState() = default;
};

/// A tokenizer of whatever kind of file, with the semantics of the library that owns the format.
/// Immutable; any number of threads may use it, each encoding through an Encoder of its own.
class Tokenizer {
public:
    virtual ~Tokenizer() = default;

    /// For people: "tokenizer.json BPE", "SentencePiece UNIGRAM", "tiktoken", "GGUF bpe (llama-bpe)".
    virtual std::string kind() const = 0;

    /// See Encoder, which is how to call it.
    virtual Result<Encoding> encode(std::string_view text, const EncodeOptions &options, EncoderState &state) const = 0;
    virtual std::unique_ptr<EncoderState> makeState() const { return std::make_unique<EncoderState>(); }
    /// Text of the ids; ids nobody knows are left out where the library leaves them out.
    virtual Result<std::string> decode(std::span<const std::uint32_t> ids, bool skipSpecialTokens) const = 0;
    /// The text as the model's vocabulary sees it, if it holds no added token.
    virtual Result<std::string> normalized(std::string_view text) const = 0;

    /// One more than the largest id: the rows an embedding needs.
    virtual std::uint32_t size() const = 0;
    /// As the file spells it, added tokens first: "Ġthe", "▁the", "<0x0A>". Nothing for a hole.
    virtual std::optional<std::string> spelling(std::uint32_t id) const = 0;
    /// The bytes of text it stands for between other tokens: " the", "\n". Of an added token its content.
    virtual std::optional<std::string> bytes(std::uint32_t id) const = 0;
    /// The id of a spelling.
    virtual std::optional<std::uint32_t> find(std::string_view spelling) const = 0;

    /// Tokens that are found in the text before the model runs, or that no text gives: special, control
    /// and user-defined ones.
    const AddedTokens &addedTokens() const { return m_added; }
    bool isSpecial(std::uint32_t id) const
    {
        const auto *const token = m_added.byId(id);
        return token && token->special;
    }

protected:
    AddedTokens m_added;
};
using TokenizerPtr = std::shared_ptr<const Tokenizer>;

/// A parsed tokenizer.json (pipeline.h). Errors name the component and its JSON path.
Result<TokenizerPtr> tokenizerFromJson(Value root);

/// Encodes with a tokenizer, keeping caches between texts. Not thread-safe.
class Encoder {
public:
    explicit Encoder(TokenizerPtr tokenizer) : m_tokenizer(std::move(tokenizer)), m_state(m_tokenizer->makeState()) {}

    /// `text` should be UTF-8 and below 4 GiB. Bytes that are not UTF-8 are read as the library in
    /// question reads them, U+FFFD each for tokenizer.json.
    Result<Encoding> encode(std::string_view text, const EncodeOptions &options = {});

private:
    TokenizerPtr m_tokenizer;
    std::unique_ptr<EncoderState> m_state;
};

} // namespace prosector
