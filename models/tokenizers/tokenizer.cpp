// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/tokenizers/tokenizer.h"

#include "models/tokenizers/explanation.h"

namespace prosector {

Result<Encoding> Encoder::encode(std::string_view text, const EncodeOptions &options)
{
    auto encoding = m_tokenizer->encode(text, options, *m_state);
    if (encoding && options.why && options.why->tokens.size() != encoding->size())
        options.why->guess(text, *encoding, m_tokenizer->addedTokens());
    return encoding;
}

} // namespace prosector
