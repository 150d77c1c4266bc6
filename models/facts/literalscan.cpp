// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/facts/literalscan.h"

#include <algorithm>
#include <deque>

namespace prosector {

namespace {
constexpr std::uint32_t endsHere = 0x80000000U;
constexpr std::uint32_t none = UINT32_MAX;
} // namespace

LiteralScan::LiteralScan(std::span<const std::pair<std::string, std::uint32_t>> literals)
{
    for (const auto &[text, tag] : literals) {
        for (const char c : text) {
            std::uint8_t &slot = m_class[static_cast<unsigned char>(c)];
            if (slot == 0)
                slot = static_cast<std::uint8_t>(std::min<std::size_t>(m_classes++, 255));
        }
    }
    m_classes = std::min<std::size_t>(m_classes, 256);

    m_next.assign(m_classes, none);
    m_tags.resize(1);
    for (const auto &[text, tag] : literals) {
        std::uint32_t state = 0;
        for (const char c : std::string_view(text).substr(0, maxLength)) {
            const std::size_t at = state * m_classes + m_class[static_cast<unsigned char>(c)];
            if (m_next[at] == none) {
                m_next[at] = static_cast<std::uint32_t>(m_tags.size());
                m_tags.emplace_back();
                m_next.resize(m_next.size() + m_classes, none);
            }
            state = m_next[at];
        }
        if (state != 0)
            m_tags[state].push_back(tag);
    }

    // Breadth first, so that the state a failure leads to is complete before it is copied from.
    std::vector<std::uint32_t> fallback(m_tags.size(), 0);
    std::deque<std::uint32_t> queue;
    for (std::size_t c = 0; c < m_classes; ++c) {
        if (m_next[c] == none)
            m_next[c] = 0;
        else
            queue.push_back(m_next[c]);
    }
    while (!queue.empty()) {
        const std::uint32_t state = queue.front();
        queue.pop_front();
        const auto &inherited = m_tags[fallback[state]];
        m_tags[state].insert(m_tags[state].end(), inherited.begin(), inherited.end());
        for (std::size_t c = 0; c < m_classes; ++c) {
            std::uint32_t &next = m_next[state * m_classes + c];
            const std::uint32_t other = m_next[fallback[state] * m_classes + c];
            if (next == none) {
                next = other;
            } else {
                fallback[next] = other;
                queue.push_back(next);
            }
        }
    }
    for (std::uint32_t &next : m_next) {
        if (!m_tags[next].empty())
            next |= endsHere;
    }
    // Rows by offset instead of number: one multiplication less per byte.
    for (std::uint32_t &next : m_next)
        next = (next & endsHere) | static_cast<std::uint32_t>((next & ~endsHere) * m_classes);
}

void LiteralScan::find(std::string_view text, std::vector<std::uint32_t> &tags) const
{
    if (m_next.empty())
        return;
    const std::uint32_t *const table = m_next.data();
    const std::uint8_t *const classes = m_class.data();
    std::uint32_t row = 0;
    for (const char c : text) {
        const std::uint32_t next = table[row + classes[static_cast<unsigned char>(c)]];
        row = next & ~endsHere;
        if (next & endsHere) {
            const auto &found = m_tags[row / m_classes];
            tags.insert(tags.end(), found.begin(), found.end());
        }
    }
}

} // namespace prosector
