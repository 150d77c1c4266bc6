// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/item/tokensequence.h"

#include "models/core/hex.h"
#include "models/core/plaintext.h"
#include "models/core/utf8.h"
#include "models/prompts/unicodetwins.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_map>

namespace prosector {

namespace {

constexpr std::uint32_t none = UINT32_MAX;
constexpr std::size_t stride = 1 << 16; ///< tokens between two looks at the job

void addNote(std::string &note, const std::string &text)
{
    if (note.find(text) == std::string::npos)
        note += (note.empty() ? "" : ", ") + text;
}

std::uint32_t narrow(std::size_t value)
{
    return static_cast<std::uint32_t>(std::min<std::size_t>(value, UINT32_MAX));
}

} // namespace

void describeToken(TokenKind &kind)
{
    kind.shown.clear();
    kind.note.clear();
    kind.characters = 0;
    for (std::size_t at = 0; at < kind.bytes.size();) {
        const CodePoint c = decodeUtf8(kind.bytes, at);
        if (!c.valid) {
            // All bytes up to the next character in one pair of marks.
            kind.flags |= TokenKind::Partial;
            kind.shown += "‹";
            for (bool first = true; at < kind.bytes.size() && !decodeUtf8(kind.bytes, at).valid; ++at, first = false) {
                if (!first)
                    kind.shown += ' ';
                const auto byte = static_cast<unsigned char>(kind.bytes[at]);
                kind.shown += upperHex(byte);
                kind.characters += (byte & 0xC0) != 0x80;
            }
            kind.shown += "›";
            continue;
        }
        ++kind.characters;
        at += c.length;
        switch (c.value) {
        case ' ': kind.shown += "·"; continue;
        case '\n':
            kind.shown += "⏎";
            kind.endsLine = true;
            continue;
        case '\t': kind.shown += "⇥"; continue;
        case 0xA0: kind.shown += "⍽"; break;
        default:
            if (isHostileCharacter(c.value) || isUnseen(c.value))
                kind.shown += "‹" + codePointName(c.value) + "›";
            else
                appendUtf8(kind.shown, c.value);
        }
        if (isHostileCharacter(c.value)) {
            kind.flags |= TokenKind::Control;
            addNote(kind.note, characterName(c.value));
        } else if (isUnseen(c.value)) {
            kind.flags |= TokenKind::Unseen;
            addNote(kind.note, characterName(c.value));
        }
    }
    if (const auto stray = strayLetter(kind.bytes)) {
        kind.flags |= TokenKind::Confusable;
        addNote(kind.note, characterName(*stray) + " among Latin letters");
    }
    if (kind.shown.empty())
        kind.shown = kind.id == TokenKind::noId ? "‹›" : "‹" + std::to_string(kind.id) + "›";
    kind.columns = std::max<std::uint32_t>(1, narrow(displayWidth(kind.shown)) + (kind.isMarker() ? 2 : 0));
}

/// Finds the kind of each token, making it when it is new.
class TokenSequenceMaker {
public:
    TokenSequenceMaker(TokenSequence &out, TokenizerPtr tokenizer) : m_out(out) { m_out.m_tokenizer = std::move(tokenizer); }

    Result<void> run(const std::vector<TokenArray> &arrays, const Job &job)
    {
        std::size_t total = 0;
        bool logprobs = false, ranks = false;
        for (const TokenArray &array : arrays) {
            total += array.size();
            logprobs = logprobs || !array.logprobs.empty();
            ranks = ranks || !array.ranks.empty();
        }
        m_out.m_kinds.reserve(total);
        for (const TokenArray &array : arrays) {
            for (std::size_t i = 0; i < array.size(); ++i) {
                if (i % stride == 0) {
                    if (job.cancelled())
                        return Job::cancelledError();
                    job.progress(static_cast<double>(m_out.m_kinds.size()) / static_cast<double>(total));
                }
                m_out.m_kinds.push_back(kindOf(array.ids.empty() ? TokenKind::noId : array.ids[i],
                                               i < array.pieces.size() ? std::string_view(array.pieces[i]) : std::string_view()));
            }
            addRoles(array, arrays.size() > 1);
            const std::size_t end = m_out.m_kinds.size();
            if (logprobs) {
                m_out.m_logprobs.insert(m_out.m_logprobs.end(), array.logprobs.begin(), array.logprobs.end());
                m_out.m_logprobs.resize(end, std::numeric_limits<float>::quiet_NaN());
            }
            if (ranks) {
                m_out.m_ranks.insert(m_out.m_ranks.end(), array.ranks.begin(), array.ranks.end());
                m_out.m_ranks.resize(end, 0);
            }
        }
        return joinText(job);
    }

private:
    std::uint32_t kindOf(std::int64_t id, std::string_view piece)
    {
        if (id == TokenKind::noId) {
            const auto [it, isNew] = m_byPiece.try_emplace(std::string(piece), narrow(m_out.m_table.size()));
            return isNew ? add(id, piece) : it->second;
        }
        std::uint32_t &head = headOf(id);
        for (std::uint32_t at = head; at != none; at = m_next[at]) {
            if (m_out.m_table[at].piece == piece)
                return at;
        }
        m_next.resize(m_out.m_table.size(), none);
        m_next.push_back(head);
        head = narrow(m_out.m_table.size());
        return add(id, piece);
    }

    std::uint32_t &headOf(std::int64_t id)
    {
        constexpr std::int64_t dense = 1 << 20; // no vocabulary is larger; ids out of range are
        if (id < 0 || id >= dense)
            return m_sparse.try_emplace(id, none).first->second;
        const auto index = static_cast<std::size_t>(id);
        if (index >= m_dense.size())
            m_dense.resize(std::max(index + 1, m_dense.size() * 2), none);
        return m_dense[index];
    }

    std::uint32_t add(std::int64_t id, std::string_view piece)
    {
        TokenKind kind;
        kind.id = id;
        kind.piece = piece;
        kind.bytes = piece;
        if (const Tokenizer *const tokenizer = m_out.m_tokenizer.get(); tokenizer && id != TokenKind::noId) {
            const auto known = id >= 0 && id <= UINT32_MAX ? tokenizer->bytes(static_cast<std::uint32_t>(id)) : std::nullopt;
            if (!known) {
                kind.flags |= TokenKind::Unknown;
                kind.note = "the tokenizer has no id " + std::to_string(id);
            } else {
                const auto small = static_cast<std::uint32_t>(id);
                // A piece may be recorded as spelt, as text, or with half a character replaced.
                if (!piece.empty() && piece != *known && piece != tokenizer->spelling(small).value_or("") && piece != toValidUtf8(*known))
                    kind.flags |= TokenKind::Differs;
                kind.bytes = *known;
                if (const auto *const added = tokenizer->addedTokens().byId(small))
                    kind.flags |= added->special ? TokenKind::Special | TokenKind::Added : TokenKind::Added;
            }
        }
        const std::string note = std::move(kind.note);
        describeToken(kind);
        if (!note.empty())
            kind.note = note + (kind.note.empty() ? "" : "; ") + kind.note;
        m_out.m_table.push_back(std::move(kind));
        return narrow(m_out.m_table.size() - 1);
    }

    void addRoles(const TokenArray &array, bool several)
    {
        const std::uint64_t first = m_out.m_kinds.size() - array.size();
        if (array.roles.size() == array.size()) {
            for (std::size_t i = 0; i < array.roles.size(); ++i)
                addRole(array.roles[i], first + i, first + i + 1);
        } else if (several) {
            addRole(array.use == TokenArray::Use::Generated ? "completion" : "prompt", first, m_out.m_kinds.size());
        }
    }

    void addRole(const std::string &name, std::uint64_t from, std::uint64_t to)
    {
        auto &names = m_out.m_roleNames;
        auto &roles = m_out.m_roles;
        if (!roles.empty() && roles.back().to == from && names[roles.back().name] == name) {
            roles.back().to = to;
            return;
        }
        const auto known = std::find(names.begin(), names.end(), name);
        roles.push_back({from, to, narrow(static_cast<std::size_t>(known - names.begin()))});
        if (known == names.end())
            names.push_back(name);
    }

    Result<void> joinText(const Job &job)
    {
        auto &table = m_out.m_table;
        for (const TokenKind &kind : table)
            m_out.m_lengths.push_back(narrow(kind.bytes.size()));
        std::uint64_t bytes = 0, characters = 0;
        m_out.m_checkpoints.reserve(m_out.m_kinds.size() / TokenSequence::block + 1);
        for (std::size_t i = 0; i < m_out.m_kinds.size(); ++i) {
            if (i % TokenSequence::block == 0)
                m_out.m_checkpoints.push_back({bytes, characters});
            bytes += m_out.m_lengths[m_out.m_kinds[i]];
            characters += table[m_out.m_kinds[i]].characters;
        }
        m_out.m_text.reserve(bytes);
        for (std::size_t i = 0; i < m_out.m_kinds.size(); ++i) {
            if (i % stride == 0 && job.cancelled())
                return Job::cancelledError();
            m_out.m_text += table[m_out.m_kinds[i]].bytes;
        }
        return {};
    }

    TokenSequence &m_out;
    std::vector<std::uint32_t> m_dense; ///< by id: its first kind
    std::unordered_map<std::int64_t, std::uint32_t> m_sparse;
    std::vector<std::uint32_t> m_next; ///< by kind: another of the same id
    std::unordered_map<std::string, std::uint32_t> m_byPiece;
};

Result<TokenSequencePtr> TokenSequence::make(const std::vector<TokenArray> &arrays, TokenizerPtr tokenizer, const Job &job)
{
    const auto sequence = std::make_shared<TokenSequence>();
    if (auto done = TokenSequenceMaker(*sequence, std::move(tokenizer)).run(arrays, job); !done)
        return done.error();
    return TokenSequencePtr(sequence);
}

ByteRange TokenSequence::bytesOf(std::uint64_t token) const
{
    if (token >= size())
        return {m_text.size(), m_text.size()};
    std::uint64_t from = m_checkpoints[token / block].bytes;
    for (std::uint64_t i = token / block * block; i < token; ++i)
        from += m_lengths[m_kinds[i]];
    return {from, from + m_lengths[m_kinds[token]]};
}

ByteRange TokenSequence::bytesOf(const TokenRange &tokens) const
{
    return {bytesOf(tokens.from).from, tokens.to > tokens.from ? bytesOf(tokens.to - 1).to : bytesOf(tokens.from).from};
}

std::uint64_t TokenSequence::characterOffset(std::uint64_t token) const
{
    if (m_checkpoints.empty())
        return 0;
    token = std::min(token, size());
    const std::uint64_t first = std::min<std::uint64_t>(token / block, m_checkpoints.size() - 1);
    std::uint64_t characters = m_checkpoints[first].characters;
    for (std::uint64_t i = first * block; i < token; ++i)
        characters += m_table[m_kinds[i]].characters;
    return characters;
}

std::uint64_t TokenSequence::tokenAt(std::uint64_t byte) const
{
    if (byte >= m_text.size())
        return size();
    const auto after = std::upper_bound(m_checkpoints.begin(), m_checkpoints.end(), byte, [](std::uint64_t b, const Checkpoint &c) { return b < c.bytes; });
    auto token = static_cast<std::uint64_t>(after - m_checkpoints.begin() - 1) * block;
    std::uint64_t end = m_checkpoints[token / block].bytes;
    for (;; ++token) {
        end += m_lengths[m_kinds[token]];
        if (byte < end)
            return token;
    }
}

TokenRange TokenSequence::tokensOf(const ByteRange &bytes) const
{
    const std::uint64_t from = tokenAt(bytes.from);
    return {from, bytes.size() == 0 || from >= size() ? from : std::min(tokenAt(bytes.to - 1) + 1, size())};
}

int TokenSequence::roleOf(std::uint64_t token) const
{
    const auto after = std::upper_bound(m_roles.begin(), m_roles.end(), token, [](std::uint64_t t, const TokenRole &role) { return t < role.from; });
    if (after == m_roles.begin() || token >= (after - 1)->to)
        return -1;
    return static_cast<int>((after - 1)->name);
}

float TokenSequence::logprob(std::uint64_t token) const
{
    return m_logprobs.empty() ? std::numeric_limits<float>::quiet_NaN() : m_logprobs[token];
}

std::uint64_t TokenSequence::footprint() const
{
    std::uint64_t bytes = m_kinds.capacity() * sizeof(std::uint32_t) + m_text.capacity() + m_checkpoints.capacity() * sizeof(Checkpoint)
                          + m_roles.capacity() * sizeof(TokenRole) + m_logprobs.capacity() * sizeof(float) + m_ranks.capacity() * sizeof(std::uint32_t);
    for (const TokenKind &kind : m_table)
        bytes += sizeof(TokenKind) + sizeof(std::uint32_t) + kind.bytes.capacity() + kind.shown.capacity() + kind.note.capacity() + kind.piece.capacity();
    return bytes;
}

std::vector<std::vector<std::size_t>> joinedArrays(const std::vector<TokenArray> &arrays)
{
    std::vector<std::vector<std::size_t>> groups;
    for (std::size_t i = 0; i < arrays.size(); ++i) {
        const TokenArray &array = arrays[i];
        if (i > 0 && array.artifact == arrays[i - 1].artifact && array.where == arrays[i - 1].where && array.batch == arrays[i - 1].batch
            && array.first == arrays[i - 1].first + arrays[i - 1].size() && array.row == arrays[i - 1].row)
            groups.back().push_back(i);
        else
            groups.push_back({i});
    }
    return groups;
}

} // namespace prosector
