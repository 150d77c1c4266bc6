// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/core/result.h"
#include "models/tokenizers/tokenizer.h"

#include <cstdint>
#include <string>
#include <vector>

namespace prosector {

/// Text as it comes out of a server that sends ids one by one, without ever sending half a character.
/// What each id releases, and which bytes wait for the next ones (semantics of Hugging Face
/// `tokenizers`' DecodeStream). Not thread-safe.
class DecodeStream {
public:
    struct Step {
        std::string text;    ///< released by this id: whole characters
        std::string pending; ///< bytes of this id and those before it that are not released yet
    };

    explicit DecodeStream(TokenizerPtr tokenizer, bool skipSpecialTokens = false)
        : m_tokenizer(std::move(tokenizer)), m_skipSpecialTokens(skipSpecialTokens)
    {
    }
    Result<Step> push(std::uint32_t id);

private:
    TokenizerPtr m_tokenizer;
    bool m_skipSpecialTokens;
    std::vector<std::uint32_t> m_window; ///< ids that what comes next may depend on
    std::size_t m_released = 0;          ///< of m_window: their text is out
    std::string m_prefix;                ///< text of those
};

} // namespace prosector
