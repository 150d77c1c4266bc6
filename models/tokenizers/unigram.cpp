// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/tokenizers/unigram.h"

#include "models/core/utf8.h"
#include "models/tokenizers/bytepiece.h"
#include "models/tokenizers/piececache.h"

#include <algorithm>
#include <bit>
#include <limits>

namespace prosector {

struct UnigramModel::State final : ModelState {
    PieceCache cache;
    std::vector<Best> best;
};

std::unique_ptr<ModelState> UnigramModel::makeState() const
{
    return std::make_unique<State>();
}

Result<std::shared_ptr<UnigramModel>> UnigramModel::make(std::vector<Entry> entries, std::uint32_t unknown,
                                                         bool byteFallback)
{
    if (unknown != Vocabulary::none && unknown >= entries.size()) {
        return Error{Errc::OutOfRange, "unknown token of a unigram model", JsonPath{"$.model.unk_id"},
                     "an id below " + std::to_string(entries.size()), std::to_string(unknown)};
    }
    auto model = std::make_shared<UnigramModel>();
    model->m_unknown = unknown;
    model->m_byteFallback = byteFallback;
    std::size_t bytes = 0;
    for (const Entry &entry : entries)
        bytes += entry.piece.size();
    model->m_vocabulary.reserve(entries.size(), bytes);
    model->m_edges.assign(std::bit_ceil(bytes + 16), Edge{});
    model->m_nodeId.assign(1, Vocabulary::none);
    double least = std::numeric_limits<double>::infinity();
    for (std::uint32_t id = 0; id < entries.size(); ++id) {
        model->m_vocabulary.add(entries[id].piece, id);
        model->insert(entries[id].piece, id);
        model->m_scores.push_back(entries[id].score);
        least = std::min(least, entries[id].score);
    }
    model->m_unknownScore = least - unknownPenalty;
    for (std::uint32_t b = 0; b < 256 && byteFallback; ++b)
        model->m_byte.push_back(model->m_vocabulary.find(bytePiece(static_cast<unsigned char>(b))));
    return model;
}

void UnigramModel::insert(std::string_view piece, std::uint32_t id)
{
    std::uint32_t node = 0;
    const std::size_t mask = m_edges.size() - 1;
    for (const char c : piece) {
        const std::uint64_t key = static_cast<std::uint64_t>(node) << 8 | static_cast<unsigned char>(c);
        std::size_t slot = (key * 0x9E3779B97F4A7C15ULL >> 24) & mask;
        while (m_edges[slot].key != UINT64_MAX && m_edges[slot].key != key)
            slot = (slot + 1) & mask;
        if (m_edges[slot].key == UINT64_MAX) {
            m_edges[slot] = {key, static_cast<std::uint32_t>(m_nodeId.size())};
            m_nodeId.push_back(Vocabulary::none);
        }
        node = m_edges[slot].child;
    }
    m_nodeId[node] = id; // of equal pieces the later counts, as in the look-up table
}

std::uint32_t UnigramModel::child(std::uint32_t node, unsigned char byte) const
{
    const std::uint64_t key = static_cast<std::uint64_t>(node) << 8 | byte;
    const std::size_t mask = m_edges.size() - 1;
    for (std::size_t slot = (key * 0x9E3779B97F4A7C15ULL >> 24) & mask;; slot = (slot + 1) & mask) {
        if (m_edges[slot].key == key)
            return m_edges[slot].child;
        if (m_edges[slot].key == UINT64_MAX)
            return 0;
    }
}

Result<void> UnigramModel::tokenize(std::string_view piece, ModelState &modelState, std::vector<ModelToken> &out) const
{
    auto &state = static_cast<State &>(modelState);
    if (const auto known = state.cache.find(piece); !known.empty()) {
        out.insert(out.end(), known.begin(), known.end());
        return {};
    }
    auto &best = state.best; // best way to reach each byte
    best.assign(piece.size() + 1, Best{});
    const auto reach = [&](std::size_t end, std::size_t begin, double score, std::uint32_t id) {
        if (best[end].begin == UINT32_MAX || score > best[end].score)
            best[end] = {score, static_cast<std::uint32_t>(begin), id};
    };
    for (std::size_t begin = 0; begin < piece.size();) {
        const std::size_t single = decodeUtf8(piece, begin).length;
        const double here = best[begin].score;
        bool hasSingle = false;
        eachPieceAt(piece, begin, [&](std::size_t end, std::uint32_t id) {
            reach(end, begin, m_scores[id] + here, id);
            hasSingle = hasSingle || end - begin == single;
        });
        if (!hasSingle) {
            if (m_unknown == Vocabulary::none) {
                return Error{Errc::Malformed, "unigram model without an unknown token", JsonPath{"$.model.unk_id"},
                             "a piece for \"" + toValidUtf8(piece.substr(begin, single)) + "\"", "none"};
            }
            reach(begin + single, begin, m_unknownScore + here, m_unknown);
        }
        begin += single;
    }
    // Back along the best path; neighbouring unknowns fuse.
    const std::size_t before = out.size();
    for (auto end = static_cast<std::uint32_t>(piece.size()); end > 0;) {
        const Best &node = best[end];
        if (node.id == m_unknown && out.size() > before && out.back().id == m_unknown && out.back().begin == end)
            out.back().begin = node.begin;
        else
            out.push_back({node.id, node.begin, end});
        end = node.begin;
    }
    std::reverse(out.begin() + static_cast<std::ptrdiff_t>(before), out.end());
    spellUnknowns(piece, before, out);
    state.cache.store(piece, std::span(out).subspan(before));
    return {};
}

void UnigramModel::spellUnknowns(std::string_view piece, std::size_t before, std::vector<ModelToken> &out) const
{
    std::vector<ModelToken> spelt;
    for (auto it = out.begin() + static_cast<std::ptrdiff_t>(before); it != out.end(); ++it) {
        if (it->id != m_unknown) {
            spelt.push_back(*it);
            continue;
        }
        const auto text = piece.substr(it->begin, it->end - it->begin);
        const std::uint32_t fused = m_vocabulary.find(text); // a run of unknowns that is a piece after all
        const bool bytes = fused == Vocabulary::none && m_byteFallback
            && std::all_of(text.begin(), text.end(),
                           [&](char b) { return m_byte[static_cast<unsigned char>(b)] != Vocabulary::none; });
        if (!bytes) {
            spelt.push_back({fused == Vocabulary::none ? m_unknown : fused, it->begin, it->end});
            continue;
        }
        for (const char b : text) // each byte stands for the whole run, as in Hugging Face's offsets
            spelt.push_back({m_byte[static_cast<unsigned char>(b)], it->begin, it->end});
    }
    out.resize(before);
    out.insert(out.end(), spelt.begin(), spelt.end());
}

} // namespace prosector
