// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/core/bytesource.h"
#include "models/core/job.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace prosector {

/// Limits that keep a hostile archive from eating the machine.
struct ArchiveLimits {
    std::uint64_t members = 100'000;             ///< entries listed
    std::uint64_t memberBytes = 4ULL << 30;      ///< unpacked size of one compressed member
    std::uint64_t totalBytes = 16ULL << 30;      ///< unpacked size of all compressed members
    double ratio = 1000;                         ///< unpacked : packed of one member above 1 MiB
};

struct ArchiveMember {
    std::string name;   ///< '/'-separated, relative, without `.`, `..` or a leading slash
    SourcePtr bytes;    ///< stored members are windows of the archive; others are unpacked on opening, large
                        ///< ones into unnamed temporary files
};

struct Archive {
    std::vector<ArchiveMember> members; ///< in archive order
    std::vector<Error> problems;        ///< members refused or damaged, each with its name in the message
};

/// Whether the bytes begin like a zip or tar archive, the latter also compressed by gzip, bzip2, xz or
/// zstd. True for zips that are files of their own (npz, PyTorch checkpoints): ask the readers first.
bool looksLikeArchive(std::span<const std::byte> head);

/// Whether a member of this name stays inside the folder it would be unpacked to, and its normal
/// form: without `.` parts. Nothing for `..`, absolute names, backslashes, drive letters, NUL.
std::optional<std::string> safeMemberName(std::string_view name);

/// Opens zip by its central directory (so that stored members keep their file offsets) and tar
/// through libarchive. Members whose names leave the archive (`..`, absolute) are problems, as are
/// encrypted members and those beyond the limits; the rest is kept.
Result<Archive> openArchive(SourcePtr source, const Job &job, const ArchiveLimits &limits = {});

} // namespace prosector
