// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/tokenizers/ggufmodel.h"

#include "models/tokenizers/unicode.h"

#include <algorithm>

namespace prosector {

Result<GgufModelPtr> makeGgufModel(const GgufVocabulary &vocabulary)
{
    switch (vocabulary.model) {
    case GgufVocabulary::Model::Spm: return makeGgufSpm(vocabulary);
    case GgufVocabulary::Model::Bpe: return makeGgufBpe(vocabulary);
    case GgufVocabulary::Model::Wpm: return makeGgufWpm(vocabulary);
    case GgufVocabulary::Model::Ugm: return makeGgufUgm(vocabulary);
    case GgufVocabulary::Model::Rwkv: return makeGgufRwkv(vocabulary);
    }
    return Error{Errc::Internal, "GGUF vocabulary", Whole{}};
}

std::size_t llamaLength(std::string_view text, std::size_t at)
{
    static constexpr std::uint8_t lengths[] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 3, 4};
    return std::min<std::size_t>(lengths[static_cast<unsigned char>(text[at]) >> 4], text.size() - at);
}

LlamaCharacter llamaCharacter(std::string_view text, std::size_t at)
{
    const auto first = static_cast<unsigned char>(text[at]);
    if (first < 0x80)
        return {first, 1, true};
    const std::uint32_t length = first < 0xC0 ? 0 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : first < 0xF8 ? 4 : 0;
    if (length == 0 || at + length > text.size())
        return {0xFFFD, 1, false};
    char32_t value = first & (0x7FU >> length);
    for (std::uint32_t i = 1; i < length; ++i) {
        if (!isContinuationByte(text[at + i]))
            return {0xFFFD, 1, false};
        value = value << 6 | (static_cast<unsigned char>(text[at + i]) & 0x3FU);
    }
    // Surrogates pass there, and are no text here; beyond U+10FFFF it throws.
    const bool sound = value <= 0x10FFFF && (value < 0xD800 || value > 0xDFFF);
    return {sound ? value : 0xFFFD, length, sound};
}

void ByteTrie::insert(std::string_view text, std::uint32_t value)
{
    std::uint32_t node = 0;
    for (const char byte : text) {
        std::uint32_t next = child(node, byte);
        if (next == 0) {
            if (++m_edgeCount * 2 > m_edges.size())
                grow();
            const std::uint64_t key = static_cast<std::uint64_t>(node) << 8 | static_cast<unsigned char>(byte);
            const std::size_t mask = m_edges.size() - 1;
            std::size_t slot = slotOf(key) & mask;
            while (m_edges[slot].key != UINT64_MAX)
                slot = (slot + 1) & mask;
            next = static_cast<std::uint32_t>(m_values.size());
            m_edges[slot] = {key, next};
            m_values.push_back(Vocabulary::none);
        }
        node = next;
    }
    m_values[node] = value;
}

void ByteTrie::grow()
{
    std::vector<Edge> old(m_edges.size() * 4);
    old.swap(m_edges);
    const std::size_t mask = m_edges.size() - 1;
    for (const Edge &edge : old) {
        if (edge.key == UINT64_MAX)
            continue;
        std::size_t slot = slotOf(edge.key) & mask;
        while (m_edges[slot].key != UINT64_MAX)
            slot = (slot + 1) & mask;
        m_edges[slot] = edge;
    }
}

std::uint32_t ByteTrie::child(std::uint32_t node, char byte) const
{
    const std::uint64_t key = static_cast<std::uint64_t>(node) << 8 | static_cast<unsigned char>(byte);
    const std::size_t mask = m_edges.size() - 1;
    for (std::size_t slot = slotOf(key) & mask;; slot = (slot + 1) & mask) {
        if (m_edges[slot].key == key)
            return m_edges[slot].child;
        if (m_edges[slot].key == UINT64_MAX)
            return 0;
    }
}

} // namespace prosector
