// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/panels/capturehints.h"

#include <QCoreApplication>

namespace prosector {

namespace {

struct Hint {
    Kind kind;
    const char *text;
};

constexpr Hint hints[] = {
    {Kind::ConfigFiles, QT_TRANSLATE_NOOP("CaptureHint", "config.json and generation_config.json of the model folder, or the GGUF file itself.")},
    {Kind::TokenizerFiles, QT_TRANSLATE_NOOP("CaptureHint", "tokenizer.json or tokenizer.model with tokenizer_config.json, from the model folder.")},
    {Kind::ChatTemplate, QT_TRANSLATE_NOOP("CaptureHint", "chat_template.jinja, or the chat_template string of tokenizer_config.json or GGUF.")},
    {Kind::AdapterFiles, QT_TRANSLATE_NOOP("CaptureHint", "adapter_config.json and adapter_model.safetensors as PEFT saves them.")},
    {Kind::Weights, QT_TRANSLATE_NOOP("CaptureHint", "The safetensors shards or GGUF file. Git-LFS pointers are not enough: run git lfs pull.")},
    {Kind::WeightIndex, QT_TRANSLATE_NOOP("CaptureHint", "model.safetensors.index.json beside the shards.")},
    {Kind::ModelCard, QT_TRANSLATE_NOOP("CaptureHint", "README.md of the model folder, with its front matter.")},
    {Kind::QuantizationConfig, QT_TRANSLATE_NOOP("CaptureHint", "quantize_config.json, or quantization_config inside config.json.")},
    {Kind::RequestBody, QT_TRANSLATE_NOOP("CaptureHint", "The JSON body the client sent: from the client's log, a proxy, or vLLM with --enable-log-requests. Save it as request.json.")},
    {Kind::ResponseBody, QT_TRANSLATE_NOOP("CaptureHint", "The JSON body the server answered. Save it as response.json.")},
    {Kind::StartupLog, QT_TRANSLATE_NOOP("CaptureHint", "What the server prints from its start to the first request, standard error included: vllm serve … 2>&1 | tee start.log; llama-server -v; OLLAMA_DEBUG=1.")},
    {Kind::EffectiveConfig, QT_TRANSLATE_NOOP("CaptureHint", "What the running server says of itself: SGLang /get_server_info, llama.cpp /props, TGI /info, vLLM's start-up log.")},
    {Kind::EffectiveSamplingParams, QT_TRANSLATE_NOOP("CaptureHint", "The sampling parameters as the engine ran them: vLLM with --enable-log-requests, llama.cpp generation_settings in the response.")},
    {Kind::EngineArgs, QT_TRANSLATE_NOOP("CaptureHint", "The command line of the server, as text or as a JSON object of its options. Save it as engine_args.json.")},
    {Kind::TokenArray, QT_TRANSLATE_NOOP("CaptureHint", "The ids the model received: vLLM return_token_ids, SGLang input_ids, llama.cpp /tokenize. Save them as tokens.json.")},
    {Kind::EncodeRecord, QT_TRANSLATE_NOOP("CaptureHint", "Texts with the ids a tokenizer gave for them: encode.json, or the body of /tokenize.")},
};

} // namespace

QString captureHint(Kind kind)
{
    for (const Hint &hint : hints) {
        if (hint.kind == kind)
            return QCoreApplication::translate("CaptureHint", hint.text);
    }
    return QCoreApplication::translate("CaptureHint", "Nothing of this kind is among what is open. Add the file to the folder and press F5.");
}

} // namespace prosector
