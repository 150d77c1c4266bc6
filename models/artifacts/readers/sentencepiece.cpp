// SPDX-License-Identifier: GPL-3.0-or-later
// SentencePiece models (tokenizer.model, *.spm): pieces and settings, each with its bytes.
#include "models/artifacts/reader.h"
#include "models/artifacts/sentencepiecemodel.h"
#include "models/artifacts/shapes.h"
#include "models/core/protobuf.h"
#include "models/core/utf8.h"

#include <algorithm>
#include <array>
#include <charconv>

namespace prosector {

namespace {

constexpr std::uint64_t maxModelBytes = 256ULL << 20;

/// A field of one of the settings messages: how to show it.
struct Field {
    enum class Show : std::uint8_t { Number, Bool, Real, Text, Size, ModelType };
    std::uint32_t number;
    std::string_view name;
    Show show;
};
using Show = Field::Show;
constexpr std::array trainerFields = std::to_array<Field>({
    {2, "model_prefix", Show::Text}, {3, "model_type", Show::ModelType}, {4, "vocab_size", Show::Number},
    {10, "character_coverage", Show::Real}, {20, "max_sentencepiece_length", Show::Number},
    {21, "split_by_unicode_script", Show::Bool}, {22, "split_by_whitespace", Show::Bool},
    {23, "split_by_number", Show::Bool}, {24, "treat_whitespace_as_suffix", Show::Bool},
    {25, "split_digits", Show::Bool}, {26, "allow_whitespace_only_pieces", Show::Bool},
    {30, "control_symbols", Show::Text}, {31, "user_defined_symbols", Show::Text},
    {35, "byte_fallback", Show::Bool}, {36, "required_chars", Show::Text}, {40, "unk_id", Show::Number},
    {41, "bos_id", Show::Number}, {42, "eos_id", Show::Number}, {43, "pad_id", Show::Number},
    {44, "unk_surface", Show::Text}, {45, "unk_piece", Show::Text}, {46, "bos_piece", Show::Text},
    {47, "eos_piece", Show::Text}, {48, "pad_piece", Show::Text},
});
constexpr std::array normalizerFields = std::to_array<Field>({
    {1, "name", Show::Text}, {2, "precompiled_charsmap", Show::Size}, {3, "add_dummy_prefix", Show::Bool},
    {4, "remove_extra_whitespaces", Show::Bool}, {5, "escape_whitespaces", Show::Bool},
    {6, "normalization_rule_tsv", Show::Text},
});

std::string valueText(const ProtoField &field, Show show)
{
    switch (show) {
    case Show::Bool:
        return field.value ? "true" : "false";
    case Show::Real: {
        char text[32];
        const auto end = std::to_chars(text, text + sizeof text, field.real());
        return {text, end.ptr};
    }
    case Show::Text:
        return toValidUtf8(field.bytes);
    case Show::Size:
        return std::to_string(field.bytes.size()) + " bytes";
    case Show::ModelType: {
        static constexpr std::string_view types[] = {"", "UNIGRAM", "BPE", "WORD", "CHAR"};
        return std::string(field.value < std::size(types) ? types[field.value] : std::string_view("type ") ) + (field.value < std::size(types) ? "" : std::to_string(field.value));
    }
    default:
        return std::to_string(static_cast<std::int64_t>(field.value));
    }
}

class ModelParser {
public:
    explicit ModelParser(std::string_view text) : m_text(text) {}

    Reading parse(const Job &job)
    {
        ProtoReader reader(m_text);
        while (const auto field = reader.next()) {
            if (m_content->pieces.size() % 4096 == 0 && job.cancelled())
                break;
            if (field->number == 1 && field->isMessage())
                piece(*field);
            else if (field->number == 2 && field->isMessage())
                settings(*field, "trainer.", trainerFields);
            else if (field->number == 3 && field->isMessage())
                settings(*field, "normalizer.", normalizerFields);
            else if (field->number == 5 && field->isMessage())
                settings(*field, "denormalizer.", normalizerFields);
        }
        note(reader.problem());
        Reading reading{.kind = Kind::TokenizerFiles};
        reading.summary = m_content->modelType() + ", " + std::to_string(m_content->pieces.size()) + " pieces";
        reading.content = m_content;
        if (m_problem)
            reading.problems.push_back(*m_problem);
        return reading;
    }

private:
    void note(const std::optional<Error> &problem)
    {
        if (problem && !m_problem) {
            m_problem = problem;
            m_problem->message += " behind piece " + std::to_string(m_content->pieces.size());
        }
    }

    void piece(const ProtoField &field)
    {
        SentencePieceContent::Piece piece{.text = {}, .bytes = field.where};
        ProtoReader reader(field.bytes, field.bytesAt);
        while (const auto part = reader.next()) {
            if (part->number == 1 && part->isMessage()) {
                piece.text = part->bytes;
            } else if (part->number == 2 && part->wire == ProtoField::Wire::Fixed32) {
                piece.score = part->real();
            } else if (part->number == 3 && part->wire == ProtoField::Wire::Varint) {
                if (part->value >= 1 && part->value <= 6)
                    piece.type = static_cast<SentencePieceContent::PieceType>(part->value);
                else
                    note(Error{Errc::Malformed, "unknown type of a piece", part->where, "1 to 6", std::to_string(part->value)});
            }
        }
        note(reader.problem());
        m_content->pieces.push_back(std::move(piece));
    }

    template<std::size_t N>
    void settings(const ProtoField &message, std::string_view prefix, const std::array<Field, N> &fields)
    {
        ProtoReader reader(message.bytes, message.bytesAt);
        while (const auto part = reader.next()) {
            const auto known = std::find_if(fields.begin(), fields.end(), [&](const Field &f) { return f.number == part->number; });
            if (known != fields.end())
                m_content->settings.push_back({std::string(prefix) + std::string(known->name), valueText(*part, known->show), part->where});
        }
        note(reader.problem());
    }

    std::string_view m_text;
    std::shared_ptr<SentencePieceContent> m_content = std::make_shared<SentencePieceContent>();
    std::optional<Error> m_problem;
};

/// Begins with pieces: field 1, and inside it field 1, a text.
int sniffModel(const Head &head)
{
    ProtoReader reader(head.text());
    int pieces = 0;
    while (pieces < 2) {
        const auto field = reader.next();
        if (!field || field->number != 1 || !field->isMessage())
            break;
        const auto text = ProtoReader(field->bytes).next();
        if (!text || text->number != 1 || !text->isMessage() || firstInvalidUtf8(text->bytes) != std::string_view::npos)
            break;
        ++pieces;
    }
    const bool named = matchesAny(head.name, "*.model *.spm *.model.v*");
    return pieces == 2 ? 90 : pieces == 1 ? (named ? 85 : 40) : 0;
}

Result<Reading> openModel(SourcePtr source, const Job &job)
{
    if (source->size() > maxModelBytes)
        return Error{Errc::TooLarge, "too large for a SentencePiece model", Whole{}, "at most " + sizeText(maxModelBytes), sizeText(source->size())};
    const auto text = readText(*source);
    if (!text)
        return text.error();
    auto reading = readSentencePieceModel(*text, job);
    if (job.cancelled())
        return Job::cancelledError();
    return reading;
}

} // namespace

Reading readSentencePieceModel(std::string_view file, const Job &job)
{
    return ModelParser(file).parse(job);
}

extern constinit const Reader reader_sentencepiece{"sentencepiece", "SentencePiece model", sniffModel, openModel};

} // namespace prosector
