// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/core/bytesource.h"
#include "models/core/job.h"

#include <memory>

namespace prosector {

/// Incremental SHA-256 (FIPS 180-4, by libcrypto).
class Sha256 {
public:
    Sha256();
    ~Sha256();
    Sha256(const Sha256 &) = delete;
    Sha256 &operator=(const Sha256 &) = delete;

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

} // namespace prosector
