// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/prompts/probetexts.h"

#include <algorithm>

namespace prosector {

const std::array<ProbeText, 60> probeTexts{{
    {"words", "a"}, {"words", "Hello"}, {"words", "hello world"}, {"words", "The quick brown fox."}, {"words", "HELLO World"}, {"words", "don't, can't, it's"},
    {"spaces", "a b"}, {"spaces", "a  b"}, {"spaces", "a   b"}, {"spaces", " a"}, {"spaces", "a "}, {"spaces", "  a  "}, {"spaces", "a , b . c ! d ?"},
    {"tabs", "a\tb"}, {"tabs", "\ta"}, {"tabs", "a\t\tb"},
    {"lines", "a\nb"}, {"lines", "a\n\nb"}, {"lines", "a\n\n\nb"}, {"lines", "a \n b"}, {"lines", "a\n"},
    {"digits", "1"}, {"digits", "12"}, {"digits", "123"}, {"digits", "1234"}, {"digits", "12345"}, {"digits", "123456"}, {"digits", "3.14159"}, {"digits", "1,000,000"}, {"digits", "x1y22z"},
    {"code", "def f(x):\n    return x + 1\n"}, {"code", "if (a && b) { c = d[0]; }"}, {"code", "{\"key\": [1, 2, null]}"}, {"code", "for i in range(10):\n\tprint(i)"},
    {"code", "https://example.org/a?b=c&d=e#f"}, {"code", "x != y; a <= b; p->q"}, {"code", "#include <stdio.h>"}, {"code", "SELECT * FROM t WHERE a='b';"},
    {"punctuation", "...---..."}, {"punctuation", "(a) [b] {c} <d>"}, {"punctuation", "~!@#$%^&*()_+"}, {"punctuation", "a/b\\c|d"},
    {"accents", "caf\xC3\xA9"}, {"accents", "cafe\xCC\x81"}, {"accents", "na\xC3\xAFve r\xC3\xA9sum\xC3\xA9"}, {"accents", "\xC3\x85ngstr\xC3\xB6m"}, {"accents", "A\xCC\x8Angstro\xCC\x88m"},
    {"accents", "stra\xC3\x9F" "e"},
    {"CJK", "\xE4\xBD\xA0\xE5\xA5\xBD"}, {"CJK", "\xE6\x97\xA5\xE6\x9C\xAC\xE8\xAA\x9E\xE3\x81\xAE\xE3\x83\x86\xE3\x82\xB9\xE3\x83\x88"}, {"CJK", "\xED\x95\x9C\xEA\xB5\xAD\xEC\x96\xB4"},
    {"CJK", "\xE4\xBB\xB7\xE6\xA0\xBC\xEF\xBC\x9A" "100\xE5\x85\x83"},
    {"emoji", "\xF0\x9F\x98\x80"}, {"emoji", "\xF0\x9F\x91\xA9\xE2\x80\x8D\xF0\x9F\x9A\x80"}, {"emoji", "\xF0\x9F\x87\xAE\xF0\x9F\x87\xB3 \xE2\x9E\x94"},
    {"right-to-left", "\xD9\x85\xD8\xB1\xD8\xAD\xD8\xA8\xD8\xA7"}, {"right-to-left", "\xD7\xA9\xD7\x9C\xD7\x95\xD7\x9D world"},
    {"scripts", "\xD0\x9F\xD1\x80\xD0\xB8\xD0\xB2\xD0\xB5\xD1\x82"}, {"scripts", "\xE0\xA4\xA8\xE0\xA4\xAE\xE0\xA4\xB8\xE0\xA5\x8D\xE0\xA4\xA4\xE0\xA5\x87"},
    {"scripts", "\xCE\xB3\xCE\xB5\xCE\xB9\xCE\xAC"},
}};

bool isAscii(std::string_view text)
{
    return std::all_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

} // namespace prosector
