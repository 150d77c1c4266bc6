// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/templates/chatrequest.h"

#include "models/templates/pystring.h"

#include <algorithm>

namespace prosector {

namespace {

constexpr std::string_view continuationTag = "CONTINUE_FINAL_MESSAGE_TAG ";

void cut(Rendered &rendered, std::size_t size)
{
    rendered.text.resize(size);
    while (!rendered.spans.empty() && rendered.spans.back().from >= size)
        rendered.spans.pop_back();
    if (!rendered.spans.empty())
        rendered.spans.back().to = std::min(rendered.spans.back().to, static_cast<std::uint32_t>(size));
    for (GenerationSpan &span : rendered.generations) {
        span.from = std::min<std::uint64_t>(span.from, size);
        span.to = std::min<std::uint64_t>(span.to, size);
    }
}

std::string_view stripped(std::string_view text)
{
    text.remove_prefix(jinja::stripBegin(text));
    return text.substr(0, jinja::stripEnd(text));
}

void fail(Rendered &rendered, Error error)
{
    const std::string type = error.message.substr(0, error.message.find(':'));
    rendered.error = RenderError{std::move(error), type, {}, {}};
}

/// Takes away the tag behind the final message, and whatever the template put behind it.
void endAtTag(Rendered &rendered, std::string_view finalMessage)
{
    const std::string_view text = rendered.text, tag = stripped(continuationTag);
    const std::size_t at = text.rfind(tag);
    if (text.find(stripped(finalMessage)) == std::string_view::npos || at == std::string_view::npos)
        return fail(rendered, {Errc::Malformed, "ValueError: continue_final_message is set but the final message does not appear in the chat after "
                               "applying the chat template! This can happen if the chat template deletes portions of "
                               "the final message. Please verify the chat template and final message in your chat to "
                               "ensure they are compatible."});
    // A template that keeps the blank behind the tag keeps the spaces of the message, too.
    const bool kept = text.substr(at, continuationTag.size()) == continuationTag;
    cut(rendered, kept ? at : jinja::stripEnd(text.substr(0, at)));
}

} // namespace

RenderedChat renderChat(const Template &chatTemplate, const ChatRequest &request, const TemplateTime &now, const RenderLimits &limits, const Job &job)
{
    RenderedChat made;
    TemplateInputs &inputs = made.inputs;
    for (const auto &[name, text] : request.specialTokens)
        inputs.setText(name, text);
    if (request.messages || request.passAbsent)
        inputs.set("messages", request.messages);
    if (request.tools || request.passAbsent)
        inputs.set("tools", request.tools);
    if (request.documents || request.passAbsent)
        inputs.set("documents", request.documents);
    if (request.addGenerationPrompt)
        inputs.setBoolean("add_generation_prompt", *request.addGenerationPrompt);
    for (const auto &[name, value] : request.variables)
        inputs.set(name, value);
    std::string finalMessage;
    if (request.continueFinalMessage) {
        auto text = inputs.extendFinalMessage("messages", continuationTag);
        if (!text) {
            fail(made, text.error());
            return made;
        }
        finalMessage = std::move(*text);
    }
    static_cast<Rendered &>(made) = chatTemplate.render(inputs, now, limits, job);
    if (request.continueFinalMessage && !made.error)
        endAtTag(made, finalMessage);
    return made;
}

} // namespace prosector
