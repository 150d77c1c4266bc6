// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/tokenizers/decodestream.h"

namespace prosector {

namespace {
constexpr std::string_view replacementCharacter = "\xEF\xBF\xBD";
}

Result<DecodeStream::Step> DecodeStream::push(std::uint32_t id)
{
    if (m_prefix.empty() && m_released > 0) {
        auto prefix = m_tokenizer->decode(std::span(m_window).first(m_released), m_skipSpecialTokens);
        if (!prefix)
            return prefix.error();
        m_prefix = std::move(*prefix);
    }
    m_window.push_back(id);
    auto text = m_tokenizer->decode(m_window, m_skipSpecialTokens);
    if (!text)
        return text.error();
    Step step;
    // A decoder that puts something in front only once is run on the ids before, too, and their text taken off.
    if (text->size() > m_prefix.size() && !text->ends_with(replacementCharacter)) {
        step.text = text->starts_with(m_prefix) ? text->substr(m_prefix.size()) : *text;
        m_window.erase(m_window.begin(), m_window.begin() + static_cast<std::ptrdiff_t>(m_released));
        m_released = m_window.size();
        m_prefix.clear();
        return step;
    }
    for (std::size_t i = m_released; i < m_window.size(); ++i) {
        if (!(m_skipSpecialTokens && m_tokenizer->isSpecial(m_window[i])))
            step.pending += m_tokenizer->bytes(m_window[i]).value_or("");
    }
    return step;
}

} // namespace prosector
