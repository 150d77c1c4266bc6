// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/tokenjson.h"

#include "models/core/hex.h"
#include "models/core/utf8.h"
#include "models/report/jsonparts.h"

#include <nlohmann/json.hpp>

namespace prosector::cli {

namespace {

using Json = nlohmann::ordered_json;

Json pair(TextRange origin)
{
    return Json::array({origin.begin, origin.end});
}

std::string hex(std::string_view bytes)
{
    std::string text;
    for (const char c : bytes)
        text += lowerHex(static_cast<unsigned char>(c));
    return text;
}

std::string_view part(std::string_view text, std::uint32_t begin, std::uint32_t end)
{
    return begin <= end && end <= text.size() ? text.substr(begin, end - begin) : std::string_view();
}

/// Bytes as text; those that are no whole character as <0xNN>.
std::string shown(std::string_view bytes)
{
    std::string text;
    for (std::size_t i = 0; i < bytes.size();) {
        const CodePoint c = decodeUtf8(bytes, i);
        for (std::size_t end = i + c.length; i < end; ++i)
            text += c.valid ? std::string(1, bytes[i]) : "<0x" + hex(bytes.substr(i, 1)) + '>';
    }
    return text;
}

Json pathJson(const std::vector<ModelExplanation::PathPiece> &path, std::string_view piece)
{
    Json list = Json::array();
    for (const auto &step : path)
        list.push_back({{"id", step.id}, {"text", shown(part(piece, step.begin, step.end))}, {"score", step.score}});
    return list;
}

Json modelJson(const ModelExplanation &model, std::string_view piece)
{
    using Kind = ModelExplanation::Kind;
    switch (model.kind) {
    case Kind::Lookup:
        return {{"by", "lookup"}};
    case Kind::Opaque:
        return {{"by", "library"}};
    case Kind::LongestMatch:
        return {{"by", "longest match"}};
    case Kind::Merges: {
        Json merges = Json::array();
        for (const auto &merge : model.merges) {
            merges.push_back({{"rank", merge.rank},
                              {"left", shown(part(piece, merge.begin, merge.middle))},
                              {"right", shown(part(piece, merge.middle, merge.end))},
                              {"id", merge.id}});
        }
        return {{"by", "merges"}, {"merges", std::move(merges)}};
    }
    case Kind::Lattice: {
        Json lattice{{"by", "lattice"}, {"score", model.pathScore}, {"path", pathJson(model.path, piece)}};
        if (!model.runnerUp.empty()) {
            lattice["runner_up_score"] = model.runnerUpScore;
            lattice["runner_up"] = pathJson(model.runnerUp, piece);
        }
        return lattice;
    }
    }
    return {};
}

Json pieceJson(const Explanation::Piece &piece, const Explanation &why)
{
    Json json{{"bytes", pair(piece.origin)}, {"text", shown(piece.text)}};
    Json steps = Json::array();
    for (const auto &step : why.normalizations[piece.normalization].steps)
        steps.push_back({{"step", step.name}, {"text", step.text}});
    if (!steps.empty())
        json["normalized"] = std::move(steps);
    json.update(modelJson(piece.model, piece.text));
    return json;
}

Json tokenJson(const Encoding &encoding, const Explanation &why, std::size_t i, std::string_view input)
{
    const TextRange origin = encoding.offsets[i];
    Json json{{"id", encoding.ids[i]}, {"token", encoding.tokens[i]}};
    const auto bytes = part(input, origin.begin, origin.end);
    const Explanation::Token &token = why.tokens[i];
    switch (token.source) {
    case Explanation::Source::Inserted:
        json["source"] = "inserted";
        return json;
    case Explanation::Source::AddedToken: {
        const auto &match = why.matches[token.index];
        json["source"] = "added token";
        json["why"] = std::string(match.token.special ? "special" : "not special")
            + (match.afterNormalizer ? ", matched in the normalised text" : ", matched in the text as given")
            + (match.token.leftStrip ? ", takes blanks in front" : "") + (match.token.rightStrip ? ", takes blanks behind" : "");
        break;
    }
    case Explanation::Source::Model:
        json["source"] = "model";
        json["piece"] = token.index;
        break;
    }
    json["bytes"] = pair(origin);
    json["hex"] = hex(bytes);
    return json;
}

} // namespace

std::string encodingJson(const Encoding &encoding, const Explanation *why, std::string_view input)
{
    Json json{{"ids", encoding.ids}, {"tokens", encoding.tokens}, {"offsets", Json::array()}};
    for (const TextRange origin : encoding.offsets)
        json["offsets"].push_back(pair(origin));
    for (const TextRange origin : encoding.invalid)
        json["invalid"].push_back({{"bytes", pair(origin)}, {"hex", hex(part(input, origin.begin, origin.end))}});
    if (why) {
        json["explain"] = Json::array();
        for (std::size_t i = 0; i < encoding.size(); ++i)
            json["explain"].push_back(tokenJson(encoding, *why, i, input));
        json["pieces"] = Json::array();
        for (const auto &piece : why->pieces)
            json["pieces"].push_back(pieceJson(piece, *why));
    }
    return report::jsonLine(json);
}

std::string decodeStepJson(const Tokenizer &tokenizer, std::uint32_t id, const DecodeStream::Step &step)
{
    Json json{{"id", id}};
    const auto spelling = tokenizer.spelling(id);
    json["token"] = spelling ? Json(*spelling) : Json(nullptr);
    json["hex"] = hex(tokenizer.bytes(id).value_or(""));
    json["text"] = step.text;
    json["pending"] = hex(step.pending);
    return report::jsonLine(json);
}

} // namespace prosector::cli
