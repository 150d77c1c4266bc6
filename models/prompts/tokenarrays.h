// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/core/finding.h"
#include "models/core/job.h"
#include "models/runs/run.h"
#include "models/wire/bodies.h"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace prosector {

/// A list of token ids and what it shows.
struct TokenArray {
    enum class Use : std::uint8_t {
        Input,     ///< reached the model
        Generated, ///< came out of it
        Encoded,   ///< a tokenizer made it of a text; what the model got is another question
    };
    Use use = Use::Input;
    std::string source;                ///< as the file calls it: "prompt_token_ids", "details.prefill[].id"
    std::vector<std::int64_t> ids;     ///< negative placeholders kept; empty in a record that gives pieces only
    std::vector<std::string> pieces;   ///< empty, or one for each id
    std::vector<std::pair<std::uint64_t, std::uint64_t>> offsets; ///< as recorded; the unit is the recorder's
    std::vector<std::int64_t> mask;    ///< attention mask of these ids; empty when not recorded
    std::vector<std::string> roles;    ///< one for each id, or empty
    std::vector<float> logprobs{};     ///< one for each id (not a number where none was recorded), or empty
    std::vector<std::uint32_t> ranks{}; ///< of the id among all, from 1 (0 where not recorded), or empty
    struct Alternative {
        std::string piece; ///< as recorded
        float logprob = 0;
    };
    std::vector<std::vector<Alternative>> alternatives{}; ///< the most probable ones at each id, or empty
    std::optional<std::string> text{}; ///< what was encoded, or what the generated ids were returned as
    std::string finish{};              ///< of generated ids: why they end, as recorded ("stop", "length", "limit"), or ""
    Value stopped{};                   ///< of generated ids: what ended them, where it is told (`stop_reason`, `matched_stop`)
    std::optional<bool> addSpecialTokens{}; ///< of the call that encoded
    std::string name{};                ///< where a record has several arrays of one text: "flag_off"
    std::size_t batch = 0, row = 0;    ///< rows of one batch share `batch`
    std::size_t first = 0;             ///< index of ids[0] in the array at `where`
    const Artifact *artifact = nullptr;
    Anchor where = Whole{};            ///< of the array
    std::optional<WireBody> body{};    ///< that it was part of

    std::size_t size() const { return ids.empty() ? pieces.size() : ids.size(); }
    Evidence tokens(std::uint64_t from, std::uint64_t to, std::string note) const
    {
        return {artifact->id, TokenRange{from + first, to + first}, std::move(note)};
    }
    Evidence array(std::string note) const { return {artifact->id, where, std::move(note)}; }
};

/// All token arrays of the run, in its order:
/// - input: vLLM `prompt_token_ids` (responses, RequestOutput dumps, request logs, start-up logs), SGLang
///   `input_ids` and `meta_info.input_token_logprobs`, TGI `details.prefill`, llama.cpp integer `prompt`,
///   `input_ids` tensors with their `attention_mask`, trace `tokens.json`, batches without labels;
/// - generated: `choices[].token_ids`, `outputs[].token_ids`, `details.tokens`,
///   `meta_info.output_token_logprobs`, llama.cpp `tokens`, trace tokens behind `prompt_length`, HELM
///   completions;
/// - encoded: records of a text with ids or pieces, `/tokenize` bodies.
/// A `tokens.json` that trace.json calls part `of` a response is generated. Lists with anything that is no
/// integer are left out. Streams are not joined: each chunk's ids are not listed.
Result<std::vector<TokenArray>> tokenArrays(const Run &run, const Job &job);

/// Only those of one use.
Result<std::vector<TokenArray>> tokenArrays(const Run &run, TokenArray::Use use, const Job &job);

/// The exchange that an array is part of: by its body, by what trace.json links it to, or the only one for a
/// `tokens.json`. Null when it is none of them.
const Exchange *exchangeOf(const std::vector<Exchange> &all, const TokenArray &array);

/// The integers of a JSON list; nothing when one is none or the value is no list.
std::optional<std::vector<std::int64_t>> integersOf(Value list);

} // namespace prosector
