// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/config/requestlengths.h"

#include "models/artifacts/rowtable.h"
#include "models/core/ascii.h"

#include <algorithm>
#include <array>
#include <optional>

namespace prosector {

namespace {

/// Columns that hold prompt lengths in tables and request traces: Mooncake, Azure, BurstGPT, own histories.
constexpr auto lengthColumns = std::to_array<std::string_view>(
    {"prompt_tokens", "input_tokens", "input_length", "contexttokens", "num_prompt_tokens", "prompt_length", "prompt_len", "request tokens",
     "request_tokens", "context_tokens", "n_prompt_tokens", "prompt_n", "usage.prompt_tokens", "usage.input_tokens", "attributes.gen_ai.usage.input_tokens"});

/// Tables are read by column, other kinds of evidence too when a length column says what they are.
bool mayBeTable(const Artifact &artifact)
{
    const bool kind = artifact.kind == Kind::RequestLog || artifact.kind == Kind::MetricHistory || artifact.kind == Kind::Data;
    return kind && (artifact.as<TextContent>() || artifact.as<LinesContent>());
}

Result<bool> fromTable(const Artifact &artifact, const Job &job, std::vector<RequestLength> &lengths)
{
    const auto columns = RowTable::columnsOf(artifact);
    const auto known = [](std::string_view name) {
        return std::find(lengthColumns.begin(), lengthColumns.end(), asciiLower(name)) != lengthColumns.end();
    };
    if (std::none_of(columns.begin(), columns.end(), known))
        return false;
    const auto table = RowTable::of(artifact, job);
    if (!table)
        return table.error();
    if (!*table)
        return false;
    std::optional<std::size_t> column;
    for (std::size_t i = 0; i < lengthColumns.size() && !column; ++i)
        column = (*table)->column(lengthColumns[i]);
    for (std::size_t row = 0; column && row < (*table)->rowCount(); ++row) {
        const auto tokens = (*table)->number(row, *column);
        if (tokens && *tokens >= 0)
            lengths.push_back({*tokens, {artifact.id, (*table)->anchor(row), (*table)->columns()[*column] + " = " + std::string((*table)->text(row, *column))}});
    }
    return column.has_value();
}

Value promptTokens(Value body)
{
    const Value usage = body["usage"];
    for (const Value value : {usage["prompt_tokens"], usage["input_tokens"], body["prompt_eval_count"], body["timings"]["prompt_n"],
                              body["meta_info"]["prompt_tokens"], body["input_length"], body["prompt_tokens"],
                              body["num_prompt_tokens"], body["input_tokens"]}) {
        if (value.isNumber())
            return value;
    }
    return {};
}

} // namespace

Result<std::vector<RequestLength>> requestLengths(const Run &run, const Job &job)
{
    std::vector<RequestLength> lengths;
    const auto add = [&](const Artifact &artifact, Value body, std::optional<std::uint64_t> line) {
        const Value tokens = promptTokens(body);
        const auto number = tokens.number();
        if (!number || !(*number >= 0))
            return;
        Evidence where{artifact.id, tokens.anchor(), tokens.key() + " = " + std::string(tokens.raw())};
        if (line)
            where.where = LogLine{*line, *line};
        lengths.push_back({*number, std::move(where)});
    };
    for (const Artifact &artifact : run.artifacts()) {
        if (mayBeTable(artifact)) {
            const auto read = fromTable(artifact, job, lengths);
            if (!read)
                return read.error();
            if (*read)
                continue;
        }
        if (artifact.kind != Kind::RequestLog && artifact.kind != Kind::ResponseBody)
            continue;
        if (const auto *const lines = artifact.as<LinesContent>()) {
            for (std::size_t i = 0; i < lines->lines.size(); ++i) {
                if (i % 1024 == 0 && job.cancelled())
                    return Job::cancelledError();
                add(artifact, lines->document(i)->root(), lines->lines[i].line);
            }
        } else if (const Value root = artifact.tree(); root.isArray()) {
            for (const Value body : root)
                add(artifact, body, std::nullopt);
        } else {
            add(artifact, root, std::nullopt);
        }
    }
    return lengths;
}

} // namespace prosector
