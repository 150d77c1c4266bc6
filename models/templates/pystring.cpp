// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/templates/pystring.h"

#include "models/core/utf8.h"

#include <algorithm>

#include <unicode/uchar.h>
#include <unicode/ustring.h>

namespace prosector::jinja {

namespace {

template<class Function>
void eachCharacter(std::string_view text, Function function)
{
    for (std::size_t at = 0; at < text.size();) {
        const CodePoint c = decodeUtf8(text, at);
        function(c.value);
        at += c.length;
    }
}

template<class Predicate>
bool allOf(std::string_view text, Predicate good)
{
    for (std::size_t at = 0; at < text.size();) {
        const CodePoint c = decodeUtf8(text, at);
        if (!good(static_cast<UChar32>(c.value)))
            return false;
        at += c.length;
    }
    return !text.empty();
}

std::u16string toUtf16(std::string_view text)
{
    std::u16string wide;
    wide.reserve(text.size());
    eachCharacter(text, [&wide](char32_t c) {
        if (c >= 0x10000) {
            wide += static_cast<char16_t>(0xD7C0 + (c >> 10));
            wide += static_cast<char16_t>(0xDC00 + (c & 0x3FF));
        } else {
            wide += static_cast<char16_t>(c);
        }
    });
    return wide;
}

std::string toUtf8(std::u16string_view wide)
{
    std::string text;
    text.reserve(wide.size());
    for (std::size_t i = 0; i < wide.size(); ++i) {
        char32_t c = wide[i];
        if (c >= 0xD800 && c < 0xDC00 && i + 1 < wide.size())
            c = 0x10000 + ((c - 0xD800) << 10) + (wide[++i] - 0xDC00U);
        appendUtf8(text, c);
    }
    return text;
}

/// Runs one of ICU's string functions: (to, capacity, from, length, status) -> length.
template<class Function>
std::string mapped(std::string_view text, Function function)
{
    const std::u16string from = toUtf16(text);
    std::u16string to(from.size() * 3 + 4, u'\0'); // no full case mapping is longer than thrice
    UErrorCode status = U_ZERO_ERROR;
    const std::int32_t length = function(to.data(), static_cast<std::int32_t>(to.size()), from.data(),
                                         static_cast<std::int32_t>(from.size()), &status);
    if (U_FAILURE(status))
        return std::string(text);
    to.resize(static_cast<std::size_t>(length));
    return toUtf8(to);
}

std::string titleOf(std::string_view character)
{
    if (character.size() == 1) {
        const char c = character[0];
        return std::string(1, c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c);
    }
    return mapped(character, [](UChar *to, std::int32_t size, const UChar *from, std::int32_t length, UErrorCode *status) {
        return u_strToTitle(to, size, from, length, nullptr, "", status);
    });
}

bool isCased(UChar32 c)
{
    return u_hasBinaryProperty(c, UCHAR_LOWERCASE) || u_hasBinaryProperty(c, UCHAR_UPPERCASE) || u_istitle(c);
}

bool hasDigitValue(UChar32 c)
{
    const auto type = u_getIntPropertyValue(c, UCHAR_NUMERIC_TYPE);
    return type == U_NT_DECIMAL || type == U_NT_DIGIT;
}

} // namespace

bool isPythonSpace(char32_t c)
{
    if (c < 0x80)
        return (c >= 0x09 && c <= 0x0D) || (c >= 0x1C && c <= 0x20);
    return c == 0x85 || c == 0xA0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 || c == 0x202F
           || c == 0x205F || c == 0x3000;
}

bool isLineBreak(char32_t c)
{
    return (c >= 0x0A && c <= 0x0D) || (c >= 0x1C && c <= 0x1E) || c == 0x85 || c == 0x2028 || c == 0x2029;
}

bool isPrintable(char32_t c)
{
    if (c < 0x7F)
        return c >= 0x20;
    const auto type = u_charType(static_cast<UChar32>(c));
    return type != U_CONTROL_CHAR && type != U_FORMAT_CHAR && type != U_SURROGATE && type != U_PRIVATE_USE_CHAR
           && type != U_UNASSIGNED && type != U_LINE_SEPARATOR && type != U_PARAGRAPH_SEPARATOR && type != U_SPACE_SEPARATOR;
}

std::size_t characterLength(std::string_view text, std::size_t at)
{
    return decodeUtf8(text, at).length;
}

std::size_t characterLengthBefore(std::string_view text, std::size_t at)
{
    for (std::size_t length = 2; length <= 4 && length <= at; ++length) {
        if ((static_cast<unsigned char>(text[at - 1]) & 0xC0) != 0x80)
            break;
        if (decodeUtf8(text, at - length).length == length)
            return length;
    }
    return 1;
}

std::int64_t codePointCount(std::string_view text)
{
    // Texts here are valid UTF-8 (inputs are made so): count what is no continuation.
    std::int64_t count = 0;
    for (const char c : text)
        count += (static_cast<unsigned char>(c) & 0xC0) != 0x80;
    return count;
}

std::size_t byteOfCodePoint(std::string_view text, std::int64_t index)
{
    std::size_t at = 0;
    while (index-- > 0 && at < text.size())
        at += characterLength(text, at);
    return std::min(at, text.size());
}

std::size_t stripEnd(std::string_view text)
{
    std::size_t end = text.size();
    while (end > 0) {
        const std::size_t length = characterLengthBefore(text, end);
        if (!isPythonSpace(decodeUtf8(text, end - length).value))
            break;
        end -= length;
    }
    return end;
}

std::size_t stripBegin(std::string_view text)
{
    std::size_t at = 0;
    while (at < text.size()) {
        const CodePoint c = decodeUtf8(text, at);
        if (!isPythonSpace(c.value))
            break;
        at += c.length;
    }
    return at;
}

std::string hexEscape(char letter, std::uint32_t value, int digits)
{
    std::string out{'\\', letter};
    for (int i = digits - 1; i >= 0; --i)
        out += "0123456789abcdef"[value >> (4 * i) & 0xF];
    return out;
}

std::string pythonEscape(char32_t c)
{
    return c < 0x100 ? hexEscape('x', c, 2) : c < 0x10000 ? hexEscape('u', c, 4) : hexEscape('U', c, 8);
}

std::string pythonRepr(std::string_view text)
{
    const bool single = text.find('\'') != std::string_view::npos && text.find('"') == std::string_view::npos;
    const char quote = single ? '"' : '\'';
    std::string out(1, quote);
    eachCharacter(text, [&](char32_t c) {
        if (c == static_cast<char32_t>(quote) || c == '\\') {
            out += '\\';
            out += static_cast<char>(c);
        } else if (c == '\n') {
            out += "\\n";
        } else if (c == '\r') {
            out += "\\r";
        } else if (c == '\t') {
            out += "\\t";
        } else if (isPrintable(c)) {
            appendUtf8(out, c);
        } else {
            out += pythonEscape(c);
        }
    });
    out += quote;
    return out;
}

std::string upper(std::string_view text)
{
    if (isAsciiText(text)) {
        std::string out(text);
        for (char &c : out)
            c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c;
        return out;
    }
    return mapped(text, [](UChar *to, std::int32_t size, const UChar *from, std::int32_t length, UErrorCode *status) {
        return u_strToUpper(to, size, from, length, "", status);
    });
}

std::string lower(std::string_view text)
{
    if (isAsciiText(text)) {
        std::string out(text);
        for (char &c : out)
            c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
        return out;
    }
    return mapped(text, [](UChar *to, std::int32_t size, const UChar *from, std::int32_t length, UErrorCode *status) {
        return u_strToLower(to, size, from, length, "", status);
    });
}

std::string caseFold(std::string_view text)
{
    return mapped(text, [](UChar *to, std::int32_t size, const UChar *from, std::int32_t length, UErrorCode *status) {
        return u_strFoldCase(to, size, from, length, U_FOLD_CASE_DEFAULT, status);
    });
}

std::string title(std::string_view text)
{
    // Lower case first, as a whole: a sigma looks at its neighbours.
    std::string out;
    bool inWord = false;
    for (std::size_t at = 0; at < text.size();) {
        const CodePoint c = decodeUtf8(text, at);
        const std::string_view character = text.substr(at, c.length);
        out += inWord ? lower(character) : titleOf(character);
        inWord = isCased(static_cast<UChar32>(c.value));
        at += c.length;
    }
    return out;
}

std::string capitalize(std::string_view text)
{
    if (text.empty())
        return {};
    const std::size_t first = characterLength(text, 0);
    return titleOf(text.substr(0, first)) + lower(text.substr(first));
}

std::string swapCase(std::string_view text)
{
    std::string out;
    for (std::size_t at = 0; at < text.size();) {
        const CodePoint c = decodeUtf8(text, at);
        const std::string_view character = text.substr(at, c.length);
        const auto code = static_cast<UChar32>(c.value);
        out += u_isUUppercase(code) ? lower(character) : u_isULowercase(code) ? upper(character) : std::string(character);
        at += c.length;
    }
    return out;
}

bool isAsciiText(std::string_view text)
{
    return std::all_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

bool isAlphaText(std::string_view text)
{
    return allOf(text, [](UChar32 c) { return u_isalpha(c); });
}

bool isDecimalText(std::string_view text)
{
    return allOf(text, [](UChar32 c) { return u_isdigit(c); });
}

bool isDigitText(std::string_view text)
{
    return allOf(text, hasDigitValue);
}

bool isNumericText(std::string_view text)
{
    return allOf(text, [](UChar32 c) { return u_getIntPropertyValue(c, UCHAR_NUMERIC_TYPE) != U_NT_NONE; });
}

bool isAlnumText(std::string_view text)
{
    return allOf(text, [](UChar32 c) { return u_isalpha(c) || u_getIntPropertyValue(c, UCHAR_NUMERIC_TYPE) != U_NT_NONE; });
}

bool isSpaceText(std::string_view text)
{
    return allOf(text, [](UChar32 c) { return isPythonSpace(static_cast<char32_t>(c)); });
}

bool isPrintableText(std::string_view text)
{
    return text.empty() || allOf(text, [](UChar32 c) { return c == ' ' || isPrintable(static_cast<char32_t>(c)); });
}

bool isUpperText(std::string_view text)
{
    bool cased = false, good = true;
    eachCharacter(text, [&](char32_t c) {
        const auto code = static_cast<UChar32>(c);
        if (u_isULowercase(code) || u_istitle(code))
            good = false;
        cased = cased || u_isUUppercase(code);
    });
    return cased && good;
}

bool isLowerText(std::string_view text)
{
    bool cased = false, good = true;
    eachCharacter(text, [&](char32_t c) {
        const auto code = static_cast<UChar32>(c);
        if (u_isUUppercase(code) || u_istitle(code))
            good = false;
        cased = cased || u_isULowercase(code);
    });
    return cased && good;
}

bool isTitleText(std::string_view text)
{
    bool cased = false, good = true, previous = false;
    eachCharacter(text, [&](char32_t c) {
        const auto code = static_cast<UChar32>(c);
        if (u_isUUppercase(code) || u_istitle(code)) {
            good = good && !previous;
            previous = cased = true;
        } else if (u_isULowercase(code)) {
            good = good && previous;
            previous = cased = true;
        } else {
            previous = false;
        }
    });
    return cased && good;
}

bool isIdentifierText(std::string_view text)
{
    bool first = true, good = !text.empty();
    eachCharacter(text, [&](char32_t c) {
        const auto code = static_cast<UChar32>(c);
        good = good && (c == '_' || u_hasBinaryProperty(code, first ? UCHAR_XID_START : UCHAR_XID_CONTINUE));
        first = false;
    });
    return good;
}

std::vector<Range> splitSpace(std::string_view text, std::int64_t limit)
{
    std::vector<Range> parts;
    std::size_t at = stripBegin(text);
    while (at < text.size()) {
        if (limit >= 0 && static_cast<std::int64_t>(parts.size()) == limit) {
            parts.push_back({at, stripEnd(text)});
            break;
        }
        std::size_t end = at;
        while (end < text.size()) {
            const CodePoint c = decodeUtf8(text, end);
            if (isPythonSpace(c.value))
                break;
            end += c.length;
        }
        parts.push_back({at, end});
        at = end + stripBegin(text.substr(end));
    }
    return parts;
}

std::vector<Range> splitSpaceRight(std::string_view text, std::int64_t limit)
{
    std::vector<Range> parts;
    std::size_t end = stripEnd(text);
    while (end > 0) {
        if (limit >= 0 && static_cast<std::int64_t>(parts.size()) == limit) {
            parts.push_back({0, end}); // blanks before the rest stay
            break;
        }
        std::size_t begin = end;
        while (begin > 0) {
            const std::size_t length = characterLengthBefore(text, begin);
            if (isPythonSpace(decodeUtf8(text, begin - length).value))
                break;
            begin -= length;
        }
        parts.push_back({begin, end});
        end = stripEnd(text.substr(0, begin));
    }
    std::reverse(parts.begin(), parts.end());
    return parts;
}

std::vector<Range> splitAt(std::string_view text, std::string_view separator, std::int64_t limit)
{
    std::vector<Range> parts;
    std::size_t at = 0;
    while (limit < 0 || static_cast<std::int64_t>(parts.size()) < limit) {
        const std::size_t found = text.find(separator, at);
        if (found == std::string_view::npos)
            break;
        parts.push_back({at, found});
        at = found + separator.size();
    }
    parts.push_back({at, text.size()});
    return parts;
}

std::vector<Range> splitAtRight(std::string_view text, std::string_view separator, std::int64_t limit)
{
    std::vector<Range> parts;
    std::size_t end = text.size();
    while (limit < 0 || static_cast<std::int64_t>(parts.size()) < limit) {
        const std::size_t found = text.substr(0, end).rfind(separator);
        if (found == std::string_view::npos)
            break;
        parts.push_back({found + separator.size(), end});
        end = found;
    }
    parts.push_back({0, end});
    std::reverse(parts.begin(), parts.end());
    return parts;
}

std::vector<Range> splitLines(std::string_view text, bool keepEnds)
{
    std::vector<Range> parts;
    std::size_t begin = 0;
    for (std::size_t at = 0; at < text.size();) {
        const CodePoint c = decodeUtf8(text, at);
        std::size_t next = at + c.length;
        if (isLineBreak(c.value)) {
            if (c.value == '\r' && next < text.size() && text[next] == '\n')
                ++next;
            parts.push_back({begin, keepEnds ? next : at});
            begin = next;
        }
        at = next;
    }
    if (begin < text.size())
        parts.push_back({begin, text.size()});
    return parts;
}

} // namespace prosector::jinja
