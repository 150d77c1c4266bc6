// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace prosector {

/// "<0x0A>": the piece SentencePiece gives a byte that no other piece covers (byte_fallback).
std::string bytePiece(unsigned char byte);
/// The byte such a piece spells; nothing for any other piece.
std::optional<unsigned char> byteOfPiece(std::string_view piece);

} // namespace prosector
