// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/tokenizers/vocabulary.h"

#include <bit>
#include <cstring>

namespace prosector {

std::uint64_t hashBytes(std::string_view text)
{
    // Eight bytes a round, multiplied and folded (as in wyhash): pieces are short.
    const auto mix = [](std::uint64_t a, std::uint64_t b) {
        __extension__ using Wide = unsigned __int128;
        const auto product = static_cast<Wide>(a) * b;
        return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
    };
    std::uint64_t hash = 0x9E3779B97F4A7C15ULL ^ text.size();
    std::size_t i = 0;
    for (; i + 8 <= text.size(); i += 8) {
        std::uint64_t word = 0;
        std::memcpy(&word, text.data() + i, 8);
        hash = mix(hash ^ word, 0xA0761D6478BD642FULL);
    }
    std::uint64_t tail = 0;
    std::memcpy(&tail, text.data() + i, text.size() - i);
    return mix(hash ^ tail, 0xE7037ED1A0B428DBULL);
}

void Vocabulary::reserve(std::size_t pieces, std::size_t bytes)
{
    m_entries.reserve(pieces);
    m_arena.reserve(bytes);
    m_slots.assign(std::bit_ceil(pieces * 2 + 16), 0);
    m_byId.reserve(pieces);
}

void Vocabulary::grow()
{
    m_slots.assign(std::bit_ceil(m_entries.size() * 4 + 16), 0);
    const std::size_t mask = m_slots.size() - 1;
    for (std::uint32_t i = 0; i < m_entries.size(); ++i) {
        std::size_t slot = hashBytes(text(m_entries[i])) & mask;
        while (m_slots[slot] != 0)
            slot = (slot + 1) & mask;
        m_slots[slot] = i + 1;
    }
}

void Vocabulary::add(std::string_view piece, std::uint32_t id)
{
    if ((m_entries.size() + 1) * 2 > m_slots.size())
        grow();
    const std::size_t mask = m_slots.size() - 1;
    std::size_t slot = hashBytes(piece) & mask;
    while (m_slots[slot] != 0 && text(m_entries[m_slots[slot] - 1]) != piece)
        slot = (slot + 1) & mask;
    if (m_slots[slot] == 0) {
        m_entries.push_back({m_arena.size(), static_cast<std::uint32_t>(piece.size()), id});
        m_arena += piece;
        m_slots[slot] = static_cast<std::uint32_t>(m_entries.size());
    } else {
        m_entries[m_slots[slot] - 1].id = id;
    }
    // Sparse ids far beyond the piece count are possible in damaged files: they are found by search.
    static constexpr std::uint32_t densest = 1U << 24;
    if (id < densest) {
        if (id >= m_byId.size())
            m_byId.resize(id + 1, 0);
        m_byId[id] = m_slots[slot];
    }
    if (m_largest == none || id > m_largest)
        m_largest = id;
}

std::uint32_t Vocabulary::find(std::string_view piece) const
{
    if (m_slots.empty())
        return none;
    const std::size_t mask = m_slots.size() - 1;
    for (std::size_t slot = hashBytes(piece) & mask; m_slots[slot] != 0; slot = (slot + 1) & mask) {
        const Entry &entry = m_entries[m_slots[slot] - 1];
        if (text(entry) == piece)
            return entry.id;
    }
    return none;
}

std::optional<std::string_view> Vocabulary::piece(std::uint32_t id) const
{
    if (id < m_byId.size())
        return m_byId[id] == 0 ? std::nullopt : std::optional(text(m_entries[m_byId[id] - 1]));
    if (m_largest == none || id > m_largest)
        return std::nullopt;
    for (const Entry &entry : m_entries) {
        if (entry.id == id)
            return text(entry);
    }
    return std::nullopt;
}

} // namespace prosector
