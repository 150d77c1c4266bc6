// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace prosector {

/// What must be overlooked for two texts to be the same, the weakest first.
enum class TwinBy : std::uint8_t {
    NormalForm,  ///< NFC: é and e + U+0301
    WhiteSpace,  ///< blanks at the ends
    Ignorable,   ///< characters that are not shown: zero-width spaces, soft hyphens, byte order marks
    Mixed,       ///< several of those above
    Case,        ///< case folding
    Compatible,  ///< NFKC: full-width digits, ligatures, ①
    Homoglyph,   ///< letters of another script that look alike, inside one word
};
std::string_view nameOf(TwinBy by); ///< "NFC", "white space", …

/// Nothing when the texts are equal byte for byte, or differ whatever is overlooked. Joiners that belong to
/// an emoji or to Arabic and Indic spelling count as letters. Letters that look alike are told for Latin,
/// Cyrillic and Greek.
std::optional<TwinBy> twinBy(std::string_view a, std::string_view b);

/// One spelling for all twins of a text: texts with unlike keys are no twins.
std::string twinKey(std::string_view text);

/// The first place where two texts differ, in words: "U+00E9 LATIN SMALL LETTER E WITH ACUTE at byte 3 against
/// U+0065 LATIN SMALL LETTER E, U+0301 COMBINING ACUTE ACCENT at byte 3".
std::string firstDifference(std::string_view a, std::string_view b);

/// "U+200B ZERO WIDTH SPACE".
std::string characterName(char32_t c);

/// Whether a character is not shown: default ignorable, and blanks other than space, tab and line feed.
bool isUnseen(char32_t c);

/// The first Cyrillic or Greek letter that looks like a Latin one and stands in one word with Latin letters.
std::optional<char32_t> strayLetter(std::string_view text);

} // namespace prosector
