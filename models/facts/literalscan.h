// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace prosector {

/// Finds which of many strings occur in a text, in one pass whose cost does not depend on their number
/// (Aho and Corasick 1975, as a full automaton over the bytes that occur). Immutable after building.
class LiteralScan {
public:
    LiteralScan() = default;
    /// Pairs of string and tag; several strings may share a tag. Strings are cut to `maxLength` bytes:
    /// finding the beginning is enough for a filter.
    explicit LiteralScan(std::span<const std::pair<std::string, std::uint32_t>> literals);
    static constexpr std::size_t maxLength = 24;

    /// Appends the tags found to `tags`, each once or more.
    void find(std::string_view text, std::vector<std::uint32_t> &tags) const;

private:
    std::array<std::uint8_t, 256> m_class{}; ///< 0: a byte of no literal
    std::size_t m_classes = 1;
    std::vector<std::uint32_t> m_next;       ///< state * m_classes + class; high bit: some literal ends there
    std::vector<std::vector<std::uint32_t>> m_tags; ///< of a state, with those of its suffixes
};

} // namespace prosector
