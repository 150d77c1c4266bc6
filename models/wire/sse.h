// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace prosector {

/// One event of a server-sent event stream (WHATWG HTML, 9.2.6). Lines are counted from 1.
struct SseEvent {
    std::string type; ///< `event:`, "" when not named
    std::string data; ///< the `data:` lines, joined with line feeds
    std::uint64_t line = 0, lastLine = 0; ///< of the data
};

/// The events that carry data, in order. Never fails: unknown fields and comments are passed over, and an
/// event that the text ends in counts too (a capture may be cut).
std::vector<SseEvent> readSse(std::string_view text);

} // namespace prosector
