// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/core/utf8.h"
#include "models/report/report.h"

#include <nlohmann/json.hpp>

namespace prosector {

namespace {

using Json = nlohmann::ordered_json;

template<class... Ts>
struct Overloaded : Ts... {
    using Ts::operator()...;
};
template<class... Ts>
Overloaded(Ts...) -> Overloaded<Ts...>;

/// Whole numbers without a fraction: 2, not 2.0.
Json numberJson(double number)
{
    if (number == static_cast<double>(static_cast<std::int64_t>(number)))
        return static_cast<std::int64_t>(number);
    return number;
}

Json evidenceJson(const Evidence &evidence, const Examination &examination)
{
    const Run &run = evidence.side == Side::B && examination.baseline ? *examination.baseline : *examination.run;
    const Artifact *const artifact = run.find(evidence.artifact);
    Json json{{"artifact", artifact ? toValidUtf8(artifact->name) : ""},
              {"path", artifact ? toValidUtf8(artifact->path) : ""},
              {"locator", locatorJson(evidence.where)},
              {"note", toValidUtf8(evidence.note)}};
    if (evidence.side == Side::B)
        json["run"] = "B";
    return json;
}

Json findingJson(const Finding &finding, std::string_view instrument, const Examination &examination)
{
    Json json{{"instrument", instrument},
              {"code", finding.code},
              {"severity", nameOf(finding.severity)},
              {"title", toValidUtf8(finding.title)},
              {"detail", toValidUtf8(finding.detail)}};
    if (const auto &measure = finding.measure) {
        json["number"] = numberJson(measure->number);
        json["unit"] = measure->unit;
        if (measure->interval)
            json["interval"] = {measure->interval->first, measure->interval->second};
        if (measure->p)
            json["p"] = *measure->p;
        if (measure->n)
            json["n"] = *measure->n;
    }
    json["evidence"] = Json::array();
    for (const Evidence &evidence : finding.evidence)
        json["evidence"].push_back(evidenceJson(evidence, examination));
    json["false_if"] = toValidUtf8(finding.falseIf);
    json["innocent"] = finding.innocent;
    json["next"] = finding.next;
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
                   [&](const ItemIds &a) { json["ids"] = a.ids; },
                   [&](const auto &range) { fromTo(range); },
               },
               anchor);
    return json;
}

std::string toJson(const Examination &examination)
{
    Json json{{"schema", "prosector.report/1"}, {"inputs", Json::array()}};
    for (const Input &input : examination.run->inputs())
        json["inputs"].push_back({{"path", toValidUtf8(input.path)}, {"kind", input.kind}, {"sha256", input.sha256}});
    json["findings"] = Json::array();
    json["undecidable"] = Json::array();
    json["passed"] = Json::array();
    json["unreadable"] = Json::array();
    for (const Outcome &outcome : examination.outcomes) {
        if (!outcome.report) {
            json["unreadable"].push_back({{"instrument", outcome.instrument->id},
                                          {"path", ""},
                                          {"expected", outcome.report.error().expected},
                                          {"found", describe(outcome.report.error())}});
            continue;
        }
        for (const Finding &finding : outcome.report->findings)
            json["findings"].push_back(findingJson(finding, outcome.instrument->id, examination));
        if (outcome.report->undecidable())
            json["undecidable"].push_back(
                {{"instrument", outcome.instrument->id}, {"missing", outcome.report->missing}});
        if (outcome.passed())
            json["passed"].push_back(outcome.instrument->id);
    }
    for (const Unreadable &unreadable : examination.run->unreadable()) {
        Json entry{{"path", toValidUtf8(unreadable.path)}};
        if (const auto *const range = std::get_if<ByteRange>(&unreadable.error.where))
            entry["offset"] = range->from;
        else if (const std::string where = describe(unreadable.error.where); !where.empty())
            entry["at"] = toValidUtf8(where);
        entry["message"] = toValidUtf8(unreadable.error.message);
        entry["expected"] = toValidUtf8(unreadable.error.expected);
        entry["found"] = toValidUtf8(unreadable.error.found);
        json["unreadable"].push_back(std::move(entry));
    }
    return json.dump(1) + '\n';
}

} // namespace prosector
