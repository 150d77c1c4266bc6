// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/instruments/tokens/parts/recordedencoding.h"

#include "models/core/utf8.h"
#include "models/tokenizers/bytepiece.h"
#include "models/tokenizers/tokenmodel.h"

#include <algorithm>
namespace prosector {

std::string surfaceOf(std::string_view piece, bool byteLevel)
{
    if (const auto byte = byteOfPiece(piece))
        return std::string(1, static_cast<char>(*byte));
    if (byteLevel) {
        if (auto bytes = bytesOfPiece(piece))
            return *bytes;
    }
    std::string text;
    if (piece.starts_with("##") && piece.size() > 2)
        piece.remove_prefix(2);
    for (std::size_t at = 0; at < piece.size();) {
        if (piece.substr(at).starts_with("\xE2\x96\x81")) {
            text += ' ';
            at += 3;
        } else {
            text += piece[at++];
        }
    }
    if (text.size() > 4 && text.ends_with("</w>"))
        text.resize(text.size() - 4);
    return text;
}

RecordedEncoding::RecordedEncoding(const TokenArray &r, const TokenizerView &v) : record(r), view(v)
{
    const std::string &input = text();
    for (std::size_t at = 0; at < input.size(); at += decodeUtf8(input, at).length)
        m_characterStarts.push_back(at);
    m_characterStarts.push_back(input.size());
    for (const auto &[from, to] : record.offsets)
        m_characters = m_characters && to < m_characterStarts.size();
    for (std::size_t i = 0; i < size(); ++i) {
        m_ids.push_back(record.ids.empty() ? view.id(record.pieces[i]) : std::optional(record.ids[i]));
        m_pieces.push_back(!record.pieces.empty() ? record.pieces[i] : view.piece(record.ids[i]).value_or(""));
    }
    findLiterals();
    layOver();
}

std::optional<std::size_t> RecordedEncoding::byteOffset(std::uint64_t recorded) const
{
    if (m_characters)
        return recorded < m_characterStarts.size() ? std::optional(m_characterStarts[recorded]) : std::nullopt;
    return recorded <= text().size() ? std::optional<std::size_t>(recorded) : std::nullopt;
}

void RecordedEncoding::findLiterals()
{
    std::vector<const AddedToken *> specials;
    for (const AddedToken &token : view.facts.added) {
        if (!token.content.empty() && view.isMarker(token.id))
            specials.push_back(&token);
    }
    std::stable_sort(specials.begin(), specials.end(), [](auto *a, auto *b) { return a->content.size() > b->content.size(); });
    std::vector<std::vector<const AddedToken *>> byFirst(256);
    for (const AddedToken *const token : specials)
        byFirst[static_cast<unsigned char>(token->content[0])].push_back(token);
    for (std::size_t at = 0; at < text().size();) {
        const auto &candidates = byFirst[static_cast<unsigned char>(text()[at])];
        const auto found = std::find_if(candidates.begin(), candidates.end(), [&](auto *t) { return text().compare(at, t->content.size(), t->content) == 0; });
        if (found == candidates.end()) {
            ++at;
            continue;
        }
        m_literals.push_back({at, *found});
        at += (*found)->content.size();
    }
}

void RecordedEncoding::layOver()
{
    m_spans.assign(size(), std::nullopt);
    m_inserted.assign(size(), false);
    const bool offsets = record.offsets.size() == size();
    const bool byteLevel = view.facts.model != "Unigram" && view.facts.model != "WordPiece";
    const SpecialRole *const named = view.facts.role("unk");
    const auto unk = named && named->id ? named->id : view.json()["model"]["unk_id"].integer();
    std::size_t at = 0;
    bool lost = false;
    for (std::size_t i = 0; i < size(); ++i) {
        const bool special = m_ids[i] && view.isMarker(*m_ids[i]);
        if (offsets) {
            const auto &[from, to] = record.offsets[i];
            const auto begin = byteOffset(from), end = byteOffset(to);
            if (begin && end && *begin < *end)
                m_spans[i] = Span{*begin, *end};
            m_inserted[i] = special && from == to;
            continue;
        }
        if (unk && m_ids[i] == unk && m_pieces[i] != "" && text().compare(at, m_pieces[i].size(), m_pieces[i]) != 0)
            continue; // what it stands for is what the neighbours leave
        const std::string surface = special ? m_pieces[i] : surfaceOf(m_pieces[i], byteLevel);
        if (special) {
            const auto next = std::find_if(m_literals.begin(), m_literals.end(), [&](const Literal &l) { return l.at >= at; });
            const bool end = i == 0 || i + 1 == size();
            // Put in front although the text does not begin with it, or behind although nothing is left.
            if (next == m_literals.end() || next->token->id != *m_ids[i] || (end && i == 0 && next->at != 0)) {
                m_inserted[i] = true;
                continue;
            }
            m_spans[i] = Span{next->at, next->at + next->token->content.size()};
            at = m_spans[i]->to;
            continue;
        }
        if (lost || surface.empty())
            continue;
        auto found = text().find(surface, at);
        std::size_t length = surface.size();
        if (found != at && surface[0] == ' ' && surface.size() > 1) { // a blank that the text may lack
            const auto without = text().find(std::string_view(surface).substr(1), at);
            if (without != std::string::npos && (found == std::string::npos || without < found)) {
                found = without;
                --length;
            }
        }
        if (found == std::string::npos || found > at + 64) {
            lost = surface != " ";
            continue;
        }
        m_spans[i] = Span{found, found + length};
        at = found + length;
    }
}

} // namespace prosector
