// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "tests/support/bytewriter.h"

#include <optional>
#include <zlib.h>

#include <vector>

/// A zip file in memory, stored or deflated members, optionally with zip64 fields. The `Member`
/// returned may be changed before bytes() to write what a healthy archive would not hold.
class ZipWriter {
public:
    struct Member {
        std::string name, packed;
        std::uint64_t size = 0, packedSize = 0;
        std::uint32_t crc = 0;
        std::uint16_t method = 0, flags = 0;
        std::optional<std::uint64_t> offset; ///< of the local header, when not the true one
    };

    Member &stored(std::string_view name, std::string_view data)
    {
        return add(name, data, std::string(data), 0);
    }
    Member &deflated(std::string_view name, std::string_view data)
    {
        z_stream stream{};
        deflateInit2(&stream, 9, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY);
        std::string packed(deflateBound(&stream, static_cast<uLong>(data.size())), '\0');
        stream.next_in = reinterpret_cast<Bytef *>(const_cast<char *>(data.data()));
        stream.avail_in = static_cast<uInt>(data.size());
        stream.next_out = reinterpret_cast<Bytef *>(packed.data());
        stream.avail_out = static_cast<uInt>(packed.size());
        deflate(&stream, Z_FINISH);
        packed.resize(stream.total_out);
        deflateEnd(&stream);
        return add(name, data, std::move(packed), 8);
    }

    std::string bytes() const
    {
        ByteWriter file, directory;
        for (const Member &m : m_members) {
            const std::uint64_t offset = m.offset.value_or(file.bytes.size());
            file.put(std::uint32_t(0x04034b50));
            common(file, m);
            file.put(static_cast<std::uint16_t>(zip64 ? 20 : 0)).text(m.name);
            if (zip64)
                file.put(std::uint16_t(1)).put(std::uint16_t(16)).put(m.size).put(m.packedSize);
            file.text(m.packed);
            directory.put(std::uint32_t(0x02014b50)).put(std::uint16_t(45));
            common(directory, m);
            directory.put(static_cast<std::uint16_t>(zip64 ? 28 : 0)).zeros(2 + 2 + 2 + 4);
            directory.put(zip64 ? UINT32_MAX : static_cast<std::uint32_t>(offset)).text(m.name);
            if (zip64)
                directory.put(std::uint16_t(1)).put(std::uint16_t(24)).put(m.size).put(m.packedSize).put(offset);
        }
        const std::uint64_t at = file.bytes.size(), count = m_members.size(), size = directory.bytes.size();
        file.text(directory.bytes);
        if (zip64) {
            const std::uint64_t end = file.bytes.size();
            file.put(std::uint32_t(0x06064b50)).put(std::uint64_t(44)).put(std::uint16_t(45)).put(std::uint16_t(45)).zeros(8);
            file.put(count).put(count).put(size).put(at);
            file.put(std::uint32_t(0x07064b50)).put(std::uint32_t(0)).put(end).put(std::uint32_t(1));
        }
        file.put(std::uint32_t(0x06054b50)).zeros(4);
        file.put(static_cast<std::uint16_t>(zip64 ? UINT16_MAX : count)).put(static_cast<std::uint16_t>(zip64 ? UINT16_MAX : count));
        file.put(zip64 ? UINT32_MAX : static_cast<std::uint32_t>(size)).put(zip64 ? UINT32_MAX : static_cast<std::uint32_t>(at));
        file.put(static_cast<std::uint16_t>(comment.size())).text(comment);
        return file.bytes;
    }

    bool zip64 = false;
    std::string comment;

private:
    Member &add(std::string_view name, std::string_view data, std::string packed, std::uint16_t method)
    {
        Member m;
        m.name = name;
        m.size = data.size();
        m.packedSize = packed.size();
        m.packed = std::move(packed);
        m.crc = static_cast<std::uint32_t>(
            crc32(0, reinterpret_cast<const Bytef *>(data.data()), static_cast<uInt>(data.size())));
        m.method = method;
        return m_members.emplace_back(std::move(m));
    }
    /// From "version needed" to the name's length: the same in both headers.
    void common(ByteWriter &out, const Member &m) const
    {
        out.put(std::uint16_t(45)).put(m.flags).put(m.method).zeros(4).put(m.crc);
        out.put(zip64 ? UINT32_MAX : static_cast<std::uint32_t>(m.packedSize));
        out.put(zip64 ? UINT32_MAX : static_cast<std::uint32_t>(m.size));
        out.put(static_cast<std::uint16_t>(m.name.size()));
    }

    std::vector<Member> m_members;
};
