// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/core/protobuf.h"

#include <string>

namespace prosector {

std::optional<ProtoField> ProtoReader::fail(std::size_t at, Errc code, std::string expected, std::string found)
{
    m_problem = Error{code, "damaged protobuf message", ByteRange{m_base + at, m_base + m_message.size()},
                      std::move(expected), std::move(found)};
    return std::nullopt;
}

std::optional<std::uint64_t> ProtoReader::varint()
{
    std::uint64_t value = 0;
    for (int shift = 0; shift < 70 && m_at < m_message.size(); shift += 7) {
        const auto byte = static_cast<unsigned char>(m_message[m_at++]);
        if (shift == 63 && byte > 1)
            return std::nullopt;
        value |= static_cast<std::uint64_t>(byte & 0x7F) << shift;
        if (byte < 0x80)
            return value;
    }
    return std::nullopt;
}

std::optional<ProtoField> ProtoReader::next()
{
    if (m_problem || m_at >= m_message.size())
        return std::nullopt;
    const auto begin = m_at;
    const auto tag = varint();
    if (!tag || *tag >> 3 == 0 || *tag >> 3 > 536'870'911)
        return fail(begin, Errc::Malformed, "a field number between 1 and 536870911", tag ? std::to_string(*tag >> 3) : "no number that ends");
    ProtoField field;
    field.number = static_cast<std::uint32_t>(*tag >> 3);
    const auto wire = static_cast<std::uint8_t>(*tag & 7);
    if (wire != 0 && wire != 1 && wire != 2 && wire != 5)
        return fail(begin, Errc::Malformed, "wire type 0, 1, 2 or 5 of field " + std::to_string(field.number), std::to_string(wire));
    field.wire = static_cast<ProtoField::Wire>(wire);
    const auto left = [&] { return m_message.size() - m_at; };
    if (field.wire == ProtoField::Wire::Varint || field.wire == ProtoField::Wire::Length) {
        const auto value = varint();
        if (!value) {
            return fail(begin, m_at >= m_message.size() ? Errc::Truncated : Errc::Malformed,
                        "a number of at most 10 bytes in field " + std::to_string(field.number),
                        m_at >= m_message.size() ? "the end of the message" : "a longer one");
        }
        field.value = *value;
        if (field.isMessage()) {
            if (*value > left()) {
                return fail(begin, Errc::Truncated, std::to_string(*value) + " bytes in field " + std::to_string(field.number),
                            std::to_string(left()) + " bytes");
            }
            field.bytesAt = m_base + m_at;
            field.bytes = m_message.substr(m_at, *value);
            m_at += *value;
        }
    } else {
        const std::size_t size = field.wire == ProtoField::Wire::Fixed64 ? 8 : 4;
        if (size > left()) {
            return fail(begin, Errc::Truncated, std::to_string(size) + " bytes in field " + std::to_string(field.number),
                        std::to_string(left()) + " bytes");
        }
        for (std::size_t i = 0; i < size; ++i)
            field.value |= static_cast<std::uint64_t>(static_cast<unsigned char>(m_message[m_at++])) << (8 * i);
    }
    field.where = {m_base + begin, m_base + m_at};
    return field;
}

} // namespace prosector
