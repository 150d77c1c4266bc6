// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/core/document.h"
#include "models/core/result.h"
#include "models/tokenizers/alignedtext.h"

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace prosector {

/// One step that rewrites a text before it is cut. Immutable; thread-safe.
class Normalizer {
public:
    virtual ~Normalizer() = default;
    virtual Result<void> apply(AlignedText &text) const = 0;
    /// As the file names it: "NFC", "Replace".
    virtual std::string name() const = 0;
};
/// Steps in order, Sequences flattened.
using Normalizers = std::vector<std::shared_ptr<const Normalizer>>;

/// From `normalizer` of a tokenizer.json: NFC, NFD, NFKC, NFKD, Lowercase, Strip, StripAccents, Replace,
/// Prepend, Append, Nmt, Precompiled, BertNormalizer, ByteLevel, Sequence. null or missing: none.
/// Unsupported, with the name and the path, for anything else.
Result<Normalizers> makeNormalizers(Value normalizer);

/// `{"String": s}` or `{"Regex": r}` as in Replace and Split.
class Pattern;
Result<Pattern> patternOf(Value pattern);

/// SentencePiece's compiled character map: a double-array trie over UTF-8 (darts-clone) and the
/// strings it maps to (sentencepiece, normalizer.cc).
class PrecompiledMap {
public:
    /// Malformed when the sizes inside contradict the bytes.
    static Result<PrecompiledMap> make(std::string blob, const Anchor &where);
    /// What the shortest mapped prefix of `text` becomes; nothing when none is mapped.
    std::optional<std::string_view> find(std::string_view text) const;

    /// The longest mapped prefix and its length, as SentencePiece and llama.cpp ask.
    std::optional<std::pair<std::string_view, std::size_t>> findLongest(std::string_view text) const;

    /// Malformed when some path through the trie leaves it or the strings: for libraries that follow it
    /// unchecked.
    Result<void> check(const Anchor &where) const;

    /// True only for plain ASCII of which nothing is mapped: most lines of most texts.
    bool leavesAlone(std::string_view text) const;

private:
    std::array<bool, 128> m_asciiMapped{};
    std::vector<std::uint32_t> m_trie;
    std::string m_strings;
};

} // namespace prosector
