// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "tests/support/bytewriter.h"

#include <span>
#include <vector>

/// A small safetensors file in memory:
/// `SafetensorsWriter().metadata("format", "pt").tensor("w", "F32", {2, 3}, data).bytes()`.
/// The `raw` functions write what a healthy file would not hold.
class SafetensorsWriter {
public:
    SafetensorsWriter &metadata(std::string_view key, std::string_view value)
    {
        m_metadata += (m_metadata.empty() ? "" : ",") + quote(key) + ':' + quote(value);
        return *this;
    }
    /// `data` holds the tensor's bytes; where it is shorter than declared offsets need, use `rawEntry`.
    SafetensorsWriter &tensor(std::string_view name, std::string_view dtype, std::vector<std::uint64_t> shape,
                              std::string_view data)
    {
        rawEntry(name, dtype, shape, m_data.size(), m_data.size() + data.size());
        m_data += data;
        return *this;
    }
    template<class T>
    SafetensorsWriter &tensor(std::string_view name, std::string_view dtype, std::vector<std::uint64_t> shape,
                              const std::vector<T> &values)
    {
        ByteWriter data;
        for (const T value : values)
            data.put(value);
        return tensor(name, dtype, std::move(shape), std::string_view(data.bytes));
    }
    SafetensorsWriter &rawEntry(std::string_view name, std::string_view dtype, const std::vector<std::uint64_t> &shape,
                                std::uint64_t from, std::uint64_t to)
    {
        std::string extents;
        for (const auto extent : shape)
            extents += (extents.empty() ? "" : ",") + std::to_string(extent);
        return rawText(quote(name) + ":{\"dtype\":" + quote(dtype) + ",\"shape\":[" + extents + "],\"data_offsets\":["
                       + std::to_string(from) + ',' + std::to_string(to) + "]}");
    }
    SafetensorsWriter &rawText(std::string_view member)
    {
        m_entries += (m_entries.empty() ? "" : ",");
        m_entries += member;
        return *this;
    }
    SafetensorsWriter &rawData(std::string_view data)
    {
        m_data += data;
        return *this;
    }

    /// Padded with spaces to a multiple of eight, as the reference library does.
    std::string header() const
    {
        std::string text = "{";
        if (!m_metadata.empty())
            text += "\"__metadata__\":{" + m_metadata + '}' + (m_entries.empty() ? "" : ",");
        text += m_entries + '}';
        text.append((8 - text.size() % 8) % 8, ' ');
        return text;
    }
    std::string bytes() const
    {
        const std::string text = header();
        return ByteWriter().put(std::uint64_t(text.size())).text(text).text(m_data).bytes;
    }

private:
    static std::string quote(std::string_view text)
    {
        std::string quoted = "\"";
        for (const char c : text) {
            if (c == '"' || c == '\\')
                quoted += '\\';
            quoted += c;
        }
        return quoted + '"';
    }

    std::string m_metadata, m_entries, m_data;
};
