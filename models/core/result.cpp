// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/core/result.h"

namespace prosector {

std::string_view nameOf(Errc code)
{
    switch (code) {
    case Errc::NotFound: return "not_found";
    case Errc::Unreadable: return "unreadable";
    case Errc::Truncated: return "truncated";
    case Errc::Malformed: return "malformed";
    case Errc::TooLarge: return "too_large";
    case Errc::Unsupported: return "unsupported";
    case Errc::OutOfRange: return "out_of_range";
    case Errc::Cancelled: return "cancelled";
    case Errc::Usage: return "usage";
    case Errc::Internal: return "internal";
    }
    return "unknown";
}

std::string describe(const Error &error)
{
    std::string text = error.message;
    if (const std::string where = describe(error.where); !where.empty())
        text += (text.empty() ? "at " : " at ") + where;
    if (!error.expected.empty() || !error.found.empty()) {
        text += " (";
        if (!error.expected.empty())
            text += "expected " + error.expected;
        if (!error.expected.empty() && !error.found.empty())
            text += ", ";
        if (!error.found.empty())
            text += "found " + error.found;
        text += ')';
    }
    return text;
}

} // namespace prosector
