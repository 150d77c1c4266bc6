// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/tokenizers/repairedtext.h"

#include "models/core/utf8.h"

#include <algorithm>

namespace prosector {

namespace {
constexpr std::uint32_t replacementLength = 3; // U+FFFD in UTF-8
}

RepairedText::RepairedText(std::string_view input) : m_input(input)
{
    std::size_t at = firstInvalidUtf8(input);
    std::size_t from = 0;
    while (at != std::string_view::npos) {
        m_repaired += input.substr(from, at - from);
        const std::size_t length = decodeUtf8(input, at).length;
        m_runs.push_back({{static_cast<std::uint32_t>(at), static_cast<std::uint32_t>(at + length)},
                          static_cast<std::uint32_t>(m_repaired.size())});
        appendUtf8(m_repaired, 0xFFFD);
        from = at + length;
        const std::size_t next = firstInvalidUtf8(input.substr(from));
        at = next == std::string_view::npos ? next : from + next;
    }
    if (!m_runs.empty())
        m_repaired += input.substr(from);
}

std::uint32_t RepairedText::positionInInput(std::uint32_t repaired, bool isEnd) const
{
    // The last run that begins before the position (at it, for the begin of a range).
    auto it = std::partition_point(m_runs.begin(), m_runs.end(), [&](const Run &run) {
        return isEnd ? run.repaired < repaired : run.repaired <= repaired;
    });
    if (it == m_runs.begin())
        return repaired;
    --it;
    if (repaired >= it->repaired + replacementLength)
        return it->input.end + (repaired - it->repaired - replacementLength);
    return isEnd ? it->input.end : it->input.begin; // inside one U+FFFD
}

TextRange RepairedText::toInput(TextRange repaired) const
{
    if (m_runs.empty())
        return repaired;
    const std::uint32_t begin = positionInInput(repaired.begin, false);
    return {begin, repaired.end == repaired.begin ? begin : positionInInput(repaired.end, true)};
}

std::vector<TextRange> RepairedText::invalid() const
{
    std::vector<TextRange> list;
    for (const Run &run : m_runs)
        list.push_back(run.input);
    return list;
}

} // namespace prosector
