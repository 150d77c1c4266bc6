// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace prosector {

/// A typed index: an artifact id never passes for a token id. Invalid until assigned.
template<class Tag>
struct Id {
    std::uint32_t index = UINT32_MAX;
    bool valid() const { return index != UINT32_MAX; }
    auto operator<=>(const Id &) const = default;
};
using ArtifactId = Id<struct ArtifactTag>;

// Anchors: where, in one artifact. All are plain, comparable values. Ranges are half open
// unless a comment says otherwise. Names and fields are those of the report's `locator`.

struct Whole {
    auto operator<=>(const Whole &) const = default;
};
/// Bytes of the artifact's file.
struct ByteRange {
    std::uint64_t from = 0, to = 0;
    std::uint64_t size() const { return to - from; }
    auto operator<=>(const ByteRange &) const = default;
};
/// Lines of a text file, counted from 1, both ends included.
struct LogLine {
    std::uint64_t from = 1, to = 1;
    auto operator<=>(const LogLine &) const = default;
};
/// A value in a JSON-like tree: `$.rope_scaling.type`, `$["a.b"][3]`. GGUF metadata keys use
/// the same form: `$["llama.rope.freq_base"]`.
struct JsonPath {
    std::string path;
    auto operator<=>(const JsonPath &) const = default;
};
/// Tokens of an array, by index.
struct TokenRange {
    std::uint64_t from = 0, to = 0;
    auto operator<=>(const TokenRange &) const = default;
};
/// Bytes of a chat template's source.
struct TemplateSpan {
    std::uint64_t from = 0, to = 0;
    auto operator<=>(const TemplateSpan &) const = default;
};
/// Part of a named tensor: per dimension [from, to). Empty `from` means the whole tensor.
struct TensorBlock {
    std::string tensor;
    std::vector<std::uint64_t> from{}, to{};
    auto operator<=>(const TensorBlock &) const = default;
};
/// A rectangle of an attention mask: queries [q0, q1) by keys [k0, k1).
struct MaskRect {
    std::uint64_t q0 = 0, q1 = 0, k0 = 0, k1 = 0;
    auto operator<=>(const MaskRect &) const = default;
};
struct MaskCells {
    std::vector<MaskRect> rects;
    auto operator<=>(const MaskCells &) const = default;
};
/// Rows of a table: cache slots, requests, samples.
struct CacheRows {
    std::vector<std::uint64_t> rows;
    auto operator<=>(const CacheRows &) const = default;
};
struct ItemIds {
    std::vector<std::string> ids;
    auto operator<=>(const ItemIds &) const = default;
};
/// Seconds since the Unix epoch.
struct TimeSpan {
    double from = 0, to = 0;
    auto operator<=>(const TimeSpan &) const = default;
};
/// Generation steps, counted from the first generated token.
struct StepRange {
    std::uint64_t from = 0, to = 0;
    auto operator<=>(const StepRange &) const = default;
};

using Anchor = std::variant<Whole, ByteRange, LogLine, JsonPath, TokenRange, TemplateSpan, TensorBlock,
                            MaskCells, CacheRows, ItemIds, TimeSpan, StepRange>;

/// The locator's type name in reports, e.g. "token_range".
std::string_view typeName(const Anchor &anchor);

/// Short text for people, e.g. "line 12", "$.eos_token_id", "tokens 0–2".
std::string describe(const Anchor &anchor);

} // namespace prosector
