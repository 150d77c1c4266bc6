// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/core/hex.h"

#include <string_view>

namespace prosector {

namespace {

std::string twoDigits(unsigned char byte, std::string_view digits)
{
    return {digits[byte >> 4], digits[byte & 15]};
}

} // namespace

std::string upperHex(unsigned char byte)
{
    return twoDigits(byte, "0123456789ABCDEF");
}

std::string lowerHex(unsigned char byte)
{
    return twoDigits(byte, "0123456789abcdef");
}

std::string hexText(std::span<const std::byte> bytes)
{
    std::string text;
    for (const std::byte byte : bytes)
        text += (text.empty() ? "" : " ") + upperHex(std::to_integer<unsigned char>(byte));
    return text;
}

} // namespace prosector
