// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/tokenizers/tokenizer.h"

namespace prosector {

/// A SentencePiece model file (tokenizer.model, *.spm), run by the library itself. Ids, offsets and decoded
/// text are the library's; nothing is inserted in front or behind, for no model says so. Only the library's
/// user-defined symbols are found in a text, control symbols never.
///
/// The bytes are checked before the library sees them, which trusts them: Malformed names the piece or
/// the map that is damaged.
Result<TokenizerPtr> tokenizerFromSentencePiece(std::string model);

} // namespace prosector
