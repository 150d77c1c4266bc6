// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/core/plaintext.h"

#include "models/core/utf8.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <span>

namespace prosector {

namespace {

struct Range {
    char32_t first, last;
};

bool inAny(std::span<const Range> ranges, char32_t character)
{
    return std::any_of(ranges.begin(), ranges.end(),
                       [character](Range r) { return character >= r.first && character <= r.last; });
}

// Unicode 15: Cc, Zl, Zp, the Cf characters that steer direction or show nothing, tag characters.
constexpr std::array hostileRanges = std::to_array<Range>({
    {0x00, 0x1F}, {0x7F, 0x9F}, {0xAD, 0xAD}, {0x061C, 0x061C}, {0x180E, 0x180E}, {0x200B, 0x200F},
    {0x2028, 0x202E}, {0x2060, 0x206F}, {0xFEFF, 0xFEFF}, {0xFFF9, 0xFFFB}, {0xE0000, 0xE007F},
});

// East_Asian_Width W and F, in coarse blocks (Unicode 15, UAX 11).
constexpr std::array wideRanges = std::to_array<Range>({
    {0x1100, 0x115F}, {0x2E80, 0x303E}, {0x3041, 0x33FF}, {0x3400, 0x4DBF}, {0x4E00, 0x9FFF}, {0xA000, 0xA4CF},
    {0xAC00, 0xD7A3}, {0xF900, 0xFAFF}, {0xFE30, 0xFE6F}, {0xFF00, 0xFF60}, {0xFFE0, 0xFFE6},
    {0x1F300, 0x1F64F}, {0x1F680, 0x1F6FF}, {0x1F900, 0x1F9FF}, {0x20000, 0x3FFFD},
});

constexpr std::array combiningRanges = std::to_array<Range>({
    {0x0300, 0x036F}, {0x0483, 0x0489}, {0x0591, 0x05BD}, {0x064B, 0x065F}, {0x0900, 0x0902}, {0x093C, 0x093C},
    {0x0E31, 0x0E31}, {0x0E34, 0x0E3A}, {0x1AB0, 0x1AFF}, {0x1DC0, 0x1DFF}, {0x20D0, 0x20FF}, {0xFE00, 0xFE0F},
    {0xFE20, 0xFE2F},
});

} // namespace

bool isHostileCharacter(char32_t character)
{
    return inAny(hostileRanges, character);
}

std::string neutralised(std::string_view text)
{
    // Most texts are names and plain words.
    if (std::all_of(text.begin(), text.end(), [](char c) { return c >= 0x20 && c < 0x7F; }))
        return std::string(text);
    std::string out;
    out.reserve(text.size());
    for (std::size_t at = 0; at < text.size();) {
        const CodePoint point = decodeUtf8(text, at);
        if (!point.valid) {
            out += "\xEF\xBF\xBD";
        } else if (!isHostileCharacter(point.value)) {
            out += text.substr(at, point.length);
        } else if (point.value == '\n') {
            out += "\\n";
        } else if (point.value == '\r') {
            out += "\\r";
        } else if (point.value == '\t') {
            out += "\\t";
        } else {
            std::array<char, 16> spelled{};
            std::snprintf(spelled.data(), spelled.size(), point.value < 0x100 ? "\\x%02X" : "\\u{%04X}",
                          static_cast<unsigned>(point.value));
            out += spelled.data();
        }
        at += point.length;
    }
    return out;
}

std::size_t displayWidth(std::string_view text)
{
    std::size_t width = 0;
    for (std::size_t at = 0; at < text.size();) {
        const CodePoint point = decodeUtf8(text, at);
        at += point.length;
        if (point.value < 0x300)
            width += 1;
        else if (inAny(wideRanges, point.value))
            width += 2;
        else if (!inAny(combiningRanges, point.value))
            width += 1;
    }
    return width;
}

std::string wrapped(std::string_view text, std::size_t width, std::size_t indent, std::size_t firstColumn)
{
    std::string out;
    std::size_t column = firstColumn;
    bool lineStart = true;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t begin = text.find_first_not_of(' ', at);
        if (begin == std::string_view::npos)
            break;
        at = std::min(text.find(' ', begin), text.size());
        const std::string_view word = text.substr(begin, at - begin);
        const std::size_t columns = displayWidth(word);
        if (!lineStart && column + 1 + columns > width) {
            out += '\n' + std::string(indent, ' ');
            column = indent;
            lineStart = true;
        }
        if (!lineStart) {
            out += ' ';
            ++column;
        }
        out += word;
        column += columns;
        lineStart = false;
    }
    return out;
}

} // namespace prosector
