// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/templates/text.h"

#include "models/templates/raised.h"

#include <algorithm>

namespace prosector::jinja {

void TextBuilder::grow(std::size_t bytes)
{
    if (Ledger *const ledger = Ledger::current()) {
        ledger->work += bytes;
        if (ledger->live + m_bytes.size() + bytes + m_pieces.size() * sizeof(Piece) > ledger->limit)
            raise(Exc::Limit, "memory limit: a text of " + std::to_string(m_bytes.size() + bytes)
                                  + " bytes would bring the values of this rendering above " + std::to_string(ledger->limit) + " bytes");
    }
    if (m_bytes.size() + bytes > UINT32_MAX)
        raise(Exc::Limit, "memory limit: a text of more than 4 GiB");
}

void TextBuilder::piece(std::string_view text, Piece piece)
{
    if (text.empty())
        return;
    grow(text.size());
    m_bytes += text;
    piece.end = static_cast<std::uint32_t>(m_bytes.size());
    if (!m_pieces.empty()) {
        Piece &last = m_pieces.back();
        const bool same = last.source == piece.source && last.site == piece.site && last.exact == piece.exact;
        const std::uint32_t begin = m_pieces.size() > 1 ? m_pieces[m_pieces.size() - 2].end : 0;
        if (same && (piece.exact && piece.source != 0 ? last.offset + (last.end - begin) == piece.offset : last.offset == piece.offset)) {
            last.end = piece.end;
            return;
        }
    }
    m_pieces.push_back(piece);
}

void TextBuilder::append(const Var &string, std::size_t from, std::size_t to)
{
    const Text &text = string.text();
    const std::string_view bytes = text.bytes;
    if (text.pieces.empty()) {
        const SourceId source = string.source();
        piece(bytes.substr(from, to - from), {0, source, source ? static_cast<std::uint32_t>(from) : 0, 0, source != 0});
        return;
    }
    auto it = std::upper_bound(text.pieces.begin(), text.pieces.end(), from, [](std::size_t at, const Piece &p) { return at < p.end; });
    std::size_t begin = it == text.pieces.begin() ? 0 : std::prev(it)->end;
    for (; it != text.pieces.end() && begin < to; begin = it->end, ++it) {
        const std::size_t first = std::max(begin, from), last = std::min<std::size_t>(it->end, to);
        Piece part = *it;
        if (part.exact)
            part.offset += static_cast<std::uint32_t>(first - begin);
        piece(bytes.substr(first, last - first), part);
    }
}

void TextBuilder::print(const Var &string, std::uint32_t site)
{
    const Text &text = string.text();
    const auto siteOf = [site](SourceId source) { return source & literalBit ? source & ~literalBit : site; };
    if (text.pieces.empty()) {
        const SourceId source = string.source();
        return piece(text.bytes, {0, source, 0, siteOf(source), source != 0});
    }
    std::size_t begin = 0;
    for (Piece part : text.pieces) {
        const std::size_t end = part.end;
        if (part.site == 0)
            part.site = siteOf(part.source);
        piece(std::string_view(text.bytes).substr(begin, end - begin), part);
        begin = end;
    }
}

Var TextBuilder::build(bool markup)
{
    SourceId source = 0;
    if (m_pieces.size() == 1 && m_pieces[0].site == 0 && (m_pieces[0].source == 0 || (m_pieces[0].exact && m_pieces[0].offset == 0))) {
        source = m_pieces[0].source;
        m_pieces.clear();
    }
    Var made = makeText(std::move(m_bytes), std::move(m_pieces));
    made.setSource(source);
    m_bytes.clear();
    m_pieces.clear();
    return std::move(made).withMarkup(markup);
}

Var slice(const Var &string, std::size_t from, std::size_t to)
{
    if (from == 0 && to == string.view().size())
        return string;
    TextBuilder builder;
    builder.append(string, from, to);
    return builder.build(string.isMarkup());
}

Var concatenated(const Var &left, const Var &right)
{
    if (right.view().empty())
        return left;
    if (left.view().empty())
        return right;
    TextBuilder builder;
    builder.append(left);
    builder.append(right);
    return builder.build(left.isMarkup());
}

SourceId sourceOf(const Var &value)
{
    if (!value.isString() || value.text().pieces.empty())
        return value.source();
    for (const Piece &piece : value.text().pieces) {
        if (piece.source != 0)
            return piece.source;
    }
    return 0;
}

Var rewritten(const Var &string, std::string text)
{
    const Text &old = string.text();
    if (text == old.bytes)
        return string;
    std::vector<Piece> pieces = old.pieces;
    const auto size = static_cast<std::uint32_t>(text.size());
    if (pieces.empty() || text.size() != old.bytes.size()) {
        pieces = {{size, sourceOf(string), 0, 0, false}};
    } else {
        std::uint32_t begin = 0;
        for (Piece &piece : pieces) {
            piece.exact = piece.exact && std::equal(text.begin() + begin, text.begin() + piece.end, old.bytes.begin() + begin);
            begin = piece.end;
        }
    }
    if (text.empty())
        pieces.clear();
    return makeText(std::move(text), std::move(pieces)).withMarkup(string.isMarkup());
}

} // namespace prosector::jinja
