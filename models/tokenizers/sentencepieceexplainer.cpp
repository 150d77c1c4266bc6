// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/tokenizers/sentencepieceexplainer.h"

#include "models/tokenizers/bpe.h"
#include "models/tokenizers/explanation.h"
#include "models/tokenizers/scoredmerges.h"
#include "models/tokenizers/unigram.h"

#include <algorithm>

namespace prosector {

using PieceType = SentencePieceContent::PieceType;

Result<TokenModelPtr> SentencePieceExplainer::makeModel() const
{
    const auto &pieces = m_content.pieces;
    const auto unknown = std::find_if(pieces.begin(), pieces.end(), [](const auto &p) { return p.type == PieceType::Unknown; });
    const bool bytes = m_content.setting("trainer.byte_fallback") == "true";
    if (unknown == pieces.end())
        return Error{Errc::Malformed, "SentencePiece model", Whole{}, "a piece of type UNKNOWN", "none"};
    if (m_content.modelType() == "UNIGRAM") {
        std::vector<UnigramModel::Entry> entries;
        for (const auto &piece : pieces)
            entries.push_back({piece.text, double(piece.score)});
        auto model = UnigramModel::make(std::move(entries), static_cast<std::uint32_t>(unknown - pieces.begin()), bytes);
        return model ? TokenModelPtr(std::move(*model)) : Result<TokenModelPtr>(model.error());
    }
    if (m_content.modelType() != "BPE")
        return Error{Errc::Unsupported, "SentencePiece model", Whole{}, "UNIGRAM or BPE", m_content.modelType()};
    Vocabulary vocabulary;
    std::vector<ScoredPiece> scored;
    for (std::uint32_t id = 0; id < pieces.size(); ++id) {
        vocabulary.add(pieces[id].text, id);
        if (pieces[id].type == PieceType::Normal)
            scored.push_back({pieces[id].text, double(pieces[id].score)});
    }
    std::vector<BpeModel::Merge> merges;
    double last = 0;
    for (const ScoredMerge &merge : scoredMerges(scored)) {
        const std::uint32_t rank = merges.empty() ? 0 : merges.back().rank + (merge.score != last);
        merges.push_back({merge.left, merge.right, rank});
        last = merge.score;
    }
    BpeOptions options;
    options.unknown = unknown->text;
    options.fuseUnknown = true;
    options.byteFallback = bytes;
    auto model = BpeModel::make(std::move(vocabulary), merges, std::move(options));
    return model ? TokenModelPtr(std::move(*model)) : Result<TokenModelPtr>(model.error());
}

bool SentencePieceExplainer::explain(std::string_view input, std::string_view normalized, const Encoding &encoding,
                                     Explanation &why) const
{
    std::call_once(m_once, [this] {
        if (auto model = makeModel())
            m_model = std::move(*model);
    });
    if (!m_model || normalized.empty())
        return false;
    std::vector<ModelToken> tokens;
    const auto state = m_model->makeState();
    if (!m_model->tokenize(normalized, *state, tokens))
        return false;
    const bool agrees = std::equal(tokens.begin(), tokens.end(), encoding.ids.begin(), encoding.ids.end(),
                                   [](const ModelToken &token, std::uint32_t id) { return token.id == id; });
    auto model = m_model->explain(normalized);
    if (!agrees || !model)
        return false;
    const TextRange whole{0, static_cast<std::uint32_t>(input.size())};
    why.normalizations.push_back({whole, {}});
    if (normalized != input)
        why.normalizations.back().steps.push_back({"SentencePiece", std::string(normalized)});
    why.pieces.push_back({whole, std::string(normalized), std::move(*model), 0});
    why.tokens.assign(encoding.size(), {Explanation::Source::Model, 0});
    return true;
}

} // namespace prosector
