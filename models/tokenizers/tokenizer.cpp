// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/tokenizers/tokenizer.h"

#include "models/core/utf8.h"

namespace prosector {

Result<TokenizerPtr> Tokenizer::fromJson(Value root)
{
    auto tokenizer = std::make_shared<Tokenizer>();
    auto normalizers = makeNormalizers(root["normalizer"]);
    if (!normalizers)
        return normalizers.error();
    auto plan = makePreTokenizers(root["pre_tokenizer"]);
    if (!plan)
        return plan.error();
    auto model = makeTokenModel(root["model"], plan->rawBytes);
    if (!model)
        return model.error();
    auto added = AddedTokens::make(root["added_tokens"], **model, *normalizers);
    if (!added)
        return added.error();
    auto postProcessors = makePostProcessors(root["post_processor"]);
    if (!postProcessors)
        return postProcessors.error();
    auto decoders = makeDecoders(root["decoder"]);
    if (!decoders)
        return decoders.error();
    tokenizer->m_model = std::move(*model);
    tokenizer->m_added = std::move(*added);
    tokenizer->m_normalizers = std::move(*normalizers);
    tokenizer->m_plan = std::move(*plan);
    tokenizer->m_postProcessors = std::move(*postProcessors);
    tokenizer->m_decoders = std::move(*decoders);
    return TokenizerPtr(std::move(tokenizer));
}

std::optional<std::string> Tokenizer::spelling(std::uint32_t id) const
{
    if (const AddedTokenRule *const token = m_added.byId(id))
        return m_added.spelling(*token);
    const auto piece = m_model->vocabulary().piece(id);
    return piece ? std::optional(std::string(*piece)) : std::nullopt;
}

Result<std::string> Tokenizer::decode(std::span<const std::uint32_t> ids, bool skipSpecialTokens) const
{
    std::vector<std::string> tokens;
    for (const std::uint32_t id : ids) {
        auto text = spelling(id);
        if (text && !(skipSpecialTokens && m_added.isSpecial(*text)))
            tokens.push_back(std::move(*text));
    }
    std::string all;
    if (m_decoders.empty()) { // without a decoder Hugging Face joins with blanks
        for (const std::string &token : tokens)
            all += (&token == tokens.data() ? "" : " ") + token;
        return all;
    }
    for (const Decoder &decoder : m_decoders) {
        auto next = decoder.run(std::move(tokens));
        if (!next)
            return next.error();
        tokens = std::move(*next);
    }
    for (const std::string &token : tokens)
        all += token;
    return all;
}

Encoder::Encoder(TokenizerPtr tokenizer) : m_tokenizer(std::move(tokenizer)), m_state(m_tokenizer->m_model->makeState())
{
}

void Encoder::add(const AddedTokenRule &token, std::string_view text, Origin origin, const EncodeOptions &options,
                  Encoding &out) const
{
    out.ids.push_back(token.id);
    if (options.tokens)
        out.tokens.emplace_back(text);
    out.offsets.push_back(origin);
}

Result<void> Encoder::encodeSegment(Segment segment, const EncodeOptions &options, Encoding &out)
{
    for (const auto &step : m_tokenizer->m_plan.steps) {
        if (auto done = step->apply(segment); !done)
            return done;
    }
    const auto text = segment.text.text();
    for (const auto &piece : segment.pieces) {
        m_tokens.clear();
        const auto pieceText = text.substr(piece.begin, piece.end - piece.begin);
        if (auto done = m_tokenizer->m_model->tokenize(pieceText, *m_state, m_tokens); !done)
            return done;
        for (const ModelToken &token : m_tokens) {
            out.ids.push_back(token.id);
            out.offsets.push_back(segment.text.origin(piece.begin + token.begin, piece.begin + token.end));
            if (options.tokens)
                out.tokens.push_back(m_tokenizer->m_model->spelling(token, pieceText));
        }
    }
    return {};
}

Result<Encoding> Encoder::encode(std::string_view input, const EncodeOptions &wanted)
{
    if (input.size() >= UINT32_MAX)
        return Error{Errc::TooLarge, "text to encode", Whole{}, "fewer than 4 GiB", std::to_string(input.size()) + " bytes"};
    EncodeOptions options = wanted;
    for (const auto &step : m_tokenizer->m_postProcessors)
        options.tokens = options.tokens || step->looksAtTokens();
    std::string repaired;
    if (firstInvalidUtf8(input) != std::string_view::npos) {
        repaired = toValidUtf8(input);
        input = repaired;
    }
    Encoding out;
    const AddedTokens &added = m_tokenizer->m_added;
    for (const auto &raw : added.cut(input, false, options.specialsAsText)) {
        const auto stretch = input.substr(raw.begin, raw.end - raw.begin);
        const auto base = static_cast<std::uint32_t>(raw.begin);
        if (raw.token) {
            add(*raw.token, stretch, {base, static_cast<std::uint32_t>(raw.end)}, options, out);
            continue;
        }
        AlignedText text(stretch, base);
        for (const auto &step : m_tokenizer->m_normalizers) {
            if (auto done = step->apply(text); !done)
                return done.error();
        }
        for (const auto &part : added.cut(text.text(), true, options.specialsAsText)) {
            if (part.token) {
                add(*part.token, text.text().substr(part.begin, part.end - part.begin),
                    text.origin(part.begin, part.end), options, out);
                continue;
            }
            Segment segment(part.begin == 0 && part.end == text.size() ? text : text.slice(part.begin, part.end));
            if (auto done = encodeSegment(std::move(segment), options, out); !done)
                return done.error();
        }
    }
    out.inserted.assign(out.size(), false);
    for (const auto &step : m_tokenizer->m_postProcessors)
        step->apply(out, options.addSpecialTokens);
    return out;
}

} // namespace prosector
