// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/core/bytesource.h"
#include "models/core/job.h"

#include <functional>
#include <string>
#include <vector>

namespace prosector {

/// One member as the central directory has it. Format: PKWARE's APPNOTE.TXT 6.3.
struct ZipEntry {
    std::string name;                ///< as written
    std::uint16_t flags = 0, method = 0;
    std::uint32_t crc = 0;
    std::uint64_t size = 0;          ///< unpacked, as declared
    ByteRange header{};              ///< from the local header to the end of the packed bytes
    ByteRange packed{};              ///< in the archive
    bool isFolder() const { return name.ends_with('/'); }
    bool isStored() const { return method == 0; }
};

struct ZipDirectory {
    std::vector<ZipEntry> entries;  ///< in archive order, without folders; each readable by unzip()
    std::vector<Error> problems;    ///< members left out, each with its name
};

bool looksLikeZip(std::span<const std::byte> head);

/// Lists a zip by its central directory, zip64 included, at most `limit` members. Left out as
/// problems: encrypted members, other methods than stored and deflated, symbolic links, members that
/// leave the file, overlap another (as zip bombs do), or whose local header disagrees. Of two members
/// with one name the later counts, as in Python's zipfile.
Result<ZipDirectory> readZipDirectory(const ByteSource &source, const Job &job, std::uint64_t limit = 100'000);

/// Unpacks a member in pieces, at most `limit` bytes of it. The whole member is checked against its
/// declared size and checksum.
Result<void> unzip(const ByteSource &source, const ZipEntry &entry, std::uint64_t limit, const Job &job,
                   const std::function<Result<void>(std::span<const std::byte>)> &use);

/// The first `limit` bytes of a member, or all of it.
Result<Bytes> unzip(const ByteSource &source, const ZipEntry &entry, std::uint64_t limit, const Job &job);

} // namespace prosector
