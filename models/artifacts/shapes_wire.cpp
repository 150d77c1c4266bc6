// SPDX-License-Identifier: GPL-3.0-or-later
// Requests, responses and what servers say of themselves: OpenAI (chat, completions, responses,
// embeddings), Anthropic, Gemini, Ollama, TGI, SGLang, llama.cpp. Key names: their public references.
#include "models/artifacts/shapes.h"

#include <array>

namespace prosector {

namespace {

std::string requestSummary(Value root)
{
    const Value request = root["request"].isObject() ? root["request"] : root;
    std::string text = request["model"].string("");
    if (const Value messages = request["messages"]; messages.isArray())
        text += (text.empty() ? "" : ", ") + std::to_string(messages.size()) + (messages.size() == 1 ? " message" : " messages");
    return text;
}

std::string responseSummary(Value root)
{
    std::string text = root["model"].string("");
    if (const auto reason = root["choices"][0]["finish_reason"].string())
        text += (text.empty() ? "finish: " : ", finish: ") + *reason;
    return text;
}

/// A list of TGI answers, as load tests write them.
bool isTextGeneration(Value record)
{
    return record["generated_text"].isString();
}

constexpr std::array table = std::to_array<Shape>({
    {.format = "request", .kind = Kind::RequestBody, .names = "request*.json *request.json *requests.jsonl request*.jsonl",
     .keys = "messages:a !choices !result !response !chosen|messages:a model !choices !response|prompt max_tokens !choices !result|"
             "prompt temperature !choices|prompt stream|prompt model !choices !response|prompt sampling_params|"
             "prompt n_predict|prompt raw path|prompt_token_ids !choices !prompt_logprobs !usage|inputs parameters:o|"
             "text sampling_params:o|input_ids sampling_params:o|input model !output !object|input model role|"
             "contents:a generationConfig|contents:a !candidates|model max_tokens messages:a system|"
             "messages:a add_generation_prompt|request_id prompt_token_ids !choices",
     .records = true, .summary = requestSummary},
    {.format = "response", .kind = Kind::ResponseBody, .names = "response*.json *response.json responses*.jsonl",
     .keys = "choices:a|choices:a object model|object:s choices:a usage|id object created model choices:a usage|"
             "output:a status model|output:a object:s|generated_text:s|generated_text:s details:o|"
             "message:o done:b|response:s done:b|message:o done:b model created_at|model response:s done:b|"
             "content:a role stop_reason|type content:a role usage|text:s meta_info:o|"
             "content:s tokens_predicted|content:s stop timings:o|candidates:a|candidates:a usageMetadata|"
             "request:o content finish_reason|request:o response|response:o headers usage|"
             "prompt_logprobs prompt_token_ids|prompt_logprobs prompt_token_ids tokens|"
             "request_id prompt_token_ids usage content|object:s data:a model usage|embeddings:a model|error:o !results",
     .records = true, .summary = responseSummary, .test = isTextGeneration},
    {.format = "har", .kind = Kind::RequestLog, .names = "*.har", .keys = "log/entries:a|log/entries:a log/version",
     .summary = [](Value root) { return std::to_string(root["log"]["entries"].size()) + " exchanges"; }},
    {.format = "sampling_params", .kind = Kind::EffectiveSamplingParams,
     .names = "effective_sampling_params*.json sampling_params*.json",
     .keys = "temperature top_p !model !messages !prompt !eos_token_id !transformers_version !do_sample !bos_token_id|"
             "temperature top_k top_p !model !messages !prompt !eos_token_id !transformers_version !do_sample|"
             "temperature !model !messages !prompt|top_p !model !messages !prompt|max_tokens !model !messages !prompt|"
             "repetition_penalty !model",
     .records = true},
    {.format = "engine_args", .kind = Kind::EngineArgs, .names = "engine_args*.json server_args*.json",
     .keys = "tensor_parallel_size|max_model_len|gpu_memory_utilization|tensor_parallel_size max_model_len|"
             "mem_fraction_static|tp_size context_length|model_path context_length|model_path tp_size|kv_cache_dtype dtype|"
             "generation_config model|max_num_seqs|model dtype|enforce_eager|n_ctx n_batch",
     .nameDecides = true},
    {.format = "ollama_show", .kind = Kind::EffectiveConfig, .names = "api_show*.json",
     .keys = "model_info:o|modelfile:s|model_info:o template|template:s parameters:s|details:o model_info:o"},
    {.format = "ollama_ps", .kind = Kind::EffectiveConfig, .names = "api_ps*.json", .keys = "", .test = [](Value root) {
         const Value first = root["models"][0];
         return first["name"].isString() && (first["context_length"] || first["size_vram"] || first["expires_at"]);
     }},
    {.format = "llamacpp_props", .kind = Kind::EffectiveConfig, .names = "props.json",
     .keys = "default_generation_settings:o|default_generation_settings:o total_slots"},
    {.format = "served_models", .kind = Kind::EffectiveConfig, .names = "models.json v1_models.json", .keys = "",
     .test = [](Value root) { return root["data"][0]["object"].string("") == "model"; }},
    {.format = "effective_config", .kind = Kind::EffectiveConfig,
     .names = "effective_config*.json kernel_params*.json kernel_parameters*.json", .keys = "",
     .nameDecides = true},
    {.format = "server_info", .kind = Kind::EffectiveConfig, .names = "server_info*.json get_server_info*.json",
     .keys = "model_id max_total_tokens|model_path max_total_num_tokens|internal_states:a"},
});

} // namespace

std::span<const Shape> wireShapes()
{
    return table;
}

} // namespace prosector
