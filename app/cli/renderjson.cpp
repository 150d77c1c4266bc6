// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/renderjson.h"

#include <map>
#include <nlohmann/json.hpp>

namespace prosector::cli {

namespace {

using Json = nlohmann::ordered_json;

std::string line(const Json &json)
{
    return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string describe(LineColumn position)
{
    return "line " + std::to_string(position.line) + ", column " + std::to_string(position.column);
}

LineColumn positionOf(const Error &error, std::string_view source)
{
    const auto *const where = std::get_if<TemplateSpan>(&error.where);
    return where ? positionIn(source, where->from) : LineColumn{};
}

Json errorObject(const Error &error, LineColumn position)
{
    return {{"error", error.message}, {"line", position.line}, {"column", position.column}};
}

/// Origins are looked up once each: a conversation has far fewer values than its prompt has spans.
class Places {
public:
    explicit Places(const TemplateInputs &inputs) : m_inputs(inputs) {}
    const std::pair<std::string, bool> &of(std::uint32_t source)
    {
        const auto [it, added] = m_known.try_emplace(source);
        if (added) {
            const InputPlace place = m_inputs.place(source);
            it->second = {place.variable + place.path, place.key};
        }
        return it->second;
    }

private:
    const TemplateInputs &m_inputs;
    std::map<std::uint32_t, std::pair<std::string, bool>> m_known;
};

} // namespace

std::string renderedJson(const Rendered &rendered)
{
    if (rendered.error)
        return line(errorObject(rendered.error->error, rendered.error->position));
    return line({{"text", rendered.text}});
}

std::string errorJson(const Error &error, std::string_view source)
{
    return line(errorObject(error, positionOf(error, source)));
}

std::string spansJson(const RenderedChat &rendered, const Template &chatTemplate)
{
    Json json{{"text", rendered.text}};
    Places places(rendered.inputs);
    Json spans = Json::array();
    for (const PromptSpan &span : rendered.spans) {
        const TemplateSite &site = chatTemplate.sites()[span.site];
        Json row{{"from", span.from}, {"to", span.to}, {"template", {site.from, site.to}}, {"line", chatTemplate.position(site.from).line}};
        if (span.isInput()) {
            const auto &[path, key] = places.of(span.source);
            row["origin"] = key ? "key" : "input";
            row["path"] = path;
            row["offset"] = span.offset;
            row["exact"] = span.exact;
        } else {
            row["origin"] = span.isLiteral() ? "literal" : "computed";
        }
        spans.push_back(std::move(row));
    }
    json["spans"] = std::move(spans);
    Json generations = Json::array();
    for (const GenerationSpan &span : rendered.generations)
        generations.push_back({{"from", span.from}, {"to", span.to}, {"exact", span.exact}});
    json["generations"] = std::move(generations);
    Json coverage = Json::array();
    for (std::size_t i = 1; i < rendered.hits.size(); ++i) {
        const TemplateSite &site = chatTemplate.sites()[i];
        if (site.kind != TemplateSite::Kind::Expression)
            coverage.push_back({{"template", {site.from, site.to}}, {"hits", rendered.hits[i]}});
    }
    json["coverage"] = std::move(coverage);
    if (rendered.error) {
        json.update(errorObject(rendered.error->error, rendered.error->position));
        for (const TemplateSpan &call : rendered.error->calls)
            json["calls"].push_back({{"template", {call.from, call.to}}, {"line", chatTemplate.position(call.from).line}});
    }
    return line(json);
}

Error placedError(const RenderError &error, const Template &chatTemplate)
{
    Error placed = error.error;
    if (error.type == "cancelled")
        return placed;
    placed.message = "template " + describe(error.position) + ": " + placed.message;
    for (const TemplateSpan &call : error.calls)
        placed.message += "; called from " + describe(chatTemplate.position(call.from));
    return placed;
}

Error placedError(const Error &error, std::string_view source)
{
    Error placed = error;
    placed.message = "template " + describe(positionOf(error, source)) + ": " + placed.message;
    return placed;
}

} // namespace prosector::cli
