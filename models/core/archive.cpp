// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/core/archive.h"

#include "models/core/utf8.h"
#include "models/core/zip.h"

#include <archive.h>
#include <archive_entry.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <unistd.h>
#include <unordered_set>
#include <utility>

namespace prosector {

namespace {

constexpr std::uint64_t inMemoryEach = 8ULL << 20, inMemoryAll = 256ULL << 20, ratioFloor = 1ULL << 20;
constexpr std::size_t block = 1 << 16;

/// A temporary file that is gone with its last user.
class TemporaryFile final : public ByteSource {
public:
    TemporaryFile(std::string name, std::FILE *file, std::uint64_t size) : ByteSource(std::move(name), size), m_file(file) {}
    ~TemporaryFile() override { std::fclose(m_file); }
    TemporaryFile(const TemporaryFile &) = delete;
    TemporaryFile &operator=(const TemporaryFile &) = delete;

private:
    Result<void> readInside(std::uint64_t offset, std::span<std::byte> out) const override
    {
        while (!out.empty()) {
            const auto got = ::pread(::fileno(m_file), out.data(), out.size(), static_cast<off_t>(offset));
            if (got < 0 && errno == EINTR)
                continue;
            if (got <= 0)
                return Error{Errc::Unreadable, name() + ": its temporary file cannot be read", ByteRange{offset, offset}};
            out = out.subspan(static_cast<std::size_t>(got));
            offset += static_cast<std::uint64_t>(got);
        }
        return {};
    }

    std::FILE *m_file;
};

/// Collects unpacked bytes: small ones in memory, large ones in a temporary file without a name.
class Spool {
public:
    explicit Spool(std::uint64_t &memoryLeft) : m_memoryLeft(memoryLeft) {}
    ~Spool()
    {
        if (m_file)
            std::fclose(m_file);
    }
    Spool(const Spool &) = delete;
    Spool &operator=(const Spool &) = delete;

    std::uint64_t size() const { return m_size; }

    Result<void> add(std::span<const std::byte> bytes)
    {
        m_size += bytes.size();
        if (!m_file && m_size <= std::min(inMemoryEach, m_memoryLeft)) {
            m_memory.insert(m_memory.end(), bytes.begin(), bytes.end());
            return {};
        }
        if (!m_file && !(m_file = std::tmpfile()))
            return systemError();
        if (!m_memory.empty()) {
            if (std::fwrite(m_memory.data(), 1, m_memory.size(), m_file) != m_memory.size())
                return systemError();
            m_memory = {};
        }
        if (std::fwrite(bytes.data(), 1, bytes.size(), m_file) != bytes.size())
            return systemError();
        return {};
    }

    Result<SourcePtr> finish(std::string name)
    {
        if (!m_file) {
            m_memoryLeft -= m_memory.size();
            m_memory.shrink_to_fit();
            return memorySource(std::move(name), std::move(m_memory));
        }
        if (std::fflush(m_file) != 0)
            return systemError();
        return SourcePtr(std::make_shared<TemporaryFile>(std::move(name), std::exchange(m_file, nullptr), m_size));
    }

private:
    static Error systemError()
    {
        return {Errc::Unreadable, "no temporary file to unpack into: " + std::error_code(errno, std::generic_category()).message()};
    }

    std::uint64_t &m_memoryLeft;
    std::uint64_t m_size = 0;
    Bytes m_memory;
    std::FILE *m_file = nullptr;
};

class Opening {
public:
    Opening(SourcePtr source, const Job &job, const ArchiveLimits &limits) : m_source(std::move(source)), m_job(job), m_limits(limits) {}

    Result<Archive> zip()
    {
        auto directory = readZipDirectory(*m_source, m_job, m_limits.members);
        if (!directory)
            return directory.error();
        m_archive.problems = std::move(directory->problems);
        for (std::size_t i = 0; i < directory->entries.size(); ++i) {
            if (m_job.cancelled())
                return Job::cancelledError();
            const ZipEntry &entry = directory->entries[i];
            m_job.progress(static_cast<double>(i) / static_cast<double>(directory->entries.size()), entry.name);
            if (auto done = zipMember(entry); !done)
                return done.error();
        }
        return std::move(m_archive);
    }

    Result<Archive> tar();

private:
    void refuse(const std::string &name, Errc code, const std::string &why, Anchor where = Whole{}, std::string expected = {},
                std::string found = {})
    {
        m_archive.problems.push_back({code, '"' + toValidUtf8(name) + "\": " + why, std::move(where), std::move(expected), std::move(found)});
    }

    /// The name to keep, or nothing when the member is refused.
    std::optional<std::string> acceptName(const std::string &name, const Anchor &where)
    {
        auto safe = safeMemberName(name);
        if (!safe) {
            refuse(name, Errc::Malformed, "its name leaves the archive", where, "a relative name with / between folders");
        } else if (!m_names.insert(*safe).second) {
            refuse(name, Errc::Malformed, "stands twice; the first member is kept", where);
            safe.reset();
        }
        return safe;
    }

    std::string title(const std::string &name) const { return m_source->name() + '!' + name; }

    bool acceptSize(const std::string &name, std::uint64_t size, std::uint64_t packed, const Anchor &where)
    {
        if (size > m_limits.memberBytes) {
            refuse(name, Errc::TooLarge, "too large to unpack", where, "at most " + sizeText(m_limits.memberBytes), sizeText(size));
        } else if (size > m_limits.totalBytes - m_total) {
            refuse(name, Errc::TooLarge, "the members before it fill what is unpacked of one archive", where,
                   "at most " + sizeText(m_limits.totalBytes) + " in all", sizeText(m_total) + " and " + sizeText(size));
        } else if (size > ratioFloor && static_cast<double>(size) > m_limits.ratio * static_cast<double>(packed)) {
            refuse(name, Errc::TooLarge, "packed so tightly that it is taken for a zip bomb", where,
                   "at most " + std::to_string(static_cast<std::uint64_t>(m_limits.ratio)) + " : 1",
                   sizeText(size) + " in " + sizeText(packed));
        } else {
            return true;
        }
        return false;
    }

    Result<void> zipMember(const ZipEntry &entry)
    {
        const auto name = acceptName(entry.name, entry.header);
        if (!name)
            return {};
        if (entry.isStored()) {
            auto part = subSource(title(*name), m_source, entry.packed.from, entry.packed.size());
            if (!part)
                return part.error();
            m_archive.members.push_back({*name, std::move(*part)});
            return {};
        }
        if (!acceptSize(*name, entry.size, entry.packed.size(), entry.header))
            return {};
        Spool spool(m_memoryLeft);
        const auto done = unzip(*m_source, entry, entry.size, m_job, [&](std::span<const std::byte> part) { return spool.add(part); });
        if (!done && done.error().code == Errc::Cancelled)
            return done.error();
        if (!done) {
            m_archive.problems.push_back(done.error());
            if (spool.size() == 0)
                return {};
        }
        return keep(*name, spool);
    }

    Result<void> keep(const std::string &name, Spool &spool)
    {
        m_total += spool.size();
        auto bytes = spool.finish(title(name));
        if (bytes)
            m_archive.members.push_back({name, std::move(*bytes)});
        else
            refuse(name, bytes.error().code, bytes.error().message);
        return {};
    }

    Result<void> tarMember(::archive *tape, archive_entry *entry);
    std::optional<ByteRange> windowOf(::archive *tape, std::span<const std::byte> first, std::uint64_t size) const;

    SourcePtr m_source;
    const Job &m_job;
    ArchiveLimits m_limits;
    Archive m_archive;
    std::unordered_set<std::string> m_names;
    std::uint64_t m_total = 0, m_memoryLeft = inMemoryAll;
};

/// What libarchive reads from.
struct TapeInput {
    const ByteSource &source;
    std::uint64_t at = 0;
    Bytes buffer = Bytes(block);
    std::optional<Error> error{};
};

la_ssize_t readTape(::archive *tape, void *data, const void **buffer)
{
    auto &input = *static_cast<TapeInput *>(data);
    const auto part = std::span(input.buffer).first(std::min<std::uint64_t>(block, input.source.size() - input.at));
    if (auto done = input.source.read(input.at, part); !done) {
        input.error = done.error();
        archive_set_error(tape, EIO, "%s", done.error().message.c_str());
        return -1;
    }
    input.at += part.size();
    *buffer = part.data();
    return static_cast<la_ssize_t>(part.size());
}

la_int64_t skipTape(::archive *, void *data, la_int64_t wanted)
{
    auto &input = *static_cast<TapeInput *>(data);
    const auto step = std::min<std::uint64_t>(static_cast<std::uint64_t>(std::max<la_int64_t>(wanted, 0)), input.source.size() - input.at);
    input.at += step;
    return static_cast<la_int64_t>(step);
}

struct TapeCloser {
    void operator()(::archive *tape) const { archive_read_free(tape); }
};
using Tape = std::unique_ptr<::archive, TapeCloser>;

/// Tar alone, and only filters that are built in: libarchive would start programs for the others.
Tape openTape(TapeInput &input)
{
    Tape tape(archive_read_new());
    archive_read_support_format_tar(tape.get());
    if (archive_zlib_version())
        archive_read_support_filter_gzip(tape.get());
    if (archive_bzlib_version())
        archive_read_support_filter_bzip2(tape.get());
    if (archive_liblzma_version())
        archive_read_support_filter_xz(tape.get());
    if (archive_libzstd_version())
        archive_read_support_filter_zstd(tape.get());
    if (archive_read_open2(tape.get(), &input, nullptr, readTape, skipTape, nullptr) != ARCHIVE_OK)
        return nullptr;
    return tape;
}

std::string tapeMessage(::archive *tape)
{
    const char *const text = archive_error_string(tape);
    return text ? text : "damaged";
}

Result<Archive> Opening::tar()
{
    TapeInput input{*m_source};
    const Tape tape = openTape(input);
    if (!tape)
        return input.error ? *input.error : Error{Errc::Malformed, "not an archive that can be opened", ByteRange{0, 0}};
    for (std::uint64_t count = 0;; ++count) {
        if (m_job.cancelled())
            return Job::cancelledError();
        m_job.progress(m_source->size() ? static_cast<double>(input.at) / static_cast<double>(m_source->size()) : 1);
        archive_entry *entry = nullptr;
        const int state = archive_read_next_header(tape.get(), &entry);
        if (state == ARCHIVE_EOF)
            return std::move(m_archive);
        if (state < ARCHIVE_WARN) {
            const Error error{Errc::Malformed, "the archive is damaged behind member " + std::to_string(count) + ": " + tapeMessage(tape.get()),
                              ByteRange{input.at, input.at}};
            if (count == 0)
                return error;
            m_archive.problems.push_back(error);
            return std::move(m_archive);
        }
        if (count == m_limits.members) {
            m_archive.problems.push_back({Errc::TooLarge, "more members than are listed", Whole{},
                                          "at most " + std::to_string(m_limits.members), "more"});
            return std::move(m_archive);
        }
        if (auto done = tarMember(tape.get(), entry); !done)
            return done.error();
    }
}

Result<void> Opening::tarMember(::archive *tape, archive_entry *entry)
{
    const char *const written = archive_entry_pathname(entry);
    const std::string given = written ? written : "";
    const auto type = archive_entry_filetype(entry);
    if (type == AE_IFDIR)
        return {};
    if (type != AE_IFREG || archive_entry_hardlink(entry)) {
        refuse(given, Errc::Unsupported, type == AE_IFLNK || archive_entry_hardlink(entry) ? "a link, not followed" : "no regular file");
        return {};
    }
    const auto name = acceptName(given, Whole{});
    if (!name)
        return {};
    const auto size = static_cast<std::uint64_t>(std::max<la_int64_t>(archive_entry_size(entry), 0));
    Spool spool(m_memoryLeft);
    std::uint64_t before = static_cast<std::uint64_t>(archive_filter_bytes(tape, -1));
    Bytes zeros;
    for (bool first = true;; first = false) {
        if (m_job.cancelled())
            return Job::cancelledError();
        const void *data = nullptr;
        std::size_t length = 0;
        la_int64_t offset = 0;
        const int state = archive_read_data_block(tape, &data, &length, &offset);
        if (state == ARCHIVE_EOF)
            break;
        if (state < ARCHIVE_WARN) {
            refuse(*name, Errc::Truncated, tapeMessage(tape), Whole{}, std::to_string(size) + " bytes", std::to_string(spool.size()));
            if (spool.size() == 0)
                return {};
            break;
        }
        const std::span bytes(static_cast<const std::byte *>(data), length);
        if (first) {
            if (const auto window = windowOf(tape, bytes, size); window && offset == 0 && archive_entry_sparse_count(entry) == 0) {
                auto part = subSource(title(*name), m_source, window->from, window->size());
                if (!part)
                    return part.error();
                m_archive.members.push_back({*name, std::move(*part)});
                return {};
            }
            if (size > m_limits.memberBytes || size > m_limits.totalBytes - m_total) {
                acceptSize(*name, size, size, Whole{});
                return {};
            }
        }
        const std::uint64_t read = static_cast<std::uint64_t>(archive_filter_bytes(tape, -1)) - before;
        const std::uint64_t reach = static_cast<std::uint64_t>(std::max<la_int64_t>(offset, 0)) + length;
        // `read` counts whole windows of packed bytes, so small members are never suspected.
        if (reach > size || !acceptSize(*name, reach, std::max<std::uint64_t>(read + block, 1), Whole{}))
            return {};
        while (spool.size() + length < reach) { // a hole
            zeros.resize(std::min<std::uint64_t>(block, reach - length - spool.size()));
            if (auto done = spool.add(zeros); !done)
                return done;
        }
        if (auto done = spool.add(bytes); !done)
            return done;
    }
    return keep(*name, spool);
}

/// Where an uncompressed tar holds a member whose first block was just read: libarchive has not
/// stepped over that block yet. Believed only when the bytes there are the same.
std::optional<ByteRange> Opening::windowOf(::archive *tape, std::span<const std::byte> first, std::uint64_t size) const
{
    if (archive_filter_count(tape) != 1 || archive_filter_code(tape, 0) != ARCHIVE_FILTER_NONE)
        return std::nullopt;
    const auto at = static_cast<std::uint64_t>(archive_filter_bytes(tape, 0));
    if (at > m_source->size() || size > m_source->size() - at || first.size() > size)
        return std::nullopt;
    const auto there = m_source->read(at, first.size());
    if (!there || !std::equal(first.begin(), first.end(), there->begin()))
        return std::nullopt;
    return ByteRange{at, at + size};
}

} // namespace

std::optional<std::string> safeMemberName(std::string_view name)
{
    if (name.empty() || name.front() == '/' || name.find('\\') != std::string_view::npos || name.find('\0') != std::string_view::npos
        || (name.size() >= 2 && name[1] == ':'))
        return std::nullopt;
    std::string safe;
    for (std::size_t begin = 0; begin <= name.size();) {
        const std::size_t end = std::min(name.find('/', begin), name.size());
        const auto part = name.substr(begin, end - begin);
        if (part == "..")
            return std::nullopt;
        if (!part.empty() && part != ".")
            safe += (safe.empty() ? "" : "/") + std::string(part);
        begin = end + 1;
    }
    if (safe.empty())
        return std::nullopt;
    return toValidUtf8(safe);
}

bool looksLikeArchive(std::span<const std::byte> head)
{
    if (looksLikeZip(head))
        return true;
    const auto text = asText(head);
    if (text.size() >= 262 && text.substr(257, 5) == "ustar")
        return true;
    const bool packed = text.starts_with("\x1F\x8B") || text.starts_with("BZh") || text.starts_with("\xFD" "7zXZ")
        || text.starts_with("\x28\xB5\x2F\xFD");
    if (!packed)
        return false;
    const auto start = memorySource("head", Bytes(head.begin(), head.end()));
    TapeInput input{*start};
    const Tape tape = openTape(input);
    archive_entry *entry = nullptr;
    return tape && archive_read_next_header(tape.get(), &entry) >= ARCHIVE_WARN;
}

Result<Archive> openArchive(SourcePtr source, const Job &job, const ArchiveLimits &limits)
{
    const auto head = source->readUpTo(0, 4);
    if (!head)
        return head.error();
    Opening opening(std::move(source), job, limits);
    return looksLikeZip(*head) ? opening.zip() : opening.tar();
}

} // namespace prosector
