// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/prompts/proberender.h"

#include <algorithm>

namespace prosector {

namespace {

/// Where the source prints it: the name inside an expression, or the spelling in text or a string.
std::size_t findPrinted(const std::string &source, const std::string &bos, std::size_t from = 0)
{
    const auto name = source.find("bos_token", from);
    const auto spelt = bos.empty() ? std::string::npos : source.find(bos, from);
    return std::min(name, spelt);
}

} // namespace

const TemplateText *ProbeRenders::chat() const
{
    const auto &templates = m_view.facts.templates;
    const auto it = std::find_if(templates.begin(), templates.end(), [](const TemplateText &t) { return t.name == "default"; });
    return it != templates.end() ? &*it : templates.empty() ? nullptr : &templates.front();
}

std::optional<Evidence> ProbeRenders::printsFirst(const std::string &bos) const
{
    const TemplateText *const source = chat();
    if (!source)
        return std::nullopt;
    const auto at = findPrinted(source->text, bos);
    if (at == std::string::npos)
        return std::nullopt;
    const auto line = 1 + std::count(source->text.begin(), source->text.begin() + static_cast<std::ptrdiff_t>(at), '\n');
    const std::size_t length = source->text.compare(at, 9, "bos_token") == 0 ? 9 : bos.size();
    return m_view.at({source->where.artifact, TemplateSpan{at, at + length}, "line " + std::to_string(line) + " of the chat template prints the start token"});
}

bool ProbeRenders::printsBetweenTurns(const std::string &bos) const
{
    const TemplateText *const source = chat();
    if (!source)
        return false;
    // Inside a loop without a test for the first round it is printed each time.
    const std::string &text = source->text;
    for (std::size_t at = findPrinted(text, bos); at != std::string::npos; at = findPrinted(text, bos, at + 1)) {
        const auto loop = text.rfind("{%", at) == std::string::npos ? std::string::npos : text.substr(0, at).rfind("for ");
        if (loop == std::string::npos || text.substr(loop, at - loop).find("endfor") != std::string::npos)
            continue;
        const auto between = text.substr(loop, at - loop);
        if (between.find("loop.first") == std::string::npos && between.find("loop.index0 == 0") == std::string::npos)
            return true;
    }
    return false;
}

} // namespace prosector
