// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/wire/sse.h"

#include <algorithm>

namespace prosector {

std::vector<SseEvent> readSse(std::string_view text)
{
    std::vector<SseEvent> events;
    SseEvent event;
    bool hasData = false;
    const auto finish = [&] {
        if (hasData)
            events.push_back(std::move(event));
        event = {};
        hasData = false;
    };
    if (text.starts_with("\xEF\xBB\xBF"))
        text.remove_prefix(3);
    std::uint64_t line = 0;
    for (std::size_t begin = 0; begin < text.size();) {
        ++line;
        const auto end = std::min(text.find_first_of("\r\n", begin), text.size());
        const auto content = text.substr(begin, end - begin);
        begin = end + (text.substr(end, 2) == "\r\n" ? 2 : 1);
        if (content.empty()) {
            finish();
            continue;
        }
        const auto colon = content.find(':');
        const auto field = content.substr(0, colon);
        auto value = colon == std::string_view::npos ? std::string_view() : content.substr(colon + 1);
        if (value.starts_with(' '))
            value.remove_prefix(1);
        if (field == "event") {
            event.type = value;
        } else if (field == "data") {
            // Many clients write one event a line and leave the blank lines out.
            if (hasData && (value.starts_with('{') || value == "[DONE]"))
                finish();
            if (hasData)
                event.data += '\n';
            else
                event.line = line;
            event.data += value;
            event.lastLine = line;
            hasData = true;
        }
    }
    finish();
    return events;
}

} // namespace prosector
