// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/core/anchor.h"

#include "models/core/overloaded.h"
#include "models/core/wording.h"

#include <charconv>

namespace prosector {

namespace {

std::string span(std::string_view unit, std::uint64_t from, std::uint64_t to)
{
    const bool several = to > from + 1;
    return (several ? std::string(unit) : singular(unit)) + ' ' + std::to_string(from) + (several ? "–" + std::to_string(to) : "");
}

/// The shortest digits that give the number back; the same in every locale.
std::string seconds(double time)
{
    std::array<char, 32> buffer{};
    return {buffer.data(), std::to_chars(buffer.data(), buffer.data() + buffer.size(), time).ptr};
}

} // namespace

std::string_view typeName(const Anchor &anchor)
{
    static constexpr std::array<std::string_view, std::variant_size_v<Anchor>> names{
        "whole",      "byte_range", "log_line", "json_path", "token_range", "template_span", "tensor_block",
        "mask_cells", "cache_rows", "item_ids", "time_span", "step_range"};
    return names[anchor.index()];
}

std::string describe(const Anchor &anchor)
{
    return std::visit(
        Overloaded{
            [](const Whole &) { return std::string(); },
            [](const ByteRange &a) { return span("bytes", a.from, a.to); },
            [](const LogLine &a) { return a.to > a.from ? "lines " + std::to_string(a.from) + "–" + std::to_string(a.to)
                                                                 : "line " + std::to_string(a.from); },
            [](const JsonPath &a) { return a.path; },
            [](const TokenRange &a) { return span("tokens", a.from, a.to); },
            [](const TemplateSpan &a) { return span("template bytes", a.from, a.to); },
            [](const TensorBlock &a) { return a.tensor; },
            [](const MaskCells &a) { return counted(a.rects.size(), "mask area"); },
            [](const CacheRows &a) { return counted(a.rows.size(), "row"); },
            [](const ItemIds &a) { return counted(a.ids.size(), "item"); },
            [](const TimeSpan &a) { return seconds(a.from) + "–" + seconds(a.to) + " s"; },
            [](const StepRange &a) { return span("steps", a.from, a.to); },
        },
        anchor);
}

} // namespace prosector
