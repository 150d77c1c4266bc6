// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/core/finding.h"
#include "models/core/job.h"
#include "models/runs/run.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace prosector {

/// One JSON body that went over the wire, wherever it was recorded: a file of its own, a list, a line of
/// JSON Lines, an event of a stream, either half of a recorded exchange, a HAR entry.
struct WireBody {
    enum class Role : std::uint8_t { Request, Response, Chunk, Other };

    const Artifact *artifact = nullptr;
    DocumentPtr document; ///< keeps `value` alive
    Value value;
    Role role = Role::Other;
    std::optional<std::uint64_t> line; ///< of the file, for JSON Lines and streams
    std::string holder;                ///< path of the string that the body stands in (HAR), or empty
    std::size_t record = 0;            ///< bodies recorded as one exchange have the same number

    /// Where a value of this body stands: its path, or the line or string that holds the body.
    Anchor anchor(Value inner) const;
    Evidence at(Value inner, std::string note) const { return {artifact->id, anchor(inner), std::move(note)}; }
};

/// A line of JSON Lines is parsed anew by each reader: it is known by its number.
bool sameBody(const WireBody &a, const WireBody &b);

/// Whether an end word says that the answer was cut at a length (the catalogue's "End words").
bool endsByLength(std::string_view finish);

/// Visits the bodies of requests, responses, request logs, streams and token arrays, in order of the run.
/// Role by what the body holds, else by the artifact's kind. Stops with Cancelled.
Result<void> eachBody(const Run &run, const Job &job, const std::function<void(const WireBody &)> &use);

/// Same, of one artifact.
Result<void> eachBody(const Artifact &artifact, const Job &job, const std::function<void(const WireBody &)> &use);

/// A request and what answered it; either may be missing.
struct Exchange {
    std::optional<WireBody> request, response;
};
/// Requests paired with responses: recorded together; linked by trace.json's `of`; the same id (`id`,
/// `request_id`, `rid`); the only two of one folder; as many of both in one folder, in order. Chunks are left out.
Result<std::vector<Exchange>> exchanges(const Run &run, const Job &job);

/// The text of a message: its string, or the texts of its parts joined.
std::string messageText(Value content);

} // namespace prosector
