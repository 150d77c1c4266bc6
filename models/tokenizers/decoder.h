// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/core/document.h"
#include "models/core/result.h"

#include <functional>
#include <string>
#include <vector>

namespace prosector {

/// One step from spellings back to text.
struct Decoder {
    std::string name;
    std::function<Result<std::vector<std::string>>(std::vector<std::string>)> run;
};
using Decoders = std::vector<Decoder>;

/// From `decoder` of a tokenizer.json: ByteLevel, Metaspace, WordPiece, BPEDecoder, ByteFallback, Fuse,
/// Strip, Replace, CTC, Sequence. Unsupported, with the name and the path, for anything else.
Result<Decoders> makeDecoders(Value decoder);

/// Pieces in GPT-2's byte alphabet to the text of their bytes, damage as U+FFFD.
Decoder byteLevelDecoder();

/// The bytes that a piece stands for between two others: what the decoders make of it before they join.
std::string bytesOf(const std::string &piece, const Decoders &decoders);

/// What `clean_up_tokenization_spaces` does to a decoded text (transformers, clean_up_tokenization).
std::string cleanUpSpaces(std::string text);

} // namespace prosector
