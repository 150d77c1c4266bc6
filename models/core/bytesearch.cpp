// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/core/bytesearch.h"

#include "models/core/ascii.h"

#include <algorithm>
#include <functional>

namespace prosector {

namespace {

constexpr std::uint64_t blockSize = 4ULL << 20;

struct Fold {
    bool ignoreCase;
    std::size_t operator()(char c) const { return std::hash<char>()(ignoreCase ? asciiLower(c) : c); }
};

/// Matches beginning inside [from, to); the first or the last of them.
Result<std::optional<ByteRange>> findIn(const ByteSource &source, const ByteSearch &search, std::uint64_t from,
                                        std::uint64_t to, const Job &job)
{
    const auto same = [fold = search.ignoreCase](char a, char b) { return fold ? asciiLower(a) == asciiLower(b) : a == b; };
    const std::boyer_moore_horspool_searcher searcher(search.needle.begin(), search.needle.end(), Fold{search.ignoreCase}, same);
    const std::uint64_t length = search.needle.size();
    const std::uint64_t blocks = (to - from + blockSize - 1) / blockSize;
    for (std::uint64_t i = 0; i < blocks; ++i) {
        if (job.cancelled())
            return Job::cancelledError();
        job.progress(static_cast<double>(i) / static_cast<double>(blocks), "searching");
        const std::uint64_t begin = from + (search.forward ? i : blocks - 1 - i) * blockSize;
        const std::uint64_t end = std::min(begin + blockSize, to);
        const auto bytes = source.readUpTo(begin, end - begin + length - 1);
        if (!bytes)
            return bytes.error();
        const std::string_view text = asText(*bytes);
        std::optional<ByteRange> found;
        for (auto at = text.begin();;) {
            const auto match = std::search(at, text.end(), searcher);
            if (match == text.end())
                break;
            const std::uint64_t offset = begin + static_cast<std::uint64_t>(match - text.begin());
            found = ByteRange{offset, offset + length};
            if (search.forward)
                return found;
            at = match + 1;
        }
        if (found)
            return found;
    }
    return std::optional<ByteRange>();
}

} // namespace

Result<std::optional<ByteRange>> findBytes(const ByteSource &source, const ByteSearch &search, const Job &job)
{
    const std::uint64_t size = source.size();
    if (search.needle.empty() || search.needle.size() > size)
        return std::optional<ByteRange>();
    const std::uint64_t split = std::min(search.from, size);
    const auto first = search.forward ? findIn(source, search, split, size, job) : findIn(source, search, 0, split, job);
    if (!first || *first)
        return first;
    return search.forward ? findIn(source, search, 0, split, job) : findIn(source, search, split, size, job);
}

} // namespace prosector
