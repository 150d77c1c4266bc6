// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/templates/template.h"

#include "models/templates/inputvalues.h"
#include "models/templates/parser.h"
#include "models/templates/pystring.h"
#include "models/templates/renderer.h"
#include "models/templates/resolver.h"

#include <algorithm>

namespace prosector {

namespace {

constexpr std::size_t maxSource = 16 << 20;

Error errorOf(const jinja::Raised &raised, TemplateSpan where)
{
    Errc code = Errc::Malformed;
    switch (raised.type) {
    case jinja::Exc::Limit:
    case jinja::Exc::RecursionError: code = Errc::TooLarge; break;
    case jinja::Exc::Unsupported: code = Errc::Unsupported; break;
    case jinja::Exc::Cancelled: return Job::cancelledError();
    default: break;
    }
    return {code, nameOf(raised.type) + ": " + raised.message, where};
}

std::vector<PromptSpan> spansOf(const std::vector<jinja::Piece> &pieces)
{
    std::vector<PromptSpan> spans;
    spans.reserve(pieces.size());
    std::uint32_t begin = 0;
    for (const jinja::Piece &piece : pieces) {
        spans.push_back({begin, piece.end, piece.site, piece.source, piece.offset, piece.exact});
        begin = piece.end;
    }
    return spans;
}

} // namespace

LineColumn positionIn(std::string_view text, std::uint64_t byte)
{
    const std::string_view before = text.substr(0, std::min<std::uint64_t>(byte, text.size()));
    // \r\n, \r and \n end lines, as in Jinja's lexer.
    LineColumn position;
    std::size_t line = 0;
    for (std::size_t i = 0; i < before.size(); ++i) {
        if (before[i] == '\n' || (before[i] == '\r' && !(i + 1 < text.size() && text[i + 1] == '\n'))) {
            ++position.line;
            line = i + 1;
        }
    }
    position.column = static_cast<std::uint32_t>(jinja::codePointCount(before.substr(line)) + 1);
    return position;
}

Template::Template() = default;
Template::~Template() = default;

Result<TemplatePtr> Template::parse(std::string source, const TemplateOptions &options)
{
    if (source.size() > maxSource)
        return Error{Errc::TooLarge, "template of " + std::to_string(source.size()) + " bytes", Whole{},
                     "at most " + std::to_string(maxSource) + " bytes"};
    std::shared_ptr<Template> made(new Template);
    made->m_source = std::move(source);
    try {
        made->m_tree = jinja::parseTree(made->m_source, {options.trimBlocks, options.lstripBlocks, options.keepTrailingNewline});
    } catch (const jinja::Raised &raised) {
        return errorOf(raised, {raised.site, raised.site});
    }
    try {
        jinja::resolve(*made->m_tree);
    } catch (const jinja::Raised &raised) {
        const jinja::Site &site = made->m_tree->sites[raised.site];
        return errorOf(raised, {site.begin, site.end});
    }
    for (const jinja::Site &site : made->m_tree->sites)
        made->m_sites.push_back({site.begin, site.end, static_cast<TemplateSite::Kind>(site.kind)});
    made->m_variables = made->m_tree->names;
    std::sort(made->m_variables.begin(), made->m_variables.end());
    return TemplatePtr(std::move(made));
}

Rendered Template::render(const TemplateInputs &inputs, const TemplateTime &now, const RenderLimits &limits, const Job &job) const
{
    Rendered rendered;
    jinja::Renderer renderer(*m_tree, inputs.values().bindings(), now, limits, job);
    try {
        renderer.run();
    } catch (const jinja::Raised &raised) {
        const auto spanOf = [this](std::uint32_t site) { return TemplateSpan{m_sites[site].from, m_sites[site].to}; };
        const TemplateSpan where = spanOf(raised.placed ? raised.site : renderer.site());
        RenderError error{errorOf(raised, where), nameOf(raised.type), position(where.from), {}};
        for (const std::uint32_t call : raised.calls)
            error.calls.push_back(spanOf(call));
        rendered.error = std::move(error);
    }
    rendered.spans = spansOf(renderer.output().pieces());
    rendered.text = renderer.output().takeBytes();
    rendered.hits = renderer.hits();
    for (const jinja::GenerationRange &range : renderer.generations())
        rendered.generations.push_back({range.from, range.to, range.exact});
    return rendered;
}

} // namespace prosector
