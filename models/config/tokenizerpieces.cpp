// SPDX-License-Identifier: GPL-3.0-or-later
// What a tokenizer's vocabulary holds: pieces by id, and the hashes that name it.
#include "models/config/tokenizerfacts.h"

#include "models/core/digest.h"
#include "models/tokenizers/bytepiece.h"

#include <algorithm>

namespace prosector {

template<class Visit>
void TokenizerFacts::eachPiece(Visit visit) const
{
    if (m_tokens) {
        for (std::size_t i = 0; i < m_tokens->strings.size(); ++i) {
            if (!visit(static_cast<std::int64_t>(i), std::string_view(m_tokens->strings[i])))
                return;
        }
    } else if (m_vocab.isArray()) {
        std::int64_t id = 0;
        for (const Value entry : m_vocab) {
            if (!visit(id++, std::string_view(entry[0].string(""))))
                return;
        }
    } else if (m_vocab.isObject()) {
        for (const Value entry : m_vocab) {
            if (const auto id = entry.integer(); id && !visit(*id, std::string_view(entry.key())))
                return;
        }
    } else {
        for (std::size_t i = 0; i < m_pieces.size(); ++i) {
            if (!visit(static_cast<std::int64_t>(i), std::string_view(m_pieces[i])))
                return;
        }
    }
}

std::vector<std::string> TokenizerFacts::tokensSha256(const std::vector<std::uint64_t> &prefixes) const
{
    std::vector<std::pair<std::int64_t, std::string>> pieces;
    eachPiece([&](std::int64_t id, std::string_view piece) {
        pieces.emplace_back(id, piece);
        return true;
    });
    std::stable_sort(pieces.begin(), pieces.end(), [](auto &a, auto &b) { return a.first < b.first; });
    std::vector<std::string> hashes;
    for (const std::uint64_t count : prefixes) {
        if (count == 0 || count > pieces.size()) {
            hashes.emplace_back();
            continue;
        }
        Digest hash;
        for (std::uint64_t i = 0; i < count; ++i) {
            if (i > 0)
                hash.add("\n");
            hash.add(pieces[i].second);
        }
        hashes.push_back(hash.hex());
    }
    return hashes;
}

std::string TokenizerFacts::tokensSha256() const
{
    return baseSize ? tokensSha256({*baseSize})[0] : std::string();
}

std::string TokenizerFacts::preTokenizerSha256() const
{
    const Value object = m_tokenizer["pre_tokenizer"];
    return object ? sha256Hex(canonicalJson(object)) : std::string();
}

std::vector<std::string> TokenizerFacts::splitRegexSha256() const
{
    std::vector<std::string> hashes;
    const auto look = [&](Value part, auto &self) -> void {
        for (const Value inner : part["pretokenizers"])
            self(inner, self);
        if (const auto regex = part["pattern"]["Regex"].string(); regex && part["type"].string("") == "Split")
            hashes.push_back(sha256Hex(*regex));
    };
    look(m_tokenizer["pre_tokenizer"], look);
    return hashes;
}

std::vector<std::string> TokenizerFacts::piecesById() const
{
    constexpr std::int64_t most = 1 << 21; // a stray id of 2^60 must not allocate
    std::vector<std::string> pieces;
    const auto put = [&](std::int64_t id, std::string_view piece) {
        if (id < 0 || id >= most)
            return;
        if (static_cast<std::size_t>(id) >= pieces.size())
            pieces.resize(static_cast<std::size_t>(id) + 1);
        pieces[static_cast<std::size_t>(id)] = piece;
    };
    if (baseSize)
        pieces.reserve(static_cast<std::size_t>(std::min<std::uint64_t>(*baseSize, most)));
    eachPiece([&](std::int64_t id, std::string_view piece) {
        put(id, piece);
        return true;
    });
    for (const AddedToken &token : added)
        put(token.id, token.content);
    return pieces;
}

std::optional<std::string> TokenizerFacts::piece(std::int64_t id) const
{
    if (m_tokens) {
        if (id < 0 || static_cast<std::uint64_t>(id) >= m_tokens->strings.size())
            return std::nullopt;
        return std::string(m_tokens->strings[static_cast<std::size_t>(id)]);
    }
    const auto it = std::find_if(added.begin(), added.end(), [&](const AddedToken &t) { return t.id == id; });
    if (it != added.end())
        return it->content;
    std::optional<std::string> found;
    eachPiece([&](std::int64_t at, std::string_view piece) {
        if (at == id)
            found = piece;
        return !found;
    });
    return found;
}

std::optional<std::int64_t> TokenizerFacts::id(std::string_view piece) const
{
    if (m_vocab.isObject()) // by the literal key: no string is built
        return m_vocab[piece].integer();
    std::optional<std::int64_t> found;
    eachPiece([&](std::int64_t at, std::string_view other) {
        if (other == piece)
            found = at;
        return !found;
    });
    return found;
}

Evidence TokenizerFacts::pieceAt(std::int64_t id, std::string note) const
{
    const auto it = std::find_if(added.begin(), added.end(), [&](const AddedToken &t) { return t.id == id; });
    if (it != added.end())
        return {it->where.artifact, it->where.where, std::move(note)};
    const std::string index = '[' + std::to_string(id) + ']';
    if (m_tokens)
        return {vocabularyFile, JsonPath{"$[\"tokenizer.ggml.tokens\"]" + index}, std::move(note)};
    if (m_vocab.isArray())
        return {vocabularyFile, JsonPath{m_vocab.path() + index}, std::move(note)};
    for (const Value entry : m_vocab) {
        if (entry.integer() == id)
            return {vocabularyFile, entry.anchor(), std::move(note)};
    }
    return {vocabularyFile, Whole{}, std::move(note)};
}

} // namespace prosector
