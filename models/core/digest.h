// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/core/bytesource.h"
#include "models/core/job.h"

#include <cstdint>
#include <memory>

namespace prosector {

/// Incremental SHA-256 or SHA-1 (FIPS 180-4, by libcrypto).
class Digest {
public:
    enum class Algorithm : std::uint8_t { Sha256, Sha1 }; ///< SHA-1 is what Git names its blobs by
    explicit Digest(Algorithm algorithm = Algorithm::Sha256);
    ~Digest();
    Digest(const Digest &) = delete;
    Digest &operator=(const Digest &) = delete;

    void add(std::span<const std::byte> bytes);
    void add(std::string_view text);
    /// Lower-case hex of everything added; the object is spent afterwards.
    std::string hex();

private:
    struct Context;
    std::unique_ptr<Context> m_context;
};

std::string sha256Hex(std::string_view text);
/// Reads the whole source in windows.
Result<std::string> sha256Hex(const ByteSource &source, const Job &job);
/// The id Git gives a blob of these bytes (SHA-1 of "blob <size>", a zero byte and the content), in hex.
Result<std::string> gitBlobHex(const ByteSource &source, const Job &job);

} // namespace prosector
