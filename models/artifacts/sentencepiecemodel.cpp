// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/artifacts/sentencepiecemodel.h"

#include <algorithm>
#include <charconv>

namespace prosector {

namespace {

struct Default {
    std::string_view name, value;
};
// Defaults of sentencepiece_model.proto for what changes how text becomes pieces.
constexpr Default defaults[] = {
    {"trainer.model_type", "UNIGRAM"}, {"trainer.byte_fallback", "false"}, {"trainer.unk_id", "0"},
    {"trainer.bos_id", "1"}, {"trainer.eos_id", "2"}, {"trainer.pad_id", "-1"}, {"trainer.unk_piece", "<unk>"},
    {"trainer.bos_piece", "<s>"}, {"trainer.eos_piece", "</s>"}, {"trainer.pad_piece", "<pad>"},
    {"trainer.treat_whitespace_as_suffix", "false"}, {"trainer.split_digits", "false"},
    {"normalizer.add_dummy_prefix", "true"}, {"normalizer.remove_extra_whitespaces", "true"},
    {"normalizer.escape_whitespaces", "true"},
};

} // namespace

std::optional<std::string> SentencePieceContent::setting(std::string_view name) const
{
    // The last value of a field counts, as protobuf has it.
    const auto set = std::find_if(settings.rbegin(), settings.rend(), [&](const Setting &s) { return s.name == name; });
    if (set != settings.rend())
        return set->value;
    const auto *const standard = std::find_if(std::begin(defaults), std::end(defaults), [&](const Default &d) { return d.name == name; });
    return standard == std::end(defaults) ? std::nullopt : std::optional(std::string(standard->value));
}

int SentencePieceContent::specialId(std::string_view name) const
{
    const auto text = setting("trainer." + std::string(name)).value_or("-1");
    int id = -1;
    std::from_chars(text.data(), text.data() + text.size(), id);
    return id;
}

std::string_view nameOf(SentencePieceContent::PieceType type)
{
    static constexpr std::string_view names[] = {"", "NORMAL", "UNKNOWN", "CONTROL", "USER_DEFINED", "UNUSED", "BYTE"};
    return names[static_cast<std::size_t>(type)];
}

} // namespace prosector
