// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/artifacts/artifact.h"

#include <algorithm>
#include <array>

namespace prosector {

namespace {

// In the order of the enum.
constexpr std::array kindNames = std::to_array<std::string_view>({
    "unknown", "lfs_pointer", "config_files", "tokenizer_files", "chat_template", "adapter_files", "weights",
    "weight_index", "model_card", "quantization_config", "trace_manifest", "token_array", "rendered_prompt",
    "request_body", "response_body", "sse_stream", "startup_log", "effective_config",
    "effective_sampling_params", "engine_args", "attention_mask", "position_ids", "logits", "tensors",
    "kv_cache_table", "cache_log", "cache_key_fields", "weight_stats", "activation_stats", "encode_record",
    "training_batch", "training_log", "preference_pairs", "index_stats", "retrieval_log", "eval_samples",
    "eval_config", "judge_verdicts", "metric_history", "histogram_snapshot", "request_log",
    "replica_inventory", "deploy_events", "probe_config", "kernel_trace", "sweep", "data", "text", "archive",
});
static_assert(kindNames.size() == static_cast<std::size_t>(Kind::Archive) + 1);

} // namespace

std::string_view nameOf(Kind kind)
{
    return kindNames[static_cast<std::size_t>(kind)];
}

Kind kindFromString(std::string_view name)
{
    const auto *const it = std::find(kindNames.begin(), kindNames.end(), name);
    return it == kindNames.end() ? Kind::Unknown : static_cast<Kind>(it - kindNames.begin());
}

DocumentPtr LinesContent::document(std::size_t index) const
{
    const Line &line = lines[index];
    const auto bytes = source->read(line.offset, line.length);
    // A file that has shrunk since gives an empty document, whose problem says that nothing is there.
    return Document::parseJson(bytes ? std::string(asText(*bytes)) : std::string());
}

TextContent::TextContent(std::string t) : TextContent(std::move(t), Gap()) {}

TextContent::TextContent(std::string t, Gap leftOut) : text(std::move(t)), lineStarts{0}, gap(leftOut)
{
    for (std::size_t at = text.find('\n'); at != std::string::npos; at = text.find('\n', at + 1)) {
        if (at + 1 < text.size())
            lineStarts.push_back(static_cast<std::uint32_t>(at + 1));
    }
    m_gapLine = static_cast<std::size_t>(std::lower_bound(lineStarts.begin(), lineStarts.end(), gap.at) - lineStarts.begin());
}

std::optional<std::size_t> TextContent::position(std::size_t index) const
{
    if (gap.lines == 0 || index < m_gapLine)
        return index;
    if (index < m_gapLine + gap.lines)
        return std::nullopt;
    return index - gap.lines;
}

std::string_view TextContent::line(std::size_t index) const
{
    const auto at = position(index);
    if (!at)
        return {};
    const std::size_t begin = lineStarts[*at];
    const std::size_t end = *at + 1 < lineStarts.size() ? lineStarts[*at + 1] : text.size();
    auto line = std::string_view(text).substr(begin, end - begin);
    while (!line.empty() && (line.back() == '\n' || line.back() == '\r'))
        line.remove_suffix(1);
    return line;
}

std::uint64_t TextContent::lineOffset(std::size_t index) const
{
    const auto at = position(index);
    if (!at)
        return gap.at;
    return lineStarts[*at] + (gap.bytes > 0 && lineStarts[*at] >= gap.at ? gap.bytes : 0);
}

std::size_t TextContent::lineAt(std::uint64_t offset) const
{
    const bool behind = gap.bytes > 0 && offset >= gap.at + gap.bytes;
    if (gap.bytes > 0 && !behind && offset >= gap.at)
        return m_gapLine;
    const auto next = std::upper_bound(lineStarts.begin(), lineStarts.end(), behind ? offset - gap.bytes : offset);
    return static_cast<std::size_t>(next - lineStarts.begin()) - 1 + (behind ? gap.lines : 0);
}

} // namespace prosector
