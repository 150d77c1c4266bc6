// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/tokenizers/bytepiece.h"

#include "models/core/hex.h"

#include <charconv>

namespace prosector {

std::string bytePiece(unsigned char byte)
{
    return "<0x" + upperHex(byte) + '>';
}

std::optional<unsigned char> byteOfPiece(std::string_view piece)
{
    if (piece.size() != 6 || !piece.starts_with("<0x") || !piece.ends_with('>'))
        return std::nullopt;
    unsigned char value = 0;
    const auto parsed = std::from_chars(piece.data() + 3, piece.data() + 5, value, 16);
    if (parsed.ec != std::errc() || parsed.ptr != piece.data() + 5)
        return std::nullopt;
    return value;
}

} // namespace prosector
