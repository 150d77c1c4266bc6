// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/templates/foldertemplate.h"

#include <algorithm>

namespace prosector {

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
    FolderTemplate made{*chosen, {}};
    for (const SpecialRole &role : facts.roles) {
        const std::string name = role.role + "_token";
        const bool known = std::any_of(made.specialTokens.begin(), made.specialTokens.end(), [&name](const auto &t) { return t.first == name; });
        if (role.text && !known)
            made.specialTokens.emplace_back(name, *role.text);
    }
    return made;
}

Result<FolderTemplate> folderTemplate(const Run &run, bool tools, std::string_view wanted)
{
    for (const ModelFolder &folder : run.models()) {
        if (const auto facts = TokenizerFacts::ofFolder(run, folder)) {
            if (auto found = folderTemplate(*facts, tools, wanted))
                return std::move(*found);
        }
        for (const ArtifactId id : folder.gguf) {
            if (const auto facts = TokenizerFacts::ofGguf(run.artifact(id))) {
                if (auto found = folderTemplate(*facts, tools, wanted))
                    return std::move(*found);
            }
        }
    }
    return Error{Errc::NotFound, "no chat template", Whole{}, "chat_template.jinja, or chat_template in tokenizer_config.json or a GGUF file"};
}

} // namespace prosector
