// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/prompts/tokenlogprobs.h"

#include <algorithm>
#include <limits>

namespace prosector {

float logprobOf(Value value)
{
    return static_cast<float>(value.number().value_or(std::numeric_limits<double>::quiet_NaN()));
}

std::vector<TokenArray::Alternative> alternativesOf(Value list)
{
    std::vector<TokenArray::Alternative> all;
    for (const Value entry : list) {
        std::string piece = list.isArray() ? entry["token"].string(entry["piece"].string(entry["text"].string("")))
                                           : entry["decoded_token"].string(entry.key());
        if (piece.empty() && entry["id"].isNumber())
            piece = std::to_string(entry["id"].integer().value_or(0));
        all.push_back({std::move(piece), logprobOf(entry.isObject() ? entry["logprob"] : entry)});
    }
    return all;
}

void addLogprobs(TokenArray &array, Value logprobs, Value top, Value ranks)
{
    const std::size_t size = array.size();
    if (logprobs.isArray() && logprobs.size() == size) {
        for (const Value value : logprobs)
            array.logprobs.push_back(logprobOf(value.isObject() ? value["logprob"] : value));
    }
    if (top.isArray() && top.size() == size) {
        for (const Value value : top)
            array.alternatives.push_back(alternativesOf(value));
    }
    if (ranks.isArray() && ranks.size() == size) {
        for (const Value value : ranks)
            array.ranks.push_back(static_cast<std::uint32_t>(std::clamp<std::int64_t>(value.integer().value_or(0), 0, UINT32_MAX)));
    }
}

} // namespace prosector
