// SPDX-License-Identifier: GPL-3.0-or-later
// SARIF 2.1.0 (OASIS standard, 27 March 2020), for code-scanning services and editors.
#include "models/core/hex.h"
#include "models/core/plaintext.h"
#include "models/core/digest.h"
#include "models/core/utf8.h"
#include "models/core/version.h"
#include "models/report/jsonparts.h"
#include "models/report/parts.h"
#include "models/runs/locate.h"

#include <algorithm>
#include <map>

#include <nlohmann/json.hpp>

namespace prosector {

using namespace report;

namespace {

using Json = nlohmann::ordered_json;

Json message(std::string_view text)
{
    return {{"text", neutralised(text)}};
}

/// Percent-encoded (RFC 3986): what may stand in a path stays, all other bytes are encoded.
std::string uriPath(std::string_view path)
{
    static constexpr std::string_view kept = "-._~/!$&'()*+,;=@";
    std::string uri;
    for (const char c : path) {
        const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9')
            || kept.find(c) != std::string_view::npos;
        if (plain) {
            uri += c;
        } else {
            uri += '%' + upperHex(static_cast<unsigned char>(c));
        }
    }
    return uri;
}

std::string baseId(Side side, std::size_t input)
{
    return (side == Side::B ? "BASELINE" : "INPUT") + std::to_string(input);
}

Json artifactLocation(const Artifact &artifact, Side side)
{
    return {{"uri", uriPath(artifact.path)}, {"uriBaseId", baseId(side, artifact.input)}};
}

/// Line, counted from 1, of a byte of a text; nothing in binary formats.
std::optional<std::uint64_t> lineOf(const Artifact &artifact, std::uint64_t offset)
{
    if (const auto *const lines = artifact.as<TextContent>())
        return offset <= artifact.size ? std::optional<std::uint64_t>(1 + lines->lineAt(offset)) : std::nullopt;
    const std::string_view text = textOf(artifact);
    if (text.empty() || offset > text.size())
        return std::nullopt;
    return 1 + static_cast<std::uint64_t>(std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(offset), '\n'));
}

/// Bytes where they are known; lines too where the file is text.
Json region(const Artifact &artifact, const Anchor &where)
{
    Json json = Json::object();
    const auto bytes = anchorToBytes(artifact, where);
    if (const auto *const lines = std::get_if<LogLine>(&where)) {
        json["startLine"] = lines->from;
        json["endLine"] = std::max(lines->from, lines->to);
    } else if (const auto line = bytes ? lineOf(artifact, bytes->from) : std::nullopt) {
        json["startLine"] = *line;
        if (const auto last = lineOf(artifact, bytes->to); last && *last >= *line)
            json["endLine"] = *last;
    }
    if (bytes && bytes->to >= bytes->from) {
        json["byteOffset"] = bytes->from;
        json["byteLength"] = bytes->size();
    }
    return json;
}

Json location(const Evidence &evidence, const Examination &examination)
{
    Json json = Json::object();
    if (const Artifact *const artifact = artifactOf(evidence, examination)) {
        json["physicalLocation"]["artifactLocation"] = artifactLocation(*artifact, evidence.side);
        if (Json where = region(*artifact, evidence.where); !where.empty())
            json["physicalLocation"]["region"] = std::move(where);
    }
    if (const auto *const path = std::get_if<JsonPath>(&evidence.where))
        json["logicalLocations"] = {{{"fullyQualifiedName", toValidUtf8(path->path)}, {"kind", "property"}}};
    else if (const std::string place = describe(evidence.where);
             !place.empty() && !std::holds_alternative<ByteRange>(evidence.where) && !std::holds_alternative<LogLine>(evidence.where))
        json["logicalLocations"] = {{{"fullyQualifiedName", neutralised(place)}, {"kind", typeName(evidence.where)}}};
    if (!evidence.note.empty())
        json["message"] = message(evidence.note);
    return json;
}

std::string_view level(Severity severity)
{
    switch (severity) {
    case Severity::Error: return "error";
    case Severity::Warning: return "warning";
    case Severity::Info: return "note";
    case Severity::Ok:
    case Severity::Undecidable: break;
    }
    return "none";
}

/// The same fault at the same place keeps its fingerprint when numbers or wording change.
std::string fingerprint(const Finding &finding, const Examination &examination)
{
    std::string text = finding.code;
    for (const Evidence &evidence : finding.evidence)
        text += '\n' + fileText(evidence, examination) + '\t' + std::string(typeName(evidence.where)) + '\t' + placeText(evidence);
    return sha256Hex(text);
}

Json result(const Ranked &ranked, std::size_t rule, const Examination &examination)
{
    const Finding &finding = *ranked.finding;
    Json json{{"ruleId", toValidUtf8(finding.code)},
              {"ruleIndex", rule},
              {"level", level(finding.severity)},
              {"message", message(sentences(finding.title, finding.detail))}};
    if (finding.severity == Severity::Undecidable)
        json["kind"] = "open";
    json["locations"] = Json::array();
    for (std::size_t i = 0; i < finding.evidence.size(); ++i)
        json[i == 0 ? "locations" : "relatedLocations"].push_back(location(finding.evidence[i], examination));
    json["partialFingerprints"] = {{"prosector/v1", fingerprint(finding, examination)}};
    Json properties{{"instrument", ranked.instrument->id}, {"falseIf", toValidUtf8(finding.falseIf)}};
    if (finding.measure)
        properties["measure"] = measureText(*finding.measure);
    json["properties"] = std::move(properties);
    return json;
}

Json rule(const Ranked &ranked)
{
    return {{"id", toValidUtf8(ranked.finding->code)},
            {"name", ranked.instrument->name},
            {"shortDescription", message(ranked.instrument->question)},
            {"fullDescription", message(std::string(ranked.instrument->id) + ' ' + std::string(ranked.instrument->name)
                                        + ": " + std::string(ranked.instrument->question))},
            {"properties", {{"tags", Json::array({ranked.instrument->family()})}, {"instrument", ranked.instrument->id}}}};
}

/// Where relative addresses start. Named as given, without an absolute address: the same input gives
/// the same bytes wherever it lies.
Json baseIds(const Examination &examination)
{
    Json json = Json::object();
    const auto add = [&json](const Run &run, Side side) {
        for (std::size_t i = 0; i < run.inputs().size(); ++i)
            json[baseId(side, i)]["description"] = message(run.inputs()[i].path);
    };
    add(*examination.run, Side::A);
    if (examination.baseline)
        add(*examination.baseline, Side::B);
    return json;
}

Json notifications(const Examination &examination)
{
    Json list = Json::array();
    for (const UndecidableLine &line : undecidableLines(examination))
        list.push_back({{"level", "note"},
                        {"message", message(std::string(line.instrument->id) + ' ' + std::string(line.instrument->name)
                                            + " is undecidable: needs " + line.lacks)},
                        {"descriptor", {{"id", "undecidable"}}}});
    for (const UnreadableLine &line : unreadableLines(examination))
        list.push_back({{"level", "error"}, {"message", message(line.path + ": " + line.text)}, {"descriptor", {{"id", "unreadable"}}}});
    return list;
}

} // namespace

std::string toSarif(const Examination &examination)
{
    Json rules = Json::array();
    Json results = Json::array();
    std::map<std::string, std::size_t> ruleOf;
    for (const Ranked &ranked : rankedFindings(examination)) {
        const auto [entry, isNew] = ruleOf.try_emplace(ranked.finding->code, rules.size());
        if (isNew)
            rules.push_back(rule(ranked));
        results.push_back(result(ranked, entry->second, examination));
    }
    Json driver{{"name", "Prosector"},
                {"version", version()},
                {"rules", std::move(rules)},
                {"notifications",
                 {{{"id", "undecidable"}, {"shortDescription", message("An instrument lacked the inputs it needs.")}},
                  {{"id", "unreadable"}, {"shortDescription", message("A file or part of one could not be read.")}}}}};
    Json run{{"tool", {{"driver", std::move(driver)}}},
             {"originalUriBaseIds", baseIds(examination)},
             {"invocations", {{{"executionSuccessful", true}, {"toolExecutionNotifications", notifications(examination)}}}},
             {"columnKind", "unicodeCodePoints"},
             {"results", std::move(results)}};
    const Json sarif{{"$schema", "https://json.schemastore.org/sarif-2.1.0.json"},
                     {"version", "2.1.0"},
                     {"runs", Json::array({std::move(run)})}};
    return jsonText(sarif);
}

} // namespace prosector
