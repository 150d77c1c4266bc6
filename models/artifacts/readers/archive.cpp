// SPDX-License-Identifier: GPL-3.0-or-later
// Archives lying inside a folder: listed with their number of members, not unpacked. (An archive given
// as an input is expanded by Run::open.)
#include "models/artifacts/reader.h"
#include "models/core/archive.h"

#include <algorithm>
#include <charconv>
#include <optional>

namespace prosector {

namespace {

constexpr std::uint64_t maxListed = 100'000;

std::uint64_t little(std::string_view bytes, std::size_t at, std::size_t size)
{
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < size; ++i)
        value |= static_cast<std::uint64_t>(static_cast<unsigned char>(bytes[at + i])) << (8 * i);
    return value;
}

/// The count that the end of a zip's central directory declares (APPNOTE 4.3.16, 4.3.14).
std::optional<std::uint64_t> zipMembers(const ByteSource &source)
{
    constexpr std::uint64_t longestEnd = 22 + 65535;
    const auto from = source.size() - std::min(source.size(), longestEnd);
    const auto bytes = source.readUpTo(from, longestEnd);
    if (!bytes)
        return std::nullopt;
    const auto tail = asText(*bytes);
    const auto end = tail.rfind("PK\x05\x06");
    if (end == std::string_view::npos || tail.size() - end < 22)
        return std::nullopt;
    const auto count = little(tail, end + 10, 2);
    if (count != 0xFFFF)
        return count;
    const auto wide = tail.rfind("PK\x06\x06", end);
    return wide == std::string_view::npos || tail.size() - wide < 40 ? count : little(tail, wide + 32, 8);
}

/// Headers of a plain tar, which lie at every member's beginning (POSIX ustar).
std::optional<std::uint64_t> tarMembers(const ByteSource &source, const Job &job)
{
    constexpr std::uint64_t block = 512;
    std::uint64_t count = 0;
    for (std::uint64_t at = 0; at + block <= source.size() && count < maxListed;) {
        const auto bytes = source.read(at, block);
        if (!bytes || job.cancelled())
            return std::nullopt;
        const auto header = asText(*bytes);
        if (header[0] == 0)
            break;
        std::uint64_t size = 0;
        const auto digits = header.substr(124, 12);
        const auto first = digits.find_first_not_of(' ');
        if (first == std::string_view::npos
            || std::from_chars(digits.data() + first, digits.data() + digits.size(), size, 8).ec != std::errc())
            return std::nullopt;
        count += header[156] == '0' || header[156] == 0;
        if (size > source.size())
            return std::nullopt;
        at += block + (size + block - 1) / block * block;
    }
    return count;
}

int sniffArchive(const Head &head)
{
    return looksLikeArchive(head.bytes) ? 60 : 0;
}

Result<Reading> openListed(SourcePtr source, const Job &job)
{
    const auto head = source->readUpTo(0, headBytes);
    if (!head)
        return head.error();
    const auto text = asText(*head);
    Reading reading{.kind = Kind::Archive, .summary = "compressed tar"};
    const bool zip = text.starts_with("PK");
    const bool tar = text.size() > 262 && text.substr(257, 5) == "ustar";
    if (!zip && !tar)
        return reading;
    const auto members = zip ? zipMembers(*source) : tarMembers(*source, job);
    if (members) {
        reading.summary = std::string(zip ? "zip, " : "tar, ") + std::to_string(*members) + (*members == 1 ? " member" : " members");
    } else {
        reading.summary = zip ? "zip" : "tar";
        reading.problems.push_back({Errc::Truncated, "damaged archive", ByteRange{0, source->size()},
                                    zip ? "a central directory at the end" : "a header every member", "none"});
    }
    return reading;
}

} // namespace

extern constinit const Reader reader_archive{"archive", "archive", sniffArchive, openListed};

} // namespace prosector
