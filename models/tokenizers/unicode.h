// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string_view>
#include <vector>

#include "models/tokenizers/alignedtext.h"

namespace prosector {

// Character properties (ICU) as the tokenizer libraries use them.

constexpr bool isContinuationByte(char c)
{
    return (static_cast<unsigned char>(c) & 0xC0) == 0x80;
}

bool isWhiteSpace(char32_t c);  ///< White_Space, as Rust's char::is_whitespace
bool isNumeric(char32_t c);     ///< Nd, Nl, No, as Rust's char::is_numeric
bool isPunctuation(char32_t c); ///< ASCII punctuation (symbols too) or any P*
bool isWordCharacter(char32_t c); ///< UTS #18 \w: Alphabetic, M, Nd, Pc, Join_Control
bool isOther(char32_t c);       ///< Cc, Cf, Cs, Co; not Cn, as in the unicode_categories crate
bool isNonSpacingMark(char32_t c); ///< Mn
bool isCombiningMark(char32_t c);  ///< M*
// Punctuation, Other and the marks are those of the old versions of Unicode that Hugging Face `tokenizers`
// is built with (unicode.cpp).

enum class Category { Letter, Mark, Number, Punctuation, Symbol, Separator, Control, Unassigned };
Category categoryOf(char32_t c); ///< Control: any C* but Cn

enum class NormalForm { Nfc, Nfd, Nfkc, Nfkd };
void normalize(AlignedText &text, NormalForm form);

/// Full lower-casing of single characters, without context and locale.
void lowercase(AlignedText &text);

/// Ends of the extended grapheme clusters (UAX #29), as byte offsets.
std::vector<std::size_t> graphemeEnds(std::string_view text);

/// A number that tells scripts apart, with the exceptions SentencePiece makes: kana count as Han,
/// blanks as any script (-1).
int sentencePieceScript(char32_t c);

} // namespace prosector
