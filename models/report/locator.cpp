// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/report/locator.h"

namespace prosector {

namespace {

std::optional<std::uint64_t> count(Value value)
{
    const auto number = value.integer();
    if (!number || *number < 0)
        return std::nullopt;
    return static_cast<std::uint64_t>(*number);
}

std::vector<std::uint64_t> counts(Value list)
{
    std::vector<std::uint64_t> numbers;
    for (const Value value : list) {
        if (const auto number = count(value))
            numbers.push_back(*number);
    }
    return numbers;
}

template<class Range>
std::optional<Anchor> range(Value locator)
{
    const auto from = count(locator["from"]);
    const auto to = count(locator["to"]);
    if (!from || !to || *to < *from)
        return std::nullopt;
    return Range{*from, *to};
}

} // namespace

std::optional<Anchor> anchorFromLocator(Value locator)
{
    const std::string type = locator["type"].string("");
    if (type == "whole")
        return Whole{};
    if (type == "byte_range")
        return range<ByteRange>(locator);
    if (type == "log_line")
        return range<LogLine>(locator);
    if (type == "json_path") {
        if (auto path = locator["path"].string())
            return JsonPath{std::move(*path)};
    }
    if (type == "token_range")
        return range<TokenRange>(locator);
    if (type == "template_span")
        return range<TemplateSpan>(locator);
    if (type == "step_range")
        return range<StepRange>(locator);
    if (type == "tensor_block") {
        if (auto tensor = locator["tensor"].string())
            return TensorBlock{std::move(*tensor), counts(locator["from"]), counts(locator["to"])};
    }
    if (type == "mask_cells") {
        MaskCells cells;
        for (const Value rect : locator["rects"]) {
            const auto q = counts(rect["q"]);
            const auto k = counts(rect["k"]);
            if (q.size() == 2 && k.size() == 2)
                cells.rects.push_back({q[0], q[1], k[0], k[1]});
        }
        return cells;
    }
    if (type == "cache_rows")
        return CacheRows{counts(locator["rows"])};
    if (type == "item_ids") {
        ItemIds items;
        for (const Value id : locator["ids"])
            items.ids.push_back(id.string(""));
        return items;
    }
    if (type == "time_span") {
        const auto from = locator["from"].number();
        const auto to = locator["to"].number();
        if (from && to)
            return TimeSpan{*from, *to};
    }
    return std::nullopt;
}

} // namespace prosector
