// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/templates/template.h"

#include <utility>

namespace prosector {

/// What apply_chat_template is called with. Documents of the values must outlive the request.
struct ChatRequest {
    Value messages;
    Value tools{}, documents{}; ///< absent: None, as apply_chat_template passes them
    std::optional<bool> addGenerationPrompt = false; ///< nothing: not passed
    bool continueFinalMessage = false; ///< leaves the last message open
    bool passAbsent = true;     ///< false: absent tools and documents stay undefined
    std::vector<std::pair<std::string, std::string>> specialTokens{}; ///< bos_token, eos_token, …
    std::vector<std::pair<std::string, Value>> variables{}; ///< further keyword arguments; win over special tokens
};

struct RenderedChat : Rendered {
    TemplateInputs inputs; ///< to ask for the places of the spans
};

/// Renders as tokenizer.apply_chat_template(tokenize=False) does (transformers.utils.chat_template_utils,
/// render_jinja_template). Errors of the rendering are in `error`.
RenderedChat renderChat(const Template &chatTemplate, const ChatRequest &request, const TemplateTime &now = {},
                        const RenderLimits &limits = {}, const Job &job = {});

} // namespace prosector
