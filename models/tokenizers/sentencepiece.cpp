// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/tokenizers/sentencepiece.h"

#include "models/artifacts/sentencepiecemodel.h"
#include "models/core/protobuf.h"
#include "models/core/utf8.h"
#include "models/tokenizers/bytepiece.h"
#include "models/tokenizers/explanation.h"
#include "models/tokenizers/normalizer.h"
#include "models/tokenizers/sentencepieceexplainer.h"
#include "models/tokenizers/vocabulary.h"

#include <algorithm>
#include <cmath>
#include <sentencepiece_processor.h>

namespace prosector {

namespace {

using PieceType = SentencePieceContent::PieceType;
constexpr std::string_view space = "▁";
constexpr std::size_t longestText = 1U << 30; // the library counts in int

Error malformed(std::string message, Anchor where, std::string expected, std::string found)
{
    return {Errc::Malformed, std::move(message), std::move(where), std::move(expected), std::move(found)};
}

std::string withSpaces(std::string_view piece)
{
    std::string text;
    for (std::size_t at = 0; at < piece.size();) {
        const auto next = std::min(piece.find(space, at), piece.size());
        text += piece.substr(at, next - at);
        if (next < piece.size())
            text += ' ';
        at = next + space.size();
    }
    return text;
}

Result<void> checkPieces(const SentencePieceContent &content)
{
    if (content.pieces.empty())
        return malformed("SentencePiece model", Whole{}, "pieces", "none");
    Vocabulary seen;
    std::size_t unknowns = 0;
    for (std::uint32_t id = 0; id < content.pieces.size(); ++id) {
        const auto &piece = content.pieces[id];
        const std::string name = "piece " + std::to_string(id);
        if (piece.text.empty())
            return malformed(name, piece.bytes, "a text", "none");
        if (const auto earlier = seen.find(piece.text); earlier != Vocabulary::none)
            return malformed(name, piece.bytes, "a text of its own", '"' + toValidUtf8(piece.text) + "\", as piece " + std::to_string(earlier));
        if (piece.text.find('\0') != std::string::npos)
            return malformed(name, piece.bytes, "a text without NUL", "NUL");
        if (std::isnan(piece.score))
            return malformed(name, piece.bytes, "a score", "NaN");
        if (piece.type == PieceType::Byte && !byteOfPiece(piece.text))
            return malformed(name + " of type BYTE", piece.bytes, "<0x00> to <0xFF>", '"' + toValidUtf8(piece.text) + '"');
        unknowns += piece.type == PieceType::Unknown;
        seen.add(piece.text, id);
    }
    if (unknowns != 1)
        return malformed("SentencePiece model", Whole{}, "one piece of type UNKNOWN", std::to_string(unknowns));
    return {};
}

/// The character maps of the normalizer and the denormalizer, which the library follows unchecked.
Result<void> checkMaps(std::string_view model)
{
    ProtoReader fields(model);
    while (const auto field = fields.next()) {
        if ((field->number != 3 && field->number != 5) || !field->isMessage())
            continue;
        ProtoReader settings(field->bytes, field->bytesAt);
        while (const auto setting = settings.next()) {
            if (setting->number != 2 || !setting->isMessage() || setting->bytes.empty())
                continue;
            const auto map = PrecompiledMap::make(std::string(setting->bytes), setting->where);
            if (!map)
                return map.error();
            if (auto sound = map->check(setting->where); !sound)
                return sound;
        }
    }
    return {};
}

class SentencePieceTokenizer final : public Tokenizer {
public:
    static Result<TokenizerPtr> make(std::string model)
    {
        const Reading reading = readSentencePieceModel(model);
        if (!reading.problems.empty())
            return reading.problems.front();
        auto content = std::static_pointer_cast<const SentencePieceContent>(reading.content);
        if (auto sound = checkPieces(*content); !sound)
            return sound.error();
        if (auto sound = checkMaps(model); !sound)
            return sound.error();
        auto made = std::make_shared<SentencePieceTokenizer>();
        made->m_content = std::move(content);
        made->m_explainer.emplace(*made->m_content);
        try {
            const auto status = made->m_library.LoadFromSerializedProto(model);
            if (!status.ok())
                return malformed("SentencePiece model", Whole{}, "one that the library loads", status.error_message());
        } catch (const std::exception &refusal) { // Darts throws
            return malformed("SentencePiece model", Whole{}, "one that the library loads", refusal.what());
        }
        made->listAddedTokens();
        return TokenizerPtr(std::move(made));
    }

    std::string kind() const override { return "SentencePiece " + m_content->modelType(); }

    Result<Encoding> encode(std::string_view text, const EncodeOptions &options, EncoderState &) const override
    {
        if (text.size() > longestText)
            return Error{Errc::TooLarge, "text to encode", Whole{}, "at most 1 GiB", std::to_string(text.size()) + " bytes"};
        sentencepiece::ImmutableSentencePieceText pieces;
        const auto status = m_library.Encode(text, pieces.mutable_proto());
        if (!status.ok())
            return malformed("SentencePiece refuses the text", Whole{}, {}, status.error_message());
        Encoding out;
        for (const auto &piece : pieces.pieces()) {
            out.ids.push_back(piece.id());
            out.offsets.push_back({piece.begin(), piece.end()});
            if (options.tokens)
                out.tokens.push_back(piece.piece());
        }
        out.inserted.assign(out.size(), false);
        if (options.why) {
            *options.why = {};
            m_explainer->explain(text, joined(pieces), out, *options.why);
        }
        return out;
    }

    Result<std::string> decode(std::span<const std::uint32_t> ids, bool) const override
    {
        std::vector<int> known;
        for (const std::uint32_t id : ids) {
            if (id >= size()) {
                return Error{Errc::OutOfRange, "id to decode", Whole{}, "an id below " + std::to_string(size()),
                             std::to_string(id)};
            }
            known.push_back(static_cast<int>(id));
        }
        std::string text;
        const auto status = m_library.Decode(known, &text);
        if (!status.ok())
            return malformed("SentencePiece refuses the ids", Whole{}, {}, status.error_message());
        return text;
    }

    Result<std::string> normalized(std::string_view text) const override
    {
        sentencepiece::ImmutableSentencePieceText pieces;
        const auto status = m_library.Encode(text, pieces.mutable_proto());
        if (!status.ok())
            return malformed("SentencePiece refuses the text", Whole{}, {}, status.error_message());
        return joined(pieces);
    }

    std::uint32_t size() const override { return static_cast<std::uint32_t>(m_content->pieces.size()); }

    std::optional<std::string> spelling(std::uint32_t id) const override
    {
        return id < size() ? std::optional(m_content->pieces[id].text) : std::nullopt;
    }

    std::optional<std::string> bytes(std::uint32_t id) const override
    {
        if (id >= size())
            return std::nullopt;
        const auto &piece = m_content->pieces[id];
        switch (piece.type) {
        case PieceType::Byte: return std::string(1, static_cast<char>(*byteOfPiece(piece.text)));
        case PieceType::Control: return piece.text;
        case PieceType::Unknown: return m_content->setting("trainer.unk_surface").value_or(" ⁇ ");
        default: return withSpaces(piece.text);
        }
    }

    std::optional<std::uint32_t> find(std::string_view spelling) const override
    {
        const int id = m_library.PieceToId(spelling);
        return id >= 0 && m_content->pieces[static_cast<std::size_t>(id)].text == spelling
            ? std::optional(static_cast<std::uint32_t>(id)) : std::nullopt;
    }

private:
    /// The normalised text: the library does not give it, but its pieces are cut from it.
    std::string joined(const sentencepiece::ImmutableSentencePieceText &pieces) const
    {
        std::string all;
        for (const auto &piece : pieces.pieces()) {
            const bool byte = m_content->pieces[piece.id()].type == PieceType::Byte;
            all += byte ? std::string(1, static_cast<char>(*byteOfPiece(piece.piece()))) : piece.piece();
        }
        return all;
    }

    void listAddedTokens()
    {
        std::vector<AddedTokenRule> tokens;
        for (std::uint32_t id = 0; id < size(); ++id) {
            const auto &piece = m_content->pieces[id];
            const bool special = piece.type == PieceType::Control || piece.type == PieceType::Unknown;
            if (special || piece.type == PieceType::UserDefined)
                tokens.push_back({.content = piece.text, .id = id, .special = special, .normalized = false});
        }
        m_added = AddedTokens::of(std::move(tokens), AddedTokens::Found::Never);
    }

    std::shared_ptr<const SentencePieceContent> m_content;
    sentencepiece::SentencePieceProcessor m_library;
    std::optional<SentencePieceExplainer> m_explainer;
};

} // namespace

Result<TokenizerPtr> tokenizerFromSentencePiece(std::string model)
{
    return SentencePieceTokenizer::make(std::move(model));
}

} // namespace prosector
