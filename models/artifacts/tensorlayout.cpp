// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/artifacts/tensorlayout.h"

#include <algorithm>
#include <map>
#include <unordered_map>

namespace prosector {

namespace {

std::string andMore(std::uint64_t count)
{
    return count > 1 ? " (and " + std::to_string(count - 1) + " more)" : std::string();
}

void checkInsideFile(const std::vector<TensorInfo> &tensors, std::uint64_t fileSize, Problems &problems)
{
    const TensorInfo *first = nullptr;
    std::uint64_t count = 0, end = 0;
    for (const TensorInfo &tensor : tensors) {
        if (tensor.bytes.to <= fileSize)
            continue;
        ++count;
        end = std::max(end, tensor.bytes.to);
        if (!first || tensor.bytes.from < first->bytes.from)
            first = &tensor;
    }
    if (first) {
        problems.add({Errc::Truncated,
                      "tensor \"" + first->name + '"' + andMore(count) + " ends behind the end of the file", first->bytes,
                      "a file of at least " + std::to_string(end) + " bytes", std::to_string(fileSize) + " bytes"});
    }
}

void checkOverlaps(const std::vector<TensorInfo> &tensors, Problems &problems)
{
    std::vector<const TensorInfo *> sorted;
    sorted.reserve(tensors.size());
    for (const TensorInfo &tensor : tensors) {
        if (tensor.bytes.size() > 0)
            sorted.push_back(&tensor);
    }
    const auto before = [](const TensorInfo *a, const TensorInfo *b) { return a->bytes < b->bytes; };
    if (!std::is_sorted(sorted.begin(), sorted.end(), before))
        std::stable_sort(sorted.begin(), sorted.end(), before);
    const TensorInfo *furthest = nullptr, *first = nullptr, *over = nullptr;
    std::uint64_t count = 0;
    for (const TensorInfo *const tensor : sorted) {
        if (furthest && tensor->bytes.from < furthest->bytes.to && count++ == 0) {
            first = tensor;
            over = furthest;
        }
        if (!furthest || tensor->bytes.to > furthest->bytes.to)
            furthest = tensor;
    }
    if (first) {
        problems.add({Errc::Malformed, "tensor \"" + first->name + '"' + andMore(count) + " overlaps \"" + over->name + '"',
                      ByteRange{first->bytes.from, std::min(first->bytes.to, over->bytes.to)},
                      "to begin at " + std::to_string(over->bytes.to) + " or behind it",
                      std::to_string(first->bytes.from)});
    }
}

void checkNames(const std::vector<TensorInfo> &tensors, Problems &problems)
{
    std::unordered_map<std::string_view, const TensorInfo *> seen;
    seen.reserve(tensors.size());
    for (const TensorInfo &tensor : tensors) {
        if (const auto [earlier, fresh] = seen.try_emplace(tensor.name, &tensor); !fresh) {
            problems.add({Errc::Malformed, "tensor name \"" + tensor.name + "\" stands twice",
                          tensor.entry.size() ? Anchor(tensor.entry) : Anchor(TensorBlock{tensor.name}), "each name once",
                          tensor.shapeText() + ' ' + tensor.dtypeName + " after " + earlier->second->shapeText() + ' '
                              + earlier->second->dtypeName});
        }
    }
}

} // namespace

std::optional<std::uint64_t> storedBytes(const DType *dtype, std::span<const std::uint64_t> shape)
{
    if (!dtype || dtype->blockBytes == 0)
        return std::nullopt;
    std::uint64_t elements = 1;
    for (const std::uint64_t extent : shape) {
        if (__builtin_mul_overflow(elements, extent, &elements))
            return std::nullopt;
    }
    // ggml quantises rows; the packed types of safetensors (two F4 in a byte) run on across them.
    const std::uint64_t inner = shape.empty() ? 1 : dtype->blockElements >= 32 ? shape.back() : elements;
    if (inner % dtype->blockElements != 0)
        return std::nullopt;
    std::uint64_t bytes = 0;
    if (__builtin_mul_overflow(elements / dtype->blockElements, std::uint64_t(dtype->blockBytes), &bytes))
        return std::nullopt;
    return bytes;
}

void placeTensor(TensorInfo &tensor, std::uint64_t dataBegin, std::uint64_t relative, Problems &problems)
{
    std::uint64_t begin = 0, end = 0;
    if (__builtin_add_overflow(dataBegin, relative, &begin)) {
        tensor.bytes = {dataBegin, dataBegin};
        problems.add({Errc::OutOfRange, "tensor \"" + tensor.name + "\" begins behind any possible file", tensor.entry, "",
                      "offset " + std::to_string(relative)});
        return;
    }
    tensor.bytes = {begin, begin};
    if (!tensor.dtype) {
        problems.add({Errc::Unsupported,
                      "tensor \"" + tensor.name + "\" has a type whose size is unknown: " + tensor.dtypeName, tensor.entry});
        return;
    }
    const auto size = storedBytes(tensor.dtype, tensor.shape);
    if (!size && tensor.dtype->blockElements > 1 && !tensor.shape.empty()
        && tensor.shape.back() % tensor.dtype->blockElements != 0) {
        problems.add({Errc::Malformed, "tensor \"" + tensor.name + "\" has rows that are no whole number of blocks",
                      tensor.entry, "a multiple of " + std::to_string(tensor.dtype->blockElements) + " for " + tensor.dtypeName,
                      std::to_string(tensor.shape.back())});
    } else if (!size || __builtin_add_overflow(begin, *size, &end)) {
        problems.add({Errc::OutOfRange, "tensor \"" + tensor.name + "\" is larger than any possible file", tensor.entry, "",
                      tensor.shapeText() + ' ' + tensor.dtypeName});
    } else {
        tensor.bytes.to = end;
    }
}

void checkTensorLayout(const std::vector<TensorInfo> &tensors, std::uint64_t fileSize, Problems &problems)
{
    checkInsideFile(tensors, fileSize, problems);
    checkOverlaps(tensors, problems);
    checkNames(tensors, problems);
}

std::string tensorSummary(const TensorContent &content)
{
    std::string text = std::to_string(content.tensors.size()) + (content.tensors.size() == 1 ? " tensor" : " tensors");
    std::map<std::string_view, std::uint64_t> byType;
    std::uint64_t all = 0;
    for (const TensorInfo &tensor : content.tensors) {
        byType[tensor.dtypeName] += tensor.bytes.size();
        all += tensor.bytes.size(); // wraps only for ranges already reported
    }
    if (byType.empty())
        return text;
    const auto most = std::max_element(byType.begin(), byType.end(),
                                       [](const auto &a, const auto &b) { return a.second < b.second; });
    return text + ", " + sizeText(all) + (byType.size() > 1 ? ", mostly " : ", ") + std::string(most->first);
}

} // namespace prosector
