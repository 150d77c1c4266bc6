// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/tokenizers/pipeline.h"

#include "models/core/utf8.h"
#include "models/tokenizers/explanation.h"
#include "models/tokenizers/repairedtext.h"

#include <algorithm>

namespace prosector {

struct PipelineTokenizer::State final : EncoderState {
    std::unique_ptr<ModelState> model;
    std::vector<ModelToken> tokens;
};

PipelineTokenizer::PipelineTokenizer(Stages stages)
    : m_kind(std::move(stages.kind)), m_model(std::move(stages.model)), m_normalizers(std::move(stages.normalizers)), m_plan(std::move(stages.plan)),
      m_postProcessors(std::move(stages.postProcessors)), m_decoders(std::move(stages.decoders)),
      m_limits(std::move(stages.limits))
{
    m_added = std::move(stages.added);
    const std::uint32_t largest = m_model->vocabulary().largestId();
    m_size = std::max(largest == Vocabulary::none ? 0 : largest + 1, m_added.idEnd());
}

namespace {

/// The tokens a class puts round a text, with the ids the tokenizer knows them by.
Result<PostProcessors> framingOf(const TransformersSettings::Frame &frame, const PipelineTokenizer::Stages &stages)
{
    std::vector<FramingToken> front, back;
    const auto put = [&](const std::optional<std::string> &spelling, std::vector<FramingToken> &side) -> Result<void> {
        if (!spelling)
            return {};
        const auto *const added = stages.added.byContent(*spelling);
        const std::uint32_t id = added ? added->id : stages.model->vocabulary().find(*spelling);
        if (id == Vocabulary::none) {
            return Error{Errc::Malformed, "token to put round a text", JsonPath{"$.added_tokens"},
                         "an id for \"" + toValidUtf8(*spelling) + '"', "none"};
        }
        side.push_back({*spelling, id});
        return {};
    };
    if (auto done = put(frame.begin, front); !done)
        return done.error();
    if (auto done = put(frame.end, back); !done)
        return done.error();
    return framing(std::move(front), std::move(back));
}

} // namespace

Result<std::shared_ptr<const PipelineTokenizer>> PipelineTokenizer::fromJson(Value root, const TransformersSettings &settings)
{
    Stages stages;
    const auto put = [](auto made, auto &place) -> Result<void> {
        if (!made)
            return made.error();
        place = std::move(*made);
        return {};
    };
    auto done = put(makeNormalizers(root["normalizer"]), stages.normalizers);
    if (done)
        done = put(makePreTokenizers(root["pre_tokenizer"], settings.addPrefixSpace), stages.plan);
    if (done)
        done = put(makeTokenModel(root["model"], stages.plan.rawBytes), stages.model);
    if (done)
        done = put(AddedTokens::make(root["added_tokens"], *stages.model, stages.normalizers, settings.added), stages.added);
    if (done)
        done = put(settings.frame ? framingOf(*settings.frame, stages) : makePostProcessors(root["post_processor"]),
                   stages.postProcessors);
    if (done)
        done = put(makeDecoders(root["decoder"]), stages.decoders);
    if (done)
        done = put(LengthLimits::make(root), stages.limits);
    if (!done)
        return done.error();
    return std::make_shared<const PipelineTokenizer>(std::move(stages));
}

Result<TokenizerPtr> tokenizerFromJson(Value root)
{
    auto made = PipelineTokenizer::fromJson(root);
    if (!made)
        return made.error();
    return TokenizerPtr(std::move(*made));
}

std::string PipelineTokenizer::kind() const
{
    return m_kind.empty() ? "tokenizer.json " + std::string(m_model->type()) : m_kind;
}

std::unique_ptr<EncoderState> PipelineTokenizer::makeState() const
{
    auto state = std::make_unique<State>();
    state->model = m_model->makeState();
    return state;
}

Result<std::string> PipelineTokenizer::normalized(std::string_view text) const
{
    const std::string valid = toValidUtf8(text);
    AlignedText aligned(valid, 0);
    for (const auto &step : m_normalizers) {
        if (auto done = step->apply(aligned); !done)
            return done.error();
    }
    return std::string(aligned.text());
}

std::optional<std::string> PipelineTokenizer::spelling(std::uint32_t id) const
{
    if (const AddedTokenRule *const token = m_added.byId(id))
        return m_added.spelling(*token);
    const auto piece = m_model->vocabulary().piece(id);
    return piece ? std::optional(std::string(*piece)) : std::nullopt;
}

std::optional<std::string> PipelineTokenizer::bytes(std::uint32_t id) const
{
    if (const AddedTokenRule *const token = m_added.byId(id))
        return token->content;
    const auto piece = spelling(id);
    return piece ? std::optional(bytesOf(*piece, m_decoders)) : std::nullopt;
}

std::optional<std::uint32_t> PipelineTokenizer::find(std::string_view text) const
{
    if (const AddedTokenRule *const token = m_added.byContent(text))
        return token->id;
    const std::uint32_t id = m_model->vocabulary().find(text);
    return id == Vocabulary::none ? std::nullopt : std::optional(id);
}

Result<std::string> PipelineTokenizer::decode(std::span<const std::uint32_t> ids, bool skipSpecialTokens) const
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

namespace {

void add(const AddedTokenRule &token, std::string_view text, TextRange origin, const EncodeOptions &options, Encoding &out)
{
    out.ids.push_back(token.id);
    if (options.tokens)
        out.tokens.emplace_back(text);
    out.offsets.push_back(origin);
}

} // namespace

Result<void> PipelineTokenizer::explain(std::string_view piece, TextRange origin, std::size_t tokens, Explanation &why) const
{
    auto model = m_model->explain(piece);
    if (!model)
        return model.error();
    const auto index = static_cast<std::uint32_t>(why.pieces.size());
    why.pieces.push_back({origin, std::string(piece), std::move(*model), static_cast<std::uint32_t>(why.normalizations.size() - 1)});
    why.tokens.insert(why.tokens.end(), tokens, {Explanation::Source::Model, index});
    return {};
}

Result<void> PipelineTokenizer::encodeSegment(Segment segment, const EncodeOptions &options, State &state,
                                              Encoding &out) const
{
    for (const auto &step : m_plan.steps) {
        if (auto done = step->apply(segment); !done)
            return done;
    }
    const auto text = segment.text.text();
    for (const auto &piece : segment.pieces) {
        state.tokens.clear();
        const auto pieceText = text.substr(piece.begin, piece.end - piece.begin);
        if (auto done = m_model->tokenize(pieceText, *state.model, state.tokens); !done)
            return done;
        if (options.why) {
            if (auto done = explain(pieceText, segment.text.origin(piece.begin, piece.end), state.tokens.size(), *options.why); !done)
                return done;
        }
        for (const ModelToken &token : state.tokens) {
            out.ids.push_back(token.id);
            out.offsets.push_back(segment.text.origin(piece.begin + token.begin, piece.begin + token.end));
            if (options.tokens)
                out.tokens.push_back(m_model->spelling(token, pieceText));
        }
    }
    return {};
}

Result<void> PipelineTokenizer::encodeInput(std::string_view input, const EncodeOptions &options, State &state,
                                            Encoding &out) const
{
    Explanation *const why = options.why;
    const auto take = [&](const AddedTokenRule &token, std::string_view text, TextRange origin, bool afterNormalizer) {
        add(token, text, origin, options, out);
        if (why) {
            why->tokens.push_back({Explanation::Source::AddedToken, static_cast<std::uint32_t>(why->matches.size())});
            why->matches.push_back({origin, token, afterNormalizer});
        }
    };
    for (const auto &raw : m_added.cut(input, false, options.specialsAsText)) {
        const auto stretch = input.substr(raw.begin, raw.end - raw.begin);
        const TextRange origin{static_cast<std::uint32_t>(raw.begin), static_cast<std::uint32_t>(raw.end)};
        if (raw.token) {
            take(*raw.token, stretch, origin, false);
            continue;
        }
        AlignedText text(stretch, origin.begin);
        if (why)
            why->normalizations.push_back({origin, {}});
        for (const auto &step : m_normalizers) {
            const std::string before(why ? text.text() : std::string_view());
            if (auto done = step->apply(text); !done)
                return done;
            if (why && text.text() != before)
                why->normalizations.back().steps.push_back({step->name(), std::string(text.text())});
        }
        for (const auto &part : m_added.cut(text.text(), true, options.specialsAsText)) {
            if (part.token) {
                take(*part.token, text.text().substr(part.begin, part.end - part.begin), text.origin(part.begin, part.end), true);
                continue;
            }
            Segment segment(part.begin == 0 && part.end == text.size() ? text : text.slice(part.begin, part.end));
            if (auto done = encodeSegment(std::move(segment), options, state, out); !done)
                return done;
        }
    }
    return {};
}

Result<Encoding> PipelineTokenizer::encode(std::string_view input, const EncodeOptions &wanted, EncoderState &kept) const
{
    if (input.size() >= UINT32_MAX)
        return Error{Errc::TooLarge, "text to encode", Whole{}, "fewer than 4 GiB", std::to_string(input.size()) + " bytes"};
    EncodeOptions options = wanted;
    for (const auto &step : m_postProcessors)
        options.tokens = options.tokens || step->looksAtTokens();
    if (options.why)
        *options.why = {};
    const RepairedText repaired(input);
    Encoding out;
    if (auto done = encodeInput(repaired.text(), options, static_cast<State &>(kept), out); !done)
        return done.error();
    out.inserted.assign(out.size(), false);
    std::size_t droppedInFront = 0;
    if (options.truncateAndPad) {
        const auto dropped = m_limits.truncate(out, m_postProcessors, options.addSpecialTokens);
        if (!dropped)
            return dropped.error();
        droppedInFront = *dropped;
    }
    for (const auto &step : m_postProcessors)
        step->apply(out, options.addSpecialTokens);
    if (options.truncateAndPad)
        m_limits.pad(out);
    out.invalid = repaired.invalid();
    if (!out.invalid.empty()) {
        for (TextRange &origin : out.offsets)
            origin = repaired.toInput(origin);
    }
    if (options.why) {
        options.why->follow(out, droppedInFront);
        const auto toInput = [&](auto &list) {
            for (auto &entry : list)
                entry.origin = repaired.toInput(entry.origin);
        };
        toInput(options.why->normalizations);
        toInput(options.why->pieces);
        toInput(options.why->matches);
    }
    return out;
}

} // namespace prosector
