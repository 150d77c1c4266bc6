// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/artifacts/ggufvalue.h"

#include "models/core/utf8.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstring>
#include <type_traits>

namespace prosector {

namespace {

struct TypeRow {
    std::string_view name;
    std::size_t size;
};
// In the order of the enum.
constexpr std::array typeRows = std::to_array<TypeRow>({
    {"uint8", 1}, {"int8", 1}, {"uint16", 2}, {"int16", 2}, {"uint32", 4}, {"int32", 4}, {"float32", 4},
    {"bool", 1}, {"string", 0}, {"array", 0}, {"uint64", 8}, {"int64", 8}, {"float64", 8},
});
static_assert(typeRows.size() == static_cast<std::size_t>(GgufType::Float64) + 1);

template<class T>
T load(const std::byte *at)
{
    T value;
    std::memcpy(&value, at, sizeof value);
    return value;
}

/// Calls `use` with the element in its own type.
template<class Use>
auto withElement(GgufType type, const std::byte *at, Use use)
{
    switch (type) {
    case GgufType::Uint8:
    case GgufType::Bool: return use(load<std::uint8_t>(at));
    case GgufType::Int8: return use(load<std::int8_t>(at));
    case GgufType::Uint16: return use(load<std::uint16_t>(at));
    case GgufType::Int16: return use(load<std::int16_t>(at));
    case GgufType::Uint32: return use(load<std::uint32_t>(at));
    case GgufType::Int32: return use(load<std::int32_t>(at));
    case GgufType::Float32: return use(load<float>(at));
    case GgufType::Uint64: return use(load<std::uint64_t>(at));
    case GgufType::Int64: return use(load<std::int64_t>(at));
    case GgufType::Float64: return use(load<double>(at));
    case GgufType::String:
    case GgufType::Array: break;
    }
    return use(0);
}

template<class T>
std::string numberText(T value)
{
    std::array<char, 40> buffer{};
    if constexpr (std::is_floating_point_v<T>) { // "1000000", not "1e+06"
        if (std::abs(value) < T(1e15) && value == std::floor(value)) {
            const auto whole = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, std::chars_format::fixed);
            return {buffer.data(), whole.ptr};
        }
    }
    const auto done = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value);
    return {buffer.data(), done.ptr};
}

/// Cut at a code point, invalid bytes replaced.
std::string quoted(std::string_view text, std::size_t limit)
{
    const bool cut = text.size() > limit;
    text = text.substr(0, limit);
    for (int i = 0; cut && i < 3 && !text.empty() && (static_cast<unsigned char>(text.back()) & 0xC0U) == 0x80; ++i)
        text.remove_suffix(1);
    if (cut && !text.empty() && static_cast<unsigned char>(text.back()) >= 0xC0)
        text.remove_suffix(1);
    std::string result = "\"";
    for (const char c : toValidUtf8(text)) {
        if (c == '\n')
            result += "\\n";
        else if (c == '\t')
            result += "\\t";
        else if (c == '\r')
            result += "\\r";
        else if (c == '"' || c == '\\')
            (result += '\\') += c;
        else
            result += c;
    }
    return result + (cut ? "…\"" : "\"");
}

} // namespace

std::size_t sizeOf(GgufType type)
{
    return typeRows[static_cast<std::size_t>(type)].size;
}

std::string_view nameOf(GgufType type)
{
    return typeRows[static_cast<std::size_t>(type)].name;
}

double GgufNumbers::operator[](std::size_t index) const
{
    return withElement(m_type, m_bytes->data() + index * sizeOf(m_type),
                       [](auto value) { return static_cast<double>(value); });
}

std::int64_t GgufNumbers::integer(std::size_t index) const
{
    return withElement(m_type, m_bytes->data() + index * sizeOf(m_type), [](auto value) {
        if constexpr (std::is_floating_point_v<decltype(value)>)
            return std::int64_t(0);
        else
            return static_cast<std::int64_t>(value);
    });
}

bool GgufValue::isInteger() const
{
    return type <= Type::Int32 || type == Type::Uint64 || type == Type::Int64;
}

std::string GgufValue::display(std::size_t limit) const
{
    switch (type) {
    case Type::String: return quoted(text, limit);
    case Type::Bool: return integer ? "true" : "false";
    case Type::Uint64: return numberText(unsignedInteger);
    case Type::Float32: return numberText(static_cast<float>(real));
    case Type::Float64: return numberText(real);
    case Type::Array: break;
    default: return numberText(integer);
    }
    std::string list;
    const std::size_t held = elementType == Type::String ? strings.size()
        : elementType == Type::Array                      ? (arrays ? arrays->size() : 0)
                                                          : numbers.size();
    std::size_t shown = 0;
    for (; shown < held && list.size() < limit; ++shown) {
        const std::size_t left = limit - list.size();
        list += shown ? ", " : "";
        if (elementType == Type::String)
            list += quoted(strings[shown], left);
        else if (elementType == Type::Array)
            list += (*arrays)[shown].display(left / 2);
        else if (elementType == Type::Bool)
            list += numbers.integer(shown) ? "true" : "false";
        else if (elementType == Type::Float32)
            list += numberText(static_cast<float>(numbers[shown]));
        else if (elementType == Type::Float64)
            list += numberText(numbers[shown]);
        else if (elementType == Type::Uint64)
            list += numberText(static_cast<std::uint64_t>(numbers.integer(shown)));
        else
            list += numberText(numbers.integer(shown));
    }
    const bool all = shown == count;
    return '[' + list + (all ? "]" : (shown ? ", …] " : "…] "))
        + (all ? "" : std::to_string(count) + " × " + std::string(nameOf(elementType)));
}

} // namespace prosector
