// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/artifacts/logline.h"

#include <algorithm>
#include <cctype>

namespace prosector {

namespace {

/// Longest prefix that is looked for; longer ones are part of the message.
constexpr std::size_t longest = 160;

bool isDigit(char c)
{
    return c >= '0' && c <= '9';
}

/// '0' stands for any digit, other characters for themselves.
bool fits(std::string_view text, std::string_view form)
{
    if (text.size() < form.size())
        return false;
    return std::equal(form.begin(), form.end(), text.begin(), [](char f, char c) { return f == '0' ? isDigit(c) : f == c; });
}

std::size_t afterBlanks(std::string_view line, std::size_t at)
{
    while (at < line.size() && line[at] == ' ')
        ++at;
    return at;
}

/// `host name[123]: ` from `at` on: the length up to its end, 0 when it is not there.
std::size_t unitEnd(std::string_view line, std::size_t at)
{
    const auto end = line.substr(0, longest).find("]: ", at);
    if (end == std::string_view::npos)
        return 0;
    std::size_t digits = end;
    while (digits > at && isDigit(line[digits - 1]))
        --digits;
    return digits < end && digits > at + 1 && line[digits - 1] == '[' ? end + 3 : 0;
}

/// journald and syslog: a short month in any language, the day, the time.
std::size_t journal(std::string_view line)
{
    if (fits(line, "0000-00-00T00:00:00")) {
        const auto blank = line.substr(0, longest).find(' ');
        return blank == std::string_view::npos ? 0 : unitEnd(line, blank);
    }
    const auto month = line.substr(0, 16).find(' ');
    if (month == std::string_view::npos || month < 2)
        return 0;
    std::size_t at = afterBlanks(line, month);
    const std::size_t day = at;
    while (at < line.size() && isDigit(line[at]))
        ++at;
    if (at == day || at - day > 2 || !fits(line.substr(at), " 00:00:00 "))
        return 0;
    return unitEnd(line, at + 10);
}

/// `name-1  | `: a name of a container, blanks, a bar.
std::size_t compose(std::string_view line)
{
    std::size_t at = 0;
    while (at < line.size() && at < 64 && (std::isalnum(static_cast<unsigned char>(line[at])) || line[at] == '-' || line[at] == '_' || line[at] == '.'))
        ++at;
    const std::size_t bar = afterBlanks(line, at);
    return at > 0 && bar > at && fits(line.substr(bar), "| ") ? bar + 2 : 0;
}

} // namespace

std::size_t collectorPrefix(std::string_view line)
{
    if (line.starts_with("> "))
        return 2;
    if (const std::size_t length = compose(line))
        return length;
    if (line.starts_with("[pod/")) {
        const auto end = line.substr(0, longest).find("] ");
        return end == std::string_view::npos ? 0 : end + 2;
    }
    if (fits(line, "[0000-00-00 00:00:00")) {
        const auto end = line.substr(0, longest).find("[WASI-NN] llama.cpp: ");
        if (end != std::string_view::npos)
            return end + 21;
    }
    if (fits(line, "0000-00-00T00:00:00")) {
        for (const std::string_view stream : {" stdout F ", " stderr F ", " stdout P ", " stderr P "}) {
            const auto at = line.substr(0, 64).find(stream);
            if (at != std::string_view::npos)
                return at + stream.size();
        }
    }
    return journal(line);
}

std::size_t stampPrefix(std::string_view line)
{
    if (!fits(line, "0000-00-00T00:00:00") && !fits(line, "0000-00-00 00:00:00"))
        return 0;
    std::size_t at = 19;
    while (at < line.size() && (isDigit(line[at]) || line[at] == '.' || line[at] == ',' || line[at] == 'Z' || line[at] == '+' || line[at] == ':'))
        ++at;
    return at < line.size() && line[at] == ' ' ? at + 1 : 0;
}

} // namespace prosector
