// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/core/result.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace prosector {

using Bytes = std::vector<std::byte>;

/// Read-only bytes with a known size: a file, an archive member, a part of either, or memory.
/// All functions may be called from any thread at the same time. Files are read with positioned
/// reads, never mapped, so a file that shrinks while open gives an Error and not a signal.
class ByteSource {
public:
    virtual ~ByteSource() = default;
    ByteSource(const ByteSource &) = delete;
    ByteSource &operator=(const ByteSource &) = delete;

    /// What to call these bytes in messages: a file name or `archive.zip!member`.
    const std::string &name() const { return m_name; }

    /// Size in bytes when it was opened.
    std::uint64_t size() const { return m_size; }

    /// Fills `out` from `offset`. Error `OutOfRange` when the range leaves the source, `Truncated`
    /// when the file has shrunk since, `Unreadable` when the system refuses.
    Result<void> read(std::uint64_t offset, std::span<std::byte> out) const;

    /// `length` bytes from `offset`, checked against size() before anything is allocated.
    Result<Bytes> read(std::uint64_t offset, std::uint64_t length) const;

    /// At most `limit` bytes from `offset`: fewer at the end of the source.
    Result<Bytes> readUpTo(std::uint64_t offset, std::uint64_t limit) const;

protected:
    ByteSource(std::string name, std::uint64_t size) : m_name(std::move(name)), m_size(size) {}

    /// The range is inside size().
    virtual Result<void> readInside(std::uint64_t offset, std::span<std::byte> out) const = 0;

private:
    std::string m_name;
    std::uint64_t m_size;
};

using SourcePtr = std::shared_ptr<const ByteSource>;

/// A regular file. Refuses directories, devices and pipes (`Unsupported`).
Result<SourcePtr> openFile(const std::string &path, std::string name = {});

/// Bytes held in memory.
SourcePtr memorySource(std::string name, Bytes bytes);
SourcePtr memorySource(std::string name, std::string_view text);

/// Bytes [offset, offset + length) of another source, which it keeps alive.
Result<SourcePtr> subSource(std::string name, SourcePtr whole, std::uint64_t offset, std::uint64_t length);

/// Bytes for people, in decimal units: "512 B", "4.1 GB", "812 GB".
std::string sizeText(std::uint64_t bytes);

/// The whole source as text, or its first `limit` bytes if it is longer.
Result<std::string> readText(const ByteSource &source, std::uint64_t limit = UINT64_MAX);

inline std::string_view asText(std::span<const std::byte> bytes)
{
    return {reinterpret_cast<const char *>(bytes.data()), bytes.size()};
}

} // namespace prosector
