// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/core/document.h"
#include "models/core/result.h"
#include "models/tokenizers/modelexplanation.h"
#include "models/tokenizers/vocabulary.h"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace prosector {

/// One id of a pre-token, and the bytes of the pre-token it stands for.
struct ModelToken {
    std::uint32_t id = 0, begin = 0, end = 0;
    bool operator==(const ModelToken &) const = default;
};

/// What a model keeps between calls of one thread: caches and buffers.
struct ModelState {
    virtual ~ModelState() = default;
};

/// The stage that turns a pre-token into ids. Immutable; several threads may use one model, each with
/// a state of its own.
class TokenModel {
public:
    virtual ~TokenModel() = default;

    virtual std::unique_ptr<ModelState> makeState() const { return std::make_unique<ModelState>(); }
    /// Appends the ids of `piece` (not empty) to `out`.
    virtual Result<void> tokenize(std::string_view piece, ModelState &state, std::vector<ModelToken> &out) const = 0;
    /// How the ids of `piece` came about. Slower than `tokenize`, and without its caches.
    virtual Result<ModelExplanation> explain(std::string_view piece) const
    {
        static_cast<void>(piece);
        return ModelExplanation{};
    }
    virtual std::string_view type() const = 0; ///< "BPE", "Unigram", "WordPiece", "WordLevel"

    const Vocabulary &vocabulary() const { return m_vocabulary; }
    /// How a token of `piece` reads: the vocabulary's spelling of its id.
    virtual std::string spelling(const ModelToken &token, std::string_view piece) const
    {
        static_cast<void>(piece);
        return std::string(m_vocabulary.piece(token.id).value_or(""));
    }

protected:
    Vocabulary m_vocabulary;
};
using TokenModelPtr = std::shared_ptr<const TokenModel>;

/// From `model` of a tokenizer.json. A missing `type` is inferred as Hugging Face does. `rawBytes`:
/// pre-tokens come as the bytes themselves, and the file spells them in GPT-2's byte alphabet.
Result<TokenModelPtr> makeTokenModel(Value model, bool rawBytes);

// GPT-2's byte alphabet: every byte has a printable character (openai/gpt-2, encoder.py).
char32_t byteToCharacter(unsigned char byte);
/// The byte a character stands for, or -1.
int characterToByte(char32_t c);
/// Bytes spelt by a piece, or nothing when a character is outside the alphabet.
std::optional<std::string> bytesOfPiece(std::string_view piece);
std::string pieceOfBytes(std::string_view bytes);

} // namespace prosector
