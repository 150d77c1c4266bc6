// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/prompts/stopsets.h"

#include "models/core/ascii.h"
#include "models/prompts/tokenarrays.h"
#include "models/tokenizers/ggufvocabulary.h"

#include <algorithm>
#include <array>
#include <charconv>

namespace prosector {

namespace {

using Logs = std::map<std::uint32_t, LogTriage>;

/// `eos_token_id` of a file: one id or a list.
StopSet endsOf(const TokenizerView &view, const Artifact &file, Value eos)
{
    StopSet set;
    if (const auto one = eos.integer())
        set.ids.insert(*one);
    for (const std::int64_t one : integersOf(eos).value_or(std::vector<std::int64_t>()))
        set.ids.insert(one);
    if (!set.ids.empty())
        set.evidence.push_back(view.at({file.id, eos.anchor(), "eos_token_id = " + std::string(eos.raw().substr(0, 80))}));
    return set;
}

/// generation_config.json, else config.json, there at the top or in the language model's part.
StopSet declaredEnds(const TokenizerView &view)
{
    if (const Artifact *const file = view.run->find(view.folder->generationConfig)) {
        if (StopSet set = endsOf(view, *file, file->tree()["eos_token_id"]); !set.empty())
            return set;
    }
    const Artifact *const file = view.run->find(view.folder->config);
    if (!file)
        return {};
    const Value root = file->tree();
    for (const Value level : {root, root["text_config"], root["llm_config"], root["thinker_config"]["text_config"]}) {
        if (StopSet set = endsOf(view, *file, level["eos_token_id"]); !set.empty())
            return set;
    }
    return {};
}

StopSet roleEnds(const TokenizerView &view, std::initializer_list<std::string_view> roles)
{
    StopSet set;
    for (const std::string_view name : roles) {
        const SpecialRole *const role = view.facts.role(name);
        if (!role || (!role->id && !role->text))
            continue;
        if (role->id)
            set.ids.insert(*role->id);
        if (role->text)
            set.tokens.insert(*role->text);
        Evidence where = view.at(role->where);
        where.note = std::string(name) + " = " + (role->text ? shownPiece(*role->text) : std::to_string(*role->id));
        set.evidence.push_back(std::move(where));
    }
    return set;
}

/// The list of end tokens that llama.cpp prints while loading, of the first log that has one.
StopSet loggedEnds(const TokenizerView &view, const Logs &logs)
{
    StopSet set;
    for (const auto &[artifact, triage] : logs) {
        bool listed = false;
        StopSet found;
        for (const LogHit &hit : triage.hits) {
            const std::string_view which = hit.capture("which"), digits = hit.capture("id");
            std::int64_t id = 0;
            if (hit.pattern->id != "llamacpp.token" || (which != "EOG" && which != "EOS" && which != "EOT" && which != "EOM")
                || std::from_chars(digits.data(), digits.data() + digits.size(), id).ec != std::errc())
                continue;
            listed = listed || which == "EOG";
            found.ids.insert(id);
            found.evidence.push_back(view.at({ArtifactId{artifact}, hit.where(), std::string(which) + " token " + std::to_string(id)}));
        }
        if (listed && set.empty())
            set = std::move(found);
    }
    return set;
}

/// Ollama's `parameters` is a Modelfile's: lines `stop "<|im_end|>"`.
StopSet shownStops(const TokenizerView &view, const Artifact &file)
{
    StopSet set;
    const Value parameters = file.tree()["parameters"];
    const std::string text = parameters.string("");
    for (std::size_t at = 0; at < text.size();) {
        const auto end = std::min(text.find('\n', at), text.size());
        std::string_view line = trimmed(std::string_view(text).substr(at, end - at));
        at = end + 1;
        if (!line.starts_with("stop") || line.size() < 6 || (line[4] != ' ' && line[4] != '\t'))
            continue;
        line = trimmed(line.substr(4));
        if (line.size() >= 2 && line.front() == '"' && line.back() == '"')
            line = line.substr(1, line.size() - 2);
        if (!line.empty())
            set.strings.emplace(line);
    }
    if (!set.empty())
        set.evidence.push_back(view.at({file.id, parameters.anchor(), "stop strings of the model"}));
    return set;
}

bool isOne(std::string_view engine, std::initializer_list<std::string_view> family)
{
    return std::find(family.begin(), family.end(), engine) != family.end();
}

StopReading ofGguf(const TokenizerView &view, const Logs &logs, const std::vector<const Artifact *> &shown)
{
    StopReading reading{"llama.cpp and Ollama", {}, false};
    reading.set = loggedEnds(view, logs);
    reading.byText = reading.set.empty();
    if (reading.byText)
        reading.set = roleEnds(view, {"eos", "eot", "eom"});
    for (const Artifact *const file : shown)
        reading.set.add(shownStops(view, *file));
    return reading;
}

/// Marked as load rather than a question.
bool saysBenchmark(Value value, int depth = 0)
{
    const auto names = [](std::string_view text) {
        const std::string lower = asciiLower(text);
        constexpr std::array words = std::to_array<std::string_view>({"bench", "synthetic", "loadtest", "load-test", "load_test", "load test"});
        return std::any_of(words.begin(), words.end(), [&](auto word) { return lower.find(word) != std::string::npos; });
    };
    if (value.isString())
        return names(value.string(""));
    if (depth > 2)
        return false;
    for (const Value member : value) {
        if ((names(member.key()) && member.boolean() != false && member.isSet()) || saysBenchmark(member, depth + 1))
            return true;
    }
    return false;
}

} // namespace

void StopSet::add(const StopSet &other)
{
    ids.insert(other.ids.begin(), other.ids.end());
    tokens.insert(other.tokens.begin(), other.tokens.end());
    strings.insert(other.strings.begin(), other.strings.end());
    evidence.insert(evidence.end(), other.evidence.begin(), other.evidence.end());
}

bool StopSet::holds(const PrintedMarker &marker) const
{
    return (marker.id && ids.contains(*marker.id)) || tokens.contains(marker.text)
           || std::any_of(strings.begin(), strings.end(), [&](const std::string &text) {
                  const std::string_view bare = trimmed(text);
                  return !bare.empty() && marker.text.find(bare) != std::string::npos;
              });
}

bool StopSet::holdsAny(const std::vector<PrintedMarker> &markers) const
{
    return std::any_of(markers.begin(), markers.end(), [this](const PrintedMarker &marker) { return holds(marker); });
}

std::vector<StopReading> stopReadings(const TokenizerView &view, std::string_view engine, const Logs &logs,
                                      const std::vector<const Artifact *> &shown)
{
    if (view.gguf)
        return {ofGguf(view, logs, shown)};
    if (!view.folder->generationConfig.valid() && !view.folder->config.valid())
        return {};
    const bool hub = isOne(engine, {"Transformers", "TGI", "MLX"}), server = isOne(engine, {"vLLM", "SGLang"});
    const StopSet declared = declaredEnds(view);
    std::vector<StopReading> readings;
    // Files that name no end at all leave it to the model class: nothing is said for Transformers.
    if (!server && !declared.empty())
        readings.push_back({"Transformers, TGI and MLX", declared, false});
    if (!hub) {
        StopSet both = roleEnds(view, {"eos"});
        both.add(declared);
        if (!both.empty())
            readings.push_back({"vLLM and SGLang", std::move(both), false});
    }
    return readings;
}

RequestStops requestStops(const WireBody &request)
{
    RequestStops stops;
    const Value root = request.value;
    for (const Value level : {root, root["sampling_params"], root["parameters"], root["options"], root["extra_body"]}) {
        if (!level.isObject())
            continue;
        for (const std::string_view key : {"stop", "stop_sequences"}) {
            const Value stop = level[key];
            if (stop.isString())
                stops.set.strings.insert(stop.string(""));
            for (const Value one : stop)
                stops.set.strings.insert(one.string(""));
            if (stop.isSet() && (stop.isString() || stop.size() > 0))
                stops.set.evidence.push_back(request.at(stop, std::string(key) + " of the request"));
        }
        stops.set.strings.erase(std::string());
        if (const auto ids = integersOf(level["stop_token_ids"]); ids && !ids->empty()) {
            stops.set.ids.insert(ids->begin(), ids->end());
            stops.set.evidence.push_back(request.at(level["stop_token_ids"], "stop_token_ids of the request"));
        }
        if (level["ignore_eos"].boolean() == true || level["ignore_eos_token"].boolean() == true) {
            const Value flag = level["ignore_eos"].isSet() ? level["ignore_eos"] : level["ignore_eos_token"];
            stops.ignoresEnd = request.at(flag, flag.key() + " = true");
        }
        for (const std::string_view key : {"min_tokens", "min_new_tokens"}) {
            if (const auto least = level[key].integer(); least && *least > 0) {
                stops.least = least;
                stops.leastAt = request.at(level[key], std::string(key) + " = " + std::to_string(*least));
            }
        }
        for (const std::string_view key : {"max_tokens", "max_new_tokens", "max_completion_tokens", "n_predict", "num_predict"}) {
            if (const auto most = level[key].integer())
                stops.most = most;
        }
    }
    stops.synthetic = (stops.least && stops.least == stops.most);
    for (const std::string_view key : {"metadata", "user", "request_id", "rid", "id", "tags", "synthetic", "benchmark", "extra_body"}) {
        const Value mark = root[key];
        stops.synthetic = stops.synthetic || saysBenchmark(mark) || ((key == "synthetic" || key == "benchmark") && mark.isSet() && mark.boolean() != false);
    }
    return stops;
}

} // namespace prosector
