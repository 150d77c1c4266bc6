// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/artifacts/ggufvalue.h"
#include "tests/support/bytewriter.h"

#include <optional>
#include <string>
#include <vector>

/// A small GGUF file in memory, any version and byte order:
/// `GgufWriter().string("general.architecture", "llama").u32("llama.block_count", 2)
///      .tensor("token_embd.weight", 0, {8, 4}, data).bytes()`.
/// Shapes are given outermost first, as TensorInfo has them. The public members override what a
/// healthy file would hold.
class GgufWriter {
public:
    using Type = prosector::GgufType;

    explicit GgufWriter(std::uint32_t version = 3, bool bigEndian = false)
        : m_version(version), m_bigEndian(bigEndian), m_metadata(bigEndian), m_infos(bigEndian), m_data(bigEndian)
    {
    }

    GgufWriter &string(std::string_view key, std::string_view value)
    {
        begin(key, Type::String);
        putString(m_metadata, value);
        return *this;
    }
    GgufWriter &u32(std::string_view key, std::uint32_t value) { return scalar(key, Type::Uint32, value); }
    GgufWriter &u64(std::string_view key, std::uint64_t value) { return scalar(key, Type::Uint64, value); }
    GgufWriter &f32(std::string_view key, float value) { return scalar(key, Type::Float32, value); }
    GgufWriter &boolean(std::string_view key, bool value) { return scalar(key, Type::Bool, static_cast<std::uint8_t>(value)); }
    /// The C++ type must be the one the type has in the file.
    template<class T>
    GgufWriter &scalar(std::string_view key, Type type, T value)
    {
        begin(key, type);
        m_metadata.put(value);
        return *this;
    }
    GgufWriter &strings(std::string_view key, const std::vector<std::string> &values)
    {
        begin(key, Type::Array);
        m_metadata.put(static_cast<std::uint32_t>(Type::String));
        putLength(m_metadata, values.size());
        for (const std::string &value : values)
            putString(m_metadata, value);
        return *this;
    }
    template<class T>
    GgufWriter &numbers(std::string_view key, Type elementType, const std::vector<T> &values)
    {
        begin(key, Type::Array);
        m_metadata.put(static_cast<std::uint32_t>(elementType));
        putLength(m_metadata, values.size());
        for (const T value : values)
            m_metadata.put(value);
        return *this;
    }
    /// Key and type, then whatever bytes the caller wants.
    GgufWriter &raw(std::string_view key, std::uint32_t type, std::string_view value)
    {
        begin(key, static_cast<Type>(type));
        m_metadata.text(value);
        return *this;
    }

    /// A tensor with its data behind the ones before, aligned.
    GgufWriter &tensor(std::string_view name, std::uint32_t ggmlType, const std::vector<std::uint64_t> &shape,
                       std::string_view data)
    {
        m_data.align(alignment);
        info(name, ggmlType, shape, m_data.bytes.size());
        m_data.text(data);
        return *this;
    }
    /// Only the entry.
    GgufWriter &info(std::string_view name, std::uint32_t ggmlType, const std::vector<std::uint64_t> &shape,
                     std::uint64_t offset)
    {
        ++m_tensors;
        putString(m_infos, name);
        m_infos.put(static_cast<std::uint32_t>(shape.size()));
        for (auto extent = shape.rbegin(); extent != shape.rend(); ++extent)
            putLength(m_infos, *extent);
        m_infos.put(ggmlType).put(offset);
        return *this;
    }

    std::string bytes() const
    {
        ByteWriter file(m_bigEndian);
        file.text("GGUF").put(m_version);
        putLength(file, tensorCount.value_or(m_tensors));
        putLength(file, entryCount.value_or(m_entries));
        file.text(m_metadata.bytes).text(m_infos.bytes);
        if (m_tensors > 0)
            file.align(alignment).text(m_data.bytes).align(alignment);
        return file.bytes;
    }

    std::size_t alignment = 32;
    std::optional<std::uint64_t> tensorCount, entryCount;

private:
    void begin(std::string_view key, Type type)
    {
        ++m_entries;
        putString(m_metadata, key);
        m_metadata.put(static_cast<std::uint32_t>(type));
    }
    void putLength(ByteWriter &out, std::uint64_t length) const
    {
        if (m_version == 1)
            out.put(static_cast<std::uint32_t>(length));
        else
            out.put(length);
    }
    void putString(ByteWriter &out, std::string_view text) const
    {
        putLength(out, text.size());
        out.text(text);
    }

    std::uint32_t m_version;
    bool m_bigEndian;
    std::uint64_t m_tensors = 0, m_entries = 0;
    ByteWriter m_metadata, m_infos, m_data;
};

/// A GGUF that holds a vocabulary alone; an empty `pre` is not written, and of merges one.
inline std::string vocabularyGguf(std::string_view model, std::string_view pre, const std::vector<std::string> &tokens, bool merges)
{
    GgufWriter writer;
    writer.string("general.architecture", "llama").string("tokenizer.ggml.model", model);
    if (!pre.empty())
        writer.string("tokenizer.ggml.pre", pre);
    writer.strings("tokenizer.ggml.tokens", tokens);
    if (merges)
        writer.strings("tokenizer.ggml.merges", {"a b"});
    return writer.bytes();
}
