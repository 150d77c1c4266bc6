// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/core/bytesource.h"
#include "models/core/job.h"

#include <optional>

namespace prosector {

struct ByteSearch {
    std::string needle;
    bool ignoreCase = true; ///< ASCII letters only
    bool forward = true;
    /// Where to start: forward, the first match beginning at or after; backward, the last beginning
    /// before. The search goes round at the ends.
    std::uint64_t from = 0;
};

/// The next occurrence of some bytes, reading the source in blocks; nothing when there is none.
Result<std::optional<ByteRange>> findBytes(const ByteSource &source, const ByteSearch &search, const Job &job);

} // namespace prosector
