// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/core/document.h"
#include "models/core/result.h"
#include "models/tokenizers/normalizer.h"
#include "models/tokenizers/tokenmodel.h"

#include <array>
#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace prosector {

/// A token found in the text before anything else happens.
struct AddedTokenRule {
    std::string content;
    std::uint32_t id = 0;
    bool special = false, normalized = true, singleWord = false, leftStrip = false, rightStrip = false;
};

/// Leftmost match, of several the longest, over a byte trie. Linear in practice: a match is no longer
/// than the longest token.
class TokenMatcher {
public:
    void add(std::string_view text, std::uint32_t index);
    bool empty() const { return m_nodes.size() <= 1; }
    struct Match {
        std::size_t begin, end;
        std::uint32_t index;
    };
    /// The first match at or behind `from`.
    std::optional<Match> find(std::string_view text, std::size_t from) const;

private:
    struct Node {
        std::map<unsigned char, std::uint32_t> children;
        std::uint32_t index = Vocabulary::none;
    };
    std::vector<Node> m_nodes{1};
    std::array<bool, 256> m_starts{}; ///< bytes that begin a token
};

/// The added tokens of a tokenizer, by content and id.
class AddedTokens {
public:
    /// From `added_tokens` of a tokenizer.json, with the ids that Hugging Face `tokenizers` gives them:
    /// the model's own where it knows the spelling, else counted from the vocabulary's size on.
    /// `more` is laid over the list, in order: a spelling of the list gets new flags.
    static Result<AddedTokens> make(Value list, const TokenModel &model, const Normalizers &normalizers,
                                    std::span<const AddedTokenRule> more = {});

    /// With the ids they come with. Of equal contents or ids the later counts. Never found: known by name and
    /// id, but cut() leaves them in the text.
    enum class Found { InText, Never };
    static AddedTokens of(std::vector<AddedTokenRule> tokens, Found found = Found::InText);

    struct Stretch {
        std::size_t begin, end;
        const AddedTokenRule *token; ///< null: text between
    };
    /// Cuts raw (`normalized` false) or normalised text. The stretches cover it.
    std::vector<Stretch> cut(std::string_view text, bool normalized, bool specialsAsText) const;

    const AddedTokenRule *byId(std::uint32_t id) const;
    const AddedTokenRule *byContent(std::string_view content) const;
    bool isSpecial(std::string_view content) const { return m_special.contains(content); }
    /// How the token reads to a decoder: its normalised form if that differs.
    const std::string &spelling(const AddedTokenRule &token) const;
    std::vector<const AddedTokenRule *> all() const; ///< by id
    std::uint32_t idEnd() const { return m_byId.empty() ? 0 : m_byId.rbegin()->first + 1; }

private:
    void insert(AddedTokenRule token);
    void fillMatchers();

    std::map<std::uint32_t, AddedTokenRule> m_byId;
    std::map<std::string, std::uint32_t, std::less<>> m_idOf;
    std::set<std::string, std::less<>> m_special;
    std::map<std::uint32_t, std::string> m_normalizedForm;
    TokenMatcher m_raw, m_normalized;
};

} // namespace prosector
