// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/core/result.h"

#include <bit>
#include <cstdint>
#include <optional>
#include <string_view>

namespace prosector {

/// One field of a protobuf message. Numbers are as on the wire: signed ones wrap, floats are bits.
struct ProtoField {
    enum class Wire : std::uint8_t { Varint = 0, Fixed64 = 1, Length = 2, Fixed32 = 5 };
    std::uint32_t number = 0;
    Wire wire = Wire::Varint;
    std::uint64_t value = 0;  ///< Varint, Fixed64, Fixed32
    std::string_view bytes;   ///< Length: of the message's text, not copied
    ByteRange where;          ///< tag and value
    std::uint64_t bytesAt = 0; ///< where `bytes` begins

    float real() const { return std::bit_cast<float>(static_cast<std::uint32_t>(value)); }
    bool isMessage() const { return wire == Wire::Length; }
};

/// Walks the fields of a message without knowing its schema. Every length is checked against the bytes
/// that remain. Encoding: https://protobuf.dev/programming-guides/encoding/
class ProtoReader {
public:
    /// `base` is the offset of the message in its file: it is added to every offset given.
    explicit ProtoReader(std::string_view message, std::uint64_t base = 0) : m_message(message), m_base(base) {}

    /// The next field; nothing at the end or at damage, which `problem()` then tells.
    std::optional<ProtoField> next();
    const std::optional<Error> &problem() const { return m_problem; }

private:
    std::optional<std::uint64_t> varint();
    std::optional<ProtoField> fail(std::size_t at, Errc code, std::string expected, std::string found);

    std::string_view m_message;
    std::uint64_t m_base;
    std::size_t m_at = 0;
    std::optional<Error> m_problem;
};

} // namespace prosector
