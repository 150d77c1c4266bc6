// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/artifacts/sentencepiecemodel.h"
#include "models/tokenizers/encoding.h"
#include "models/tokenizers/tokenmodel.h"

#include <mutex>

namespace prosector {

/// Says how a SentencePiece model cut a text, which the library does not: the same model is run by our own
/// code, and what that says counts only when it gives the library's ids. Thread-safe; the model is made at
/// the first question.
class SentencePieceExplainer {
public:
    explicit SentencePieceExplainer(const SentencePieceContent &content) : m_content(content) {}

    /// `normalized`: the text as the pieces spell it. False when it cannot say.
    bool explain(std::string_view input, std::string_view normalized, const Encoding &encoding, Explanation &why) const;

private:
    Result<TokenModelPtr> makeModel() const;

    const SentencePieceContent &m_content;
    mutable std::once_flag m_once;
    mutable TokenModelPtr m_model; ///< null: it could not be made
};

} // namespace prosector
