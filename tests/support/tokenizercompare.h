// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/core/document.h"
#include "models/tokenizers/encoding.h"

#include <algorithm>
#include <string>
#include <utility>

namespace prosector {

/// Byte ranges as the reference libraries' Python sides give them: code points. A place inside a
/// character counts as that character's begin, or at the end of a range as its end.
inline std::pair<std::int64_t, std::int64_t> codePoints(const std::string &text, TextRange origin)
{
    const auto starts = [&](std::size_t end) {
        std::int64_t count = 0;
        for (std::size_t i = 0; i < std::min(end, text.size()); ++i)
            count += (static_cast<unsigned char>(text[i]) & 0xC0) != 0x80;
        return count;
    };
    return {starts(origin.begin), starts(origin.end)};
}

/// The first id that differs, or nothing.
inline std::string idDifference(const std::vector<std::uint32_t> &got, Value ids)
{
    for (std::size_t i = 0; i < std::max(got.size(), ids.size()); ++i) {
        if (i >= got.size() || i >= ids.size() || ids[i].integer() != std::int64_t(got[i])) {
            return "id " + std::to_string(i) + ": " + (i < got.size() ? std::to_string(got[i]) : "none") + " for "
                + (i < ids.size() ? std::string(ids[i].raw()) : "none");
        }
    }
    return {};
}

/// The first difference between an encoding and `{"ids": [], "tokens": [], "offsets": [[b, e]]}` in code
/// points; empty when there is none.
inline std::string difference(const Encoding &got, Value row, const std::string &text, const char *tokens = "tokens")
{
    const Value ids = row["ids"];
    for (std::size_t i = 0; i < std::max(got.size(), ids.size()); ++i) {
        const std::string place = std::to_string(i) + ": ";
        if (i >= got.size() || i >= ids.size() || ids[i].integer() != std::int64_t(got.ids[i]))
            return "id " + place + (i < got.size() ? std::to_string(got.ids[i]) : "none") + " for " + std::string(ids[i].raw());
        if (got.tokens[i] != row[tokens][i].string(""))
            return "token " + place + got.tokens[i] + " for " + row[tokens][i].string("");
        const auto [begin, end] = codePoints(text, got.offsets[i]);
        const Value range = row["offsets"][i];
        if (begin != range[0].integer() || end != range[1].integer())
            return "offset " + place + std::to_string(begin) + "-" + std::to_string(end) + " for " + std::string(range.raw());
    }
    return {};
}

} // namespace prosector
