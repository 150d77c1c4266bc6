// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/tokenizers/tokenmodel.h"

#include <algorithm>
#include <span>

namespace prosector {

/// Ids of pre-tokens seen before. Direct-mapped: a newcomer takes the place of the old one. Words
/// repeat in every text, and most of the time of encoding is saved here.
class PieceCache {
public:
    static constexpr std::size_t longest = 64; ///< bytes of a pre-token that is kept

    /// The ids of `piece`; empty when not known. Valid until the next store().
    std::span<const ModelToken> find(std::string_view piece) const
    {
        if (piece.size() > longest)
            return {};
        const std::uint64_t hash = hashBytes(piece);
        const Slot &slot = m_slots[hash % slotCount];
        if (slot.hash != hash || slot.length != piece.size()
            || std::string_view(m_text).substr(slot.text, slot.length) != piece)
            return {};
        return std::span(m_tokens).subspan(slot.token, slot.count);
    }

    void store(std::string_view piece, std::span<const ModelToken> ids)
    {
        if (piece.size() > longest || ids.empty())
            return;
        if (m_text.size() + m_tokens.size() * sizeof(ModelToken) > arenaLimit) {
            std::fill(m_slots.begin(), m_slots.end(), Slot{});
            m_text.clear();
            m_tokens.clear();
        }
        const std::uint64_t hash = hashBytes(piece);
        m_slots[hash % slotCount] = {hash, static_cast<std::uint32_t>(m_text.size()),
                                     static_cast<std::uint32_t>(piece.size()),
                                     static_cast<std::uint32_t>(m_tokens.size()), static_cast<std::uint32_t>(ids.size())};
        m_text += piece;
        m_tokens.insert(m_tokens.end(), ids.begin(), ids.end());
    }

private:
    static constexpr std::size_t slotCount = 1 << 16;
    static constexpr std::size_t arenaLimit = 16 << 20; // bytes; then all is forgotten

    struct Slot {
        std::uint64_t hash = 0;
        std::uint32_t text = 0, length = 0; // in m_text; length 0: free
        std::uint32_t token = 0, count = 0; // in m_tokens
    };
    std::vector<Slot> m_slots = std::vector<Slot>(slotCount);
    std::string m_text;
    std::vector<ModelToken> m_tokens;
};

} // namespace prosector
