// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/artifacts/artifact.h"

#include <optional>
#include <string_view>

namespace prosector {

/// Where in the artifact's file an anchor lies: the value of a JSON path (its literal; in GGUF the
/// entry's key and value), a line without its end, a tensor's data, the part of a string literal
/// that a template span means. Nothing for anchors that have no bytes of their own (tokens, masks,
/// times) and for places that do not exist.
///
/// A TemplateSpan counts bytes of the template's text. Where the artifact is the template file these
/// are its bytes; where the template is a string of a JSON file (`chat_template`, or the element of
/// a list of named templates whose text is long enough), each decoded byte is traced to its escape.
std::optional<ByteRange> anchorToBytes(const Artifact &artifact, const Anchor &where);

/// Bytes [from, to) of a decoded JSON string, as bytes of its literal (quotes included in the
/// literal, never in the answer), widened to whole escapes. Nothing when the span leaves the string.
std::optional<ByteRange> spanInLiteral(std::string_view literal, std::uint64_t from, std::uint64_t to);

/// The text that the artifact holds as a whole (plain text, or the source text of a tree), empty
/// when it is not text.
std::string_view textOf(const Artifact &artifact);

} // namespace prosector
