// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/artifacts/artifact.h"
#include "models/core/job.h"

#include <string_view>

namespace prosector {

/// The last part of a source's name: `archive.zip!a/config.json` gives `config.json`.
std::string_view fileName(const ByteSource &source);

/// Longer JSON is refused (Errc::TooLarge): its tree would not fit beside the rest.
inline constexpr std::uint64_t maxJsonBytes = 512ULL << 20;

/// Opens one JSON value as a tree and says by its keys what it is. What turns out to be several values
/// on lines of their own is opened as JSON Lines.
Result<Reading> openJson(SourcePtr source, const Job &job);

/// The Reading of a parsed tree, JSON or YAML, classified by its keys.
Reading readTree(DocumentPtr document, const ByteSource &source);

/// Opens JSON Lines as an index of lines; the first value says what they are.
Result<Reading> openJsonLines(SourcePtr source, const Job &job);

/// Whether the text begins like JSON Lines: a whole value on the first line and another one below, or,
/// if nothing follows, the name of such a file.
bool looksLikeJsonLines(std::string_view head, std::string_view name);

/// Whether the text begins with an object or a list: not with a template's `{%` or a log line's `[2025-`.
bool looksLikeJson(std::string_view head);

} // namespace prosector
