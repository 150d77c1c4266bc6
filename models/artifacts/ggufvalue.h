// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/core/anchor.h"

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace prosector {

/// A read-only range over something with `size()` and `operator[]`, by index.
template<class Range>
class IndexIterator {
public:
    using value_type = typename Range::value_type;
    using reference = value_type;
    using pointer = void;
    using difference_type = std::ptrdiff_t;
    using iterator_category = std::input_iterator_tag;

    IndexIterator() = default;
    IndexIterator(const Range *range, std::size_t index) : m_range(range), m_index(index) {}
    value_type operator*() const { return (*m_range)[m_index]; }
    IndexIterator &operator++()
    {
        ++m_index;
        return *this;
    }
    IndexIterator operator++(int)
    {
        auto old = *this;
        ++*this;
        return old;
    }
    bool operator==(const IndexIterator &) const = default;

private:
    const Range *m_range = nullptr;
    std::size_t m_index = 0;
};

/// The strings of an array, in the file's own bytes (UTF-8 by the specification, not always in
/// fact). 262,144 tokens cost their bytes and four more each. Copies share the bytes; a
/// string_view lives as long as any of them.
class GgufStrings {
public:
    using value_type = std::string_view;
    using const_iterator = IndexIterator<GgufStrings>;
    struct Held {
        std::string bytes;               ///< one after the other, no separators
        std::vector<std::uint32_t> ends; ///< where each ends in `bytes`
    };

    GgufStrings() = default;
    explicit GgufStrings(std::shared_ptr<const Held> held) : m_held(std::move(held)) {}
    std::size_t size() const { return m_held ? m_held->ends.size() : 0; }
    bool empty() const { return size() == 0; }
    std::string_view operator[](std::size_t index) const
    {
        const std::uint32_t begin = index == 0 ? 0 : m_held->ends[index - 1];
        return std::string_view(m_held->bytes).substr(begin, m_held->ends[index] - begin);
    }
    const_iterator begin() const { return {this, 0}; }
    const_iterator end() const { return {this, size()}; }

private:
    std::shared_ptr<const Held> m_held;
};

/// GGUF's value types by their numbers in the file.
enum class GgufType : std::uint32_t {
    Uint8, Int8, Uint16, Int16, Uint32, Int32, Float32, Bool, String, Array, Uint64, Int64, Float64
};
/// Bytes of one value; 0 for strings and arrays, whose size is not fixed.
std::size_t sizeOf(GgufType type);
/// As the format's documents spell it: "uint32", "string".
std::string_view nameOf(GgufType type);

/// The numbers (and Bools) of an array, held as they were stored. Copies share them.
class GgufNumbers {
public:
    using value_type = double;
    using const_iterator = IndexIterator<GgufNumbers>;

    GgufNumbers() = default;
    /// `bytes` holds values of `type` in this machine's byte order.
    GgufNumbers(GgufType type, std::shared_ptr<const std::vector<std::byte>> bytes)
        : m_type(type), m_bytes(std::move(bytes))
    {
    }
    std::size_t size() const { return m_bytes ? m_bytes->size() / sizeOf(m_type) : 0; }
    bool empty() const { return size() == 0; }
    /// Converted; above 2^53 not exact: see integer().
    double operator[](std::size_t index) const;
    /// Exact for integers and Bool (Uint64 above 2^63 wraps), 0 for floats.
    std::int64_t integer(std::size_t index) const;
    const_iterator begin() const { return {this, 0}; }
    const_iterator end() const { return {this, size()}; }

private:
    GgufType m_type = GgufType::Uint8;
    std::shared_ptr<const std::vector<std::byte>> m_bytes;
};

/// A GGUF metadata value.
struct GgufValue {
    using Type = GgufType;
    Type type = Type::Uint8;
    Type elementType = Type::Uint8;    ///< of an array
    std::uint64_t count = 0;           ///< of an array, as declared
    std::int64_t integer = 0;          ///< integers and Bool; Uint64 above 2^63 wraps: see unsignedInteger
    std::uint64_t unsignedInteger = 0;
    double real = 0;                   ///< floats; integers too, converted
    std::string text;                  ///< String
    GgufStrings strings;               ///< arrays of String
    GgufNumbers numbers;               ///< arrays of numbers and Bool
    std::shared_ptr<const std::vector<GgufValue>> arrays; ///< arrays of arrays, else null
    bool isInteger() const;
    bool isNumber() const { return isInteger() || type == Type::Float32 || type == Type::Float64; }
    bool isArray() const { return type == Type::Array; }
    /// For people, cut to about `limit` bytes: `"llama"`, `4096`, `[1, 1, 6, …] 32000 × int32`.
    std::string display(std::size_t limit = 80) const;
};

struct GgufEntry {
    std::string key;
    GgufValue value;
    ByteRange bytes; ///< key and value in the file
};

} // namespace prosector
