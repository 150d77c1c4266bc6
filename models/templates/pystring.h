// SPDX-License-Identifier: GPL-3.0-or-later
// What Python's str knows of characters and text, on UTF-8. Positions are bytes unless a name says otherwise.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace prosector::jinja {

bool isPythonSpace(char32_t c); ///< str.isspace
bool isLineBreak(char32_t c);   ///< str.splitlines
bool isPrintable(char32_t c);   ///< str.isprintable

std::int64_t codePointCount(std::string_view text);
/// Byte at which the code point with this index begins; the size when there are fewer.
std::size_t byteOfCodePoint(std::string_view text, std::int64_t index);
/// Bytes of the character at a position (1 where it is not UTF-8).
std::size_t characterLength(std::string_view text, std::size_t at);
/// The same for the character that ends before a position above 0.
std::size_t characterLengthBefore(std::string_view text, std::size_t at);

/// Bytes left when whitespace at the end is taken away; bytes of whitespace at the begin.
std::size_t stripEnd(std::string_view text);
std::size_t stripBegin(std::string_view text);

/// "\u00e9": a backslash, a letter and so many hexadecimal digits.
std::string hexEscape(char letter, std::uint32_t value, int digits);
/// The same as repr and ascii() choose it for a character: "\xe9", "\u20ac", "\U0001f600".
std::string pythonEscape(char32_t c);
/// `repr` of a str: quotes as Python chooses them, unprintable characters escaped.
std::string pythonRepr(std::string_view text);

// Full case mappings, without locale.
std::string upper(std::string_view text);
std::string lower(std::string_view text);
std::string title(std::string_view text);
std::string capitalize(std::string_view text);
std::string swapCase(std::string_view text);
std::string caseFold(std::string_view text);

// str.isalpha and its kin: false for the empty text, but for `isAsciiText`.
bool isAlphaText(std::string_view text);
bool isDigitText(std::string_view text);
bool isDecimalText(std::string_view text);
bool isNumericText(std::string_view text);
bool isAlnumText(std::string_view text);
bool isSpaceText(std::string_view text);
bool isUpperText(std::string_view text);
bool isLowerText(std::string_view text);
bool isTitleText(std::string_view text);
bool isIdentifierText(std::string_view text);
bool isPrintableText(std::string_view text);
bool isAsciiText(std::string_view text);

struct Range {
    std::size_t from = 0, to = 0;
};
/// str.split() without and with a separator (not empty), str.rsplit, str.splitlines. A negative limit is none.
std::vector<Range> splitSpace(std::string_view text, std::int64_t limit);
std::vector<Range> splitSpaceRight(std::string_view text, std::int64_t limit);
std::vector<Range> splitAt(std::string_view text, std::string_view separator, std::int64_t limit);
std::vector<Range> splitAtRight(std::string_view text, std::string_view separator, std::int64_t limit);
std::vector<Range> splitLines(std::string_view text, bool keepEnds);

} // namespace prosector::jinja
