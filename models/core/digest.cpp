// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/core/digest.h"

#include "models/core/hex.h"

#include <algorithm>
#include <array>
#include <openssl/evp.h>

namespace prosector {

struct Digest::Context {
    EVP_MD_CTX *evp = EVP_MD_CTX_new();
    ~Context() { EVP_MD_CTX_free(evp); }
};

Digest::Digest(Algorithm algorithm) : m_context(std::make_unique<Context>())
{
    EVP_DigestInit_ex(m_context->evp, algorithm == Algorithm::Sha1 ? EVP_sha1() : EVP_sha256(), nullptr);
}

Digest::~Digest() = default;

void Digest::add(std::span<const std::byte> bytes)
{
    EVP_DigestUpdate(m_context->evp, bytes.data(), bytes.size());
}

void Digest::add(std::string_view text)
{
    add(std::as_bytes(std::span(text)));
}

std::string Digest::hex()
{
    std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
    unsigned int length = 0;
    EVP_DigestFinal_ex(m_context->evp, digest.data(), &length);
    std::string text;
    for (unsigned int i = 0; i < length; ++i)
        text += lowerHex(digest[i]);
    return text;
}

std::string sha256Hex(std::string_view text)
{
    Digest hash;
    hash.add(text);
    return hash.hex();
}

namespace {

Result<std::string> hexOfAll(Digest &hash, const ByteSource &source, const Job &job)
{
    static constexpr std::uint64_t windowSize = 1 << 20;
    Bytes window;
    for (std::uint64_t at = 0; at < source.size(); at += windowSize) {
        if (job.cancelled())
            return Job::cancelledError();
        window.resize(std::min(windowSize, source.size() - at));
        if (auto read = source.read(at, std::span(window)); !read)
            return read.error();
        hash.add(window);
    }
    return hash.hex();
}

} // namespace

Result<std::string> sha256Hex(const ByteSource &source, const Job &job)
{
    Digest hash;
    return hexOfAll(hash, source, job);
}

Result<std::string> gitBlobHex(const ByteSource &source, const Job &job)
{
    Digest hash(Digest::Algorithm::Sha1);
    hash.add("blob " + std::to_string(source.size()) + '\0');
    return hexOfAll(hash, source, job);
}

} // namespace prosector
