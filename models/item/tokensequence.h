// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/core/job.h"
#include "models/prompts/tokenarrays.h"
#include "models/tokenizers/tokenizer.h"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace prosector {

/// How all tokens of one id (and one recorded piece) look.
struct TokenKind {
    enum Flag : std::uint8_t {
        Special = 1,    ///< a special token
        Added = 2,      ///< in the tokenizer's added tokens
        Control = 4,    ///< holds characters that steer how text is shown
        Partial = 8,    ///< holds bytes that are no whole character
        Unseen = 16,    ///< holds characters that are not seen
        Confusable = 32, ///< mixes Latin letters with look-alikes of another script
        Unknown = 64,   ///< the tokenizer has no such id
        Differs = 128,  ///< the recorded piece is not the tokenizer's
    };
    static constexpr std::int64_t noId = INT64_MIN;

    std::int64_t id = noId;   ///< noId where the record has pieces only
    std::string piece;        ///< as recorded; empty when none was
    std::string bytes;        ///< of text: the tokenizer's, else the recorded piece
    std::string shown;        ///< valid UTF-8 on one line: · ⏎ ⇥ ⍽ ‹U+200B› ‹E2 9D›
    std::string note;         ///< names of what cannot be seen as it is
    std::uint32_t columns = 1; ///< cells of a fixed font that `shown` takes, with a pill's ends
    std::uint32_t characters = 0; ///< that begin in `bytes`
    std::uint8_t flags = 0;
    bool endsLine = false; ///< holds a line feed

    bool isMarker() const { return flags & (Special | Added); }
};

/// Stretches of tokens of one role.
struct TokenRole {
    std::uint64_t from = 0, to = 0;
    std::uint32_t name = 0; ///< index into TokenSequence::roleNames()
};

/// An opened token array ready to be shown, found in and walked: what is equal in many tokens stands once,
/// a token costs 4 bytes and those of its text. Immutable; may be read from any thread.
class TokenSequence {
public:
    /// Arrays that belong together, in order, become one; without roles of their own, several are called by their use.
    /// `tokenizer` may be null: then recorded pieces stand for the text, else ids alone. Fails only with Cancelled.
    static Result<std::shared_ptr<const TokenSequence>> make(const std::vector<TokenArray> &arrays, TokenizerPtr tokenizer, const Job &job);

    std::uint64_t size() const { return m_kinds.size(); }
    std::uint32_t kindIndex(std::uint64_t token) const { return m_kinds[token]; }
    const TokenKind &kind(std::uint64_t token) const { return m_table[m_kinds[token]]; }
    const std::vector<TokenKind> &kinds() const { return m_table; }
    const std::vector<std::uint32_t> &tokens() const { return m_kinds; }
    const TokenizerPtr &tokenizer() const { return m_tokenizer; }

    /// The bytes of all tokens, one after another. Special tokens take part with their spelling.
    const std::string &text() const { return m_text; }
    ByteRange bytesOf(std::uint64_t token) const; ///< in text()
    ByteRange bytesOf(const TokenRange &tokens) const;
    std::uint64_t characterOffset(std::uint64_t token) const; ///< characters that begin before it
    /// The token that holds a byte; size() behind the end.
    std::uint64_t tokenAt(std::uint64_t byte) const;
    /// Tokens that share a byte with the range.
    TokenRange tokensOf(const ByteRange &bytes) const;

    const std::vector<std::string> &roleNames() const { return m_roleNames; }
    const std::vector<TokenRole> &roles() const { return m_roles; } ///< in order, without gaps; empty when there are none
    int roleOf(std::uint64_t token) const;                          ///< -1 when it has none

    bool hasLogprobs() const { return !m_logprobs.empty(); }
    bool hasRanks() const { return !m_ranks.empty(); }
    float logprob(std::uint64_t token) const; ///< not a number when there is none
    std::uint32_t rank(std::uint64_t token) const { return m_ranks.empty() ? 0 : m_ranks[token]; } ///< 0 when there is none

    /// Bytes it takes in memory, about.
    std::uint64_t footprint() const;

private:
    friend class TokenSequenceMaker;
    static constexpr std::uint64_t block = 64;

    TokenizerPtr m_tokenizer;
    std::vector<TokenKind> m_table;
    std::vector<std::uint32_t> m_lengths; ///< of m_table's bytes
    std::vector<std::uint32_t> m_kinds;
    std::string m_text;
    struct Checkpoint {
        std::uint64_t bytes, characters;
    };
    std::vector<Checkpoint> m_checkpoints; ///< before every token whose index is a multiple of `block`
    std::vector<std::string> m_roleNames;
    std::vector<TokenRole> m_roles;
    std::vector<float> m_logprobs;
    std::vector<std::uint32_t> m_ranks;
};
using TokenSequencePtr = std::shared_ptr<const TokenSequence>;

/// Arrays of a list that are parts of one recorded array (prompt and completion), joined: indices, in order.
std::vector<std::vector<std::size_t>> joinedArrays(const std::vector<TokenArray> &arrays);

/// Fills shown, note, columns, characters and flags of a kind from its bytes.
void describeToken(TokenKind &kind);

} // namespace prosector
