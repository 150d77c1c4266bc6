// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/core/bytesource.h"
#include "models/templates/template.h"
#include "models/templates/pytime.h"

#include <functional>
#include <string>

namespace prosector {

inline std::string textOf(const std::string &path)
{
    const auto file = openFile(path);
    if (!file)
        return {};
    const auto bytes = (*file)->read(0, (*file)->size());
    return bytes ? std::string(asText(*bytes)) : std::string();
}

/// Calls with each value of a JSON Lines file.
inline void eachJsonLine(const std::string &path, const std::function<void(Value)> &use)
{
    const std::string lines = textOf(path);
    for (std::size_t at = 0; at < lines.size();) {
        const std::size_t end = std::min(lines.find('\n', at), lines.size());
        const auto line = Document::parseJson(lines.substr(at, end - at));
        use(line->root());
        at = end + 1;
    }
}

/// The text, or "Type: message".
inline std::string outcome(const std::string &source, const TemplateInputs &inputs, Value options = {}, const TemplateTime &now = {},
                           const RenderLimits &limits = {}, const Job &job = {})
{
    TemplateOptions language;
    language.trimBlocks = options["trim_blocks"].boolean().value_or(true);
    language.lstripBlocks = options["lstrip_blocks"].boolean().value_or(true);
    language.keepTrailingNewline = options["keep_trailing_newline"].boolean().value_or(false);
    const auto parsed = Template::parse(source, language);
    if (!parsed)
        return parsed.error().message;
    const Rendered rendered = (*parsed)->render(inputs, now, limits, job);
    return rendered.error ? rendered.error->error.message : rendered.text;
}

inline void setAll(TemplateInputs &inputs, Value variables)
{
    for (const Value variable : variables)
        inputs.set(variable.key(), variable);
}

} // namespace prosector
