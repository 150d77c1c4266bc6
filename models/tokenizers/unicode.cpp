// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/tokenizers/unicode.h"

#include "models/core/utf8.h"

#include <algorithm>
#include <array>
#include <memory>
#include <unicode/ubrk.h>
#include <unicode/uchar.h>
#include <unicode/unorm2.h>
#include <unicode/uscript.h>
#include <unicode/utext.h>

namespace prosector {

namespace {

std::uint32_t categoryMask(char32_t c)
{
    return U_MASK(u_charType(static_cast<UChar32>(c)));
}

/// Whether a version of Unicode had the character. Hugging Face `tokenizers` goes by two old tables: its
/// unicode_categories crate knows Unicode 8, its normalisation Unicode 9, and what came later has no properties.
bool isKnownTo(char32_t c, int unicodeVersion)
{
    UVersionInfo age{};
    u_charAge(static_cast<UChar32>(c), age);
    return age[0] != 0 && age[0] <= unicodeVersion;
}
constexpr int categoriesVersion = 8;
constexpr int normalizationVersion = 9;

/// As Unicode 8 had it: four characters have changed since.
std::uint32_t oldCategoryMask(char32_t c)
{
    switch (c) {
    case 0x166D: case 0x111C9: return U_GC_PO_MASK;
    case 0x1885: case 0x1886: return U_GC_LO_MASK;
    case 0xA9BD: return U_GC_MC_MASK;
    default: return isKnownTo(c, categoriesVersion) ? categoryMask(c) : 0;
    }
}

std::uint8_t combiningClass(UChar32 c)
{
    const std::uint8_t ccc = u_getCombiningClass(c);
    return ccc != 0 && isKnownTo(static_cast<char32_t>(c), normalizationVersion) ? ccc : std::uint8_t(0);
}

const UNormalizer2 *instance(NormalForm form)
{
    UErrorCode error = U_ZERO_ERROR;
    switch (form) {
    case NormalForm::Nfc: return unorm2_getNFCInstance(&error);
    case NormalForm::Nfd: return unorm2_getNFDInstance(&error);
    case NormalForm::Nfkc: return unorm2_getNFKCInstance(&error);
    case NormalForm::Nfkd: return unorm2_getNFKDInstance(&error);
    }
    return nullptr;
}

using Change = AlignedText::Change;

/// Decomposes and puts combining marks in canonical order. Changes travel with their characters.
std::vector<Change> decompose(const std::vector<char32_t> &text, const UNormalizer2 *normalizer)
{
    std::vector<Change> out;
    out.reserve(text.size());
    std::vector<std::pair<std::uint8_t, Change>> pending; // marks waiting for their order
    const auto flush = [&] {
        std::stable_sort(pending.begin(), pending.end(), [](auto &a, auto &b) { return a.first < b.first; });
        for (const auto &mark : pending)
            out.push_back(mark.second);
        pending.clear();
    };
    for (const char32_t c : text) {
        std::array<UChar, 32> buffer{};
        UErrorCode error = U_ZERO_ERROR;
        int32_t length = unorm2_getDecomposition(normalizer, static_cast<UChar32>(c), buffer.data(),
                                                 static_cast<int32_t>(buffer.size()), &error);
        if (length >= 0 && !isKnownTo(c, normalizationVersion))
            length = -1;
        int32_t at = 0;
        int change = 0;
        do {
            UChar32 d = static_cast<UChar32>(c);
            if (length >= 0)
                U16_NEXT(buffer.data(), at, length, d);
            const std::uint8_t ccc = combiningClass(d);
            if (ccc == 0)
                flush();
            const Change step{static_cast<char32_t>(d), change};
            if (ccc == 0)
                out.push_back(step);
            else
                pending.emplace_back(ccc, step);
            change = 1;
        } while (length >= 0 && at < length);
    }
    flush();
    return out;
}

/// Canonical composition over a decomposed, ordered sequence (UAX #15). A composition swallows
/// the mark: its change is one less.
std::vector<Change> compose(const std::vector<Change> &text)
{
    const UNormalizer2 *const nfc = instance(NormalForm::Nfc);
    std::vector<Change> out;
    out.reserve(text.size());
    bool hasStarter = false;
    Change starter{};
    std::vector<Change> marks; // behind the starter, not composed with it
    int lastClass = -1;
    const auto flush = [&] {
        if (hasStarter)
            out.push_back(starter);
        out.insert(out.end(), marks.begin(), marks.end());
        marks.clear();
        lastClass = -1;
    };
    for (const Change &next : text) {
        const int ccc = combiningClass(static_cast<UChar32>(next.character));
        if (!hasStarter) {
            if (ccc != 0) {
                out.push_back(next);
                continue;
            }
            starter = next;
            hasStarter = true;
            continue;
        }
        const bool blocked = lastClass >= 0 && lastClass >= ccc;
        if (!blocked) {
            const UChar32 whole = unorm2_composePair(nfc, static_cast<UChar32>(starter.character),
                                                     static_cast<UChar32>(next.character));
            if (whole >= 0 && isKnownTo(static_cast<char32_t>(whole), normalizationVersion)) {
                starter = {static_cast<char32_t>(whole), starter.change + next.change - 1};
                continue;
            }
        }
        if (ccc == 0) {
            flush();
            starter = next;
            continue;
        }
        marks.push_back(next);
        lastClass = ccc;
    }
    flush();
    return out;
}

bool isAscii(std::string_view text)
{
    return std::all_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

/// Whether every character stays as it is and composes with nothing in front of it.
bool isInert(std::string_view text, const UNormalizer2 *normalizer)
{
    for (std::size_t i = 0; i < text.size();) {
        if (static_cast<unsigned char>(text[i]) < 0x80) {
            ++i;
            continue;
        }
        const CodePoint c = decodeUtf8(text, i);
        if (!unorm2_hasBoundaryBefore(normalizer, static_cast<UChar32>(c.value)))
            return false;
        std::array<UChar, 2> unit{};
        int32_t length = 0;
        U16_APPEND_UNSAFE(unit.data(), length, static_cast<UChar32>(c.value));
        UErrorCode error = U_ZERO_ERROR;
        if (unorm2_quickCheck(normalizer, unit.data(), length, &error) != UNORM_YES)
            return false;
        i += c.length;
    }
    return true;
}

} // namespace

bool isWhiteSpace(char32_t c)
{
    return c < 0x80 ? c == ' ' || (c >= 9 && c <= 13) : u_isUWhiteSpace(static_cast<UChar32>(c));
}

bool isNumeric(char32_t c)
{
    return (categoryMask(c) & U_GC_N_MASK) != 0;
}

bool isPunctuation(char32_t c)
{
    if (c < 0x80)
        return (c >= '!' && c <= '/') || (c >= ':' && c <= '@') || (c >= '[' && c <= '`') || (c >= '{' && c <= '~');
    return (oldCategoryMask(c) & U_GC_P_MASK) != 0;
}

bool isWordCharacter(char32_t c)
{
    return u_hasBinaryProperty(static_cast<UChar32>(c), UCHAR_ALPHABETIC)
        || (categoryMask(c) & (U_GC_M_MASK | U_GC_ND_MASK | U_GC_PC_MASK)) != 0
        || u_hasBinaryProperty(static_cast<UChar32>(c), UCHAR_JOIN_CONTROL);
}

bool isOther(char32_t c)
{
    return (oldCategoryMask(c) & (U_GC_CC_MASK | U_GC_CF_MASK | U_GC_CS_MASK | U_GC_CO_MASK)) != 0;
}

bool isNonSpacingMark(char32_t c)
{
    return (oldCategoryMask(c) & U_GC_MN_MASK) != 0;
}

bool isCombiningMark(char32_t c)
{
    return (categoryMask(c) & U_GC_M_MASK) != 0 && isKnownTo(c, normalizationVersion);
}

Category categoryOf(char32_t c)
{
    const std::uint32_t mask = categoryMask(c);
    if ((mask & U_GC_L_MASK) != 0)
        return Category::Letter;
    if ((mask & U_GC_M_MASK) != 0)
        return Category::Mark;
    if ((mask & U_GC_N_MASK) != 0)
        return Category::Number;
    if ((mask & U_GC_P_MASK) != 0)
        return Category::Punctuation;
    if ((mask & U_GC_S_MASK) != 0)
        return Category::Symbol;
    if ((mask & U_GC_Z_MASK) != 0)
        return Category::Separator;
    return (mask & U_GC_CN_MASK) != 0 ? Category::Unassigned : Category::Control;
}

void normalize(AlignedText &text, NormalForm form)
{
    const UNormalizer2 *const normalizer = instance(form);
    if (isAscii(text.text()) || isInert(text.text(), normalizer))
        return;
    const bool compatible = form == NormalForm::Nfkc || form == NormalForm::Nfkd;
    auto changes = decompose(text.characters(), instance(compatible ? NormalForm::Nfkd : NormalForm::Nfd));
    if (form == NormalForm::Nfc || form == NormalForm::Nfkc)
        changes = compose(changes);
    text.transform(changes);
}

void lowercase(AlignedText &text)
{
    std::vector<Change> changes;
    bool differs = false;
    for (const char32_t c : text.characters()) {
        if (c == 0x130) { // the only character whose lower case is two, whatever stands around it
            changes.push_back({'i', 0});
            changes.push_back({0x307, 1});
            differs = true;
            continue;
        }
        const auto lower = static_cast<char32_t>(u_tolower(static_cast<UChar32>(c)));
        changes.push_back({lower, 0});
        differs = differs || lower != c;
    }
    if (differs)
        text.transform(changes);
}

namespace {

/// Grapheme_Cluster_Break is Other: never sticks to another such character.
bool standsAlone(char32_t c)
{
    if (c < 0x80)
        return c >= 0x20 && c != 0x7F;
    return u_getIntPropertyValue(static_cast<UChar32>(c), UCHAR_GRAPHEME_CLUSTER_BREAK) == U_GCB_OTHER;
}

/// Appends the ends of the clusters of text[begin, end), by ICU.
void icuGraphemeEnds(std::string_view text, std::size_t begin, std::size_t end, std::vector<std::size_t> &ends)
{
    UErrorCode error = U_ZERO_ERROR;
    struct Closer {
        void operator()(UBreakIterator *breaks) const { ubrk_close(breaks); }
    };
    // Opening one costs more than most texts.
    thread_local const std::unique_ptr<UBreakIterator, Closer> breaks(ubrk_open(UBRK_CHARACTER, "en", nullptr, 0, &error));
    UText *const utext = utext_openUTF8(nullptr, text.data() + begin, static_cast<std::int64_t>(end - begin), &error);
    ubrk_setUText(breaks.get(), utext, &error);
    if (U_SUCCESS(error)) {
        for (int32_t at = ubrk_next(breaks.get()); at != UBRK_DONE; at = ubrk_next(breaks.get()))
            ends.push_back(begin + static_cast<std::size_t>(at));
    }
    utext_close(utext);
}

} // namespace

std::vector<std::size_t> graphemeEnds(std::string_view text)
{
    std::vector<std::size_t> ends;
    ends.reserve(text.size());
    if (isAscii(text)) { // only CR LF sticks together
        for (std::size_t i = 0; i < text.size(); ++i) {
            if (!(text[i] == '\r' && i + 1 < text.size() && text[i + 1] == '\n'))
                ends.push_back(i + 1);
        }
        return ends;
    }
    // Between two characters that stand alone is always an end. ICU is asked about the stretches in between.
    const auto endOf = [&](std::size_t at, bool &alone) {
        const CodePoint c = decodeUtf8(text, at);
        alone = standsAlone(c.value);
        return at + c.length;
    };
    bool alone = false, nextAlone = false;
    std::size_t end = 0;
    std::size_t next = endOf(0, nextAlone);
    for (std::size_t begin = 0; begin < text.size(); begin = end) {
        bool single = true;
        do { // up to one that stands alone before another
            end = next;
            alone = nextAlone;
            if (end < text.size())
                next = endOf(end, nextAlone);
            else
                nextAlone = true;
            single = single && alone && nextAlone;
        } while (end < text.size() && !(alone && nextAlone));
        if (single)
            ends.push_back(end);
        else
            icuGraphemeEnds(text, begin, end, ends);
    }
    return ends;
}

int sentencePieceScript(char32_t c)
{
    if (c == ' ')
        return -1;
    if (c == 0x30FC)
        return USCRIPT_HAN;
    UErrorCode error = U_ZERO_ERROR;
    const UScriptCode script = uscript_getScript(static_cast<UChar32>(c), &error);
    return script == USCRIPT_HIRAGANA || script == USCRIPT_KATAKANA ? USCRIPT_HAN : static_cast<int>(script);
}

} // namespace prosector
