// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/tokenizers/decodestream.h"
#include "models/tokenizers/encoding.h"
#include "models/tokenizers/explanation.h"

#include <string>
#include <string_view>

namespace prosector::cli {

/// {"ids":[],"tokens":[],"offsets":[[b,e]]} on one line; with `why` also "explain", one entry per id, and
/// "pieces". Bytes of `input` that are not UTF-8 are listed under "invalid". Texts that are not UTF-8 stand
/// with U+FFFD, and their bytes in hexadecimal beside them.
std::string encodingJson(const Encoding &encoding, const Explanation *why, std::string_view input);

std::string decodeStepJson(const Tokenizer &tokenizer, std::uint32_t id, const DecodeStream::Step &step);

} // namespace prosector::cli
