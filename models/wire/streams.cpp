// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/wire/streams.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace prosector {

namespace {

class Streams {
public:
    std::vector<StreamChannel> channels;

    void chunk(const WireBody &body)
    {
        const Value b = body.value;
        const auto id = b["id"].string(b["message"]["id"].string(""));
        if (b["choices"].isArray())
            openAi(body, id);
        else if (b["type"].isString())
            events(body);
        else if (b["token"].isObject())
            tgi(body);
        else if (b["done"].isSet())
            ollama(body);
        else if (b["content"].isString() && (b["stop"].isSet() || b["index"].isSet()))
            llamaCpp(body);
    }

private:
    StreamChannel &channel(const WireBody &body, const std::string &stream, const std::string &name)
    {
        const auto [it, fresh] = m_index.emplace(std::tuple(body.artifact->id.index, stream, name), channels.size());
        if (fresh) {
            StreamChannel &made = channels.emplace_back();
            made.artifact = body.artifact;
            made.stream = stream;
            made.name = name;
        }
        return channels[it->second];
    }

    StreamDelta *text(const WireBody &body, const std::string &stream, const std::string &name, Value value)
    {
        if (!value.isString())
            return nullptr;
        StreamDelta delta{value.string("")};
        delta.where = body.at(value, name + " is " + std::string(value.raw().substr(0, 60)));
        auto &deltas = channel(body, stream, name).deltas;
        deltas.push_back(std::move(delta));
        return &deltas.back();
    }

    static std::optional<std::string> bytesOf(Value entries)
    {
        if (!entries.isArray() || entries.size() == 0)
            return std::nullopt;
        std::string bytes;
        for (const Value entry : entries) {
            if (!entry["bytes"].isArray())
                return std::nullopt;
            for (const Value byte : entry["bytes"]) {
                const auto value = byte.integer();
                if (!value || *value < 0 || *value > 255)
                    return std::nullopt;
                bytes += static_cast<char>(*value);
            }
        }
        return bytes;
    }

    void openAi(const WireBody &body, const std::string &stream)
    {
        for (const Value choice : body.value["choices"]) {
            const std::string at = "choices[" + std::to_string(choice["index"].integer().value_or(0)) + "].";
            const Value delta = choice["delta"];
            const std::string name = delta.isObject() ? at + "delta.content" : at + "text";
            std::vector<std::pair<std::string, Value>> parts{{name, delta.isObject() ? delta["content"] : choice["text"]},
                                                             {at + "delta.reasoning_content", delta["reasoning_content"]},
                                                             {at + "delta.reasoning", delta["reasoning"]}};
            for (const Value call : delta["tool_calls"])
                parts.emplace_back(at + "delta.tool_calls[" + std::to_string(call["index"].integer().value_or(0)) + "].function.arguments", call["function"]["arguments"]);
            std::erase_if(parts, [](const auto &part) { return !part.second.isString(); });
            // Tokens are given for the choice as a whole: they are those of its only part that says something.
            const auto speaks = [](const auto &part) { return !part.second.string("").empty(); };
            const auto spoken = std::count_if(parts.begin(), parts.end(), speaks);
            const auto owner = spoken == 0 ? parts.begin() : spoken == 1 ? std::find_if(parts.begin(), parts.end(), speaks) : parts.end();
            for (auto part = parts.begin(); part != parts.end(); ++part) {
                StreamDelta *const said = text(body, stream, part->first, part->second);
                if (part != owner)
                    continue;
                said->bytes = bytesOf(choice["logprobs"]["content"]);
                for (const Value id : choice["token_ids"])
                    said->ids.push_back(id.integer().value_or(-1));
            }
            if (choice["finish_reason"].isString())
                channel(body, stream, name).finish = choice["finish_reason"].string("");
        }
    }

    /// Anthropic and OpenAI Responses name each event.
    void events(const WireBody &body)
    {
        const Value b = body.value;
        const auto type = b["type"].string("");
        const std::string index = std::to_string(b["index"].integer().value_or(b["output_index"].integer().value_or(0)));
        if (type == "content_block_delta") {
            for (const std::string_view key : {"text", "partial_json", "thinking"})
                text(body, {}, "content[" + index + "]." + std::string(key), b["delta"][key]);
        } else if (type.starts_with("response.") && type.ends_with(".delta") && b["delta"].isString()) {
            text(body, b["item_id"].string(""), type.substr(9, type.size() - 15) + '[' + index + ']', b["delta"]);
        } else if (type.starts_with("response.") && type.ends_with(".done")) {
            const Value whole = b["text"].isString() ? b["text"] : b["arguments"];
            if (whole.isString())
                finish(body, channel(body, b["item_id"].string(""), type.substr(9, type.size() - 14) + '[' + index + ']'), whole);
        }
    }

    static void finish(const WireBody &body, StreamChannel &channel, Value whole)
    {
        channel.finalText = whole.string("");
        channel.finalAt = body.at(whole, "the whole text as sent at the end");
    }

    void tgi(const WireBody &body)
    {
        const Value token = body.value["token"];
        if (token["special"].boolean() != true) {
            if (StreamDelta *const delta = text(body, {}, "token.text", token["text"]); delta && token["id"].integer())
                delta->ids.push_back(*token["id"].integer());
        }
        StreamChannel &answer = channel(body, {}, "token.text");
        if (const Value whole = body.value["generated_text"]; whole.isString())
            finish(body, answer, whole);
        if (const auto reason = body.value["details"]["finish_reason"].string())
            answer.finish = *reason;
    }

    void ollama(const WireBody &body)
    {
        const Value b = body.value;
        text(body, {}, "message.content", b["message"]["content"]);
        text(body, {}, "message.thinking", b["message"]["thinking"]);
        text(body, {}, "response", b["response"]);
        if (b["done_reason"].isString())
            channel(body, {}, b["response"].isString() ? "response" : "message.content").finish = b["done_reason"].string("");
    }

    void llamaCpp(const WireBody &body)
    {
        const Value b = body.value;
        if (StreamDelta *const delta = text(body, {}, "content", b["content"])) {
            for (const Value id : b["tokens"])
                delta->ids.push_back(id.integer().value_or(-1));
        }
        if (b["stop_type"].isString())
            channel(body, {}, "content").finish = b["stop_type"].string("");
    }

    std::map<std::tuple<std::uint32_t, std::string, std::string>, std::size_t> m_index;
};

} // namespace

std::string StreamChannel::joined() const
{
    std::string all;
    for (const StreamDelta &delta : deltas)
        all += delta.text;
    return all;
}

std::optional<std::string> StreamChannel::bytes() const
{
    std::string all;
    bool any = false;
    for (const StreamDelta &delta : deltas) {
        if (!delta.bytes && !delta.text.empty())
            return std::nullopt;
        any = any || delta.bytes;
        all += delta.bytes.value_or("");
    }
    return any ? std::optional(std::move(all)) : std::nullopt;
}

std::vector<std::int64_t> StreamChannel::ids() const
{
    std::vector<std::int64_t> all;
    for (const StreamDelta &delta : deltas)
        all.insert(all.end(), delta.ids.begin(), delta.ids.end());
    return all;
}

Result<std::vector<StreamChannel>> streamChannels(const Run &run, const Job &job)
{
    Streams streams;
    for (const Artifact &artifact : run.artifacts()) {
        // A JSON file of one body is an answer; of several lines, each a piece of one, it is a stream.
        const bool lines = artifact.as<LinesContent>() != nullptr;
        if (!lines && artifact.kind != Kind::SseStream && !(artifact.tree().isArray() && artifact.kind == Kind::ResponseBody))
            continue;
        std::size_t chunks = 0;
        auto done = eachBody(artifact, job, [&](const WireBody &body) {
            // Ollama's and llama.cpp's last chunk looks like an answer.
            const bool last = chunks > 0 && (body.value["done"].isSet() || body.value["stop"].isSet());
            if (body.role != WireBody::Role::Chunk && !last)
                return;
            ++chunks;
            streams.chunk(body);
        });
        if (!done)
            return done.error();
    }
    return std::move(streams.channels);
}

} // namespace prosector
