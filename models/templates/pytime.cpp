// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/templates/pytime.h"

#include <charconv>
#include <clocale>
#include <ctime>

#include <locale.h>

namespace prosector {

namespace {

bool isLeap(int year)
{
    return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

constexpr int daysIn[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};

int dayOfYear(const TemplateTime &time)
{
    int days = time.day - 1;
    for (int month = 1; month < time.month; ++month)
        days += daysIn[month - 1] + (month == 2 && isLeap(time.year));
    return days;
}

/// 0 is Sunday.
int dayOfWeek(const TemplateTime &time)
{
    const int y = time.year - 1;
    return (y * 365 + y / 4 - y / 100 + y / 400 + dayOfYear(time) + 1) % 7;
}

bool number(std::string_view text, std::size_t &at, std::size_t digits, int &value)
{
    if (at + digits > text.size())
        return false;
    const char *const begin = text.data() + at;
    const auto parsed = std::from_chars(begin, begin + digits, value);
    at += digits;
    return parsed.ec == std::errc() && parsed.ptr == begin + digits && *begin != '-';
}

} // namespace

std::string formatTime(const TemplateTime &time, std::string_view format)
{
    std::tm moment{};
    moment.tm_year = time.year - 1900;
    moment.tm_mon = time.month - 1;
    moment.tm_mday = time.day;
    moment.tm_hour = time.hour;
    moment.tm_min = time.minute;
    moment.tm_sec = time.second;
    moment.tm_yday = dayOfYear(time);
    moment.tm_wday = dayOfWeek(time);
    moment.tm_isdst = -1;
    static const locale_t plain = newlocale(LC_ALL_MASK, "C", nullptr); // whatever the program around has set
    std::string out;
    for (std::size_t i = 0; i < format.size(); ++i) {
        if (format[i] != '%' || i + 1 >= format.size()) {
            out += format[i];
            continue;
        }
        std::string directive{'%', format[++i]};
        if ((format[i] == '-' || format[i] == '_' || format[i] == '0' || format[i] == '^' || format[i] == '#' || format[i] == 'E' || format[i] == 'O')
            && i + 1 < format.size())
            directive += format[++i];
        // datetime fills in three of its own; a naive one has no zone.
        if (directive == "%f") {
            const std::string digits = std::to_string(time.microsecond);
            out += std::string(6 - std::min<std::size_t>(6, digits.size()), '0') + digits;
        } else if (directive == "%z" || directive == "%Z") {
            continue;
        } else if (directive == "%s") {
            std::tm copy = moment;
            out += std::to_string(static_cast<long long>(timegm(&copy)));
        } else {
            char text[256];
            out.append(text, strftime_l(text, sizeof text, directive.c_str(), &moment, plain));
        }
    }
    return out;
}

std::optional<TemplateTime> parseTime(std::string_view text)
{
    TemplateTime time;
    time.hour = time.minute = time.second = 0;
    std::size_t at = 0;
    if (!number(text, at, 4, time.year) || text.substr(at, 1) != "-" || !number(text, ++at, 2, time.month) || text.substr(at, 1) != "-"
        || !number(text, ++at, 2, time.day))
        return std::nullopt;
    if (at < text.size()) {
        if ((text[at] != 'T' && text[at] != ' ') || !number(text, ++at, 2, time.hour) || text.substr(at, 1) != ":" || !number(text, ++at, 2, time.minute))
            return std::nullopt;
        if (text.substr(at, 1) == ":" && !number(text, ++at, 2, time.second))
            return std::nullopt;
        if (text.substr(at, 1) == "." || text.substr(at, 1) == ",") {
            int scale = 100'000;
            for (++at; at < text.size() && text[at] >= '0' && text[at] <= '9'; ++at, scale /= 10)
                time.microsecond += (text[at] - '0') * scale;
        }
        const std::string_view zone = text.substr(at);
        if (!zone.empty() && zone != "Z" && zone[0] != '+' && zone[0] != '-')
            return std::nullopt;
    }
    const int days = time.month >= 1 && time.month <= 12 ? daysIn[time.month - 1] + (time.month == 2 && isLeap(time.year)) : 0;
    if (time.year < 1 || time.day < 1 || time.day > days || time.hour > 23 || time.minute > 59 || time.second > 59)
        return std::nullopt;
    return time;
}

} // namespace prosector
