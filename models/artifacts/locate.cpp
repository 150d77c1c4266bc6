// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/artifacts/locate.h"

#include "models/artifacts/tensors.h"

#include <algorithm>

namespace prosector {

namespace {

std::optional<ByteRange> bytesOfPath(const Artifact &artifact, const std::string &path)
{
    if (const auto *const tree = artifact.as<TreeContent>()) {
        if (const Value value = tree->document->at(path))
            return value.range();
    }
    if (const auto *const gguf = artifact.as<GgufContent>()) {
        for (const GgufEntry &entry : gguf->entries) {
            if (GgufContent::anchor(entry.key).path == path)
                return entry.bytes;
        }
    }
    return std::nullopt;
}

std::optional<ByteRange> bytesOfLines(const Artifact &artifact, const LogLine &lines)
{
    const auto *const text = artifact.as<TextContent>();
    if (!text || lines.from == 0 || lines.to < lines.from || lines.to > text->lineCount())
        return std::nullopt;
    const std::uint64_t begin = text->lineStarts[lines.from - 1];
    return ByteRange{begin, text->lineStarts[lines.to - 1] + text->line(lines.to - 1).size()};
}

} // namespace

std::optional<ByteRange> bytesOf(const Artifact &artifact, const Anchor &where)
{
    if (const auto *const bytes = std::get_if<ByteRange>(&where))
        return *bytes;
    if (const auto *const path = std::get_if<JsonPath>(&where))
        return bytesOfPath(artifact, path->path);
    if (const auto *const lines = std::get_if<LogLine>(&where))
        return bytesOfLines(artifact, *lines);
    if (const auto *const span = std::get_if<TemplateSpan>(&where)) {
        // The template's own text is the whole file only where the file is plain text.
        if (artifact.as<TextContent>())
            return ByteRange{span->from, span->to};
    }
    if (const auto *const block = std::get_if<TensorBlock>(&where)) {
        const auto *const tensors = artifact.as<TensorContent>();
        if (const TensorInfo *const tensor = tensors ? tensors->find(block->tensor) : nullptr)
            return tensor->bytes;
    }
    return std::nullopt;
}

std::optional<std::uint64_t> lineOf(const Artifact &artifact, std::uint64_t offset)
{
    std::string_view text;
    if (const auto *const tree = artifact.as<TreeContent>())
        text = tree->document->text();
    else if (const auto *const plain = artifact.as<TextContent>())
        text = plain->text;
    if (text.empty() || offset > text.size())
        return std::nullopt;
    return 1 + static_cast<std::uint64_t>(std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(offset), '\n'));
}

} // namespace prosector
