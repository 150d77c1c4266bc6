// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace prosector {

/// Whether a character may change how the text around it is shown: control characters (C0, DEL, C1),
/// line and paragraph separators, direction overrides and isolates, invisible format characters.
/// Text from an opened file that holds one must not reach a terminal or page as it is.
bool isHostileCharacter(char32_t character);

/// Valid UTF-8 on one line without hostile characters: each is spelled out, `\n`, `\x1B`, `\u{202E}`;
/// bytes that are not UTF-8 become U+FFFD. For anything shown to people that came out of a file.
std::string neutralised(std::string_view text);

/// Columns a terminal needs for valid UTF-8: 2 for wide East Asian characters and most emoji, 0 for
/// combining marks.
std::size_t displayWidth(std::string_view text);

/// Broken at spaces into lines of at most `width` columns, joined by newlines, each but the first
/// after `indent` spaces (which count). A longer word stands on a line of its own, unbroken: it is a path.
std::string wrapped(std::string_view text, std::size_t width, std::size_t indent, std::size_t firstColumn);

} // namespace prosector
