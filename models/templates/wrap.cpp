// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/templates/wrap.h"

#include "models/core/utf8.h"
#include "models/templates/raised.h"

#include <unicode/uchar.h>

namespace prosector::jinja {

namespace {

bool isWordCharacter(char32_t c)
{
    return c == '_' || u_isalnum(static_cast<UChar32>(c));
}

bool isBlank(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

bool isLetter(char32_t c)
{
    return isWordCharacter(c) && !u_isdigit(static_cast<UChar32>(c)) && c != '_';
}

/// textwrap's chunks: blanks, and words that may end behind a hyphen between letters or before a dash.
std::vector<Range> chunks(std::string_view text, bool hyphens)
{
    std::vector<Range> out;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t begin = at;
        const bool blank = isBlank(text[at]);
        while (at < text.size() && isBlank(text[at]) == blank)
            at += blank ? 1 : characterLength(text, at);
        if (blank || !hyphens) {
            out.push_back({begin, at});
            continue;
        }
        std::size_t from = begin;
        const auto point = [&](std::size_t i) { return i < at ? decodeUtf8(text, i).value : U'\0'; };
        for (std::size_t i = begin; i < at;) {
            if (text[i] != '-') {
                i += characterLength(text, i);
                continue;
            }
            std::size_t run = i;
            while (run < at && text[run] == '-')
                ++run;
            const bool dash = run - i >= 2 && i > from && run < at && isWordCharacter(point(run));
            if (dash) {
                out.push_back({from, i});
                out.push_back({i, run});
                from = run;
            } else if (run - i == 1 && i >= from + 2 && run < at) {
                // letters-letters: two letters on either side (or letter, hyphen, letter further on)
                const std::size_t one = i - characterLengthBefore(text, i);
                const std::size_t two = one > from ? one - characterLengthBefore(text, one) : one;
                const std::size_t next = run + characterLength(text, run);
                const bool before = isLetter(point(one)) && (two < one && (isLetter(point(two)) || (text[two] == '-' && two > from)));
                const bool after = isLetter(point(run)) && next < at && (isLetter(point(next)) || text[next] == '-');
                if (before && after) {
                    out.push_back({from, run});
                    from = run;
                }
            }
            i = run;
        }
        if (from < at)
            out.push_back({from, at});
    }
    return out;
}

} // namespace

std::vector<Range> wrapped(std::string_view line, const WrapOptions &options)
{
    if (options.width <= 0)
        raise(Exc::ValueError, "invalid width " + std::to_string(options.width) + " (must be > 0)");
    std::vector<Range> lines;
    std::vector<Range> parts = chunks(line, options.breakOnHyphens);
    const auto length = [&line](const Range &part) { return codePointCount(line.substr(part.from, part.to - part.from)); };
    const auto blank = [&line](const Range &part) { return stripEnd(line.substr(part.from, part.to - part.from)) == 0; };
    std::size_t next = 0;
    while (next < parts.size()) {
        if (!lines.empty() && blank(parts[next]))
            ++next;
        std::vector<Range> current;
        std::int64_t used = 0;
        while (next < parts.size() && used + length(parts[next]) <= options.width) {
            used += length(parts[next]);
            current.push_back(parts[next++]);
        }
        if (next < parts.size() && length(parts[next]) > options.width) {
            const std::int64_t space = options.width - used;
            if (options.breakLongWords && space > 0) {
                Range &long_ = parts[next];
                std::size_t cut = long_.from + byteOfCodePoint(line.substr(long_.from, long_.to - long_.from), space);
                if (options.breakOnHyphens) {
                    const std::string_view head = line.substr(long_.from, cut - long_.from);
                    const std::size_t hyphen = head.rfind('-');
                    if (hyphen != std::string_view::npos && hyphen > 0 && head.substr(0, hyphen).find_first_not_of('-') != std::string_view::npos)
                        cut = long_.from + hyphen + 1;
                }
                current.push_back({long_.from, cut});
                long_.from = cut;
            } else if (current.empty()) {
                current.push_back(parts[next++]);
            }
        }
        if (!current.empty() && blank(current.back()))
            current.pop_back();
        if (!current.empty())
            lines.push_back({current.front().from, current.back().to});
    }
    return lines;
}

std::int64_t countWords(std::string_view text)
{
    std::int64_t words = 0;
    bool inside = false;
    for (std::size_t at = 0; at < text.size();) {
        const CodePoint c = decodeUtf8(text, at);
        const bool word = isWordCharacter(c.value);
        words += word && !inside;
        inside = word;
        at += c.length;
    }
    return words;
}

} // namespace prosector::jinja
