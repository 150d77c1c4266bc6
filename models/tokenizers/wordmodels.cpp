// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/tokenizers/wordmodels.h"

#include "models/core/utf8.h"
#include "models/tokenizers/unicode.h"

namespace prosector {

namespace {

Result<void> addUnknown(const Vocabulary &vocabulary, const std::string &unknown, std::string_view piece,
                        std::vector<ModelToken> &out)
{
    const std::uint32_t id = vocabulary.find(unknown);
    if (id == Vocabulary::none) {
        return Error{Errc::Malformed, "unknown token", JsonPath{"$.model.unk_token"}, "a piece of the vocabulary",
                     '"' + toValidUtf8(unknown) + '"'};
    }
    out.push_back({id, 0, static_cast<std::uint32_t>(piece.size())});
    return {};
}

} // namespace

Result<ModelExplanation> WordPieceModel::explain(std::string_view) const
{
    ModelExplanation why;
    why.kind = ModelExplanation::Kind::LongestMatch;
    return why;
}

WordPieceModel::WordPieceModel(Vocabulary vocabulary, std::string unknown, std::string continuingPrefix,
                               std::size_t longestWord)
    : m_unknownPiece(std::move(unknown)), m_prefix(std::move(continuingPrefix)), m_longestWord(longestWord)
{
    m_vocabulary = std::move(vocabulary);
}

Result<void> WordPieceModel::tokenize(std::string_view piece, ModelState &, std::vector<ModelToken> &out) const
{
    std::size_t characters = 0;
    for (const char c : piece)
        characters += !isContinuationByte(c);
    if (characters > m_longestWord)
        return addUnknown(m_vocabulary, m_unknownPiece, piece, out);
    const std::size_t before = out.size();
    std::string spelling;
    for (std::size_t begin = 0; begin < piece.size();) {
        std::size_t end = piece.size();
        std::uint32_t id = Vocabulary::none;
        while (begin < end) {
            spelling = begin > 0 ? m_prefix : std::string();
            spelling += piece.substr(begin, end - begin);
            id = m_vocabulary.find(spelling);
            if (id != Vocabulary::none)
                break;
            do
                --end;
            while (end > begin && isContinuationByte(piece[end]));
        }
        if (id == Vocabulary::none) {
            out.resize(before);
            return addUnknown(m_vocabulary, m_unknownPiece, piece, out);
        }
        out.push_back({id, static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(end)});
        begin = end;
    }
    return {};
}

WordLevelModel::WordLevelModel(Vocabulary vocabulary, std::string unknown) : m_unknownPiece(std::move(unknown))
{
    m_vocabulary = std::move(vocabulary);
}

Result<void> WordLevelModel::tokenize(std::string_view piece, ModelState &, std::vector<ModelToken> &out) const
{
    const std::uint32_t id = m_vocabulary.find(piece);
    if (id == Vocabulary::none)
        return addUnknown(m_vocabulary, m_unknownPiece, piece, out);
    out.push_back({id, 0, static_cast<std::uint32_t>(piece.size())});
    return {};
}

} // namespace prosector
