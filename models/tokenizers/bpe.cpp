// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/tokenizers/bpe.h"

#include "models/core/utf8.h"
#include "models/tokenizers/bytepiece.h"
#include "models/tokenizers/piececache.h"
#include "models/tokenizers/unicode.h"

#include <algorithm>
#include <bit>
#include <queue>

namespace prosector {

namespace {

constexpr std::size_t shortWord = 40; ///< symbols up to which a scan beats a heap
constexpr std::uint32_t noRank = UINT32_MAX;

constexpr std::size_t joinBits = 1 << 20;

std::size_t joinSlot(char32_t left, char32_t right)
{
    return ((static_cast<std::uint64_t>(left) << 32 | right) * 0x9E3779B97F4A7C15ULL >> 32) % joinBits;
}

} // namespace

struct BpeModel::State final : ModelState {
    PieceCache cache;
    std::vector<Symbol> symbols;
    std::vector<ModelToken> tokens;
};

std::unique_ptr<ModelState> BpeModel::makeState() const
{
    return std::make_unique<State>();
}

Result<std::shared_ptr<BpeModel>> BpeModel::make(Vocabulary vocabulary, const std::vector<Merge> &merges,
                                                 BpeOptions options)
{
    auto model = std::make_shared<BpeModel>();
    model->m_vocabulary = std::move(vocabulary);
    model->m_options = std::move(options);
    if (model->m_options.unknown)
        model->m_unknown = model->m_vocabulary.find(*model->m_options.unknown);
    model->m_byte.fill(Vocabulary::none);
    if (model->m_options.rawBytes) {
        model->m_raw.reserve(model->m_vocabulary.size(), model->m_vocabulary.size() * 8);
        for (std::uint32_t i = 0; i < 256; ++i)
            model->m_byte[i] = model->m_vocabulary.find(pieceOfBytes(std::string(1, static_cast<char>(i))));
        if (model->m_options.ignoreMerges) { // whole pre-tokens are looked up
            for (std::uint32_t id = 0; id <= model->m_vocabulary.largestId() && model->m_vocabulary.size() > 0; ++id) {
                const auto piece = model->m_vocabulary.piece(id);
                const auto bytes = piece ? bytesOfPiece(*piece) : std::nullopt;
                if (bytes)
                    model->m_raw.add(*bytes, id);
            }
        }
    } else if (model->m_options.byteFallback) {
        for (std::uint32_t i = 0; i < 256; ++i)
            model->m_byte[i] = model->m_vocabulary.find(bytePiece(static_cast<unsigned char>(i)));
    }
    model->m_canCut =
        std::none_of(model->m_byte.begin(), model->m_byte.end(), [](auto id) { return id == Vocabulary::none; });
    if (auto done = model->addMerges(merges); !done)
        return done.error();
    return model;
}

Result<void> BpeModel::addMerges(const std::vector<Merge> &merges)
{
    m_merges.assign(std::bit_ceil(merges.size() * 2 + 16), MergeSlot{});
    m_joins.assign(joinBits, false);
    std::string whole;
    for (const auto &[left, right, rank] : merges) {
        const std::uint32_t leftId = m_vocabulary.find(left);
        const std::uint32_t rightId = m_vocabulary.find(right);
        whole = left;
        whole += right.substr(std::min(m_options.continuingPrefix.size(), right.size()));
        const std::uint32_t id = m_vocabulary.find(whole);
        for (const auto &[part, found] : {std::pair(left, leftId), std::pair(right, rightId),
                                          std::pair(std::string_view(whole), id)}) {
            if (found == Vocabulary::none) {
                return Error{Errc::Malformed, "merge " + std::to_string(rank), JsonPath{"$.model.merges[" + std::to_string(rank) + "]"},
                             "pieces of the vocabulary", '"' + toValidUtf8(part) + '"'};
            }
        }
        setMerge(leftId, rightId, rank, id);
        noteJoin(left, right);
    }
    return {};
}

void BpeModel::noteJoin(std::string_view left, std::string_view right)
{
    // Parts that stand for a byte are not what they spell.
    const bool bytes = !m_options.rawBytes && m_options.byteFallback
        && (std::find(m_byte.begin(), m_byte.end(), m_vocabulary.find(left)) != m_byte.end()
            || std::find(m_byte.begin(), m_byte.end(), m_vocabulary.find(right)) != m_byte.end());
    m_canCut = m_canCut && !bytes && !left.empty() && !right.empty();
    if (!m_canCut)
        return;
    std::size_t last = left.size() - 1;
    while (last > 0 && isContinuationByte(left[last]))
        --last;
    char32_t before = decodeUtf8(left, last).value;
    char32_t behind = decodeUtf8(right, 0).value;
    if (m_options.rawBytes) {
        before = static_cast<char32_t>(characterToByte(before));
        behind = static_cast<char32_t>(characterToByte(behind));
    }
    m_joins[joinSlot(before, behind)] = true;
}

bool BpeModel::mayJoin(char32_t left, char32_t right) const
{
    return m_joins[joinSlot(left, right)];
}

void BpeModel::setMerge(std::uint32_t left, std::uint32_t right, std::uint32_t rank, std::uint32_t id)
{
    const std::uint64_t pair = static_cast<std::uint64_t>(left) << 32 | right;
    const std::size_t mask = m_merges.size() - 1;
    std::size_t slot = (pair * 0x9E3779B97F4A7C15ULL >> 20) & mask;
    while (m_merges[slot].pair != UINT64_MAX && m_merges[slot].pair != pair)
        slot = (slot + 1) & mask;
    m_mergeCount += m_merges[slot].pair == UINT64_MAX;
    m_merges[slot] = {pair, rank, id}; // of two lines for one pair the later counts
}

const BpeModel::MergeSlot *BpeModel::merge(std::uint32_t left, std::uint32_t right) const
{
    const std::uint64_t pair = static_cast<std::uint64_t>(left) << 32 | right;
    const std::size_t mask = m_merges.size() - 1;
    for (std::size_t slot = (pair * 0x9E3779B97F4A7C15ULL >> 20) & mask;; slot = (slot + 1) & mask) {
        if (m_merges[slot].pair == pair)
            return &m_merges[slot];
        if (m_merges[slot].pair == UINT64_MAX)
            return nullptr;
    }
}

Result<void> BpeModel::symbols(std::string_view piece, std::vector<Symbol> &out) const
{
    out.clear();
    const Error noUnknown{Errc::Malformed, "unknown token " + m_options.unknown.value_or(""),
                          JsonPath{"$.model.unk_token"}, "a piece of the vocabulary", "none"};
    std::optional<Symbol> unknown; // waits, since the next may fuse with it
    const auto flush = [&] {
        if (unknown)
            out.push_back(*unknown);
        unknown.reset();
    };
    std::string spelling;
    for (std::size_t i = 0; i < piece.size();) {
        const std::size_t length = m_options.rawBytes ? 1 : decodeUtf8(piece, i).length;
        const auto bytes = static_cast<std::uint32_t>(length);
        std::uint32_t id = Vocabulary::none;
        spelling = piece.substr(i, length);
        if (m_options.rawBytes) {
            id = m_byte[static_cast<unsigned char>(piece[i])];
        } else {
            if (i > 0)
                spelling.insert(0, m_options.continuingPrefix);
            if (i + length == piece.size())
                spelling += m_options.wordSuffix;
            id = m_vocabulary.find(spelling);
        }
        i += length;
        if (id != Vocabulary::none) {
            flush();
            out.push_back({id, bytes});
            continue;
        }
        const bool fallsBack = m_options.byteFallback && !m_options.rawBytes
            && std::all_of(spelling.begin(), spelling.end(),
                           [&](char b) { return m_byte[static_cast<unsigned char>(b)] != Vocabulary::none; });
        if (fallsBack) {
            // An unknown that still waits stays waiting: Hugging Face puts it behind these bytes.
            for (const char b : spelling)
                out.push_back({m_byte[static_cast<unsigned char>(b)], 1});
            continue;
        }
        if (!m_options.unknown)
            continue; // dropped without a trace
        if (m_unknown == Vocabulary::none)
            return noUnknown;
        if (unknown && m_options.fuseUnknown) {
            unknown->length += bytes;
        } else {
            flush();
            unknown = Symbol{m_unknown, bytes};
        }
    }
    flush();
    return {};
}

void BpeModel::mergeShort(std::vector<Symbol> &list, std::vector<Step> *steps) const
{
    std::array<const MergeSlot *, shortWord> pairs{};
    const auto look = [&](std::size_t i) { pairs[i] = merge(list[i].id, list[i + 1].id); };
    for (std::size_t i = 0; i + 1 < list.size(); ++i)
        look(i);
    while (list.size() > 1) {
        std::size_t best = 0;
        std::uint32_t rank = noRank;
        for (std::size_t i = 0; i + 1 < list.size(); ++i) {
            if (pairs[i] && pairs[i]->rank < rank) {
                rank = pairs[i]->rank;
                best = i;
            }
        }
        if (rank == noRank)
            return;
        if (steps) {
            std::uint32_t begin = 0;
            for (std::size_t i = 0; i < best; ++i)
                begin += list[i].length;
            const std::uint32_t middle = begin + list[best].length;
            steps->push_back({rank, begin, middle, middle + list[best + 1].length, pairs[best]->id});
        }
        list[best] = {pairs[best]->id, list[best].length + list[best + 1].length};
        list.erase(list.begin() + static_cast<std::ptrdiff_t>(best) + 1);
        for (std::size_t i = best + 1; i + 1 < list.size(); ++i)
            pairs[i] = pairs[i + 1];
        if (best > 0)
            look(best - 1);
        if (best + 1 < list.size())
            look(best);
    }
}

void BpeModel::mergeLong(std::vector<Symbol> &list, std::vector<Step> *steps) const
{
    struct Candidate {
        std::uint32_t rank, at, id;
        bool operator>(const Candidate &other) const { return std::pair(rank, at) > std::pair(other.rank, other.at); }
    };
    constexpr std::uint32_t end = UINT32_MAX;
    std::vector<std::uint32_t> previous(list.size()), next(list.size()), begin;
    std::vector<Candidate> first;
    std::uint32_t offset = 0;
    const auto count = static_cast<std::uint32_t>(list.size());
    for (std::uint32_t i = 0; i < count; ++i) {
        previous[i] = i == 0 ? end : i - 1;
        next[i] = i + 1 == count ? end : i + 1;
        if (steps)
            begin.push_back(offset);
        offset += list[i].length;
        if (i + 1 < count) {
            if (const auto *found = merge(list[i].id, list[i + 1].id))
                first.push_back({found->rank, i, found->id});
        }
    }
    std::priority_queue<Candidate, std::vector<Candidate>, std::greater<>> queue(std::greater<>(), std::move(first));
    const auto offer = [&](std::uint32_t left, std::uint32_t right) {
        if (left == end || right == end)
            return;
        if (const auto *found = merge(list[left].id, list[right].id))
            queue.push({found->rank, left, found->id});
    };
    while (!queue.empty()) {
        const Candidate top = queue.top();
        queue.pop();
        const std::uint32_t left = top.at;
        const std::uint32_t right = next[left];
        if (list[left].length == 0 || right == end)
            continue;
        const auto *const found = merge(list[left].id, list[right].id);
        if (!found || found->id != top.id) // the pair it stood for is gone
            continue;
        if (steps)
            steps->push_back({found->rank, begin[left], begin[right], begin[right] + list[right].length, top.id});
        list[left] = {top.id, list[left].length + list[right].length};
        list[right].length = 0;
        next[left] = next[right];
        if (next[left] != end)
            previous[next[left]] = left;
        offer(previous[left], left);
        offer(left, next[left]);
    }
    std::erase_if(list, [](const Symbol &symbol) { return symbol.length == 0; });
}

void BpeModel::mergeAll(std::vector<Symbol> &list, std::vector<Step> *steps) const
{
    if (list.size() <= shortWord)
        mergeShort(list, steps);
    else
        mergeLong(list, steps);
}

std::uint32_t BpeModel::wholePiece(std::string_view piece) const
{
    if (!m_options.ignoreMerges)
        return Vocabulary::none;
    return (m_options.rawBytes ? m_raw : m_vocabulary).find(piece);
}

Result<void> BpeModel::tokenize(std::string_view piece, ModelState &modelState, std::vector<ModelToken> &out) const
{
    const auto length = static_cast<std::uint32_t>(piece.size());
    if (const std::uint32_t id = wholePiece(piece); id != Vocabulary::none) {
        out.push_back({id, 0, length});
        return {};
    }
    auto &state = static_cast<State &>(modelState);
    if (!m_canCut || piece.size() <= PieceCache::longest)
        return tokenizeWhole(piece, 0, state, out);
    // A long text falls apart where no merge joins (in front of a blank, as a rule), and the parts are
    // short enough to be remembered.
    std::size_t begin = 0;
    char32_t before = 0;
    for (std::size_t at = 0; at < piece.size();) {
        const CodePoint c = m_options.rawBytes ? CodePoint{static_cast<unsigned char>(piece[at]), 1, true}
                                               : decodeUtf8(piece, at);
        if (at > begin && !mayJoin(before, c.value)) {
            if (auto done = tokenizeWhole(piece.substr(begin, at - begin), static_cast<std::uint32_t>(begin), state, out); !done)
                return done;
            begin = at;
        }
        before = c.value;
        at += c.length;
    }
    return tokenizeWhole(piece.substr(begin), static_cast<std::uint32_t>(begin), state, out);
}

Result<void> BpeModel::tokenizeWhole(std::string_view piece, std::uint32_t offset, State &state,
                                     std::vector<ModelToken> &out) const
{
    const auto put = [&](std::span<const ModelToken> tokens) {
        for (const ModelToken &token : tokens)
            out.push_back({token.id, token.begin + offset, token.end + offset});
    };
    if (const auto known = state.cache.find(piece); !known.empty()) {
        put(known);
        return {};
    }
    if (auto done = symbols(piece, state.symbols); !done)
        return done;
    mergeAll(state.symbols, nullptr);
    state.tokens.clear();
    std::uint32_t at = 0;
    for (const Symbol &symbol : state.symbols) {
        state.tokens.push_back({symbol.id, at, at + symbol.length});
        at += symbol.length;
    }
    put(state.tokens);
    state.cache.store(piece, state.tokens);
    return {};
}

Result<ModelExplanation> BpeModel::explain(std::string_view piece) const
{
    ModelExplanation why;
    if (wholePiece(piece) != Vocabulary::none)
        return why;
    why.kind = ModelExplanation::Kind::Merges;
    std::vector<Symbol> list;
    if (auto done = symbols(piece, list); !done)
        return done.error();
    mergeAll(list, &why.merges);
    return why;
}

} // namespace prosector
