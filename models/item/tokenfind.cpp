// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/item/tokenfind.h"

#include "models/core/textpattern.h"

#include <algorithm>
#include <charconv>

namespace prosector {

namespace {

/// False when the list is full.
bool add(TokenMatches &out, const TokenRange &tokens)
{
    if (out.ranges.size() == TokenMatches::most) {
        out.complete = false;
        return false;
    }
    out.ranges.push_back(tokens);
    return true;
}

Result<std::vector<std::int64_t>> idsOf(const std::string &text)
{
    std::vector<std::int64_t> ids;
    const char *at = text.data(), *const end = at + text.size();
    const auto skip = [&] {
        while (at < end && (*at == ' ' || *at == ',' || *at == '[' || *at == ']'))
            ++at;
    };
    for (skip(); at < end; skip()) {
        std::int64_t id = 0;
        const auto [next, error] = std::from_chars(at, end, id);
        if (error != std::errc())
            return Error{Errc::Malformed, "ids to find", {}, "whole numbers", text};
        ids.push_back(id);
        at = next;
    }
    return ids;
}

Result<TokenMatches> findIds(const TokenSequence &sequence, const std::vector<std::int64_t> &ids, const Job &job)
{
    TokenMatches out;
    if (ids.empty())
        return out;
    // Which kinds have the first id: one look-up a token.
    std::vector<bool> first;
    for (const TokenKind &kind : sequence.kinds())
        first.push_back(kind.id == ids[0]);
    const std::uint64_t size = sequence.size();
    for (std::uint64_t i = 0; i + ids.size() <= size; ++i) {
        if (i % (1 << 18) == 0 && job.cancelled())
            return Job::cancelledError();
        if (!first[sequence.kindIndex(i)])
            continue;
        std::uint64_t n = 1;
        while (n < ids.size() && sequence.kind(i + n).id == ids[n])
            ++n;
        if (n == ids.size() && !add(out, {i, i + n}))
            break;
    }
    return out;
}

Result<TokenMatches> findText(const TokenSequence &sequence, std::string_view needle, const Job &job)
{
    constexpr std::size_t stretch = 8 << 20;
    TokenMatches out;
    if (needle.empty())
        return out;
    const std::string_view text = sequence.text();
    for (std::size_t from = 0; from < text.size();) {
        if (job.cancelled())
            return Job::cancelledError();
        // Stretches overlap by what a match may reach beyond its first byte.
        const std::string_view part = text.substr(from, stretch + needle.size() - 1);
        std::size_t next = from + stretch;
        for (auto at = part.find(needle); at != std::string_view::npos; at = part.find(needle, at + needle.size())) {
            if (!add(out, sequence.tokensOf({from + at, from + at + needle.size()})))
                return out;
            next = std::max(next, from + at + needle.size());
        }
        from = next;
    }
    return out;
}

} // namespace

std::optional<std::size_t> TokenMatches::next(std::uint64_t token, bool forward, bool here) const
{
    if (ranges.empty())
        return std::nullopt;
    const auto less = [](const TokenRange &range, std::uint64_t t) { return range.from < t; };
    if (forward) {
        const auto it = std::lower_bound(ranges.begin(), ranges.end(), here ? token : token + 1, less);
        return it == ranges.end() ? 0 : static_cast<std::size_t>(it - ranges.begin());
    }
    const auto it = std::lower_bound(ranges.begin(), ranges.end(), here ? token + 1 : token, less);
    return it == ranges.begin() ? ranges.size() - 1 : static_cast<std::size_t>(it - ranges.begin() - 1);
}

Result<TokenMatches> findTokens(const TokenSequence &sequence, const TokenQuery &query, const Job &job)
{
    switch (query.by) {
    case TokenQuery::By::Id: {
        auto ids = idsOf(query.text);
        return ids ? findIds(sequence, *ids, job) : Result<TokenMatches>(ids.error());
    }
    case TokenQuery::By::Expression: {
        const auto pattern = TextPattern::compile(query.text);
        if (!pattern)
            return pattern.error();
        TokenMatches out;
        const auto done = pattern->findAll(sequence.text(), job, [&](const ByteRange &bytes) { return add(out, sequence.tokensOf(bytes)); });
        return done ? Result<TokenMatches>(std::move(out)) : Result<TokenMatches>(done.error());
    }
    case TokenQuery::By::Text: break;
    }
    return findText(sequence, query.text, job);
}

} // namespace prosector
