// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/report/instrumentlist.h"

#include "models/core/bytesource.h"
#include "models/core/plaintext.h"
#include "models/core/resources.h"
#include "models/core/utf8.h"
#include "models/report/jsonparts.h"
#include "models/report/parts.h"

#include <nlohmann/json.hpp>

namespace prosector {

using namespace report;

namespace {

using Json = nlohmann::ordered_json;

Json paramsJson(const Instrument &instrument)
{
    Json json = Json::array();
    for (const ParamSpec &spec : instrument.params)
        json.push_back({{"name", spec.name}, {"title", spec.title}, {"unit", spec.unit}, {"value", spec.value},
                        {"minimum", spec.minimum}, {"maximum", spec.maximum}});
    return json;
}

Json instrumentEntry(const Instrument &instrument)
{
    Json inputs = Json::array();
    for (const std::string_view input : instrument.inputs)
        inputs.push_back(input);
    return {{"id", instrument.id},
            {"name", instrument.name},
            {"family", instrument.family()},
            {"question", instrument.question},
            {"inputs", std::move(inputs)},
            {"parameters", paramsJson(instrument)}};
}

/// The page for a terminal: without the title and the question, which stand above it, and without marks.
std::string plainHelp(std::string_view markdown)
{
    std::string text, paragraph;
    std::size_t first = 0, indent = 0; // of the first line, of those below it
    bool skip = false;
    const auto flush = [&] {
        if (!paragraph.empty() && !skip)
            text += std::string(first, ' ') + wrapped(paragraph, 80, indent, first) + '\n';
        paragraph.clear();
        first = indent = 0;
        skip = false;
    };
    for (std::size_t at = 0; at < markdown.size();) {
        const std::size_t end = std::min(markdown.find('\n', at), markdown.size());
        std::string_view line = markdown.substr(at, end - at);
        at = end + 1;
        const std::size_t blanks = std::min(line.find_first_not_of(' '), line.size());
        line.remove_prefix(blanks);
        if (line.empty()) {
            const bool said = !skip && !paragraph.empty();
            flush();
            if (said || (!text.empty() && !text.ends_with("\n\n")))
                text += '\n';
            continue;
        }
        const std::size_t marks = line.find_first_not_of('#');
        if (line.starts_with("- ") || line.starts_with("#"))
            flush();
        if (line.starts_with("# ") || line.starts_with("**Asks"))
            skip = true;
        if (line.starts_with('#') && marks != std::string_view::npos && line[marks] == ' ')
            line.remove_prefix(marks + 1);
        if (line.starts_with("- "))
            indent = (first = blanks) + 2;
        std::string plain;
        for (std::size_t i = 0; i < line.size(); ++i) {
            if (line.substr(i, 2) == "**")
                ++i;
            else if (line[i] != '`')
                plain += line[i];
        }
        paragraph += (paragraph.empty() ? "" : " ") + plain;
    }
    flush();
    return text;
}

} // namespace

Result<std::string> helpPage(const Instrument &instrument)
{
    const auto file = openFile(resourceFolder() + "/help/" + std::string(instrument.slug) + ".md");
    if (!file)
        return file.error();
    const auto bytes = (*file)->read(0, (*file)->size());
    if (!bytes)
        return bytes.error();
    return toValidUtf8(asText(*bytes));
}

std::string instrumentListText()
{
    std::string text;
    std::string_view family;
    for (const Instrument *const instrument : instruments()) {
        if (instrument->family() != family) {
            family = instrument->family();
            text += (text.empty() ? "" : "\n") + std::string(family) + '\n';
        }
        std::string head = "  " + std::string(instrument->id);
        head.resize(6, ' ');
        text += head + std::string(instrument->name) + "\n      " + wrapped(instrument->question, 80, 6, 6) + '\n';
    }
    return text;
}

std::string instrumentListJson()
{
    Json json{{"schema", "prosector.instruments/1"}, {"instruments", Json::array()}};
    for (const Instrument *const instrument : instruments())
        json["instruments"].push_back(instrumentEntry(*instrument));
    return jsonText(json);
}

Result<std::string> instrumentText(const Instrument &instrument)
{
    const auto help = helpPage(instrument);
    if (!help)
        return help.error();
    std::string text = std::string(instrument.id) + "  " + std::string(instrument.name) + "\n\nAsks: "
        + wrapped(instrument.question, 80, 6, 6) + '\n';
    std::string inputs;
    for (const std::string_view input : instrument.inputs)
        inputs += (inputs.empty() ? "" : ", ") + std::string(input);
    text += "Uses: " + wrapped(inputs, 80, 6, 6) + '\n';
    if (!instrument.params.empty())
        text += "\nThresholds (examine --set " + std::string(instrument.id) + ".name=number):\n";
    for (const ParamSpec &spec : instrument.params)
        text += "  " + std::string(spec.name) + " = " + numberText(spec.value) + (spec.unit.empty() ? "" : " ")
            + std::string(spec.unit) + "  (" + numberText(spec.minimum) + " to " + numberText(spec.maximum) + ")  "
            + std::string(spec.title) + '\n';
    return text + '\n' + plainHelp(*help);
}

Result<std::string> instrumentJson(const Instrument &instrument)
{
    const auto help = helpPage(instrument);
    if (!help)
        return help.error();
    Json json{{"schema", "prosector.instrument/1"}};
    json.update(instrumentEntry(instrument));
    json["help"] = *help;
    return jsonText(json);
}

} // namespace prosector
