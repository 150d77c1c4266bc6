// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace prosector {

/// One step of decoding: a code point, or the length of a maximal run that is not UTF-8
/// (Unicode 15, 3.9: "maximal subpart").
struct CodePoint {
    char32_t value = 0; ///< U+FFFD when not valid
    std::uint8_t length = 0;
    bool valid = false;
};
/// `offset` must be inside `text`.
CodePoint decodeUtf8(std::string_view text, std::size_t offset);

void appendUtf8(std::string &text, char32_t codePoint);

/// "U+000A", "U+1F600".
std::string codePointName(char32_t codePoint);

/// Offset of the first byte that is not UTF-8, or npos. Surrogates and overlong forms are invalid.
std::size_t firstInvalidUtf8(std::string_view text);

/// The text with every invalid run replaced by U+FFFD.
std::string toValidUtf8(std::string_view text);

/// Content of a JSON string literal (without quotes) with its escapes resolved. Lone surrogates
/// become U+FFFD.
std::string unescapeJson(std::string_view literal);

} // namespace prosector
