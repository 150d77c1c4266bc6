// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>

/// Builds binary files in memory, number by number.
class ByteWriter {
public:
    explicit ByteWriter(bool bigEndian = false) : m_swap(bigEndian == (std::endian::native == std::endian::little)) {}

    template<class T>
        requires std::is_arithmetic_v<T>
    ByteWriter &put(T value)
    {
        char raw[sizeof(T)];
        std::memcpy(raw, &value, sizeof(T));
        if (m_swap)
            std::reverse(raw, raw + sizeof(T));
        bytes.append(raw, sizeof(T));
        return *this;
    }
    ByteWriter &text(std::string_view value)
    {
        bytes += value;
        return *this;
    }
    ByteWriter &zeros(std::size_t count)
    {
        bytes.append(count, '\0');
        return *this;
    }
    ByteWriter &align(std::size_t alignment) { return zeros((alignment - bytes.size() % alignment) % alignment); }

    std::string bytes;

private:
    bool m_swap;
};
