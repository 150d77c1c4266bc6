// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/config/weightstatistics.h"

#include "models/artifacts/rowtable.h"
#include "models/config/servingdtype.h"
#include "models/core/ascii.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <initializer_list>
#include <limits>

namespace prosector {

namespace {

std::optional<std::size_t> anyColumn(const RowTable &table, std::initializer_list<std::string_view> names)
{
    for (const std::string_view name : names) {
        if (const auto column = table.column(name))
            return column;
    }
    return std::nullopt;
}

/// A number, or the word for one that is none.
std::optional<double> magnitudeAt(const RowTable &table, std::size_t row, std::optional<std::size_t> column)
{
    if (!column)
        return std::nullopt;
    if (const auto number = table.number(row, *column))
        return std::abs(*number);
    const auto magnitude = magnitudeOf(table.text(row, *column));
    return magnitude && std::isnan(*magnitude) ? std::nullopt : magnitude;
}

} // namespace

std::optional<double> magnitudeOf(std::string_view text)
{
    std::string word = asciiLower(text);
    if (word.starts_with('+') || word.starts_with('-'))
        word.erase(0, 1);
    if (word == "inf" || word == "infinity")
        return std::numeric_limits<double>::infinity();
    if (word == "nan")
        return std::numeric_limits<double>::quiet_NaN();
    double number = 0;
    const auto end = std::from_chars(word.data(), word.data() + word.size(), number);
    return end.ec == std::errc() && end.ptr == word.data() + word.size() && !word.empty() ? std::optional(std::abs(number)) : std::nullopt;
}

Result<std::vector<TensorStatistics>> weightStatistics(const Run &run, const Job &job)
{
    std::vector<TensorStatistics> all;
    for (const Artifact *const artifact : run.ofKind(Kind::WeightStats)) {
        auto table = RowTable::of(*artifact, job);
        if (!table)
            return table.error();
        const auto name = *table ? anyColumn(**table, {"tensor", "name", "parameter"}) : std::nullopt;
        if (!name)
            continue;
        const RowTable &rows = **table;
        const auto dtype = anyColumn(rows, {"dtype", "torch_dtype"}), inf = anyColumn(rows, {"inf", "infs"}), nan = anyColumn(rows, {"nan", "nans"});
        const auto outer = rows.outer()["dtype"].string("");
        for (std::size_t row = 0; row < rows.rowCount(); ++row) {
            TensorStatistics one{std::string(rows.text(row, *name)), canonicalDtype(dtype ? rows.text(row, *dtype) : outer)};
            for (const auto column : {anyColumn(rows, {"abs_max", "absmax", "max_abs"}), anyColumn(rows, {"min"}), anyColumn(rows, {"max"})}) {
                if (const auto value = magnitudeAt(rows, row, column))
                    one.largest = std::max(one.largest.value_or(0), *value);
            }
            for (const auto column : {inf, nan}) {
                if (const auto count = column ? rows.number(row, *column) : std::nullopt)
                    one.notFinite += *count;
            }
            one.where = {artifact->id, rows.anchor(row), one.name + " in the weight statistics"};
            all.push_back(std::move(one));
        }
    }
    return all;
}

} // namespace prosector
