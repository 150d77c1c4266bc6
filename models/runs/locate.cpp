// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/runs/locate.h"

#include "models/artifacts/tensors.h"
#include "models/core/utf8.h"

#include <algorithm>

namespace prosector {

namespace {

std::optional<ByteRange> inside(const Artifact &artifact, ByteRange range)
{
    if (range.from > range.to || range.to > artifact.size)
        return std::nullopt;
    return range;
}

const Document *documentOf(const Artifact &artifact)
{
    if (const auto *const tree = artifact.as<TreeContent>())
        return tree->document.get();
    if (const auto *const index = artifact.as<WeightIndexContent>())
        return index->document.get();
    return nullptr;
}

std::optional<ByteRange> bytesOfPath(const Artifact &artifact, const std::string &path)
{
    if (const Document *const document = documentOf(artifact)) {
        const Value value = document->at(path);
        return value ? inside(artifact, value.range()) : std::nullopt;
    }
    if (const auto *const gguf = artifact.as<GgufContent>()) {
        for (const GgufEntry &entry : gguf->entries) {
            if (GgufContent::anchor(entry.key).path == path)
                return inside(artifact, entry.bytes);
        }
    }
    return std::nullopt;
}

std::optional<ByteRange> bytesOfLines(const Artifact &artifact, LogLine lines)
{
    if (lines.from < 1 || lines.to < lines.from)
        return std::nullopt;
    if (const auto *const text = artifact.as<TextContent>()) {
        if (lines.to > text->lineCount())
            return std::nullopt;
        const auto last = static_cast<std::size_t>(lines.to - 1);
        return inside(artifact,
                      {text->lineOffset(static_cast<std::size_t>(lines.from - 1)), text->lineOffset(last) + text->line(last).size()});
    }
    if (const auto *const content = artifact.as<LinesContent>()) {
        const auto find = [&](std::uint64_t number) {
            const auto it = std::lower_bound(content->lines.begin(), content->lines.end(), number,
                                             [](const auto &line, std::uint64_t n) { return line.line < n; });
            return it != content->lines.end() && it->line == number ? &*it : nullptr;
        };
        const auto *const first = find(lines.from);
        const auto *const last = find(lines.to);
        if (first && last)
            return inside(artifact, {first->offset, last->offset + last->length});
    }
    if (const std::string_view text = textOf(artifact); !text.empty()) {
        std::uint64_t number = 1;
        std::size_t at = 0;
        for (; number < lines.from && at != std::string_view::npos; ++number) {
            at = text.find('\n', at);
            at = at == std::string_view::npos ? at : at + 1;
        }
        if (at == std::string_view::npos)
            return std::nullopt;
        std::size_t end = text.find('\n', at);
        for (; number < lines.to && end != std::string_view::npos; ++number)
            end = text.find('\n', end + 1);
        if (number < lines.to)
            return std::nullopt;
        return inside(artifact, {at, std::min(end, text.size())});
    }
    return std::nullopt;
}

/// Bytes of a block, where its elements lie together: a range of the outermost dimension of plain
/// types. The whole tensor else.
std::optional<ByteRange> bytesOfTensor(const Artifact &artifact, const TensorBlock &block)
{
    const auto *const content = artifact.as<TensorContent>();
    const TensorInfo *const tensor = content ? content->find(block.tensor) : nullptr;
    if (!tensor)
        return std::nullopt;
    ByteRange bytes = tensor->bytes;
    const bool rows = !block.from.empty() && block.from.size() == block.to.size() && !tensor->shape.empty()
        && block.from[0] < block.to[0] && block.to[0] <= tensor->shape[0];
    if (rows && !content->fortranOrder && bytes.size() % tensor->shape[0] == 0) {
        const std::uint64_t row = bytes.size() / tensor->shape[0];
        bytes = {bytes.from + block.from[0] * row, bytes.from + block.to[0] * row};
        if (block.from.size() == 1 || tensor->shape.size() < 2)
            return inside(artifact, bytes);
        // One row, a run of its elements.
        const bool single = block.to[0] == block.from[0] + 1 && tensor->shape.size() == 2 && block.from.size() == 2;
        if (single && block.from[1] < block.to[1] && block.to[1] <= tensor->shape[1] && row % tensor->shape[1] == 0) {
            const std::uint64_t element = row / tensor->shape[1];
            bytes = {bytes.from + block.from[1] * element, bytes.from + block.to[1] * element};
        }
    }
    return inside(artifact, bytes);
}

std::optional<ByteRange> spanOfTemplate(Value text, TemplateSpan span)
{
    if (!text.isString())
        return std::nullopt;
    const auto bytes = spanInLiteral(text.raw(), span.from, span.to);
    if (!bytes)
        return std::nullopt;
    return ByteRange{text.range().from + bytes->from, text.range().from + bytes->to};
}

std::optional<ByteRange> bytesOfTemplate(const Artifact &artifact, TemplateSpan span)
{
    if (const Document *const document = documentOf(artifact)) {
        const Value chat = document->root()["chat_template"];
        if (const auto bytes = spanOfTemplate(chat, span))
            return inside(artifact, *bytes);
        for (const Value named : chat) {
            const Value text = named.isObject() ? named["template"] : named;
            if (const auto bytes = spanOfTemplate(text, span))
                return inside(artifact, *bytes);
        }
        return std::nullopt;
    }
    if (const auto *const gguf = artifact.as<GgufContent>()) {
        for (const GgufEntry &entry : gguf->entries) {
            // The value ends the entry.
            if (entry.key == "tokenizer.chat_template" && span.from <= span.to && span.to <= entry.value.text.size())
                return inside(artifact,
                              {entry.bytes.to - entry.value.text.size() + span.from,
                               entry.bytes.to - entry.value.text.size() + span.to});
        }
        return std::nullopt;
    }
    return artifact.as<TextContent>() ? inside(artifact, {span.from, span.to}) : std::nullopt;
}

struct Finder {
    const Artifact &artifact;
    std::optional<ByteRange> operator()(const Whole &) const { return ByteRange{0, artifact.size}; }
    std::optional<ByteRange> operator()(const ByteRange &bytes) const { return inside(artifact, bytes); }
    std::optional<ByteRange> operator()(const LogLine &lines) const { return bytesOfLines(artifact, lines); }
    std::optional<ByteRange> operator()(const JsonPath &path) const { return bytesOfPath(artifact, path.path); }
    std::optional<ByteRange> operator()(const TensorBlock &block) const { return bytesOfTensor(artifact, block); }
    std::optional<ByteRange> operator()(const TemplateSpan &span) const { return bytesOfTemplate(artifact, span); }
    template<class Other>
    std::optional<ByteRange> operator()(const Other &) const
    {
        return std::nullopt;
    }
};

} // namespace

std::optional<ByteRange> anchorToBytes(const Artifact &artifact, const Anchor &where)
{
    return std::visit(Finder{artifact}, where);
}

std::optional<ByteRange> spanInLiteral(std::string_view literal, std::uint64_t from, std::uint64_t to)
{
    if (literal.size() < 2 || from > to)
        return std::nullopt;
    const std::size_t end = literal.size() - 1;
    std::uint64_t decoded = 0; // bytes before `at`, decoded
    std::optional<std::uint64_t> begin;
    for (std::size_t at = 1;;) {
        if (!begin && decoded == from)
            begin = at;
        if (begin && decoded >= to)
            return ByteRange{*begin, at};
        if (at >= end)
            return std::nullopt;
        std::size_t length = 1;
        std::uint64_t size = 1;
        if (literal[at] == '\\') {
            const auto text = [&] { return unescapeJson(literal.substr(at, std::min(length, end - at))); };
            length = at + 1 < end && literal[at + 1] == 'u' ? 12 : 2;
            // Two escapes are one character of four bytes when they are a pair of surrogates.
            if (length == 12 && (literal.substr(at + 6, 2) != "\\u" || static_cast<unsigned char>(text()[0]) < 0xF0))
                length = 6;
            length = std::min(length, end - at);
            size = text().size();
        }
        if (!begin && from < decoded + size)
            begin = at; // inside a character: from its start
        decoded += size;
        at += length;
    }
}

std::string_view textOf(const Artifact &artifact)
{
    if (const auto *const text = artifact.as<TextContent>())
        return text->text;
    if (const Document *const document = documentOf(artifact))
        return document->text();
    return {};
}

} // namespace prosector
