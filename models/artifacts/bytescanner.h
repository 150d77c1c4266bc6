// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/core/bytesource.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace prosector {

/// Reads a binary header from front to back through one window. The first failure sticks: every
/// later call returns false and error() tells the first. Lengths are checked against the bytes
/// that remain before anything is read. One thread.
class ByteScanner {
public:
    explicit ByteScanner(const ByteSource &source, std::uint64_t offset = 0) : m_source(source), m_offset(offset) {}

    std::uint64_t offset() const { return m_offset; }
    std::uint64_t remaining() const { return m_source.size() - std::min(m_offset, m_source.size()); }
    void setByteOrder(std::endian order) { m_swap = order != std::endian::native; }
    bool swapped() const { return m_swap; }
    const std::optional<Error> &error() const { return m_error; }

    /// Keeps the first.
    bool fail(Error error)
    {
        if (!m_error)
            m_error = std::move(error);
        return false;
    }

    /// There are `length` more bytes; `what` names them in the error.
    bool require(std::uint64_t length, std::string_view what)
    {
        if (m_error)
            return false;
        if (length <= remaining())
            return true;
        return fail({Errc::Truncated, std::string(what) + " ends behind the end of the file",
                     ByteRange{m_offset, m_source.size()}, std::to_string(length) + " bytes",
                     std::to_string(remaining()) + " bytes"});
    }

    bool read(std::span<std::byte> out, std::string_view what)
    {
        if (!require(out.size(), what))
            return false;
        if (out.empty()) // memcpy wants no null, not even for nothing
            return true;
        if (m_offset < m_begin || m_offset + out.size() > m_begin + m_window.size()) {
            if (out.size() >= windowBytes) {
                if (auto done = m_source.read(m_offset, out); !done)
                    return fail(done.error());
                m_offset += out.size();
                return true;
            }
            auto window = m_source.readUpTo(m_offset, windowBytes);
            if (!window)
                return fail(window.error());
            m_window = std::move(*window);
            m_begin = m_offset;
        }
        std::memcpy(out.data(), m_window.data() + (m_offset - m_begin), out.size());
        m_offset += out.size();
        return true;
    }

    /// An integer or float in the byte order set.
    template<class T>
    bool read(T &out, std::string_view what)
    {
        std::byte raw[sizeof(T)];
        if (!read(std::span<std::byte>(raw), what))
            return false;
        if (m_swap)
            std::reverse(std::begin(raw), std::end(raw));
        std::memcpy(&out, raw, sizeof(T));
        return true;
    }

    bool skip(std::uint64_t length, std::string_view what)
    {
        if (!require(length, what))
            return false;
        m_offset += length;
        return true;
    }

private:
    static constexpr std::uint64_t windowBytes = 1 << 18;

    const ByteSource &m_source;
    std::uint64_t m_offset;
    bool m_swap = std::endian::native != std::endian::little;
    std::uint64_t m_begin = 0;
    Bytes m_window;
    std::optional<Error> m_error;
};

} // namespace prosector
