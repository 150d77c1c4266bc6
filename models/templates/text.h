// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/templates/value.h"

namespace prosector::jinja {

/// Puts a text together from parts that keep where they came from.
class TextBuilder {
public:
    void append(const Var &string) { append(string, 0, string.view().size()); }
    void append(const Var &string, std::size_t from, std::size_t to); ///< bytes of the string
    /// The whole of a string, printed by a site: its pieces remember the first place that printed them.
    void print(const Var &string, std::uint32_t site);
    /// Characters made of a source: a number's digits, a quote around a value.
    void derived(std::string_view text, SourceId source) { piece(text, {0, source, 0, 0, false}); }

    std::size_t size() const { return m_bytes.size(); }
    const std::string &bytes() const { return m_bytes; }
    const std::vector<Piece> &pieces() const { return m_pieces; }

    Var build(bool markup = false);
    std::string takeBytes() { return std::move(m_bytes); }
    std::vector<Piece> takePieces() { return std::move(m_pieces); }

private:
    void piece(std::string_view text, Piece piece);
    void grow(std::size_t bytes);

    std::string m_bytes;
    std::vector<Piece> m_pieces;
};

/// Bytes [from, to) of a string.
Var slice(const Var &string, std::size_t from, std::size_t to);
Var concatenated(const Var &left, const Var &right);
/// A text made of all of another, changed (case, escapes): sources stay, positions only where the length does.
Var rewritten(const Var &string, std::string text);
/// One source for a text that knows none better.
SourceId sourceOf(const Var &value);

} // namespace prosector::jinja
