// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/core/overloaded.h"
#include "models/core/utf8.h"
#include "models/report/jsonparts.h"
#include "models/report/parts.h"
#include "models/report/report.h"

#include <cmath>

#include <nlohmann/json.hpp>

namespace prosector {

using namespace report;

namespace {

using Json = nlohmann::ordered_json;

/// Whole numbers without a fraction: 2, not 2.0. JSON has no NaN and no infinity: those are null.
Json numberJson(double number)
{
    if (!std::isfinite(number))
        return nullptr;
    if (std::abs(number) < 9007199254740992.0 && number == std::trunc(number))
        return static_cast<std::int64_t>(number);
    return number;
}

Json textsJson(const std::vector<std::string> &texts)
{
    Json json = Json::array();
    for (const std::string &text : texts)
        json.push_back(toValidUtf8(text));
    return json;
}

Json evidenceJson(const Evidence &evidence, const Examination &examination)
{
    const Run &run = evidence.side == Side::B && examination.baseline ? *examination.baseline : *examination.run;
    const Artifact *const artifact = run.find(evidence.artifact);
    Json json{{"artifact", artifact ? toValidUtf8(artifact->name) : ""},
              {"path", artifact ? toValidUtf8(artifact->path) : ""},
              {"locator", locatorJson(evidence.where)},
              {"note", toValidUtf8(evidence.note)}};
    if (artifact && run.inputs().size() > 1)
        json["input"] = artifact->input;
    if (evidence.side == Side::B)
        json["run"] = "B";
    return json;
}

Json findingJson(const Finding &finding, std::string_view instrument, const Examination &examination)
{
    Json json{{"instrument", instrument},
              {"code", toValidUtf8(finding.code)},
              {"severity", nameOf(finding.severity)},
              {"title", toValidUtf8(finding.title)},
              {"detail", toValidUtf8(finding.detail)}};
    if (const auto &measure = finding.measure) {
        json["number"] = numberJson(measure->number);
        if (!std::isfinite(measure->number))
            json["number_text"] = std::isnan(measure->number) ? "NaN" : measure->number > 0 ? "Infinity" : "-Infinity";
        json["unit"] = toValidUtf8(measure->unit);
        if (measure->interval)
            json["interval"] = {numberJson(measure->interval->first), numberJson(measure->interval->second)};
        if (measure->p)
            json["p"] = numberJson(*measure->p);
        if (measure->n)
            json["n"] = *measure->n;
    }
    json["evidence"] = Json::array();
    for (const Evidence &evidence : finding.evidence)
        json["evidence"].push_back(evidenceJson(evidence, examination));
    json["false_if"] = toValidUtf8(finding.falseIf);
    json["innocent"] = textsJson(finding.innocent);
    json["next"] = textsJson(nextInstruments(finding));
    return json;
}

} // namespace

nlohmann::ordered_json locatorJson(const Anchor &anchor)
{
    Json json{{"type", typeName(anchor)}};
    const auto fromTo = [&](const auto &a) {
        json["from"] = a.from;
        json["to"] = a.to;
    };
    std::visit(Overloaded{
                   [](const Whole &) {},
                   [&](const JsonPath &a) { json["path"] = toValidUtf8(a.path); },
                   [&](const TensorBlock &a) {
                       json["tensor"] = toValidUtf8(a.tensor);
                       if (!a.from.empty())
                           fromTo(a);
                   },
                   [&](const MaskCells &a) {
                       json["rects"] = Json::array();
                       for (const MaskRect &r : a.rects)
                           json["rects"].push_back({{"q", {r.q0, r.q1}}, {"k", {r.k0, r.k1}}});
                   },
                   [&](const CacheRows &a) { json["rows"] = a.rows; },
                   [&](const ItemIds &a) { json["ids"] = textsJson(a.ids); },
                   [&](const TimeSpan &a) {
                       json["from"] = numberJson(a.from);
                       json["to"] = numberJson(a.to);
                   },
                   [&](const auto &range) { fromTo(range); },
               },
               anchor);
    return json;
}

std::string toJson(const Examination &examination)
{
    Json json{{"schema", "prosector.report/1"}, {"inputs", inputsJson(*examination.run)}};
    if (examination.baseline)
        json["baseline"] = inputsJson(*examination.baseline);
    for (const char *const key : {"findings", "undecidable", "passed", "not_seen", "unreadable"})
        json[key] = Json::array();
    Json thresholds = Json::object();
    for (const Outcome &outcome : examination.outcomes) {
        const std::string_view id = outcome.instrument->id;
        for (const auto &[name, value] : outcome.params.changed())
            thresholds[std::string(id)][name] = numberJson(value);
        if (!outcome.report) {
            json["unreadable"].push_back({{"instrument", id},
                                          {"path", ""},
                                          {"code", nameOf(outcome.report.error().code)},
                                          {"message", toValidUtf8(outcome.report.error().message)},
                                          {"expected", toValidUtf8(outcome.report.error().expected)},
                                          {"found", toValidUtf8(outcome.report.error().found)}});
            continue;
        }
        for (const Finding &finding : outcome.report->findings)
            json["findings"].push_back(findingJson(finding, id, examination));
        if (outcome.standing() == Outcome::Standing::Undecidable)
            json["undecidable"].push_back({{"instrument", id}, {"missing", textsJson(outcome.report->missing)}});
        if (outcome.passed())
            json["passed"].push_back(id);
        if (const auto unseen = unseenBy(outcome); !unseen.empty())
            json["not_seen"].push_back({{"instrument", id}, {"what", textsJson(unseen)}});
    }
    if (!thresholds.empty())
        json["thresholds"] = std::move(thresholds);
    appendUnreadable(json["unreadable"], *examination.run);
    if (examination.baseline)
        appendUnreadable(json["unreadable"], *examination.baseline, true);
    return jsonText(json);
}

} // namespace prosector
