// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/prompts/tokenarrays.h"
#include "models/prompts/tokenizerview.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace prosector {

/// The text a piece stands for, as far as its spelling tells: "▁are" and "Ġare" are " are", "<0x0A>" a line
/// feed, "##s" is "s".
std::string surfaceOf(std::string_view piece, bool byteLevel);

/// One recorded encoding with its tokens laid over its text, without encoding anything.
class RecordedEncoding {
public:
    RecordedEncoding(const TokenArray &record, const TokenizerView &view);

    const TokenArray &record;
    const TokenizerView &view;

    std::size_t size() const { return record.size(); }
    const std::string &text() const { return *record.text; }
    /// The id, recorded or looked up by its piece; nothing for an unknown piece.
    std::optional<std::int64_t> id(std::size_t token) const { return m_ids[token]; }
    /// The piece, recorded or looked up by its id; "" when neither.
    const std::string &piece(std::size_t token) const { return m_pieces[token]; }

    /// Bytes of the text that a token stands for: by its recorded offsets, else by looking for its surface.
    /// Nothing where the text could not be followed, and for tokens that stand for none.
    struct Span {
        std::size_t from = 0, to = 0;
    };
    std::optional<Span> span(std::size_t token) const { return m_spans[token]; }
    /// Put there by the post-processor, as far as one can tell: special, at an end, and not spelt in the text there.
    bool inserted(std::size_t token) const { return m_inserted[token]; }

    /// Where recorded offsets count characters, their byte; nothing when they leave the text.
    std::optional<std::size_t> byteOffset(std::uint64_t recorded) const;
    bool offsetsAreCharacters() const { return m_characters; }

    struct Literal {
        std::size_t at = 0;
        const AddedToken *token = nullptr;
    };
    /// Places where the text spells a special token, leftmost and longest.
    const std::vector<Literal> &literals() const { return m_literals; }

private:
    void findLiterals();
    void layOver();

    bool m_characters = true;
    std::vector<std::size_t> m_characterStarts; ///< byte of each character, and the end
    std::vector<std::optional<std::int64_t>> m_ids;
    std::vector<std::string> m_pieces;
    std::vector<std::optional<Span>> m_spans;
    std::vector<bool> m_inserted;
    std::vector<Literal> m_literals;
};

} // namespace prosector
