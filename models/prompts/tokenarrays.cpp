// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/prompts/tokenarrays.h"

#include "models/artifacts/tensordata.h"
#include "models/prompts/tokenlogprobs.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>

namespace prosector {

namespace {

constexpr std::uint64_t maxTensorIds = 1 << 24;

template<class T>
std::vector<T> listOf(Value list, std::optional<T> (*read)(Value))
{
    std::vector<T> values;
    values.reserve(list.size());
    for (const Value element : list) {
        const auto value = read(element);
        if (!value)
            return {};
        values.push_back(*value);
    }
    return values;
}

std::vector<std::string> stringsOf(Value list)
{
    return listOf<std::string>(list, [](Value v) { return v.string(); });
}

std::vector<std::pair<std::uint64_t, std::uint64_t>> offsetsOf(Value list)
{
    using Range = std::pair<std::uint64_t, std::uint64_t>;
    return listOf<Range>(list, [](Value v) -> std::optional<Range> {
        const auto from = v[0].integer(), to = v[1].integer();
        if (!from || !to || *from < 0 || *to < 0 || v.size() != 2)
            return std::nullopt;
        return Range{static_cast<std::uint64_t>(*from), static_cast<std::uint64_t>(*to)};
    });
}

class Collector {
public:
    std::vector<TokenArray> arrays;

    /// One list, or a list of lists (a batch).
    void add(TokenArray array, Value list, Value mask = {})
    {
        ++m_batch;
        if (list[0].isArray()) {
            for (std::size_t row = 0; row < list.size(); ++row)
                addRow(array, list[row], mask[row], row);
        } else {
            addRow(std::move(array), list, mask, 0);
        }
    }

    /// Objects that hold an id each.
    void addObjects(TokenArray array, Value list, std::string_view idKey, std::string_view textKey)
    {
        for (const Value token : list) {
            const auto id = token[idKey].integer();
            if (!id)
                return;
            array.ids.push_back(*id);
            array.pieces.push_back(token[textKey].string(""));
            array.logprobs.push_back(logprobOf(token["logprob"]));
        }
        finish(std::move(array), list);
    }

    /// SGLang: [logprob, id, text].
    void addTriples(TokenArray array, Value list)
    {
        for (const Value token : list) {
            const auto id = token[1].integer();
            if (!id)
                return;
            array.ids.push_back(*id);
            array.pieces.push_back(token[2].string(""));
            array.logprobs.push_back(logprobOf(token[0]));
        }
        if (std::all_of(array.pieces.begin(), array.pieces.end(), [](auto &p) { return p.empty(); }))
            array.pieces.clear();
        finish(std::move(array), list);
    }

    void finish(TokenArray array, Value list)
    {
        if (array.size() == 0)
            return;
        if (std::all_of(array.logprobs.begin(), array.logprobs.end(), [](float p) { return std::isnan(p); }))
            array.logprobs.clear();
        array.where = array.body ? array.body->anchor(list) : Anchor(JsonPath{list.path()});
        array.batch = m_batch;
        arrays.push_back(std::move(array));
    }

    void tensors(const Run &run, const Artifact &artifact, const Job &job)
    {
        const auto *const content = artifact.as<TensorContent>();
        for (const TensorInfo &tensor : content->tensors) {
            if (!named(artifact, tensor, "input_ids"))
                continue;
            const auto values = numbers(*content, artifact, tensor, job);
            if (!values || tensor.shape.empty() || values->empty())
                continue;
            const std::uint64_t length = tensor.shape.back();
            std::vector<std::int64_t> mask = maskFor(run, artifact, *content, tensor, job);
            ++m_batch;
            for (std::uint64_t row = 0; length > 0 && row < values->size() / length; ++row) {
                TokenArray array;
                array.source = tensor.name;
                array.artifact = &artifact;
                array.row = row;
                array.batch = m_batch;
                array.first = row * length;
                const auto from = static_cast<std::ptrdiff_t>(row * length), to = static_cast<std::ptrdiff_t>((row + 1) * length);
                array.ids.assign(values->begin() + from, values->begin() + to);
                if (mask.size() == values->size())
                    array.mask.assign(mask.begin() + from, mask.begin() + to);
                TensorBlock block{tensor.name, {}, {}};
                if (tensor.shape.size() == 2) {
                    block.from = {row, 0};
                    block.to = {row + 1, length};
                }
                array.where = std::move(block);
                arrays.push_back(std::move(array));
            }
        }
    }

private:
    void addRow(TokenArray array, Value list, Value mask, std::size_t row)
    {
        auto ids = integersOf(list);
        if (!ids)
            return;
        array.ids = std::move(*ids);
        array.row = row;
        if (auto values = integersOf(mask); values && values->size() == array.ids.size())
            array.mask = std::move(*values);
        if (array.pieces.size() != array.size() && !array.ids.empty())
            array.pieces.clear();
        if (array.offsets.size() != array.size())
            array.offsets.clear();
        if (array.roles.size() != array.size())
            array.roles.clear();
        finish(std::move(array), list);
    }

    static bool named(const Artifact &artifact, const TensorInfo &tensor, std::string_view name)
    {
        if (!artifact.tensor.empty() && artifact.tensor != tensor.name)
            return false;
        return tensor.name == name || (!artifact.tensor.empty() && artifact.kind == Kind::TokenArray && name == "input_ids")
               || (artifact.format == "npy" && artifact.path.ends_with(std::string(name) + ".npy"));
    }

    static std::optional<std::vector<std::int64_t>> numbers(const TensorContent &content, const Artifact &artifact, const TensorInfo &tensor, const Job &job)
    {
        auto values = readTensor<std::int64_t>(sourceOf(content, tensor, *artifact.source), tensor, job, maxTensorIds);
        return values ? std::optional(std::move(*values)) : std::nullopt;
    }

    /// The mask of the same file, else one that trace.json links to it.
    std::vector<std::int64_t> maskFor(const Run &run, const Artifact &artifact, const TensorContent &content, const TensorInfo &ids, const Job &job)
    {
        const TensorInfo *mask = content.find("attention_mask");
        const TensorContent *in = &content;
        const Artifact *file = &artifact;
        for (const Artifact &other : run.artifacts()) {
            if (mask)
                break;
            const auto *const tensors = other.as<TensorContent>();
            if (!tensors || other.kind != Kind::AttentionMask || (other.of != artifact.name && !artifact.of.empty()))
                continue;
            mask = other.tensor.empty() ? (tensors->tensors.size() == 1 ? &tensors->tensors[0] : tensors->find("attention_mask")) : tensors->find(other.tensor);
            in = tensors;
            file = &other;
        }
        if (!mask || mask->shape != ids.shape)
            return {};
        auto values = readTensor<std::int64_t>(sourceOf(*in, *mask, *file->source), *mask, job, maxTensorIds);
        return values ? std::move(*values) : std::vector<std::int64_t>();
    }

    std::size_t m_batch = 0;
};

TokenArray arrayOf(const WireBody &body, TokenArray::Use use, std::string source)
{
    TokenArray array;
    array.use = use;
    array.source = std::move(source);
    array.artifact = body.artifact;
    array.body = body;
    return array;
}

void fromOutputs(Collector &out, const WireBody &body, Value outputs, std::string_view name)
{
    for (const Value output : outputs) {
        const Value message = output["message"]["content"].isSet() ? output["message"]["content"] : output["text"];
        if (const Value ids = output["token_ids"]; ids.isArray()) {
            TokenArray array = arrayOf(body, TokenArray::Use::Generated, std::string(name) + "[].token_ids");
            array.text = message.string();
            array.finish = output["finish_reason"].string("");
            array.stopped = output["stop_reason"];
            const std::size_t before = out.arrays.size();
            out.add(std::move(array), ids);
            if (out.arrays.size() == before + 1) {
                const Value content = output["logprobs"]["content"];
                const Value top = content.isArray() ? Value() : output["logprobs"];
                addLogprobs(out.arrays.back(), content.isArray() ? content : output["logprobs"]["token_logprobs"], top["top_logprobs"], {});
                if (content.isArray() && content.size() == out.arrays.back().size()) {
                    for (const Value token : content)
                        out.arrays.back().alternatives.push_back(alternativesOf(token["top_logprobs"]));
                }
            }
        }
        if (const Value prompt = output["prompt_token_ids"]; prompt.isArray())
            out.add(arrayOf(body, TokenArray::Use::Input, std::string(name) + "[].prompt_token_ids"), prompt);
    }
}

void fromBody(Collector &out, const WireBody &body)
{
    using Use = TokenArray::Use;
    const Value b = body.value;
    if (body.role == WireBody::Role::Chunk)
        return;
    if (b["prompt_token_ids"].isArray())
        out.add(arrayOf(body, Use::Input, "prompt_token_ids"), b["prompt_token_ids"]);
    fromOutputs(out, body, b["choices"], "choices");
    fromOutputs(out, body, b["outputs"], "outputs");
    if (body.role == WireBody::Role::Request && b["input_ids"].isArray())
        out.add(arrayOf(body, Use::Input, "input_ids"), b["input_ids"], b["attention_mask"]);
    if (body.role == WireBody::Role::Request && (b["prompt"][0].isNumber() || b["prompt"][0][0].isNumber()))
        out.add(arrayOf(body, Use::Input, "prompt"), b["prompt"]);
    if (const Value meta = b["meta_info"]; meta.isObject()) {
        if (meta["input_token_logprobs"].isArray())
            out.addTriples(arrayOf(body, Use::Input, "meta_info.input_token_logprobs"), meta["input_token_logprobs"]);
        TokenArray array = arrayOf(body, Use::Generated, "meta_info.output_token_logprobs");
        array.text = b["text"].string();
        array.finish = meta["finish_reason"].string(meta["finish_reason"]["type"].string(""));
        array.stopped = meta["finish_reason"]["matched"].isSet() ? meta["finish_reason"]["matched"] : meta["matched_stop"];
        if (meta["output_token_logprobs"].isArray())
            out.addTriples(std::move(array), meta["output_token_logprobs"]);
        else if (b["output_ids"].isArray())
            out.add(std::move(array), b["output_ids"]);
    }
    const auto details = [&](Value holder, Value answer) {
        if (holder["prefill"].isArray())
            out.addObjects(arrayOf(body, Use::Input, "details.prefill[].id"), holder["prefill"], "id", "text");
        if (holder["tokens"].isArray()) {
            TokenArray array = arrayOf(body, Use::Generated, "details.tokens[].id");
            array.text = answer.string();
            array.finish = holder["finish_reason"].string("");
            out.addObjects(std::move(array), holder["tokens"], "id", "text");
        }
    };
    details(b["details"], b["generated_text"]);
    for (const Value sequence : b["details"]["best_of_sequences"])
        details(sequence, sequence["generated_text"]);
    // llama.cpp: /completion with return_tokens. A body with ids and no answer is one of /tokenize.
    if (b["content"].isString() && b["tokens"].isArray() && (b["tokens_predicted"].isSet() || b["stop"].isSet() || b["timings"].isSet())) {
        TokenArray array = arrayOf(body, Use::Generated, "tokens");
        array.text = b["content"].string();
        array.finish = b["stopped_limit"].boolean() == true ? "limit" : b["stop_type"].string("");
        out.add(std::move(array), b["tokens"]);
    }
}

/// `tokens.json` of a trace, and lists like it.
void fromTokens(Collector &out, const Run &run, const WireBody &body)
{
    const Value b = body.value;
    Value list;
    for (const std::string_view key : {"ids", "token_ids", "input_ids"}) {
        if (b[key].isArray()) {
            list = b[key];
            break;
        }
    }
    if (!list)
        return;
    TokenArray array = arrayOf(body, TokenArray::Use::Input, list.key());
    array.pieces = stringsOf(b["pieces"].isArray() ? b["pieces"] : b["tokens"]);
    array.offsets = offsetsOf(b["offsets"]);
    array.roles = stringsOf(b["roles"]);
    if (const auto text = b["text"].string())
        array.text = *text;
    const Artifact *const of = body.artifact->of.empty() ? nullptr : run.byName(body.artifact->of);
    if (of && of->kind == Kind::ResponseBody)
        array.use = TokenArray::Use::Generated;
    array.finish = b["finish_reason"].string(of ? of->tree()["choices"][0]["finish_reason"].string("") : "");
    const auto cut = b["prompt_length"].integer();
    const std::size_t before = out.arrays.size();
    out.add(std::move(array), list, b["attention_mask"]);
    if (out.arrays.size() == before + 1)
        addLogprobs(out.arrays.back(), b["logprobs"], b["top_logprobs"], b["ranks"]);
    if (!cut || *cut < 0 || out.arrays.size() != before + 1 || static_cast<std::size_t>(*cut) >= out.arrays.back().ids.size())
        return;
    TokenArray &prompt = out.arrays.back();
    TokenArray answer = prompt;
    const auto parted = [&](auto &head, auto &tail) {
        if (head.empty())
            return;
        tail.erase(tail.begin(), tail.begin() + *cut);
        head.resize(static_cast<std::size_t>(*cut));
    };
    parted(prompt.ids, answer.ids);
    parted(prompt.pieces, answer.pieces);
    parted(prompt.offsets, answer.offsets);
    parted(prompt.roles, answer.roles);
    parted(prompt.mask, answer.mask);
    parted(prompt.logprobs, answer.logprobs);
    parted(prompt.ranks, answer.ranks);
    parted(prompt.alternatives, answer.alternatives);
    answer.use = TokenArray::Use::Generated;
    answer.first = static_cast<std::size_t>(*cut);
    prompt.text.reset();
    answer.text.reset();
    if (prompt.ids.empty())
        out.arrays.erase(out.arrays.end() - 1);
    out.arrays.push_back(std::move(answer));
}

/// {text, input_ids | ids | token_ids | ids_*, tokens, offsets, …}, one or one a line; /tokenize bodies.
void fromEncodeRecord(Collector &out, const WireBody &body)
{
    const Value b = body.value;
    std::optional<std::string> text = b["text"].string();
    for (const std::string_view key : {"content", "prompt"}) {
        if (!text)
            text = b[key].string();
    }
    TokenArray array = arrayOf(body, TokenArray::Use::Encoded, {});
    array.text = text;
    for (const std::string_view key : {"add_special_tokens", "add_special"}) {
        if (const auto flag = b[key].boolean())
            array.addSpecialTokens = flag;
    }
    array.pieces = stringsOf(b["tokens"]);
    if (array.pieces.empty())
        array.pieces = stringsOf(b["token_strs"].isArray() ? b["token_strs"] : b["pieces"]);
    array.offsets = offsetsOf(b["offsets"]);
    Value list;
    for (const std::string_view key : {"input_ids", "ids", "token_ids", "tokens"}) {
        if (b[key].isArray() && (b[key][0].isNumber() || (key != "tokens" && b[key].size() == 0))) {
            list = b[key];
            break;
        }
    }
    if (list) {
        array.source = list.key();
        out.add(array, list, b["attention_mask"]);
    } else if (b["tokens"][0]["id"].isNumber()) { // llama.cpp with_pieces
        array.pieces.clear();
        array.source = "tokens[].id";
        out.addObjects(array, b["tokens"], "id", "piece");
    } else if (!array.pieces.empty()) {
        if (array.offsets.size() != array.pieces.size())
            array.offsets.clear();
        array.source = "tokens";
        out.finish(array, b["tokens"].isArray() ? b["tokens"] : b["pieces"]);
    }
    for (const Value member : b) { // the same text under several settings
        const std::string key = member.key();
        if (!key.starts_with("ids_") || !member.isArray())
            continue;
        TokenArray other = arrayOf(body, TokenArray::Use::Encoded, key);
        other.text = text;
        other.name = key.substr(4);
        out.add(std::move(other), member);
    }
}

/// vLLM prints a request as `prompt_token_ids: [1, 2, 3], lora_request: …`.
void fromLog(Collector &out, const Artifact &artifact, const TextContent &log)
{
    constexpr std::string_view key = "prompt_token_ids: [";
    for (std::size_t i = 0; i < log.lineCount(); ++i) {
        const std::string_view line = log.line(i);
        const auto at = line.find(key);
        if (at == std::string_view::npos)
            continue;
        TokenArray array;
        array.source = "prompt_token_ids";
        array.artifact = &artifact;
        array.where = LogLine{i + 1, i + 1};
        const char *p = line.data() + at + key.size();
        const char *const end = line.data() + line.size();
        while (p < end) {
            std::int64_t id = 0;
            const auto [next, error] = std::from_chars(p, end, id);
            if (error != std::errc())
                break;
            array.ids.push_back(id);
            p = next;
            while (p < end && (*p == ',' || *p == ' '))
                ++p;
        }
        if (p < end && *p == ']' && !array.ids.empty()) // a list cut by the log ends otherwise
            out.arrays.push_back(std::move(array));
    }
}

/// HELM: the tokens of a completion, with or without ids.
void fromHelm(Collector &out, const WireBody &body)
{
    for (const Value completion : body.value["result"]["completions"]) {
        TokenArray array = arrayOf(body, TokenArray::Use::Generated, "result.completions[].tokens");
        array.text = completion["text"].string();
        const Value tokens = completion["tokens"];
        bool ids = tokens.size() > 0;
        for (const Value token : tokens)
            ids = ids && token["id"].integer();
        for (const Value token : tokens) {
            array.pieces.push_back(token["text"].string(""));
            if (ids)
                array.ids.push_back(*token["id"].integer());
        }
        out.finish(std::move(array), tokens);
    }
}

/// Visits the records of a JSON file that is no wire body.
Result<void> eachRecord(const Artifact &artifact, const Job &job, const std::function<void(const WireBody &)> &use)
{
    WireBody body;
    body.artifact = &artifact;
    if (const auto *const lines = artifact.as<LinesContent>()) {
        for (std::size_t i = 0; i < lines->lines.size(); ++i) {
            if (i % 256 == 0 && job.cancelled())
                return Job::cancelledError();
            body.document = lines->document(i);
            body.value = body.document->root();
            body.line = lines->lines[i].line;
            body.record = i;
            use(body);
        }
    } else if (const auto *const tree = artifact.as<TreeContent>()) {
        body.document = tree->document;
        const Value root = tree->root();
        if (root.isArray() && root[0].isObject()) {
            for (const Value element : root) {
                body.value = element;
                use(body);
                ++body.record;
            }
        } else {
            body.value = root;
            use(body);
        }
    }
    return job.cancelled() ? Result<void>(Job::cancelledError()) : Result<void>();
}

bool isTokenizeBody(Value body)
{
    return body["tokens"].isArray() && (body["tokens"][0].isNumber() || body["tokens"][0]["id"].isNumber())
           && !body["tokens_predicted"].isSet() && !body["stop"].isSet() && !body["timings"].isSet() && !body["details"].isSet();
}

/// A /tokenize call recorded as request and response: the response's ids with the request's text.
void fromTokenizeCalls(Collector &out, std::vector<WireBody> &&calls, const std::map<std::size_t, WireBody> &requests)
{
    for (WireBody &call : calls) {
        const auto request = requests.find(call.record);
        const std::size_t before = out.arrays.size();
        fromEncodeRecord(out, call);
        if (request == requests.end())
            continue;
        for (std::size_t i = before; i < out.arrays.size(); ++i) {
            TokenArray &array = out.arrays[i];
            for (const std::string_view key : {"text", "content", "prompt"}) {
                if (!array.text)
                    array.text = request->second.value[key].string();
            }
            for (const std::string_view key : {"add_special_tokens", "add_special"}) {
                if (const auto flag = request->second.value[key].boolean())
                    array.addSpecialTokens = flag;
            }
        }
    }
}

} // namespace

std::optional<std::vector<std::int64_t>> integersOf(Value list)
{
    if (!list.isArray())
        return std::nullopt;
    std::vector<std::int64_t> values;
    values.reserve(list.size());
    for (const Value element : list) {
        const auto value = element.integer();
        if (!value)
            return std::nullopt;
        values.push_back(*value);
    }
    return values;
}

Result<std::vector<TokenArray>> tokenArrays(const Run &run, const Job &job)
{
    Collector out;
    for (const Artifact &artifact : run.artifacts()) {
        if (job.cancelled())
            return Job::cancelledError();
        Result<void> done;
        if (artifact.as<TensorContent>()) {
            if (artifact.kind != Kind::Weights && artifact.format != "gguf")
                out.tensors(run, artifact, job);
            else if (artifact.as<TensorContent>()->find("input_ids"))
                out.tensors(run, artifact, job);
        } else if (const auto *const text = artifact.as<TextContent>(); text && artifact.kind == Kind::StartupLog) {
            fromLog(out, artifact, *text);
        } else if (artifact.kind == Kind::EncodeRecord) {
            done = eachRecord(artifact, job, [&](const WireBody &body) { fromEncodeRecord(out, body); });
        } else if (artifact.kind == Kind::TokenArray) {
            done = eachRecord(artifact, job, [&](const WireBody &body) {
                if (body.value.isArray() && body.value[0].isNumber()) {
                    TokenArray array = arrayOf(body, TokenArray::Use::Input, "ids");
                    out.add(std::move(array), body.value);
                } else {
                    fromTokens(out, run, body);
                }
            });
        } else if (artifact.kind == Kind::TrainingBatch) {
            done = eachRecord(artifact, job, [&](const WireBody &body) {
                if (body.value["input_ids"].isArray() && !body.value["labels"].isSet())
                    out.add(arrayOf(body, TokenArray::Use::Input, "input_ids"), body.value["input_ids"], body.value["attention_mask"]);
            });
        } else if (artifact.kind == Kind::EvalSamples) {
            done = eachRecord(artifact, job, [&](const WireBody &body) { fromHelm(out, body); });
        } else {
            std::vector<WireBody> calls;
            std::map<std::size_t, WireBody> requests;
            done = eachBody(artifact, job, [&](const WireBody &body) {
                if (isTokenizeBody(body.value)) {
                    calls.push_back(body);
                    return;
                }
                if (body.value["content"].isString() || body.value["prompt"].isString() || body.value["text"].isString())
                    requests.emplace(body.record, body);
                fromBody(out, body);
            });
            fromTokenizeCalls(out, std::move(calls), requests);
        }
        if (!done)
            return done.error();
    }
    return std::move(out.arrays);
}

Result<std::vector<TokenArray>> tokenArrays(const Run &run, TokenArray::Use use, const Job &job)
{
    auto all = tokenArrays(run, job);
    if (all)
        std::erase_if(*all, [&](const TokenArray &array) { return array.use != use; });
    return all;
}

const Exchange *exchangeOf(const std::vector<Exchange> &all, const TokenArray &array)
{
    for (const Exchange &exchange : all) {
        for (const auto &body : {exchange.response, exchange.request}) {
            const bool mine = body && array.body && sameBody(*body, *array.body);
            if (mine || (body && !array.artifact->of.empty() && body->artifact->name == array.artifact->of))
                return &exchange;
        }
    }
    const bool only = all.size() == 1 && array.artifact->kind == Kind::TokenArray && array.artifact->of.empty();
    return only ? &all.front() : nullptr;
}

} // namespace prosector
