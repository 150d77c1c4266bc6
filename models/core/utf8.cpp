// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/core/utf8.h"

#include <charconv>
#include <cstring>

namespace prosector {

CodePoint decodeUtf8(std::string_view text, std::size_t offset)
{
    const auto byteAt = [&](std::size_t i) { return static_cast<unsigned char>(text[offset + i]); };
    const std::size_t left = text.size() - offset;
    const unsigned char lead = byteAt(0);
    if (lead < 0x80)
        return {lead, 1, true};

    // Table 3-7 of the Unicode standard: only the second byte's range depends on the lead.
    std::uint8_t length = 0;
    unsigned char low = 0x80, high = 0xBF;
    char32_t value = 0;
    if (lead >= 0xC2 && lead <= 0xDF) {
        length = 2;
        value = lead & 0x1F;
    } else if (lead >= 0xE0 && lead <= 0xEF) {
        length = 3;
        value = lead & 0x0F;
        low = lead == 0xE0 ? 0xA0 : 0x80;
        high = lead == 0xED ? 0x9F : 0xBF;
    } else if (lead >= 0xF0 && lead <= 0xF4) {
        length = 4;
        value = lead & 0x07;
        low = lead == 0xF0 ? 0x90 : 0x80;
        high = lead == 0xF4 ? 0x8F : 0xBF;
    } else {
        return {0xFFFD, 1, false};
    }
    for (std::uint8_t i = 1; i < length; ++i) {
        if (i >= left || byteAt(i) < low || byteAt(i) > high)
            return {0xFFFD, i, false};
        value = (value << 6) | (byteAt(i) & 0x3F);
        low = 0x80;
        high = 0xBF;
    }
    return {value, length, true};
}

void appendUtf8(std::string &text, char32_t c)
{
    if (c > 0x10FFFF || (c >= 0xD800 && c <= 0xDFFF))
        c = 0xFFFD;
    if (c < 0x80) {
        text += static_cast<char>(c);
    } else if (c < 0x800) {
        text += static_cast<char>(0xC0 | (c >> 6));
        text += static_cast<char>(0x80 | (c & 0x3F));
    } else if (c < 0x10000) {
        text += static_cast<char>(0xE0 | (c >> 12));
        text += static_cast<char>(0x80 | ((c >> 6) & 0x3F));
        text += static_cast<char>(0x80 | (c & 0x3F));
    } else {
        text += static_cast<char>(0xF0 | (c >> 18));
        text += static_cast<char>(0x80 | ((c >> 12) & 0x3F));
        text += static_cast<char>(0x80 | ((c >> 6) & 0x3F));
        text += static_cast<char>(0x80 | (c & 0x3F));
    }
}

std::string codePointName(char32_t codePoint)
{
    std::string digits;
    for (; codePoint > 0 || digits.size() < 4; codePoint >>= 4)
        digits.insert(digits.begin(), "0123456789ABCDEF"[codePoint & 15]);
    return "U+" + digits;
}

std::size_t firstInvalidUtf8(std::string_view text)
{
    std::size_t i = 0;
    while (i < text.size()) {
        // Eight ASCII bytes at a time: most of what we read is ASCII.
        std::uint64_t word = 0;
        if (i + sizeof word <= text.size()) {
            std::memcpy(&word, text.data() + i, sizeof word);
            if ((word & 0x8080808080808080ULL) == 0) {
                i += sizeof word;
                continue;
            }
        }
        const CodePoint c = decodeUtf8(text, i);
        if (!c.valid)
            return i;
        i += c.length;
    }
    return std::string_view::npos;
}

std::string toValidUtf8(std::string_view text)
{
    std::size_t bad = firstInvalidUtf8(text);
    if (bad == std::string_view::npos)
        return std::string(text);
    std::string clean;
    clean.reserve(text.size() + 16);
    while (bad != std::string_view::npos) {
        clean += text.substr(0, bad);
        appendUtf8(clean, 0xFFFD);
        text.remove_prefix(bad + decodeUtf8(text, bad).length);
        bad = firstInvalidUtf8(text);
    }
    clean += text;
    return clean;
}

namespace {

/// Value of four hex digits, or -1.
int hex4(std::string_view text)
{
    unsigned int value = 0;
    if (text.size() < 4)
        return -1;
    const auto parsed = std::from_chars(text.data(), text.data() + 4, value, 16);
    return parsed.ec == std::errc() && parsed.ptr == text.data() + 4 ? static_cast<int>(value) : -1;
}

} // namespace

std::string unescapeJson(std::string_view literal)
{
    std::string text;
    text.reserve(literal.size());
    for (std::size_t i = 0; i < literal.size(); ++i) {
        if (literal[i] != '\\' || i + 1 == literal.size()) {
            text += literal[i];
            continue;
        }
        switch (literal[++i]) {
        case 'b': text += '\b'; break;
        case 'f': text += '\f'; break;
        case 'n': text += '\n'; break;
        case 'r': text += '\r'; break;
        case 't': text += '\t'; break;
        case 'u': {
            int unit = hex4(literal.substr(i + 1));
            if (unit < 0) {
                text += 'u';
                break;
            }
            i += 4;
            auto c = static_cast<char32_t>(unit);
            if (unit >= 0xD800 && unit <= 0xDBFF && literal.substr(i + 1, 2) == "\\u") {
                const int low = hex4(literal.substr(i + 3));
                if (low >= 0xDC00 && low <= 0xDFFF) {
                    c = 0x10000 + ((c - 0xD800) << 10) + (static_cast<char32_t>(low) - 0xDC00);
                    i += 6;
                }
            }
            appendUtf8(text, c);
            break;
        }
        default: text += literal[i];
        }
    }
    return text;
}

} // namespace prosector
