// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace prosector {

/// A byte as two hexadecimal digits: "0A".
std::string upperHex(unsigned char byte);
/// "0a".
std::string lowerHex(unsigned char byte);
/// "0A 1B 2C".
std::string hexText(std::span<const std::byte> bytes);

} // namespace prosector
