// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/core/bytesource.h"

#include <algorithm>
#include <atomic>
#include <array>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace prosector {

namespace {

std::string systemMessage(int error)
{
    return std::error_code(error, std::generic_category()).message();
}

/// Descriptors that sources keep open: beyond this many a file is opened anew for each read, so that a
/// folder of thousands of files does not exhaust the process's limit (often 1024).
constexpr int maxKeptOpen = 256;
std::atomic<int> keptOpen = 0;

int openDescriptor(const std::string &path)
{
    // O_NONBLOCK: opening a pipe must not wait for a writer.
    return ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
}

class FileSource final : public ByteSource {
public:
    /// Takes the descriptor over. Without a path it stays open as long as the source.
    FileSource(std::string name, int descriptor, std::uint64_t size, std::string path = {}, dev_t device = 0, ino_t inode = 0)
        : ByteSource(std::move(name), size), m_path(std::move(path)), m_descriptor(descriptor), m_device(device), m_inode(inode)
    {
        if (++keptOpen > maxKeptOpen && !m_path.empty()) {
            --keptOpen;
            ::close(std::exchange(m_descriptor, -1));
        }
    }
    ~FileSource() override
    {
        if (m_descriptor >= 0) {
            ::close(m_descriptor);
            --keptOpen;
        }
    }

private:
    Result<void> readInside(std::uint64_t offset, std::span<std::byte> out) const override
    {
        if (m_descriptor >= 0 || m_path.empty())
            return readFrom(m_descriptor, offset, out);
        const int descriptor = openDescriptor(m_path);
        if (descriptor < 0)
            return Error{Errc::Unreadable, name() + ": " + systemMessage(errno), ByteRange{offset, offset}};
        struct stat status{};
        const bool same = ::fstat(descriptor, &status) == 0 && status.st_dev == m_device && status.st_ino == m_inode;
        auto done = same ? readFrom(descriptor, offset, out)
                         : Result<void>(Error{Errc::Unreadable, name() + " was replaced by another file", ByteRange{offset, offset}});
        ::close(descriptor);
        return done;
    }

    Result<void> readFrom(int descriptor, std::uint64_t offset, std::span<std::byte> out) const
    {
        while (!out.empty()) {
            const auto got = ::pread(descriptor, out.data(), out.size(), static_cast<off_t>(offset));
            if (got < 0 && errno == EINTR)
                continue;
            if (got < 0)
                return Error{Errc::Unreadable, name() + ": " + systemMessage(errno), ByteRange{offset, offset}};
            if (got == 0) {
                return Error{Errc::Truncated, name() + " became shorter while it was open",
                             ByteRange{offset, offset + out.size()}, std::to_string(size()) + " bytes",
                             std::to_string(offset) + " bytes"};
            }
            out = out.subspan(static_cast<std::size_t>(got));
            offset += static_cast<std::uint64_t>(got);
        }
        return {};
    }

    std::string m_path;
    int m_descriptor;
    dev_t m_device;
    ino_t m_inode;
};

class MemorySource final : public ByteSource {
public:
    MemorySource(std::string name, Bytes bytes) : ByteSource(std::move(name), bytes.size()), m_bytes(std::move(bytes))
    {
    }

private:
    Result<void> readInside(std::uint64_t offset, std::span<std::byte> out) const override
    {
        std::copy_n(m_bytes.begin() + static_cast<std::ptrdiff_t>(offset), out.size(), out.begin());
        return {};
    }

    Bytes m_bytes;
};

class SubSource final : public ByteSource {
public:
    SubSource(std::string name, SourcePtr whole, std::uint64_t offset, std::uint64_t length)
        : ByteSource(std::move(name), length), m_whole(std::move(whole)), m_offset(offset)
    {
    }

private:
    Result<void> readInside(std::uint64_t offset, std::span<std::byte> out) const override
    {
        return m_whole->read(m_offset + offset, out);
    }

    SourcePtr m_whole;
    std::uint64_t m_offset;
};

} // namespace

std::string sizeText(std::uint64_t bytes)
{
    if (bytes < 1000)
        return std::to_string(bytes) + " B";
    static constexpr std::array units = {"kB", "MB", "GB", "TB", "PB", "EB"};
    const auto rounded = [bytes](std::uint64_t to) { return bytes / to + (bytes % to >= to / 2 ? 1 : 0); };
    std::size_t unit = 0;
    std::uint64_t size = 1000;
    for (; rounded(size) >= 1000 && unit + 1 < units.size(); ++unit)
        size *= 1000;
    const std::uint64_t tenths = rounded(size / 10);
    if (tenths >= 1000)
        return std::to_string(rounded(size)) + ' ' + units[unit];
    return std::to_string(tenths / 10) + '.' + std::to_string(tenths % 10) + ' ' + units[unit];
}

Result<void> ByteSource::read(std::uint64_t offset, std::span<std::byte> out) const
{
    if (offset > m_size || out.size() > m_size - offset) {
        return Error{Errc::OutOfRange, m_name + ": range leaves the file", ByteRange{offset, offset + out.size()},
                     "at most " + std::to_string(m_size) + " bytes",
                     std::to_string(out.size()) + " bytes from " + std::to_string(offset)};
    }
    return out.empty() ? Result<void>() : readInside(offset, out);
}

Result<Bytes> ByteSource::read(std::uint64_t offset, std::uint64_t length) const
{
    if (offset > m_size || length > m_size - offset) {
        return Error{Errc::OutOfRange, m_name + ": range leaves the file", ByteRange{offset, offset + length},
                     "at most " + std::to_string(m_size) + " bytes",
                     std::to_string(length) + " bytes from " + std::to_string(offset)};
    }
    Bytes bytes(length);
    if (auto done = read(offset, std::span(bytes)); !done)
        return done.error();
    return bytes;
}

Result<Bytes> ByteSource::readUpTo(std::uint64_t offset, std::uint64_t limit) const
{
    return read(offset, offset >= m_size ? 0 : std::min(limit, m_size - offset));
}

Result<std::string> readText(const ByteSource &source, std::uint64_t limit)
{
    std::string text(std::min(limit, source.size()), '\0');
    if (auto done = source.read(0, std::as_writable_bytes(std::span(text))); !done)
        return done.error();
    return text;
}

Result<SourcePtr> openFile(const std::string &path, std::string name)
{
    if (name.empty())
        name = path;
    const int descriptor = openDescriptor(path);
    if (descriptor < 0)
        return Error{errno == ENOENT ? Errc::NotFound : Errc::Unreadable, name + ": " + systemMessage(errno)};
    struct stat status{};
    if (::fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode)) {
        ::close(descriptor);
        return Error{Errc::Unsupported, name + ": not a regular file"};
    }
    return SourcePtr(std::make_shared<FileSource>(std::move(name), descriptor, static_cast<std::uint64_t>(status.st_size), path,
                                                  status.st_dev, status.st_ino));
}

SourcePtr memorySource(std::string name, Bytes bytes)
{
    return std::make_shared<MemorySource>(std::move(name), std::move(bytes));
}

SourcePtr memorySource(std::string name, std::string_view text)
{
    const auto bytes = std::as_bytes(std::span(text));
    return memorySource(std::move(name), Bytes(bytes.begin(), bytes.end()));
}

Result<SourcePtr> subSource(std::string name, SourcePtr whole, std::uint64_t offset, std::uint64_t length)
{
    if (offset > whole->size() || length > whole->size() - offset) {
        return Error{Errc::OutOfRange, name + ": range leaves " + whole->name(), ByteRange{offset, offset + length},
                     "at most " + std::to_string(whole->size()) + " bytes", std::to_string(offset + length)};
    }
    return SourcePtr(std::make_shared<SubSource>(std::move(name), std::move(whole), offset, length));
}

} // namespace prosector
