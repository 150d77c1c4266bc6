// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/core/document.h"

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace prosector {

/// One value of the reference book with what speaks for it. Valid as long as the book.
struct KnownFact {
    std::string name;
    Value value;
    Value others;          ///< list of values that other sources give, or missing
    bool recalled = false; ///< from memory: never to be stated as certain
    bool ofFamily = false; ///< read for the family or one member and applied to all sizes
    std::vector<std::string> sources; ///< "owner/name path@commit", documents

    /// `value` and then `others`.
    std::vector<Value> accepted() const;
    bool accepts(double number) const; ///< to a relative 1e-6, the precision of float32
    bool accepts(std::string_view word) const;
    bool accepts(bool flag) const;
    /// "256", "4096 or 2048".
    std::string text() const;
    /// "read in A, B and 3 more", "recalled, no source".
    std::string citation() const;
};

/// A row of the book: a tokenizer, or the fields of a model.
struct KnownRow {
    std::string id, family, repo, tokenizer, chatTemplate; ///< the last four of models only
    Value facts;
};

/// A mistake that official or widely copied files had.
struct KnownMistake {
    std::string id, what, fix;
    std::vector<std::string> models;
    Value test; ///< what can be checked: {"field", "is" | "is_not", "repair", "level"}, {"stop_lacks"}, {"tokenizer"}
    bool recalled = false;
    std::vector<std::string> sources;
    std::string citation() const;
};

struct TemplateMarker {
    std::string marker, family;
    bool recalled = false;
};

/// Table `resources/facts/known-models.json`: models, tokenizers and templates with their sources.
/// Immutable; safe to read from any thread.
class KnownModels {
public:
    static Result<KnownModels> parse(DocumentPtr table);

    std::span<const KnownRow> models() const { return m_models; }
    std::span<const KnownRow> tokenizers() const { return m_tokenizers; }
    std::span<const KnownMistake> mistakes() const { return m_mistakes; }
    std::span<const TemplateMarker> markers() const { return m_markers; }
    const KnownRow *tokenizer(std::string_view id) const; ///< null when there is none

    /// Nothing when the row has no such fact.
    std::optional<KnownFact> fact(const KnownRow &row, std::string_view name) const;

    /// Whether llama.cpp splits text alike under both pre-tokenizer ids.
    bool splitAlike(std::string_view preA, std::string_view preB) const;
    /// Names under which a chat template with this SHA-256 is known.
    std::vector<std::string> templatesOf(std::string_view sha256) const;
    /// How models of one shape are told apart, for people; empty when the book does not say.
    std::string tieBreaker(std::span<const std::string> models) const;
    /// When the facts were collected: "2026-09".
    const std::string &made() const { return m_made; }

private:
    std::vector<std::string> sourcesOf(Value keys) const;

    DocumentPtr m_table; ///< keeps the values alive
    std::string m_made;
    std::vector<KnownRow> m_models, m_tokenizers;
    std::vector<KnownMistake> m_mistakes;
    std::vector<TemplateMarker> m_markers;
    std::vector<std::vector<std::string>> m_alike;
    std::vector<std::pair<std::string, std::string>> m_sources; ///< id and text, sorted by id
};

} // namespace prosector
