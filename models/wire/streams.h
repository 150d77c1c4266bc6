// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/wire/bodies.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace prosector {

/// What one chunk added to a channel.
struct StreamDelta {
    std::string text;                 ///< as decoded from JSON; lone surrogates are U+FFFD
    std::optional<std::string> bytes{}; ///< of its tokens, where logprobs give them
    std::vector<std::int64_t> ids{};  ///< of its tokens, where the server returns them
    Evidence where{};                 ///< the chunk
};

/// One text that a stream carries: the answer of one choice, its reasoning, the arguments of one tool call.
struct StreamChannel {
    const Artifact *artifact = nullptr;
    std::string stream;  ///< the answer's id, "" when chunks carry none
    std::string name;    ///< "choices[0].delta.content"
    std::vector<StreamDelta> deltas;
    std::optional<std::string> finalText{}; ///< the whole text as the stream itself states it at the end
    std::optional<Evidence> finalAt{};
    std::string finish;  ///< the reason it ended, as sent

    std::string joined() const;
    /// All token bytes; nothing when a delta with text has none.
    std::optional<std::string> bytes() const;
    std::vector<std::int64_t> ids() const;
};

/// The channels of all streams of a run (server-sent events or JSON Lines of chunks), in order. Formats:
/// OpenAI chat and completions (vLLM, SGLang, llama.cpp alike), Responses, Anthropic, Ollama, TGI,
/// llama.cpp `/completion`.
Result<std::vector<StreamChannel>> streamChannels(const Run &run, const Job &job);

} // namespace prosector
