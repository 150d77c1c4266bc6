// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/config/canonicaljson.h"

#include "models/core/hex.h"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace prosector {

namespace {

void appendEscaped(std::string &out, std::string_view text)
{
    out += '"';
    for (const char c : text) {
        switch (c) {
        case '"': out += "\\\""; break;
        case '\\': out += "\\\\"; break;
        case '\n': out += "\\n"; break;
        case '\r': out += "\\r"; break;
        case '\t': out += "\\t"; break;
        case '\f': out += "\\f"; break;
        case '\b': out += "\\b"; break;
        default:
            if (static_cast<unsigned char>(c) < 0x20) {
                out += "\\u00" + lowerHex(static_cast<unsigned char>(c));
            } else {
                out += c;
            }
        }
    }
    out += '"';
}

void appendCanonical(std::string &out, Value value)
{
    if (value.isObject()) {
        std::vector<std::pair<std::string, Value>> members;
        for (const Value member : value)
            members.emplace_back(member.key(), member);
        std::stable_sort(members.begin(), members.end(), [](auto &a, auto &b) { return a.first < b.first; });
        out += '{';
        for (std::size_t i = 0; i < members.size(); ++i) {
            if (i + 1 < members.size() && members[i + 1].first == members[i].first)
                continue; // the last of duplicates wins
            if (out.back() != '{')
                out += ',';
            appendEscaped(out, members[i].first);
            out += ':';
            appendCanonical(out, members[i].second);
        }
        out += '}';
    } else if (value.isArray()) {
        out += '[';
        bool first = true;
        for (const Value element : value) {
            if (!first)
                out += ',';
            first = false;
            appendCanonical(out, element);
        }
        out += ']';
    } else if (const auto text = value.string()) {
        appendEscaped(out, *text);
    } else {
        out += value.raw();
    }
}

} // namespace

std::string canonicalJson(Value value)
{
    std::string out;
    if (value)
        appendCanonical(out, value);
    return out;
}

std::string canonicalText(std::string_view text)
{
    std::string out;
    appendEscaped(out, text);
    return out;
}

} // namespace prosector
