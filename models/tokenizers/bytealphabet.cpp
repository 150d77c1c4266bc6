// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/core/utf8.h"
#include "models/tokenizers/tokenmodel.h"

#include <array>

namespace prosector {

namespace {

struct Alphabet {
    std::array<char32_t, 256> character{};
    std::array<std::int16_t, 512> byte{};
    constexpr Alphabet()
    {
        byte.fill(-1);
        char32_t next = 256;
        for (unsigned int b = 0; b < 256; ++b) {
            const bool printable = (b >= '!' && b <= '~') || (b >= 0xA1 && b <= 0xAC) || b >= 0xAE;
            character[b] = printable ? static_cast<char32_t>(b) : next++;
            byte[character[b]] = static_cast<std::int16_t>(b);
        }
    }
};
constexpr Alphabet alphabet;

} // namespace

char32_t byteToCharacter(unsigned char byte)
{
    return alphabet.character[byte];
}

int characterToByte(char32_t c)
{
    return c < alphabet.byte.size() ? alphabet.byte[c] : -1;
}

std::optional<std::string> bytesOfPiece(std::string_view piece)
{
    std::string bytes;
    for (std::size_t i = 0; i < piece.size();) {
        const CodePoint c = decodeUtf8(piece, i);
        const int byte = c.valid ? characterToByte(c.value) : -1;
        if (byte < 0)
            return std::nullopt;
        bytes += static_cast<char>(byte);
        i += c.length;
    }
    return bytes;
}

std::string pieceOfBytes(std::string_view bytes)
{
    std::string piece;
    for (const char byte : bytes)
        appendUtf8(piece, byteToCharacter(static_cast<unsigned char>(byte)));
    return piece;
}

} // namespace prosector
