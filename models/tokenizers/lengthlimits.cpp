// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/tokenizers/lengthlimits.h"

#include <algorithm>

namespace prosector {

namespace {

constexpr std::int64_t longestPadding = 1 << 24; ///< tokens; a larger number in a file is damage

Error wrong(Value parent, const char *member, std::string expected)
{
    const Value node = parent[member];
    return {Errc::Malformed, parent.key() + " of the tokenizer", node ? node.anchor() : parent.anchor(), std::move(expected),
            node ? std::string(node.raw().substr(0, 60)) : "nothing"};
}

/// Serialised enumerations stand as a name, or as an object whose one key is the name.
std::string nameOf(Value node)
{
    if (node.isObject() && node.size() == 1)
        return (*node.begin()).key();
    return node.string("");
}

} // namespace

Result<LengthLimits> LengthLimits::make(Value root)
{
    LengthLimits limits;
    if (const Value node = root["truncation"]; node.isSet()) {
        const auto longest = node["max_length"].integer();
        const std::string direction = nameOf(node["direction"]), strategy = nameOf(node["strategy"]);
        if (!longest || *longest < 0)
            return wrong(node, "max_length", "a number of tokens");
        if (!direction.empty() && direction != "Left" && direction != "Right")
            return wrong(node, "direction", "Left or Right");
        if (!strategy.empty() && strategy != "LongestFirst" && strategy != "OnlyFirst" && strategy != "OnlySecond")
            return wrong(node, "strategy", "LongestFirst, OnlyFirst or OnlySecond");
        limits.m_truncation = {static_cast<std::size_t>(*longest), direction == "Left", strategy == "OnlySecond"};
    }
    if (const Value node = root["padding"]; node.isSet()) {
        const std::string direction = nameOf(node["direction"]), strategy = nameOf(node["strategy"]);
        const auto id = node["pad_id"].integer();
        const auto multiple = node["pad_to_multiple_of"].integer().value_or(0);
        const auto fixed = node["strategy"]["Fixed"].integer();
        if (direction != "Left" && direction != "Right")
            return wrong(node, "direction", "Left or Right");
        if (strategy != "BatchLongest" && !(strategy == "Fixed" && fixed && *fixed >= 0 && *fixed <= longestPadding))
            return wrong(node, "strategy", "BatchLongest or Fixed with a number of tokens");
        if (!id || *id < 0 || *id > UINT32_MAX)
            return wrong(node, "pad_id", "an id");
        if (multiple < 0 || multiple > longestPadding)
            return wrong(node, "pad_to_multiple_of", "a number of tokens");
        limits.m_padding = Padding{fixed ? std::optional(static_cast<std::size_t>(*fixed)) : std::nullopt,
                                   static_cast<std::size_t>(multiple), direction == "Left",
                                   static_cast<std::uint32_t>(*id), node["pad_token"].string("[PAD]")};
    }
    return limits;
}

Result<std::size_t> LengthLimits::truncate(Encoding &encoding, const PostProcessors &postProcessors,
                                           bool addSpecialTokens) const
{
    if (!m_truncation)
        return std::size_t{0};
    std::size_t longest = m_truncation->longest;
    if (addSpecialTokens) {
        Encoding probe;
        for (const auto &step : postProcessors)
            step->apply(probe, true);
        if (probe.size() > longest) {
            return Error{Errc::OutOfRange, "truncation of the tokenizer", JsonPath{"$.truncation.max_length"},
                         "room for " + std::to_string(probe.size()) + " special tokens", std::to_string(longest)};
        }
        longest -= probe.size();
    }
    if (encoding.size() <= longest)
        return std::size_t{0};
    if (m_truncation->secondOnly) {
        return Error{Errc::OutOfRange, "truncation of the tokenizer", JsonPath{"$.truncation.strategy"},
                     "a strategy that shortens a single text", "OnlySecond"};
    }
    const std::size_t surplus = encoding.size() - longest;
    if (m_truncation->left)
        encoding.erase(0, surplus);
    else
        encoding.erase(longest, encoding.size());
    return m_truncation->left ? surplus : 0;
}

void LengthLimits::pad(Encoding &encoding) const
{
    if (!m_padding)
        return;
    std::size_t length = m_padding->fixed.value_or(encoding.size());
    if (m_padding->multiple > 0)
        length = (length + m_padding->multiple - 1) / m_padding->multiple * m_padding->multiple;
    if (length <= encoding.size())
        return;
    encoding.insert(m_padding->left ? 0 : encoding.size(), length - encoding.size(), m_padding->id, m_padding->token);
}

} // namespace prosector
