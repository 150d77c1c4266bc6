// SPDX-License-Identifier: GPL-3.0-or-later
// TensorBoard event files: counted record by record; their values are read by a later capability.
// Format: tensorflow/core/lib/io/record_writer.h (length, its checksum, data, its checksum).
#include "models/artifacts/reader.h"

namespace prosector {

namespace {

constexpr std::uint64_t frameBytes = 16; // length 8, checksums 4 + 4
constexpr std::uint64_t maxCounted = 200'000;

int sniffEvents(const Head &head)
{
    // The first record names the version: Event.file_version = "brain.Event:2".
    return head.text().substr(0, 64).find("brain.Event:") != std::string_view::npos ? 95 : 0;
}

Result<Reading> openEvents(SourcePtr source, const Job &job)
{
    Reading reading{.kind = Kind::MetricHistory};
    std::uint64_t count = 0, at = 0;
    while (at < source->size() && count < maxCounted) {
        if (count % 1024 == 0 && job.cancelled())
            return Job::cancelledError();
        std::uint64_t length = 0;
        if (source->size() - at >= frameBytes) {
            const auto bytes = source->read(at, 8);
            if (!bytes)
                return bytes.error();
            for (std::size_t i = 8; i-- > 0;)
                length = length << 8 | std::to_integer<std::uint64_t>((*bytes)[i]);
        }
        if (source->size() - at < frameBytes || length > source->size() - at - frameBytes) {
            reading.problems.push_back({Errc::Truncated, "the last event is not whole", ByteRange{at, source->size()},
                                        std::to_string(length) + " bytes and their checksums",
                                        std::to_string(source->size() - at) + " bytes"});
            break;
        }
        at += frameBytes + length;
        ++count;
    }
    reading.summary = (at < source->size() && count == maxCounted ? "more than " : "") + std::to_string(count) + " events";
    return reading;
}

} // namespace

extern constinit const Reader reader_tensorboard{"tensorboard", "TensorBoard events", sniffEvents, openEvents};

} // namespace prosector
