// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/core/zip.h"

#include "models/core/utf8.h"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <optional>
#include <unordered_map>

namespace prosector {

namespace {

constexpr std::uint64_t endBytes = 22, entryBytes = 46, localBytes = 30, window = 1 << 16;
constexpr std::uint64_t maxDirectory = 256ULL << 20;

std::uint64_t number(std::span<const std::byte> bytes, std::size_t at, std::size_t width)
{
    std::uint64_t value = 0;
    for (std::size_t i = width; i-- > 0;)
        value = value << 8 | std::to_integer<std::uint64_t>(bytes[at + i]);
    return value;
}

/// Where the central directory is.
struct End {
    std::uint64_t count = 0, size = 0, offset = 0;
    std::uint64_t shift = 0; ///< bytes before the archive proper, as in self-extracting ones
};

Error malformed(std::string message, ByteRange where, std::string expected = {}, std::string found = {})
{
    return {Errc::Malformed, std::move(message), where, std::move(expected), std::move(found)};
}

Result<std::optional<End>> zip64End(const ByteSource &source, std::uint64_t endAt)
{
    if (endAt < 20)
        return std::optional<End>();
    const auto locator = source.read(endAt - 20, 20);
    if (!locator)
        return locator.error();
    if (number(*locator, 0, 4) != 0x07064b50)
        return std::optional<End>();
    const std::uint64_t at = number(*locator, 8, 8);
    const ByteRange where{endAt - 20, endAt};
    if (at > endAt - 20 || endAt - 20 - at < 56)
        return malformed("the zip64 record is not where its locator says", where, "at most " + std::to_string(endAt - 76),
                         std::to_string(at));
    const auto record = source.read(at, 56);
    if (!record)
        return record.error();
    if (number(*record, 0, 4) != 0x06064b50)
        return malformed("the zip64 record is not where its locator says", where, "its signature at " + std::to_string(at),
                         "other bytes");
    return std::optional(End{number(*record, 32, 8), number(*record, 40, 8), number(*record, 48, 8), 0});
}

Result<End> findEnd(const ByteSource &source)
{
    const std::uint64_t tailBytes = std::min<std::uint64_t>(source.size(), endBytes + UINT16_MAX);
    const auto tail = source.read(source.size() - tailBytes, tailBytes);
    if (!tail)
        return tail.error();
    for (std::uint64_t at = tailBytes < endBytes ? 0 : tailBytes - endBytes + 1; at-- > 0;) {
        const auto record = std::span(*tail).subspan(at);
        // The comment must reach the end of the file: a signature inside a comment is none.
        if (record[0] != std::byte{'P'} || number(record, 0, 4) != 0x06054b50
            || number(record, 20, 2) + endBytes != record.size())
            continue;
        const std::uint64_t endAt = source.size() - tailBytes + at;
        if (number(record, 4, 2) != number(record, 6, 2) || (number(record, 4, 2) != 0 && number(record, 4, 2) != UINT16_MAX))
            return Error{Errc::Unsupported, "a zip archive in several parts", ByteRange{endAt, source.size()}};
        End end{number(record, 10, 2), number(record, 12, 4), number(record, 16, 4), 0};
        std::uint64_t directoryEnd = endAt;
        // PyTorch writes a zip64 record even where the short fields suffice.
        const auto wide = zip64End(source, endAt);
        if (!wide)
            return wide.error();
        if (*wide) {
            end = **wide;
            directoryEnd = endAt - 20 - 56;
        }
        if (end.size > directoryEnd || end.offset > directoryEnd - end.size) {
            return malformed("the central directory leaves the file", {endAt, source.size()},
                             "to end at " + std::to_string(directoryEnd) + " or before",
                             std::to_string(end.size) + " bytes from " + std::to_string(end.offset));
        }
        end.shift = directoryEnd == endAt ? endAt - end.size - end.offset : 0;
        return end;
    }
    return Error{Errc::Truncated, "no central directory: the end of the zip archive is missing",
                 ByteRange{source.size(), source.size()}, "its end record", "the end of the file"};
}

class DirectoryReader {
public:
    DirectoryReader(const ByteSource &source, const Job &job, End end) : m_source(source), m_job(job), m_end(end) {}

    Result<ZipDirectory> read(std::uint64_t limit)
    {
        if (m_end.size > maxDirectory)
            return Error{Errc::TooLarge, "the central directory is too large", ByteRange{m_end.offset, m_end.offset + m_end.size},
                         "at most " + sizeText(maxDirectory), sizeText(m_end.size)};
        const std::uint64_t base = m_end.offset + m_end.shift;
        const auto bytes = m_source.read(base, m_end.size);
        if (!bytes)
            return bytes.error();
        std::uint64_t at = 0, count = 0;
        for (; count < m_end.count && count < limit; ++count) {
            if ((count & 255) == 0 && m_job.cancelled())
                return Job::cancelledError();
            const auto rest = std::span(*bytes).subspan(at);
            const ByteRange where{base + at, base + at};
            if (rest.size() < entryBytes || number(rest, 0, 4) != 0x02014b50) {
                m_directory.problems.push_back(malformed("the central directory ends early", where,
                                                         std::to_string(m_end.count) + " members", std::to_string(count)));
                break;
            }
            const std::uint64_t length = entryBytes + number(rest, 28, 2) + number(rest, 30, 2) + number(rest, 32, 2);
            if (length > rest.size()) {
                m_directory.problems.push_back(malformed("an entry leaves the central directory", where,
                                                         "at most " + std::to_string(rest.size()) + " bytes", std::to_string(length)));
                break;
            }
            entry(rest.first(length), {base + at, base + at + length});
            at += length;
        }
        if (count == limit && m_end.count > limit)
            m_directory.problems.push_back({Errc::TooLarge, "more members than are listed", Whole{},
                                            "at most " + std::to_string(limit), std::to_string(m_end.count)});
        dropOverlaps();
        dropDuplicates();
        return std::move(m_directory);
    }

private:
    void refuse(const ZipEntry &entry, Errc code, const std::string &why, ByteRange where, std::string expected = {},
                std::string found = {})
    {
        m_directory.problems.push_back({code, '"' + toValidUtf8(entry.name) + "\": " + why, where, std::move(expected), std::move(found)});
    }

    void entry(std::span<const std::byte> bytes, ByteRange where)
    {
        ZipEntry entry;
        entry.flags = static_cast<std::uint16_t>(number(bytes, 8, 2));
        entry.method = static_cast<std::uint16_t>(number(bytes, 10, 2));
        entry.crc = static_cast<std::uint32_t>(number(bytes, 16, 4));
        entry.size = number(bytes, 24, 4);
        std::uint64_t packed = number(bytes, 20, 4), offset = number(bytes, 42, 4);
        const std::size_t nameBytes = number(bytes, 28, 2);
        entry.name = asText(bytes.subspan(entryBytes, nameBytes));
        if (!wideFields(bytes.subspan(entryBytes + nameBytes, number(bytes, 30, 2)), entry.size, packed, offset))
            return refuse(entry, Errc::Malformed, "its zip64 field is too short", where);
        if (entry.isFolder())
            return;
        const bool unixMade = number(bytes, 5, 1) == 3;
        if (unixMade && (number(bytes, 38, 4) >> 16 & 0170000U) == 0120000U)
            return refuse(entry, Errc::Unsupported, "a symbolic link, not followed", where);
        if (entry.flags & 0x2041U || entry.method == 99)
            return refuse(entry, Errc::Unsupported, "encrypted", where);
        if (entry.method != 0 && entry.method != 8)
            return refuse(entry, Errc::Unsupported, "packed by a method that is not read", where, "0 (stored) or 8 (deflated)",
                          std::to_string(entry.method));
        if (entry.isStored() && packed != entry.size)
            return refuse(entry, Errc::Malformed, "stored, yet of two sizes", where, std::to_string(entry.size) + " bytes",
                          std::to_string(packed) + " bytes");
        if (!locate(entry, packed, offset, where))
            return;
        m_directory.entries.push_back(std::move(entry));
    }

    static bool wideFields(std::span<const std::byte> extra, std::uint64_t &size, std::uint64_t &packed, std::uint64_t &offset)
    {
        while (extra.size() >= 4) {
            const std::size_t length = number(extra, 2, 2);
            if (length > extra.size() - 4)
                break;
            if (number(extra, 0, 2) == 1) {
                auto field = extra.subspan(4, length);
                for (std::uint64_t *const value : {&size, &packed, &offset}) {
                    if (*value != UINT32_MAX)
                        continue;
                    if (field.size() < 8)
                        return false;
                    *value = number(field, 0, 8);
                    field = field.subspan(8);
                }
                return true;
            }
            extra = extra.subspan(4 + length);
        }
        return true;
    }

    bool locate(ZipEntry &entry, std::uint64_t packed, std::uint64_t offset, ByteRange where)
    {
        const std::uint64_t end = m_end.offset + m_end.shift; // members lie before the directory
        std::uint64_t begin = 0;
        if (__builtin_add_overflow(offset, m_end.shift, &begin) || begin > end || end - begin < localBytes) {
            refuse(entry, Errc::OutOfRange, "its local header leaves the archive", where, "an offset below " + std::to_string(end),
                   std::to_string(offset));
            return false;
        }
        const auto local = m_source.read(begin, localBytes);
        if (!local || number(*local, 0, 4) != 0x04034b50) {
            refuse(entry, Errc::Malformed, "no local header where the directory says", {begin, begin + 4}, "its signature",
                   local ? "other bytes" : local.error().message);
            return false;
        }
        const std::uint64_t nameBytes = number(*local, 26, 2), head = localBytes + nameBytes + number(*local, 28, 2);
        if (head > end - begin || packed > end - begin - head) {
            refuse(entry, Errc::Truncated, "leaves the archive", where, "at most " + std::to_string(end - begin) + " bytes",
                   std::to_string(packed) + " bytes");
            return false;
        }
        const auto name = m_source.read(begin + localBytes, nameBytes);
        if (!name || asText(*name) != entry.name) {
            refuse(entry, Errc::Malformed, "its local header names another file", {begin + localBytes, begin + localBytes + nameBytes},
                   toValidUtf8(entry.name), name ? toValidUtf8(asText(*name)) : std::string());
            return false;
        }
        entry.packed = {begin + head, begin + head + packed};
        entry.header = {begin, entry.packed.to};
        return true;
    }

    void dropOverlaps()
    {
        auto &entries = m_directory.entries;
        std::vector<std::size_t> order(entries.size());
        std::iota(order.begin(), order.end(), std::size_t(0));
        std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return entries[a].header.from < entries[b].header.from; });
        std::vector<bool> drop(entries.size());
        std::optional<std::size_t> last;
        for (const std::size_t i : order) {
            if (last && entries[i].header.from < entries[*last].header.to) {
                drop[i] = true;
                refuse(entries[i], Errc::Malformed, "overlaps \"" + toValidUtf8(entries[*last].name) + "\", as in a zip bomb",
                       entries[i].header, "to begin at " + std::to_string(entries[*last].header.to) + " or behind it",
                       std::to_string(entries[i].header.from));
            } else {
                last = i;
            }
        }
        keep(drop);
    }

    void dropDuplicates()
    {
        auto &entries = m_directory.entries;
        std::unordered_map<std::string_view, std::size_t> seen;
        std::vector<bool> drop(entries.size());
        for (std::size_t i = entries.size(); i-- > 0;) {
            if (!seen.try_emplace(entries[i].name, i).second) {
                drop[i] = true;
                refuse(entries[i], Errc::Malformed, "stands twice; the later member counts", entries[i].header);
            }
        }
        keep(drop);
    }

    void keep(const std::vector<bool> &drop)
    {
        if (std::find(drop.begin(), drop.end(), true) == drop.end())
            return;
        std::vector<ZipEntry> kept;
        for (std::size_t i = 0; i < drop.size(); ++i) {
            if (!drop[i])
                kept.push_back(std::move(m_directory.entries[i]));
        }
        m_directory.entries = std::move(kept);
    }

    const ByteSource &m_source;
    const Job &m_job;
    End m_end;
    ZipDirectory m_directory;
};

/// Ends the stream whatever way unpacking ends.
struct Inflater {
    z_stream stream{};
    bool ready = inflateInit2(&stream, -MAX_WBITS) == Z_OK;
    Inflater() = default;
    Inflater(const Inflater &) = delete;
    Inflater &operator=(const Inflater &) = delete;
    ~Inflater() { inflateEnd(&stream); }
};

class Unpacking {
public:
    Unpacking(const ByteSource &source, const ZipEntry &entry, std::uint64_t limit, const Job &job,
              const std::function<Result<void>(std::span<const std::byte>)> &use)
        : m_source(source), m_entry(entry), m_wanted(std::min(entry.size, limit)), m_job(job), m_use(use)
    {
    }

    Result<void> run()
    {
        Bytes in(window), out(m_entry.isStored() ? 0 : window);
        Inflater inflater;
        if (!inflater.ready)
            return Error{Errc::Unreadable, "zlib does not start"};
        bool ended = false;
        for (std::uint64_t at = m_entry.packed.from; !ended && m_done < m_wanted && at < m_entry.packed.to;) {
            if (m_job.cancelled())
                return Job::cancelledError();
            const auto part = std::span(in).first(std::min<std::uint64_t>(window, m_entry.packed.to - at));
            if (auto read = m_source.read(at, part); !read)
                return read.error();
            const std::uint64_t begin = at;
            at += part.size();
            if (m_entry.isStored()) {
                if (auto done = take(part); !done)
                    return done;
                continue;
            }
            inflater.stream.next_in = reinterpret_cast<Bytef *>(part.data());
            inflater.stream.avail_in = static_cast<uInt>(part.size());
            while (!ended && m_done < m_wanted && (inflater.stream.avail_in > 0 || inflater.stream.avail_out == 0)) {
                inflater.stream.next_out = reinterpret_cast<Bytef *>(out.data());
                inflater.stream.avail_out = static_cast<uInt>(out.size());
                const int state = inflate(&inflater.stream, Z_NO_FLUSH);
                if (state != Z_OK && state != Z_STREAM_END && state != Z_BUF_ERROR)
                    return damaged("its packed bytes are damaged", {begin, at}, "a deflate stream",
                                   inflater.stream.msg ? inflater.stream.msg : "zlib error " + std::to_string(state));
                ended = state == Z_STREAM_END;
                const std::size_t got = out.size() - inflater.stream.avail_out;
                if (auto done = take(std::span(out).first(got)); !done)
                    return done;
                if (got == 0 && !ended)
                    break;
            }
        }
        if (m_wanted < m_entry.size)
            return {};
        if (m_done < m_entry.size)
            return damaged("unpacks to fewer bytes than declared", m_entry.packed, std::to_string(m_entry.size), std::to_string(m_done));
        if (m_more)
            return damaged("unpacks to more bytes than declared", m_entry.packed, std::to_string(m_entry.size), "more");
        if (m_crc != m_entry.crc)
            return damaged("its checksum does not fit", m_entry.packed, std::to_string(m_entry.crc), std::to_string(m_crc));
        return {};
    }

private:
    Result<void> take(std::span<const std::byte> bytes)
    {
        if (bytes.size() > m_wanted - m_done) {
            bytes = bytes.first(m_wanted - m_done);
            m_more = true;
        }
        m_done += bytes.size();
        m_crc = static_cast<std::uint32_t>(crc32(m_crc, reinterpret_cast<const Bytef *>(bytes.data()), static_cast<uInt>(bytes.size())));
        return m_use(bytes);
    }

    Error damaged(const std::string &why, ByteRange where, std::string expected, std::string found) const
    {
        return {Errc::Malformed, '"' + toValidUtf8(m_entry.name) + "\": " + why, where, std::move(expected), std::move(found)};
    }

    const ByteSource &m_source;
    const ZipEntry &m_entry;
    std::uint64_t m_wanted;
    const Job &m_job;
    const std::function<Result<void>(std::span<const std::byte>)> &m_use;
    std::uint64_t m_done = 0;
    std::uint32_t m_crc = 0;
    bool m_more = false;
};

} // namespace

bool looksLikeZip(std::span<const std::byte> head)
{
    return head.size() >= 4 && (asText(head).starts_with("PK\x03\x04") || asText(head).starts_with("PK\x05\x06"));
}

Result<ZipDirectory> readZipDirectory(const ByteSource &source, const Job &job, std::uint64_t limit)
{
    const auto end = findEnd(source);
    if (!end)
        return end.error();
    return DirectoryReader(source, job, *end).read(limit);
}

Result<void> unzip(const ByteSource &source, const ZipEntry &entry, std::uint64_t limit, const Job &job,
                   const std::function<Result<void>(std::span<const std::byte>)> &use)
{
    return Unpacking(source, entry, limit, job, use).run();
}

Result<Bytes> unzip(const ByteSource &source, const ZipEntry &entry, std::uint64_t limit, const Job &job)
{
    Bytes bytes;
    const auto done = unzip(source, entry, limit, job, [&](std::span<const std::byte> part) -> Result<void> {
        bytes.insert(bytes.end(), part.begin(), part.end());
        return {};
    });
    if (!done)
        return done.error();
    return bytes;
}

} // namespace prosector
