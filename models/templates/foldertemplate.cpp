// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/templates/foldertemplate.h"

#include <algorithm>

namespace prosector {

namespace {

SpecialTokens specialTokensOf(const TokenizerFacts &facts)
{
    SpecialTokens tokens;
    for (const SpecialRole &role : facts.roles) {
        const std::string name = role.role + "_token";
        const bool known = std::any_of(tokens.begin(), tokens.end(), [&name](const auto &t) { return t.first == name; });
        if (role.text && !known)
            tokens.emplace_back(name, *role.text);
    }
    return tokens;
}

/// What the first model gives that has it: its folder's own files before its GGUF files.
template<class T, class Ask>
std::optional<T> firstOf(const Run &run, const Ask &ask)
{
    for (const ModelFolder &folder : run.models()) {
        if (const auto facts = TokenizerFacts::ofFolder(run, folder)) {
            if (std::optional<T> found = ask(*facts))
                return found;
        }
        for (const ArtifactId id : folder.gguf) {
            if (const auto facts = TokenizerFacts::ofGguf(run.artifact(id))) {
                if (std::optional<T> found = ask(*facts))
                    return found;
            }
        }
    }
    return std::nullopt;
}

} // namespace

std::optional<FolderTemplate> folderTemplate(const TokenizerFacts &facts, bool tools, std::string_view wanted)
{
    // Later ones win: the facts list template files behind tokenizer_config.json.
    const auto named = [&facts](std::string_view name) -> const TemplateText * {
        const auto it = std::find_if(facts.templates.rbegin(), facts.templates.rend(), [name](const TemplateText &t) { return t.name == name; });
        return it == facts.templates.rend() ? nullptr : &*it;
    };
    const TemplateText *chosen = nullptr;
    if (!wanted.empty())
        chosen = named(wanted);
    else if (tools)
        chosen = named("tool_use");
    if (!chosen && wanted.empty())
        chosen = named("default");
    if (!chosen && wanted.empty() && !facts.templates.empty())
        chosen = &facts.templates.front();
    if (!chosen)
        return std::nullopt;
    return FolderTemplate{*chosen, specialTokensOf(facts)};
}

Result<FolderTemplate> folderTemplate(const Run &run, bool tools, std::string_view wanted)
{
    auto found = firstOf<FolderTemplate>(run, [&](const TokenizerFacts &facts) { return folderTemplate(facts, tools, wanted); });
    if (found)
        return std::move(*found);
    return Error{Errc::NotFound, "no chat template", Whole{}, "chat_template.jinja, or chat_template in tokenizer_config.json or a GGUF file"};
}

SpecialTokens specialTokens(const Run &run)
{
    return firstOf<SpecialTokens>(run, [](const TokenizerFacts &facts) {
               SpecialTokens tokens = specialTokensOf(facts);
               return tokens.empty() ? std::nullopt : std::optional(std::move(tokens));
           })
        .value_or(SpecialTokens{});
}

} // namespace prosector
