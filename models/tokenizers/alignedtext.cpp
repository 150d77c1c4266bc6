// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/tokenizers/alignedtext.h"

#include "models/core/utf8.h"
#include "models/tokenizers/unicode.h"

#include <algorithm>

namespace prosector {

TextRange AlignedText::originAt(std::size_t byte) const
{
    if (m_changed)
        return m_origin[byte];
    std::size_t begin = byte, end = byte + 1;
    while (begin > 0 && isContinuationByte(m_view[begin]))
        --begin;
    while (end < m_view.size() && isContinuationByte(m_view[end]))
        ++end;
    return {m_base + static_cast<std::uint32_t>(begin), m_base + static_cast<std::uint32_t>(end)};
}

TextRange AlignedText::origin(std::size_t begin, std::size_t end) const
{
    if (begin < end)
        return {originAt(begin).begin, originAt(end - 1).end};
    const std::uint32_t at = begin < size() ? originAt(begin).begin : begin > 0 ? originAt(begin - 1).end : m_base;
    return {at, at};
}

AlignedText AlignedText::slice(std::size_t begin, std::size_t end) const
{
    if (!m_changed)
        return {m_view.substr(begin, end - begin), m_base + static_cast<std::uint32_t>(begin)};
    AlignedText part;
    part.m_changed = true;
    part.m_base = m_base;
    part.m_own = m_own.substr(begin, end - begin);
    part.m_origin.assign(m_origin.begin() + static_cast<std::ptrdiff_t>(begin),
                         m_origin.begin() + static_cast<std::ptrdiff_t>(end));
    return part;
}

void AlignedText::appendInput(std::string_view text, std::uint32_t base)
{
    m_own += text;
    for (std::size_t i = 0; i < text.size();) {
        std::size_t end = i + 1;
        while (end < text.size() && isContinuationByte(text[end]))
            ++end;
        const TextRange origin{base + static_cast<std::uint32_t>(i), base + static_cast<std::uint32_t>(end)};
        for (; i < end; ++i)
            m_origin.push_back(origin);
    }
}

void AlignedText::own()
{
    if (m_changed)
        return;
    m_changed = true;
    appendInput(m_view, m_base);
}

void AlignedText::appendPart(const AlignedText &source, std::size_t begin, std::size_t end)
{
    own();
    if (!source.m_changed) {
        appendInput(source.m_view.substr(begin, end - begin), source.m_base + static_cast<std::uint32_t>(begin));
        return;
    }
    m_own.append(source.m_own, begin, end - begin);
    m_origin.insert(m_origin.end(), source.m_origin.begin() + static_cast<std::ptrdiff_t>(begin),
                    source.m_origin.begin() + static_cast<std::ptrdiff_t>(end));
}

void AlignedText::appendText(std::string_view text, TextRange origin)
{
    own();
    m_own += text;
    m_origin.insert(m_origin.end(), text.size(), origin);
}

std::vector<char32_t> AlignedText::characters() const
{
    std::vector<char32_t> list;
    const auto all = text();
    list.reserve(all.size());
    for (std::size_t i = 0; i < all.size();) {
        const CodePoint c = decodeUtf8(all, i);
        list.push_back(c.value);
        i += c.length;
    }
    return list;
}

void AlignedText::transform(std::span<const Change> changes, std::size_t removedInFront)
{
    own();
    std::size_t at = 0; // in the old text
    const auto skip = [&](std::size_t count) {
        while (count-- > 0 && at < m_own.size())
            at += decodeUtf8(m_own, at).length;
    };
    skip(removedInFront);
    std::string text;
    std::vector<TextRange> origins;
    text.reserve(m_own.size());
    origins.reserve(m_own.size());
    for (const Change &change : changes) {
        TextRange origin{m_base, m_base};
        if (change.change > 0) {
            if (at > 0)
                origin = m_origin[at - 1];
        } else {
            if (at < m_origin.size())
                origin = m_origin[at];
            skip(1 + static_cast<std::size_t>(-change.change));
        }
        const std::size_t before = text.size();
        appendUtf8(text, change.character);
        origins.insert(origins.end(), text.size() - before, origin);
    }
    m_own = std::move(text);
    m_origin = std::move(origins);
}

void AlignedText::filter(const std::function<bool(char32_t)> &keep)
{
    const auto old = characters();
    if (std::all_of(old.begin(), old.end(), keep))
        return;
    std::vector<Change> changes;
    int removed = 0;
    std::size_t inFront = 0;
    for (const char32_t c : old) {
        if (!keep(c)) {
            ++removed;
            continue;
        }
        if (changes.empty())
            inFront = static_cast<std::size_t>(removed);
        else
            changes.back().change = -removed;
        changes.push_back({c, 0});
        removed = 0;
    }
    if (!changes.empty())
        changes.back().change = -removed;
    transform(changes, inFront);
}

void AlignedText::map(const std::function<char32_t(char32_t)> &to)
{
    std::vector<Change> changes;
    bool differs = false;
    for (const char32_t c : characters()) {
        changes.push_back({to(c), 0});
        differs = differs || changes.back().character != c;
    }
    if (differs)
        transform(changes);
}

void AlignedText::prepend(std::string_view prefix)
{
    if (empty() || prefix.empty())
        return;
    own();
    // The first inserted character takes the place of the first old one, which follows as inserted:
    // all of them share its origin.
    const TextRange origin = m_origin.front();
    m_own.insert(0, prefix);
    m_origin.insert(m_origin.begin(), prefix.size(), origin);
}

void AlignedText::append(std::string_view suffix)
{
    if (suffix.empty())
        return;
    own();
    const TextRange origin = m_origin.empty() ? TextRange{m_base, m_base} : m_origin.back();
    m_own += suffix;
    m_origin.insert(m_origin.end(), suffix.size(), origin);
}

void AlignedText::strip(bool left, bool right)
{
    const auto all = text();
    std::size_t begin = 0, end = all.size();
    while (left && begin < end) {
        const CodePoint c = decodeUtf8(all, begin);
        if (!isWhiteSpace(c.value))
            break;
        begin += c.length;
    }
    while (right && end > begin) {
        std::size_t start = end - 1;
        while (start > begin && isContinuationByte(all[start]))
            --start;
        if (!isWhiteSpace(decodeUtf8(all, start).value))
            break;
        end = start;
    }
    if (begin > 0 || end < all.size())
        *this = slice(begin, end);
}

void AlignedText::replace(std::span<const Range> ranges, std::string_view content)
{
    if (ranges.empty())
        return;
    own();
    std::string text;
    std::vector<TextRange> origins;
    text.reserve(m_own.size());
    origins.reserve(m_own.size());
    const auto copy = [&](std::size_t begin, std::size_t end) {
        text.append(m_own, begin, end - begin);
        origins.insert(origins.end(), m_origin.begin() + static_cast<std::ptrdiff_t>(begin),
                       m_origin.begin() + static_cast<std::ptrdiff_t>(end));
    };
    std::size_t at = 0;
    for (const Range &range : ranges) {
        copy(at, range.begin);
        text += content;
        // All of the replacement comes from the last byte of what it replaces.
        origins.insert(origins.end(), content.size(), range.end > 0 ? m_origin[range.end - 1] : TextRange{m_base, m_base});
        at = range.end;
    }
    copy(at, m_own.size());
    m_own = std::move(text);
    m_origin = std::move(origins);
}

} // namespace prosector
