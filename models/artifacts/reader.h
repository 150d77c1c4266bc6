// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/artifacts/artifact.h"
#include "models/core/job.h"

#include <span>
#include <string_view>

namespace prosector {

/// What a reader may look at to decide whether bytes are its own. Content decides; the name only
/// breaks ties (two JSON objects look alike until one reads their keys).
struct Head {
    std::string_view name;            ///< file name without folders
    std::span<const std::byte> bytes; ///< the first `headBytes` or fewer
    std::uint64_t size = 0;           ///< of the whole source
    std::string_view text() const { return asText(bytes); }
};
inline constexpr std::uint64_t headBytes = 64 * 1024;

/// One way of decoding. Plain data: a new format is a file `models/artifacts/readers/<id>.cpp` that defines
/// `extern constinit const Reader reader_<id>`; the table is generated.
struct Reader {
    std::string_view id;    ///< the artifact's `format`, unless the Reading says more exactly what was recognised
    std::string_view title; ///< for people: "safetensors weights"
    /// 0: not mine. Else how sure, 1..100: 90 and above for a magic number, around 50 for a tree
    /// with the right keys, below 20 for "some text". The surest reader opens.
    int (*sniff)(const Head &head);
    /// Decodes. An Error only when nothing at all could be read; else problems beside the rest.
    Result<Reading> (*open)(SourcePtr source, const Job &job);
};

/// Every reader, in the order of their ids.
std::span<const Reader *const> readers();

/// The surest reader for these bytes, or null.
const Reader *sniff(const Head &head);

} // namespace prosector
