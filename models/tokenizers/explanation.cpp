// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/tokenizers/explanation.h"

namespace prosector {

void Explanation::guess(std::string_view input, const Encoding &encoding, const AddedTokens &added)
{
    *this = {};
    const TextRange whole{0, static_cast<std::uint32_t>(input.size())};
    normalizations.push_back({whole, {}});
    ModelExplanation opaque;
    opaque.kind = ModelExplanation::Kind::Opaque;
    pieces.push_back({whole, std::string(input), std::move(opaque), 0});
    for (std::size_t i = 0; i < encoding.size(); ++i) {
        const AddedTokenRule *const rule = added.byId(encoding.ids[i]);
        if (encoding.inserted[i]) {
            tokens.push_back({});
        } else if (rule) {
            tokens.push_back({Source::AddedToken, static_cast<std::uint32_t>(matches.size())});
            matches.push_back({encoding.offsets[i], *rule, false});
        } else {
            tokens.push_back({Source::Model, 0});
        }
    }
}

void Explanation::follow(const Encoding &encoding, std::size_t droppedInFront)
{
    std::vector<Token> followed(encoding.size());
    std::size_t from = droppedInFront;
    for (std::size_t i = 0; i < encoding.size(); ++i) {
        if (!encoding.inserted[i] && from < tokens.size())
            followed[i] = tokens[from++];
    }
    tokens = std::move(followed);
}

} // namespace prosector
