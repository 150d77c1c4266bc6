// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/session/sessionfile.h"

#include "models/core/document.h"
#include "models/core/utf8.h"
#include "models/report/locator.h"
#include "models/report/report.h"

#include <QByteArray>

#include <nlohmann/json.hpp>

namespace prosector {

namespace {

using Json = nlohmann::ordered_json;
constexpr std::string_view schema = "prosector.session/1";

std::string encodeBase64(const std::string &bytes)
{
    return QByteArray::fromStdString(bytes).toBase64().toStdString();
}

std::string decodeBase64(const std::string &text)
{
    return QByteArray::fromBase64(QByteArray::fromStdString(text)).toStdString();
}

Json placesJson(const std::vector<SessionFile::NamedPlace> &places)
{
    Json list = Json::array();
    for (const auto &place : places) {
        Json json{{"artifact", toValidUtf8(place.artifact)}, {"locator", locatorJson(place.where)}};
        if (place.side == Side::B)
            json["run"] = "B";
        list.push_back(std::move(json));
    }
    return list;
}

std::vector<SessionFile::NamedPlace> places(Value list)
{
    std::vector<SessionFile::NamedPlace> found;
    for (const Value place : list) {
        auto artifact = place["artifact"].string();
        auto where = anchorFromLocator(place["locator"]);
        if (artifact && where)
            found.push_back(
                {place["run"].string("A") == "B" ? Side::B : Side::A, std::move(*artifact), std::move(*where)});
    }
    return found;
}

std::vector<std::string> strings(Value list)
{
    std::vector<std::string> found;
    for (const Value value : list) {
        if (auto text = value.string())
            found.push_back(std::move(*text));
    }
    return found;
}

} // namespace

std::string SessionFile::toJson() const
{
    Json json{{"schema", schema}, {"inputs", inputs}, {"baseline", baseline}, {"selection", placesJson(selection)}};
    json["bookmarks"] = Json::array();
    for (const Mark &mark : bookmarks)
        json["bookmarks"].push_back({{"note", toValidUtf8(mark.note)}, {"places", placesJson(mark.places)}});
    json["thresholds"] = Json::object();
    for (const auto &[instrument, values] : thresholds) {
        for (const auto &[name, value] : values)
            json["thresholds"][instrument][name] = value;
    }
    json["acknowledged"] = Json::object();
    for (const auto &[key, reason] : acknowledged)
        json["acknowledged"][toValidUtf8(key)] = toValidUtf8(reason);
    json["layout"] = encodeBase64(layout);
    return json.dump(1, ' ', false, Json::error_handler_t::replace) + '\n';
}

Result<SessionFile> SessionFile::parse(std::string json)
{
    const auto document = Document::parseJson(std::move(json));
    const Value root = document->root();
    if (document->problem())
        return *document->problem();
    if (const std::string found = root["schema"].string(""); found != schema)
        return Error{Errc::Malformed, "not a saved session", JsonPath{"$.schema"}, std::string(schema),
                     found.empty() ? "nothing" : found};
    SessionFile file;
    file.inputs = strings(root["inputs"]);
    file.baseline = strings(root["baseline"]);
    file.selection = places(root["selection"]);
    for (const Value mark : root["bookmarks"])
        file.bookmarks.push_back({places(mark["places"]), mark["note"].string("")});
    for (const Value instrument : root["thresholds"]) {
        for (const Value value : instrument) {
            if (const auto number = value.number())
                file.thresholds[instrument.key()][value.key()] = *number;
        }
    }
    for (const Value reason : root["acknowledged"])
        file.acknowledged[reason.key()] = reason.string("");
    file.layout = decodeBase64(root["layout"].string(""));
    return file;
}

} // namespace prosector
