// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/report/jsonparts.h"

#include "models/core/plaintext.h"
#include "models/core/utf8.h"

#include <array>
#include <cstdio>

#include <nlohmann/json.hpp>

namespace prosector::report {

namespace {

void appendEscape(std::string &text, char32_t unit)
{
    std::array<char, 8> spelled{};
    std::snprintf(spelled.data(), spelled.size(), "\\u%04x", static_cast<unsigned>(unit & 0xFFFF));
    text += spelled.data();
}

/// JSON text with the characters that could steer a terminal as escapes.
std::string harmless(std::string_view dumped)
{
    std::string text;
    text.reserve(dumped.size() + 1);
    for (std::size_t at = 0; at < dumped.size();) {
        const CodePoint point = decodeUtf8(dumped, at);
        // Below U+0020 only the layout's own newlines are left: the writer has escaped the others.
        if (point.value < 0x7F || !isHostileCharacter(point.value)) {
            text.append(dumped, at, point.length);
        } else if (point.value < 0x10000) {
            appendEscape(text, point.value);
        } else {
            appendEscape(text, 0xD800 + ((point.value - 0x10000) >> 10));
            appendEscape(text, 0xDC00 + ((point.value - 0x10000) & 0x3FF));
        }
        at += point.length;
    }
    return text;
}

} // namespace

std::string jsonText(const nlohmann::ordered_json &json)
{
    return harmless(json.dump(1)) + '\n';
}

std::string jsonLine(const nlohmann::ordered_json &json)
{
    return harmless(json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
}

nlohmann::ordered_json inputsJson(const Run &run)
{
    nlohmann::ordered_json json = nlohmann::ordered_json::array();
    for (const Input &input : run.inputs())
        json.push_back({{"path", toValidUtf8(input.path)}, {"kind", input.kind}, {"sha256", input.sha256}});
    return json;
}

void appendUnreadable(nlohmann::ordered_json &list, const Run &run, bool baseline)
{
    for (const Unreadable &unreadable : run.unreadable()) {
        const Error &error = unreadable.error;
        nlohmann::ordered_json entry{{"path", toValidUtf8(unreadable.path)}};
        if (const auto *const range = std::get_if<ByteRange>(&error.where))
            entry["offset"] = range->from;
        else if (const std::string where = describe(error.where); !where.empty())
            entry["at"] = toValidUtf8(where);
        entry["code"] = nameOf(error.code);
        entry["message"] = toValidUtf8(error.message);
        entry["expected"] = toValidUtf8(error.expected);
        entry["found"] = toValidUtf8(error.found);
        if (run.inputs().size() > 1)
            entry["input"] = unreadable.input;
        if (baseline)
            entry["run"] = "B";
        list.push_back(std::move(entry));
    }
}

} // namespace prosector::report
