// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/prompts/unicodetwins.h"

#include "models/core/utf8.h"

#include <unicode/normalizer2.h>
#include <unicode/uchar.h>
#include <unicode/unistr.h>
#include <unicode/uscript.h>

#include <algorithm>
#include <array>
#include <vector>

namespace prosector {

namespace {

using Text = std::u32string;

Text decoded(std::string_view text)
{
    Text out;
    for (std::size_t at = 0; at < text.size();) {
        const CodePoint c = decodeUtf8(text, at);
        out += c.value;
        at += c.length;
    }
    return out;
}

Text normalized(const Text &text, const icu::Normalizer2 *form)
{
    if (!form)
        return text;
    UErrorCode status = U_ZERO_ERROR;
    const auto source = icu::UnicodeString::fromUTF32(reinterpret_cast<const UChar32 *>(text.data()), static_cast<std::int32_t>(text.size()));
    const auto result = form->normalize(source, status);
    if (U_FAILURE(status))
        return text;
    Text out;
    for (std::int32_t i = 0; i < result.length(); i = result.moveIndex32(i, 1))
        out += static_cast<char32_t>(result.char32At(i));
    return out;
}

Text nfc(const Text &text)
{
    UErrorCode status = U_ZERO_ERROR;
    return normalized(text, icu::Normalizer2::getNFCInstance(status));
}

Text nfkc(const Text &text)
{
    UErrorCode status = U_ZERO_ERROR;
    return normalized(text, icu::Normalizer2::getNFKCInstance(status));
}

Text folded(const Text &text)
{
    auto whole = icu::UnicodeString::fromUTF32(reinterpret_cast<const UChar32 *>(text.data()), static_cast<std::int32_t>(text.size()));
    whole.foldCase();
    Text out;
    for (std::int32_t i = 0; i < whole.length(); i = whole.moveIndex32(i, 1))
        out += static_cast<char32_t>(whole.char32At(i));
    return out;
}

bool isSpace(char32_t c)
{
    return u_isUWhiteSpace(static_cast<UChar32>(c));
}

Text trimmed(const Text &text)
{
    std::size_t from = 0, to = text.size();
    while (from < to && isSpace(text[from]))
        ++from;
    while (to > from && isSpace(text[to - 1]))
        --to;
    return text.substr(from, to - from);
}

/// Joiners and selectors that make one sign of several, or are part of the spelling.
bool belongs(const Text &text, std::size_t at)
{
    const char32_t c = text[at];
    const auto pictures = [&](std::size_t i) {
        return i < text.size() && (u_hasBinaryProperty(static_cast<UChar32>(text[i]), UCHAR_EXTENDED_PICTOGRAPHIC) || u_hasBinaryProperty(static_cast<UChar32>(text[i]), UCHAR_EMOJI_MODIFIER)
                                   || text[i] == 0xFE0F || text[i] == 0x20E3 || u_hasBinaryProperty(static_cast<UChar32>(text[i]), UCHAR_EMOJI_COMPONENT));
    };
    const auto joins = [&](std::size_t i) {
        if (i >= text.size())
            return false;
        UErrorCode status = U_ZERO_ERROR;
        const UScriptCode script = uscript_getScript(static_cast<UChar32>(text[i]), &status);
        return u_isalpha(static_cast<UChar32>(text[i])) && script != USCRIPT_LATIN && script != USCRIPT_CYRILLIC && script != USCRIPT_GREEK && script != USCRIPT_HAN;
    };
    if (c == 0x200D || c == 0x200C)
        return (at > 0 && (pictures(at - 1) || joins(at - 1) || u_charType(static_cast<UChar32>(text[at - 1])) == U_NON_SPACING_MARK)) || joins(at + 1);
    if (c >= 0xFE00 && c <= 0xFE0F)
        return at > 0 && pictures(at - 1);
    return c >= 0xE0020 && c <= 0xE007F; // flags of regions
}

Text shown(const Text &text)
{
    Text out;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (!u_hasBinaryProperty(static_cast<UChar32>(text[i]), UCHAR_DEFAULT_IGNORABLE_CODE_POINT) || belongs(text, i))
            out += text[i];
    }
    return out;
}

/// Latin letters and the Cyrillic and Greek ones that look the same (Unicode TR 39, confusables.txt).
constexpr std::array<std::pair<char32_t, char32_t>, 52> lookalikes{{
    {0x0430, 'a'}, {0x0435, 'e'}, {0x043E, 'o'}, {0x0440, 'p'}, {0x0441, 'c'}, {0x0443, 'y'}, {0x0445, 'x'}, {0x0455, 's'}, {0x0456, 'i'},
    {0x0458, 'j'}, {0x04BB, 'h'}, {0x0501, 'd'}, {0x051B, 'q'}, {0x051D, 'w'}, {0x0410, 'A'}, {0x0412, 'B'}, {0x0415, 'E'}, {0x041A, 'K'},
    {0x041C, 'M'}, {0x041D, 'H'}, {0x041E, 'O'}, {0x0420, 'P'}, {0x0421, 'C'}, {0x0422, 'T'}, {0x0423, 'Y'}, {0x0425, 'X'}, {0x0405, 'S'},
    {0x0406, 'I'}, {0x0408, 'J'}, {0x0391, 'A'}, {0x0392, 'B'}, {0x0395, 'E'}, {0x0396, 'Z'}, {0x0397, 'H'}, {0x0399, 'I'}, {0x039A, 'K'},
    {0x039C, 'M'}, {0x039D, 'N'}, {0x039F, 'O'}, {0x03A1, 'P'}, {0x03A4, 'T'}, {0x03A5, 'Y'}, {0x03A7, 'X'}, {0x03BF, 'o'}, {0x03BD, 'v'},
    {0x03B1, 'a'}, {0x03B9, 'i'}, {0x03C1, 'p'}, {0x03C5, 'u'}, {0x03F3, 'j'}, {0x0432, 'b'}, {0x043C, 'm'},
}};

char32_t skeleton(char32_t c)
{
    const auto *const it = std::find_if(lookalikes.begin(), lookalikes.end(), [&](auto &pair) { return pair.first == c; });
    return it == lookalikes.end() ? c : it->second;
}

Text skeleton(const Text &text)
{
    Text out = text;
    std::transform(out.begin(), out.end(), out.begin(), [](char32_t c) { return skeleton(c); });
    return out;
}

UScriptCode scriptOf(char32_t c)
{
    UErrorCode status = U_ZERO_ERROR;
    return uscript_getScript(static_cast<UChar32>(c), &status);
}

/// Whether a word of either text mixes scripts where the two differ.
bool mixesScripts(const Text &text, const Text &other)
{
    for (std::size_t from = 0; from < text.size();) {
        if (!u_isalpha(static_cast<UChar32>(text[from]))) {
            ++from;
            continue;
        }
        std::size_t to = from;
        bool differs = false, several = false;
        while (to < text.size() && u_isalpha(static_cast<UChar32>(text[to]))) {
            differs = differs || (to < other.size() && text[to] != other[to]);
            several = several || scriptOf(text[to]) != scriptOf(text[from]);
            ++to;
        }
        if (differs && several)
            return true;
        from = to;
    }
    return false;
}

} // namespace

std::string_view nameOf(TwinBy by)
{
    constexpr std::array<std::string_view, 7> names{"NFC", "white space at the ends", "characters that are not shown", "NFC, white space and characters that are not shown",
                                                    "case folding", "NFKC", "letters of another script"};
    return names[static_cast<std::size_t>(by)];
}

std::optional<TwinBy> twinBy(std::string_view left, std::string_view right)
{
    if (left == right)
        return std::nullopt;
    const Text a = decoded(left), b = decoded(right);
    if (nfc(a) == nfc(b))
        return TwinBy::NormalForm;
    if (trimmed(a) == trimmed(b))
        return TwinBy::WhiteSpace;
    if (shown(a) == shown(b))
        return TwinBy::Ignorable;
    const auto all = [](const Text &text) { return trimmed(shown(nfc(text))); };
    if (all(a) == all(b))
        return TwinBy::Mixed;
    if (folded(a) == folded(b) || nfc(folded(a)) == nfc(folded(b)))
        return TwinBy::Case;
    if (nfkc(a) == nfkc(b) || nfkc(folded(nfkc(all(a)))) == nfkc(folded(nfkc(all(b)))))
        return TwinBy::Compatible;
    const Text c = all(a), d = all(b);
    if (c.size() == d.size() && skeleton(c) == skeleton(d) && (mixesScripts(c, d) || mixesScripts(d, c)))
        return TwinBy::Homoglyph;
    return std::nullopt;
}

std::string twinKey(std::string_view text)
{
    std::string key;
    const Text visible = trimmed(shown(nfc(decoded(text))));
    for (const char32_t c : nfkc(skeleton(folded(skeleton(nfkc(visible))))))
        appendUtf8(key, c);
    return key;
}

std::string firstDifference(std::string_view a, std::string_view b)
{
    std::size_t at = 0;
    while (at < a.size() && at < b.size() && a[at] == b[at])
        ++at;
    while (at > 0 && ((at < a.size() && (static_cast<unsigned char>(a[at]) & 0xC0) == 0x80) || (at < b.size() && (static_cast<unsigned char>(b[at]) & 0xC0) == 0x80)))
        --at;
    const auto describe = [&](std::string_view text) {
        if (at >= text.size())
            return "the end at byte " + std::to_string(at);
        std::string words;
        std::size_t i = at;
        for (int n = 0; n < 3 && i < text.size(); ++n) {
            const CodePoint c = decodeUtf8(text, i);
            if (n > 0 && u_charType(static_cast<UChar32>(c.value)) != U_NON_SPACING_MARK)
                break;
            words += (words.empty() ? "" : ", ") + characterName(c.value);
            i += c.length;
        }
        return words + " at byte " + std::to_string(at);
    };
    return describe(a) + " against " + describe(b);
}

std::string characterName(char32_t c)
{
    std::array<char, 128> buffer{};
    UErrorCode status = U_ZERO_ERROR;
    u_charName(static_cast<UChar32>(c), U_EXTENDED_CHAR_NAME, buffer.data(), static_cast<std::int32_t>(buffer.size()), &status);
    return codePointName(c) + (U_SUCCESS(status) ? " " + std::string(buffer.data()) : std::string());
}

bool isUnseen(char32_t c)
{
    return u_hasBinaryProperty(static_cast<UChar32>(c), UCHAR_DEFAULT_IGNORABLE_CODE_POINT) || (isSpace(c) && c != ' ' && c != '\t' && c != '\n');
}

std::optional<char32_t> strayLetter(std::string_view bytes)
{
    const Text text = decoded(bytes);
    const Text latin = skeleton(text);
    for (std::size_t from = 0; from < text.size();) {
        std::size_t to = from;
        std::optional<char32_t> stray;
        bool latinLetters = false;
        while (to < text.size() && u_isalpha(static_cast<UChar32>(text[to]))) {
            if (latin[to] != text[to] && !stray)
                stray = text[to];
            latinLetters = latinLetters || scriptOf(text[to]) == USCRIPT_LATIN;
            ++to;
        }
        if (stray && latinLetters)
            return stray;
        from = to + 1;
    }
    return std::nullopt;
}

} // namespace prosector
