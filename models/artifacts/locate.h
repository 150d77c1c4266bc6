// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/artifacts/artifact.h"

#include <optional>

namespace prosector {

/// Where an anchor lies in the artifact's file: the value at a JSON path, a GGUF entry, a tensor, a
/// line of text. Nothing for anchors that name no bytes, or no longer match the content.
std::optional<ByteRange> bytesOf(const Artifact &artifact, const Anchor &where);

/// Line, counted from 1, of a byte of a text artifact (trees and plain text); nothing for binary
/// formats. Linear in `offset`.
std::optional<std::uint64_t> lineOf(const Artifact &artifact, std::uint64_t offset);

} // namespace prosector
