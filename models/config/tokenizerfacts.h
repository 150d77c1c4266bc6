// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/config/architecture.h"
#include "models/config/canonicaljson.h"
#include "models/runs/run.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace prosector {

/// A token outside or on top of the vocabulary proper.
struct AddedToken {
    std::int64_t id = 0;
    std::string content;
    bool special = false;
    Evidence where{}; ///< artifact and anchor; the note is "id 128000 is \"<s>\""
};

/// What one file says of one role: `bos`, `eos`, `pad`, `unk`, `cls`, `sep`, `mask`, `eot`, `eom`.
/// Files of one folder may say different things; each has its own row.
struct SpecialRole {
    std::string role;
    std::optional<std::string> text{};
    std::optional<std::int64_t> id{}; ///< stated, or looked up in the vocabulary
    Evidence where{};
};

struct TemplateText {
    std::string name; ///< "default", "tool_use"
    std::string text;
    Evidence where{};
};

/// Who puts BOS before plain text (the catalogue's "Raw-path adder").
struct BosAdder {
    std::optional<bool> adds{}; ///< nothing when sources disagree or none says
    bool ambiguous = false;     ///< sources disagree: it depends on the program
    std::string reason{};       ///< one sentence
    std::vector<Evidence> evidence{};
};

/// A tokenizer as its files describe it, without encoding anything. Refers to the run's trees: valid
/// as long as the run. Cheap: one pass over the vocabulary; hashes only when asked for.
class TokenizerFacts {
public:
    /// From tokenizer.json, tokenizer_config.json, special_tokens_map.json, added_tokens.json,
    /// tokenizer.model and templates of one folder; nothing when it has none of them.
    static std::optional<TokenizerFacts> ofFolder(const Run &run, const ModelFolder &folder);
    /// From `tokenizer.*` of a GGUF file; nothing when it has no vocabulary.
    static std::optional<TokenizerFacts> ofGguf(const Artifact &artifact);

    bool gguf = false;
    ArtifactId vocabularyFile{}; ///< tokenizer.json, tokenizer.model or GGUF; invalid when none was read
    std::string model;           ///< "BPE", "Unigram", "WordPiece", "WordLevel"; GGUF: "llama", "gpt2", …
    std::optional<Evidence> modelAt{};
    std::optional<Setting> pre{};            ///< tokenizer.ggml.pre
    std::optional<Setting> tokenizerClass{}; ///< tokenizer_config.json
    std::optional<Setting> byteFallback{}, ignoreMerges{}, addBos{}, addEos{}, modelMaxLength{};

    std::optional<std::uint64_t> baseSize{};  ///< entries of the vocabulary proper (GGUF: all tokens)
    std::optional<std::uint64_t> size{};      ///< distinct ids with added tokens
    std::optional<std::int64_t> largestId{};  ///< with added tokens
    std::optional<std::uint64_t> merges{};    ///< nothing when the model has none by nature
    std::vector<AddedToken> added;            ///< by id, without repetition
    std::vector<SpecialRole> roles;
    std::vector<TemplateText> templates;
    std::vector<std::string> prefix, suffix;  ///< what tokenizer.json's post-processor puts round one text
    std::optional<Evidence> postProcessorAt{};
    std::vector<SettingRemark> remarks;

    /// SHA-256 values as the reference book defines them (resources/facts/known-models.json, "hashes").
    /// Empty when there is nothing to hash. Computed at each call.
    std::string tokensSha256() const;
    /// The same for the first n ids only (a GGUF lists added tokens among the others). Nothing is empty.
    std::vector<std::string> tokensSha256(const std::vector<std::uint64_t> &prefixes) const;
    std::string preTokenizerSha256() const;
    std::vector<std::string> splitRegexSha256() const;

    /// Every token by its id, added ones included; empty strings where an id has none. At most 2^21 ids.
    std::vector<std::string> piecesById() const;
    std::optional<std::string> piece(std::int64_t id) const;      ///< linear
    std::optional<std::int64_t> id(std::string_view piece) const; ///< linear
    Evidence pieceAt(std::int64_t id, std::string note) const;

    /// First row of a role, in the order tokenizer_config, special_tokens_map, tokenizer.json; or null.
    const SpecialRole *role(std::string_view name) const;
    BosAdder bosAdder() const;

private:
    friend class TokenizerReader;
    Value m_tokenizer;                      ///< root of tokenizer.json
    Value m_vocab;                          ///< object or Unigram list
    const GgufValue *m_tokens = nullptr;    ///< GGUF
    std::vector<std::string> m_pieces;      ///< tokenizer.model
    template<class Visit>
    void eachPiece(Visit visit) const;      ///< (id, piece) in file order; stops when `visit` gives false
};

} // namespace prosector
