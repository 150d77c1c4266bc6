// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/tokenizers/addedtokens.h"

#include "models/core/utf8.h"
#include "models/tokenizers/malformedpart.h"
#include "models/tokenizers/unicode.h"

#include <algorithm>

namespace prosector {

void TokenMatcher::add(std::string_view text, std::uint32_t index)
{
    std::uint32_t node = 0;
    if (!text.empty())
        m_starts[static_cast<unsigned char>(text[0])] = true;
    for (const char c : text) {
        const auto fresh = static_cast<std::uint32_t>(m_nodes.size());
        const auto [it, added] = m_nodes[node].children.try_emplace(static_cast<unsigned char>(c), fresh);
        node = it->second;
        if (added)
            m_nodes.emplace_back();
    }
    m_nodes[node].index = index;
}

std::optional<TokenMatcher::Match> TokenMatcher::find(std::string_view text, std::size_t from) const
{
    if (empty())
        return std::nullopt;
    for (std::size_t begin = from; begin < text.size(); ++begin) {
        if (!m_starts[static_cast<unsigned char>(text[begin])])
            continue;
        std::uint32_t node = 0;
        std::optional<Match> longest;
        for (std::size_t end = begin; end < text.size();) {
            const auto &children = m_nodes[node].children;
            const auto next = children.find(static_cast<unsigned char>(text[end]));
            if (next == children.end())
                break;
            node = next->second;
            ++end;
            if (m_nodes[node].index != Vocabulary::none)
                longest = Match{begin, end, m_nodes[node].index};
        }
        if (longest)
            return longest;
    }
    return std::nullopt;
}

namespace {

Result<AddedTokenRule> readToken(Value node)
{
    const auto content = node["content"].string();
    if (!content)
        return malformedPart("added token", node, "an object with `content` and `id`");
    const auto id = node["id"].integer();
    if (!id || *id < 0 || *id >= Vocabulary::none)
        return malformedPart("added token", node["id"] ? node["id"] : node, "an id from 0 to 2^32 - 2");
    const auto flag = [&](const char *name, bool fallback) { return node[name].boolean().value_or(fallback); };
    const bool special = flag("special", false);
    return AddedTokenRule{*content,           static_cast<std::uint32_t>(*id), special, flag("normalized", !special),
                      flag("single_word", false), flag("lstrip", false), flag("rstrip", false)};
}

/// Where the white space that ends `text` begins.
std::size_t blanksAtEnd(std::string_view text)
{
    AlignedText copy(text, 0);
    copy.strip(false, true);
    return copy.size();
}

std::size_t blanksAtStart(std::string_view text)
{
    AlignedText copy(text, 0);
    copy.strip(true, false);
    return text.size() - copy.size();
}

bool startsWithWord(std::string_view text)
{
    return !text.empty() && isWordCharacter(decodeUtf8(text, 0).value);
}

bool endsWithWord(std::string_view text)
{
    std::size_t at = text.size();
    do
        --at;
    while (at > 0 && isContinuationByte(text[at]));
    return isWordCharacter(decodeUtf8(text, at).value);
}

} // namespace

Result<AddedTokens> AddedTokens::make(Value list, const TokenModel &model, const Normalizers &normalizers,
                                      std::span<const AddedTokenRule> more)
{
    AddedTokens added;
    auto next = static_cast<std::uint32_t>(model.vocabulary().size());
    const auto take = [&](AddedTokenRule token) -> Result<void> {
        // The file's id is not asked: a spelling the model knows keeps the model's id, others are numbered
        // behind the vocabulary.
        const std::uint32_t known = model.vocabulary().find(token.content);
        const auto *const earlier = added.byContent(token.content);
        token.id = known != Vocabulary::none ? known : earlier ? earlier->id : next++;
        added.m_normalizedForm.erase(token.id);
        if (token.normalized) {
            AlignedText text(token.content, 0);
            for (const auto &step : normalizers) {
                if (auto done = step->apply(text); !done)
                    return done.error();
            }
            if (text.text() != token.content)
                added.m_normalizedForm[token.id] = text.text();
        }
        added.insert(std::move(token));
        return {};
    };
    for (const Value node : list) {
        auto token = readToken(node);
        if (!token)
            return token.error();
        if (token->content.empty())
            continue;
        if (auto done = take(std::move(*token)); !done)
            return done.error();
    }
    for (const AddedTokenRule &token : more) {
        if (auto done = take(token); !done)
            return done.error();
    }
    added.fillMatchers();
    return added;
}

AddedTokens AddedTokens::of(std::vector<AddedTokenRule> tokens, Found found)
{
    AddedTokens added;
    for (AddedTokenRule &token : tokens) {
        if (!token.content.empty())
            added.insert(std::move(token));
    }
    if (found == Found::InText)
        added.fillMatchers();
    return added;
}

void AddedTokens::insert(AddedTokenRule token)
{
    if (token.special)
        m_special.insert(token.content);
    m_idOf[token.content] = token.id;
    const std::uint32_t id = token.id;
    m_byId[id] = std::move(token);
}

void AddedTokens::fillMatchers()
{
    for (const auto &[id, token] : m_byId)
        (token.normalized ? m_normalized : m_raw).add(token.normalized ? spelling(token) : token.content, id);
}

std::vector<AddedTokens::Stretch> AddedTokens::cut(std::string_view text, bool normalized, bool specialsAsText) const
{
    const TokenMatcher &matcher = normalized ? m_normalized : m_raw;
    std::vector<Stretch> stretches;
    std::size_t from = 0; // behind the last stretch
    std::size_t search = 0;
    while (const auto match = matcher.find(text, search)) {
        search = match->end;
        const AddedTokenRule &token = m_byId.at(match->index);
        if (specialsAsText && m_special.contains(token.content))
            continue;
        std::size_t begin = match->begin, end = match->end;
        if (token.singleWord
            && ((begin > 0 && endsWithWord(text.substr(0, begin))) || startsWithWord(text.substr(end))))
            continue;
        if (token.leftStrip)
            begin = std::max(blanksAtEnd(text.substr(0, begin)), from);
        if (token.rightStrip)
            end += blanksAtStart(text.substr(end));
        if (from < begin)
            stretches.push_back({from, begin, nullptr});
        stretches.push_back({begin, end, &token});
        from = end;
    }
    if (from < text.size())
        stretches.push_back({from, text.size(), nullptr});
    return stretches;
}

const AddedTokenRule *AddedTokens::byId(std::uint32_t id) const
{
    const auto found = m_byId.find(id);
    return found == m_byId.end() ? nullptr : &found->second;
}

const AddedTokenRule *AddedTokens::byContent(std::string_view content) const
{
    const auto found = m_idOf.find(content);
    return found == m_idOf.end() ? nullptr : byId(found->second);
}

const std::string &AddedTokens::spelling(const AddedTokenRule &token) const
{
    const auto found = m_normalizedForm.find(token.id);
    return found == m_normalizedForm.end() ? token.content : found->second;
}

std::vector<const AddedTokenRule *> AddedTokens::all() const
{
    std::vector<const AddedTokenRule *> list;
    for (const auto &[id, token] : m_byId)
        list.push_back(&token);
    return list;
}

} // namespace prosector
