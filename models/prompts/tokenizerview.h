// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/config/tokenizerfacts.h"
#include "models/runs/run.h"
#include "models/tokenizers/open.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

namespace prosector {

/// One tokenizer of the evidence, a folder's files or a GGUF's, with what the token instruments ask of it
/// (the catalogue's "Shared terms"). Valid as long as its run. Not thread-safe: what costs is found on
/// first use.
class TokenizerView {
public:
    const Run *run = nullptr;
    Side side = Side::A;
    const ModelFolder *folder = nullptr;
    const Artifact *gguf = nullptr; ///< set for a GGUF's vocabulary
    TokenizerFacts facts;

    /// Root of the folder's tokenizer.json; missing for others.
    Value json() const;
    const GgufContent *ggufContent() const { return gguf ? gguf->as<GgufContent>() : nullptr; }
    /// The file that holds the vocabulary, else the first that says anything.
    const Artifact &file() const;
    const std::string &path() const { return file().path; }
    /// Evidence of this view's side.
    Evidence at(Evidence evidence) const;
    Evidence whole(std::string note) const { return at({file().id, Whole{}, std::move(note)}); }
    Evidence token(std::int64_t id, std::string note) const { return at(facts.pieceAt(id, std::move(note))); }

    /// By id, added tokens included; "" for a hole.
    const std::vector<std::string> &pieces() const;
    std::optional<std::string> piece(std::int64_t id) const;
    std::optional<std::int64_t> id(const std::string &piece) const;
    const AddedToken *added(std::int64_t id) const;

    /// Special tokens, and added ones that a chat template prints. White space is none.
    bool isMarker(std::int64_t id) const;
    bool isSpecial(std::int64_t id) const;
    const std::set<std::int64_t> &markers() const;

    /// A vocabulary that cannot encode, and why; empty when it can.
    const std::string &excerpt() const;

    /// The engine for it, with the folder's settings; an error that names what is missing or unsupported.
    const Result<OpenedTokenizer> &opened() const;
    TokenizerPtr tokenizer() const; ///< null on error

private:
    void index() const;
    std::string findExcerpt() const;

    mutable std::optional<std::vector<std::string>> m_pieces;
    mutable std::unordered_map<std::string, std::int64_t> m_ids;
    mutable std::optional<std::set<std::int64_t>> m_markers;
    mutable std::optional<std::string> m_excerpt;
    mutable std::optional<Result<OpenedTokenizer>> m_opened;
};

/// All tokenizers of a run, in order of its folders, a folder's files before its GGUFs.
std::vector<TokenizerView> tokenizerViews(const Run &run, Side side = Side::A);

/// The tokenizer an artifact goes with: that of its folder or the nearest folder above, of several there
/// the one with a vocabulary; else the only one of the run. Null when there is none or it is not clear which.
const TokenizerView *viewFor(const std::vector<TokenizerView> &views, const Artifact &artifact);

/// A piece for messages: quoted, control characters escaped, cut to 40 characters.
std::string shownPiece(std::string_view piece);

} // namespace prosector
