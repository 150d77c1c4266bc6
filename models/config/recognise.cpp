// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/config/recognise.h"

#include <algorithm>
#include <array>
#include <tuple>

namespace prosector {

namespace {

struct Fit {
    const KnownRow *row = nullptr;
    bool byHash = false;
    std::size_t misses = 0, matches = 0;
};

class TokenizerRecognition {
public:
    TokenizerRecognition(const KnownModels &book, const TokenizerFacts &facts)
        : m_book(book), m_facts(facts), m_pieces(facts.piecesById())
    {
    }

    std::vector<Fit> fits()
    {
        std::vector<Fit> found;
        for (const KnownRow &row : m_book.tokenizers()) {
            Fit fit{&row};
            for (const auto &[name, id] : specialIds(m_book, row)) {
                const bool same = id >= 0 && static_cast<std::size_t>(id) < m_pieces.size() && m_pieces[static_cast<std::size_t>(id)] == name;
                ++(same ? fit.matches : fit.misses);
            }
            if (const auto hash = m_book.fact(row, "tokens_sha256"))
                fit.byHash = hasVocabulary(row, *hash);
            if (fit.byHash || fitsByIds(row, fit))
                found.push_back(fit);
        }
        return found;
    }

private:
    bool hasVocabulary(const KnownRow &row, const KnownFact &hash)
    {
        const auto count = baseOf(row);
        // Only a GGUF lists added tokens among the others.
        if (count == 0 || !m_facts.baseSize || count > *m_facts.baseSize || (!m_facts.gguf && count != *m_facts.baseSize))
            return false;
        if (m_hashes.empty())
            hashBases();
        const auto it = std::find_if(m_hashes.begin(), m_hashes.end(), [&](const auto &h) { return h.first == count; });
        return it != m_hashes.end() && hash.accepts(std::string_view(it->second));
    }

    std::uint64_t baseOf(const KnownRow &row) const
    {
        const auto stated = m_book.fact(row, "base_vocab");
        const auto base = stated ? stated : m_book.fact(row, "tokenizer_len");
        const auto count = base ? base->value.integer() : std::nullopt;
        return count && *count > 0 ? static_cast<std::uint64_t>(*count) : 0;
    }

    /// All sizes that the book knows, in one pass over the vocabulary.
    void hashBases()
    {
        std::vector<std::uint64_t> sizes;
        for (const KnownRow &row : m_book.tokenizers()) {
            const std::uint64_t base = m_book.fact(row, "tokens_sha256") ? baseOf(row) : 0;
            const bool fits = base > 0 && base <= *m_facts.baseSize && (m_facts.gguf || base == *m_facts.baseSize);
            if (fits && std::find(sizes.begin(), sizes.end(), base) == sizes.end())
                sizes.push_back(base);
        }
        auto hashes = m_facts.tokensSha256(sizes);
        for (std::size_t i = 0; i < sizes.size(); ++i)
            m_hashes.emplace_back(sizes[i], std::move(hashes[i]));
    }

    /// For vocabularies whose hash the book does not have.
    bool fitsByIds(const KnownRow &row, const Fit &fit) const
    {
        if (fit.misses > 0 || fit.matches == 0 || m_book.fact(row, "tokens_sha256"))
            return false;
        const auto equals = [&](std::string_view name, std::optional<std::uint64_t> value) {
            const auto fact = m_book.fact(row, name);
            return fact && value && fact->accepts(static_cast<double>(*value));
        };
        const bool length = equals("tokenizer_len", m_facts.size) || equals("base_vocab", m_facts.baseSize);
        return fit.matches >= 4 || (length && (fit.matches >= 2 || equals("merges", m_facts.merges)));
    }

    const KnownModels &m_book;
    const TokenizerFacts &m_facts;
    std::vector<std::string> m_pieces;
    std::vector<std::pair<std::uint64_t, std::string>> m_hashes; ///< number of tokens and their hash
};

struct ShapeKey {
    std::string_view known;
    ArchField field;
};
constexpr std::array shapeKeys = std::to_array<ShapeKey>({
    {"hidden_size", ArchField::Hidden}, {"d_model", ArchField::Hidden}, {"num_hidden_layers", ArchField::Layers},
    {"num_attention_heads", ArchField::Heads}, {"num_key_value_heads", ArchField::KvHeads},
    {"intermediate_size", ArchField::FeedForward}, {"experts_total", ArchField::Experts},
});

bool contains(const std::vector<const KnownRow *> &rows, std::string_view id)
{
    return std::any_of(rows.begin(), rows.end(), [&](const KnownRow *row) { return row->id == id; });
}

/// At least four numbers stated by both, hidden size and layers among them, and none that differs.
bool hasShape(const KnownModels &book, const KnownRow &row, const Architecture &arch, bool vocabularyToo)
{
    std::size_t equal = 0;
    bool hidden = false, layers = false;
    for (const ShapeKey &key : shapeKeys) {
        const auto fact = book.fact(row, key.known);
        const auto value = arch.number(key.field);
        if (!fact || !value || !fact->value.isNumber())
            continue;
        if (!fact->accepts(*value))
            return false;
        ++equal;
        hidden = hidden || key.field == ArchField::Hidden;
        layers = layers || key.field == ArchField::Layers;
    }
    if (vocabularyToo) {
        const auto rows = book.fact(row, "vocab_size");
        const auto value = arch.number(ArchField::Vocab);
        if (!rows || !value || !rows->accepts(*value))
            return false;
    }
    return hidden && layers && equal >= 4;
}

} // namespace

std::vector<std::pair<std::string, std::int64_t>> specialIds(const KnownModels &book, const KnownRow &tokenizer)
{
    std::vector<std::pair<std::string, std::int64_t>> ids;
    if (const auto fact = book.fact(tokenizer, "special_ids")) {
        for (const Value entry : fact->value) {
            if (const auto id = entry.integer())
                ids.emplace_back(entry.key(), *id);
        }
    }
    for (const std::string_view name : {"bos_token", "eos_token", "pad_token"}) {
        const auto fact = book.fact(tokenizer, name);
        if (!fact)
            continue;
        const auto text = fact->value["string"].string();
        const auto id = fact->value["id"].integer();
        if (text && id && std::none_of(ids.begin(), ids.end(), [&](const auto &row) { return row.first == *text; }))
            ids.emplace_back(*text, *id);
    }
    return ids;
}

Recognition recognise(const KnownModels &book, const Architecture *arch, const TokenizerFacts *tokenizer)
{
    Recognition result;
    if (tokenizer) {
        auto fits = TokenizerRecognition(book, *tokenizer).fits();
        const auto rank = [](const Fit &fit) { return std::tuple(fit.misses, ~fit.matches); };
        std::stable_sort(fits.begin(), fits.end(), [&](const Fit &a, const Fit &b) { return rank(a) < rank(b); });
        for (const Fit &fit : fits) {
            if (fit.byHash)
                result.sameVocabulary.push_back(fit.row);
            if (rank(fit) == rank(fits.front()))
                result.tokenizers.push_back(fit.row);
        }
        if (!fits.empty()) {
            result.byVocabulary = fits.front().byHash;
            result.renamed = fits.front().misses;
        }
    }
    if (!arch)
        return result;
    const bool known = !result.tokenizers.empty();
    std::vector<const KnownRow *> related;
    for (const KnownRow &row : book.models()) {
        if (!hasShape(book, row, *arch, !known))
            continue;
        if (!known || contains(result.tokenizers, row.tokenizer))
            result.models.push_back(&row);
        else if (contains(result.sameVocabulary, row.tokenizer))
            related.push_back(&row);
    }
    if (result.models.empty())
        result.models = std::move(related);
    return result;
}

} // namespace prosector
