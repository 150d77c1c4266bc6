// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/wire/bodies.h"

#include "models/wire/sse.h"

#include <algorithm>
#include <array>
#include <map>

namespace prosector {

namespace {

bool isWire(const Artifact &artifact)
{
    switch (artifact.kind) {
    case Kind::RequestBody:
    case Kind::ResponseBody:
    case Kind::RequestLog:
    case Kind::SseStream:
    case Kind::TokenArray:
    case Kind::Data:
        return artifact.format != "json_schema" && artifact.format != "csv";
    default:
        return false;
    }
}

bool isChunk(Value body)
{
    if (body["object"].string("").ends_with(".chunk") || body["choices"][0]["delta"].isObject())
        return true;
    const auto type = body["type"].string("");
    if (type.starts_with("content_block") || type.starts_with("message_") || type.starts_with("response."))
        return true;
    if (body["token"].isObject() && body["token"]["id"].isNumber()) // TGI
        return true;
    return body["done"].boolean() == false && (body["message"].isObject() || body["response"].isString()); // Ollama
}

/// Roles in which a body is recognised whatever file it is in.
WireBody::Role roleOf(Value body, Kind kind)
{
    if (isChunk(body))
        return WireBody::Role::Chunk;
    for (const std::string_view key : {"choices", "outputs", "candidates", "generated_text", "meta_info", "tokens_predicted", "stop_reason", "done", "details"}) {
        if (body[key].isSet())
            return WireBody::Role::Response;
    }
    for (const std::string_view key : {"messages", "sampling_params", "inputs", "contents", "n_predict", "max_tokens", "stream"}) {
        if (body[key].isSet())
            return WireBody::Role::Request;
    }
    return kind == Kind::RequestBody    ? WireBody::Role::Request
           : kind == Kind::ResponseBody ? WireBody::Role::Response
           : kind == Kind::SseStream    ? WireBody::Role::Chunk
                                        : WireBody::Role::Other;
}

class Visitor {
public:
    Visitor(const Artifact &artifact, const Job &job, const std::function<void(const WireBody &)> &use, std::size_t &records)
        : m_artifact(artifact), m_job(job), m_use(use), m_records(records)
    {
    }

    Result<void> run()
    {
        if (const auto *const lines = m_artifact.as<LinesContent>()) {
            for (std::size_t i = 0; i < lines->lines.size(); ++i) {
                if (i % 256 == 0 && m_job.cancelled())
                    return Job::cancelledError();
                record(lines->document(i), {}, lines->lines[i].line);
            }
        } else if (const auto *const text = m_artifact.as<TextContent>(); text && m_artifact.kind == Kind::SseStream) {
            for (const SseEvent &event : readSse(text->text)) {
                if (m_job.cancelled())
                    return Job::cancelledError();
                if (!event.data.starts_with('{'))
                    continue; // [DONE]
                auto document = Document::parseJson(event.data);
                const Value root = document->root();
                body(std::move(document), root, ++m_records, {}, event.line);
            }
        } else if (const auto *const tree = m_artifact.as<TreeContent>()) {
            const Value root = tree->root();
            if (root["log"]["entries"].isArray()) {
                har(root["log"]["entries"]);
            } else if (root.isArray() && root[0].isObject()) {
                for (const Value element : root)
                    record(tree->document, element, {});
            } else {
                record(tree->document, root, {});
            }
        }
        return m_job.cancelled() ? Result<void>(Job::cancelledError()) : Result<void>();
    }

private:
    /// A body, or an object that holds a request and its response.
    void record(DocumentPtr document, Value value, std::optional<std::uint64_t> line)
    {
        if (!document)
            return;
        if (!value)
            value = document->root();
        if (!value.isObject())
            return;
        const std::size_t number = ++m_records;
        bool wrapped = false;
        for (const std::string_view key : {"request", "response", "body"}) {
            Value half = value[key];
            if (half["body"].isObject())
                half = half["body"];
            if (half.isString() && key != "response") // a body kept as text
                wrapped |= nested(half, number, line);
            if (half.isObject()) {
                wrapped = true;
                body(document, half, number, {}, line);
            }
        }
        if (!wrapped || value["prompt_token_ids"].isSet())
            body(std::move(document), value, number, {}, line);
    }

    bool nested(Value text, std::size_t number, std::optional<std::uint64_t> line)
    {
        const auto content = text.string("");
        if (!content.starts_with('{'))
            return false;
        auto document = Document::parseJson(content);
        const Value root = document->root();
        if (!root.isObject())
            return false;
        body(std::move(document), root, number, text.path(), line);
        return true;
    }

    void har(Value entries)
    {
        for (const Value entry : entries) {
            const std::size_t number = ++m_records;
            nested(entry["request"]["postData"]["text"], number, {});
            nested(entry["response"]["content"]["text"], number, {});
        }
    }

    void body(DocumentPtr document, Value value, std::size_t number, std::string holder, std::optional<std::uint64_t> line)
    {
        if (value.isObject())
            m_use({&m_artifact, std::move(document), value, roleOf(value, m_artifact.kind), line, std::move(holder), number});
    }

    const Artifact &m_artifact;
    const Job &m_job;
    const std::function<void(const WireBody &)> &m_use;
    std::size_t &m_records;
};

std::string folderOf(const Artifact &artifact)
{
    const auto cut = artifact.path.rfind('/');
    return std::to_string(artifact.input) + ':' + (cut == std::string::npos ? std::string() : artifact.path.substr(0, cut));
}

std::string idOf(Value body)
{
    for (const std::string_view key : {"request_id", "rid", "id"}) {
        if (body[key].isString() || body[key].isNumber())
            return body[key].string(body[key].raw());
    }
    return body["meta_info"]["id"].string("");
}

} // namespace

Anchor WireBody::anchor(Value inner) const
{
    if (line)
        return LogLine{*line, *line};
    return JsonPath{holder.empty() ? inner.path() : holder};
}

bool sameBody(const WireBody &a, const WireBody &b)
{
    return a.artifact == b.artifact && a.line == b.line && a.holder == b.holder && (a.line || !a.holder.empty() || a.value == b.value);
}

bool endsByLength(std::string_view finish)
{
    constexpr std::array words = std::to_array<std::string_view>({"length", "max_tokens", "limit", "MAX_TOKENS", "model_context_window_exceeded"});
    return std::find(words.begin(), words.end(), finish) != words.end();
}

Result<void> eachBody(const Artifact &artifact, const Job &job, const std::function<void(const WireBody &)> &use)
{
    std::size_t records = 0;
    return isWire(artifact) ? Visitor(artifact, job, use, records).run() : Result<void>();
}

Result<void> eachBody(const Run &run, const Job &job, const std::function<void(const WireBody &)> &use)
{
    std::size_t records = 0;
    for (const Artifact &artifact : run.artifacts()) {
        if (!isWire(artifact))
            continue;
        if (auto done = Visitor(artifact, job, use, records).run(); !done)
            return done;
    }
    return {};
}

Result<std::vector<Exchange>> exchanges(const Run &run, const Job &job)
{
    struct Group {
        std::vector<WireBody> requests, responses;
    };
    std::map<std::size_t, Group> records;
    auto visited = eachBody(run, job, [&](const WireBody &body) {
        if (body.role == WireBody::Role::Request)
            records[body.record].requests.push_back(body);
        else if (body.role == WireBody::Role::Response)
            records[body.record].responses.push_back(body);
    });
    if (!visited)
        return visited.error();
    std::vector<Exchange> pairs;
    std::map<std::string, Group> folders;
    for (auto &[number, group] : records) {
        if (group.requests.size() == 1 && group.responses.size() == 1) {
            pairs.push_back({std::move(group.requests[0]), std::move(group.responses[0])});
            continue;
        }
        for (auto &[from, to] : {std::pair(&group.requests, &Group::requests), std::pair(&group.responses, &Group::responses)}) {
            for (WireBody &body : *from)
                (folders[folderOf(*body.artifact)].*to).push_back(std::move(body));
        }
    }
    for (auto &[folder, group] : folders) {
        std::map<std::string, std::size_t> byId;
        std::vector<bool> used(group.requests.size(), false);
        for (std::size_t i = 0; i < group.requests.size(); ++i) {
            if (const auto id = idOf(group.requests[i].value); !id.empty())
                byId.emplace(id, i);
        }
        std::vector<WireBody> rest;
        for (WireBody &response : group.responses) {
            auto found = group.requests.end();
            if (const auto it = byId.find(idOf(response.value)); it != byId.end() && !used[it->second])
                found = group.requests.begin() + static_cast<std::ptrdiff_t>(it->second);
            if (found == group.requests.end() && !response.artifact->of.empty()) {
                found = std::find_if(group.requests.begin(), group.requests.end(),
                                     [&](const WireBody &r) { return r.artifact->name == response.artifact->of; });
                if (found != group.requests.end() && used[static_cast<std::size_t>(found - group.requests.begin())])
                    found = group.requests.end();
            }
            if (found == group.requests.end()) {
                rest.push_back(std::move(response));
                continue;
            }
            used[static_cast<std::size_t>(found - group.requests.begin())] = true;
            pairs.push_back({*found, std::move(response)});
        }
        std::vector<WireBody> open;
        for (std::size_t i = 0; i < group.requests.size(); ++i) {
            if (!used[i])
                open.push_back(std::move(group.requests[i]));
        }
        if (open.size() == rest.size()) {
            for (std::size_t i = 0; i < open.size(); ++i)
                pairs.push_back({std::move(open[i]), std::move(rest[i])});
            continue;
        }
        for (WireBody &request : open)
            pairs.push_back({std::move(request), std::nullopt});
        for (WireBody &response : rest)
            pairs.push_back({std::nullopt, std::move(response)});
    }
    return pairs;
}

std::string messageText(Value content)
{
    if (const auto text = content.string())
        return *text;
    std::string joined;
    for (const Value part : content) {
        if (part.isString())
            joined += part.string("");
        else
            joined += part["text"].string("");
    }
    return joined;
}

} // namespace prosector
