// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace prosector {

/// Pieces and their ids. Pieces are byte strings in one arena; look-ups are hashed. Built once, then
/// read from any thread.
class Vocabulary {
public:
    static constexpr std::uint32_t none = UINT32_MAX;

    void reserve(std::size_t pieces, std::size_t bytes);
    /// A later id for the same piece replaces the earlier (as in a JSON object); a later piece for
    /// the same id replaces what idToPiece says.
    void add(std::string_view piece, std::uint32_t id);

    std::uint32_t find(std::string_view piece) const; ///< id or none
    std::optional<std::string_view> piece(std::uint32_t id) const;
    std::size_t size() const { return m_entries.size(); } ///< distinct pieces
    std::uint32_t largestId() const { return m_largest; } ///< none when empty

private:
    struct Entry {
        std::uint64_t offset;
        std::uint32_t length, id;
    };
    void grow();
    std::string_view text(const Entry &entry) const { return {m_arena.data() + entry.offset, entry.length}; }

    std::string m_arena;
    std::vector<Entry> m_entries;
    std::vector<std::uint32_t> m_slots; ///< entry index + 1, 0 when free; a power of two
    std::vector<std::uint32_t> m_byId;  ///< entry index + 1
    std::uint32_t m_largest = none;
};

std::uint64_t hashBytes(std::string_view text);

} // namespace prosector
