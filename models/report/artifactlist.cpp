// SPDX-License-Identifier: GPL-3.0-or-later
// What was recognised, as what, how large.
#include "models/core/plaintext.h"
#include "models/core/utf8.h"
#include "models/report/jsonparts.h"
#include "models/report/parts.h"

#include <algorithm>

#include <nlohmann/json.hpp>

namespace prosector {

using namespace report;

namespace {

std::string padded(std::string text, std::size_t width)
{
    const std::size_t have = displayWidth(text);
    return have < width ? text + std::string(width - have, ' ') : text;
}

} // namespace

std::string artifactsJson(const Run &run)
{
    using Json = nlohmann::ordered_json;
    Json json{{"schema", "prosector.artifacts/1"}, {"inputs", inputsJson(run)}, {"artifacts", Json::array()}};
    for (const Artifact &artifact : run.artifacts()) {
        Json entry{{"path", toValidUtf8(artifact.path)},
                   {"name", toValidUtf8(artifact.name)},
                   {"input", artifact.input},
                   {"kind", nameOf(artifact.kind)},
                   {"format", artifact.format},
                   {"size", artifact.size},
                   {"summary", toValidUtf8(artifact.summary)},
                   {"problems", artifact.problems.size()}};
        if (!artifact.of.empty())
            entry["of"] = toValidUtf8(artifact.of);
        json["artifacts"].push_back(std::move(entry));
    }
    json["unreadable"] = Json::array();
    appendUnreadable(json["unreadable"], run);
    return jsonText(json);
}

std::string artifactsText(const Run &run)
{
    std::size_t pathWidth = 0, kindWidth = 0, sizeWidth = 0;
    for (const Artifact &artifact : run.artifacts()) {
        pathWidth = std::max(pathWidth, displayWidth(pathText(artifact, run)));
        kindWidth = std::max(kindWidth, kindText(nameOf(artifact.kind)).size());
        sizeWidth = std::max(sizeWidth, sizeText(artifact.size).size());
    }
    pathWidth = std::min<std::size_t>(pathWidth, 44);
    std::string text;
    for (const Artifact &artifact : run.artifacts()) {
        const std::string size = sizeText(artifact.size);
        const std::string path = pathText(artifact, run);
        // A path too long for its column stands on a line of its own, so that the others stay aligned.
        text += displayWidth(path) > pathWidth ? path + '\n' + std::string(pathWidth, ' ') : padded(path, pathWidth);
        text += "  " + padded(kindText(nameOf(artifact.kind)), kindWidth) + "  "
            + std::string(sizeWidth - size.size(), ' ') + size;
        if (!artifact.summary.empty())
            text += "  " + neutralised(artifact.summary);
        if (!artifact.problems.empty())
            text += "  [not all readable]";
        text += '\n';
    }
    for (const Unreadable &unreadable : run.unreadable())
        text += "unreadable: " + unreadablePath(unreadable, run) + ": " + neutralised(describe(unreadable.error)) + '\n';
    return text;
}

} // namespace prosector
