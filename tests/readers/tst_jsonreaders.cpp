// SPDX-License-Identifier: GPL-3.0-or-later
// JSON and JSON Lines: what is recognised, and what becomes of damage.
#include "models/artifacts/jsonread.h"

#include "tests/support/reading.h"
#include "tests/support/strict.h"

using namespace prosector;

namespace {

std::string format(const Result<Reading> &reading, std::string_view reader)
{
    return std::string(reading && !reading->format.empty() ? reading->format : reader);
}

} // namespace

class TestJsonReaders : public QObject {
    Q_OBJECT

private slots:
    void recognised_data()
    {
        QTest::addColumn<QByteArray>("name");
        QTest::addColumn<QByteArray>("text");
        QTest::addColumn<QByteArray>("expectedFormat");
        QTest::addColumn<Kind>("kind");
        const auto row = [](const char *what, const char *name, const char *text, const char *expected, Kind kind) {
            QTest::newRow(what) << QByteArray(name) << QByteArray(text) << QByteArray(expected) << kind;
        };
        // A model folder's files, under their names and under others.
        row("config", "config.json", R"({"model_type": "qwen3", "vocab_size": 151936})", "config", Kind::ConfigFiles);
        row("config by content", "whatever.json", R"({"architectures": ["T5"], "d_model": 8})", "config", Kind::ConfigFiles);
        row("config by name", "config.json", R"({"unheard_of": 1})", "config", Kind::ConfigFiles);
        row("config with sampling", "config.json", R"({"temperature": 1.0, "vocab_size": 8, "max_length": 20, "top_k": 50, "model_type": "t5"})", "config", Kind::ConfigFiles);
        row("generation config", "generation_config.json", R"({"eos_token_id": [1, 2], "do_sample": true})", "generation_config", Kind::ConfigFiles);
        row("generation config, ids only", "generation_config.json", R"({"eos_token_id": 1, "pad_token_id": 0})", "generation_config", Kind::ConfigFiles);
        row("tokenizer", "tokenizer.json", R"({"added_tokens": [], "model": {"type": "BPE", "vocab": {"a": 0}, "merges": []}})", "tokenizer_json", Kind::TokenizerFiles);
        row("tokenizer under another name", "config.json", R"({"version": "1.0", "added_tokens": [], "model": {"type": "BPE", "vocab": {}}})", "tokenizer_json", Kind::TokenizerFiles);
        row("tokenizer config", "tokenizer_config.json", R"({"bos_token": {"content": "<s>"}, "model_max_length": 1000000000000000019884624838656})", "tokenizer_config", Kind::TokenizerFiles);
        row("tokenizer config, tokens only", "tokenizer_config.json", R"({"bos_token": "<s>", "eos_token": "</s>"})", "tokenizer_config", Kind::TokenizerFiles);
        row("tokenizer config with templates", "tokenizer_config.json", R"({"chat_template": [{"name": "default", "template": "x"}], "eos_token": "</s>"})", "tokenizer_config", Kind::TokenizerFiles);
        row("special tokens", "special_tokens_map.json", R"({"eos_token": {"content": "</s>"}, "additional_special_tokens": ["<x>"]})", "special_tokens_map", Kind::TokenizerFiles);
        row("added tokens", "added_tokens.json", R"({"<|im_end|>": 151645})", "added_tokens", Kind::TokenizerFiles);
        row("template json", "chat_template.json", R"({"chat_template": "{{ messages }}"})", "chat_template_json", Kind::ChatTemplate);
        row("adapter", "adapter_config.json", R"({"peft_type": "LORA", "r": 8, "target_modules": "all-linear"})", "adapter_config", Kind::AdapterFiles);
        row("gptq", "quantize_config.json", R"({"bits": 4, "group_size": 128, "desc_act": false})", "quantize_config", Kind::QuantizationConfig);
        row("awq", "quant_config.json", R"({"zero_point": true, "q_group_size": 128, "w_bit": 4, "version": "GEMM"})", "quantize_config", Kind::QuantizationConfig);
        row("modelopt", "hf_quant_config.json", R"({"producer": {"name": "modelopt"}, "quantization": {"quant_algo": "FP8"}})", "quantize_config", Kind::QuantizationConfig);
        row("sentence modules", "modules.json", R"([{"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Transformer"}])", "sentence_modules", Kind::ConfigFiles);
        row("sentence pooling", "config.json", R"({"word_embedding_dimension": 384, "pooling_mode_cls_token": true})", "sentence_pooling", Kind::ConfigFiles);
        row("sentence config", "config_sentence_transformers.json", R"({"__version__": {"sentence_transformers": "2.0"}, "prompts": {}})", "sentence_transformers_config", Kind::ConfigFiles);
        row("sentence bert", "sentence_bert_config.json", R"({"max_seq_length": 256, "do_lower_case": false})", "sentence_bert_config", Kind::ConfigFiles);
        row("preprocessor", "preprocessor_config.json", R"({"image_processor_type": "X", "processor_class": "Y"})", "preprocessor_config", Kind::ConfigFiles);
        row("processor", "processor_config.json", R"({"processor_class": "Y"})", "processor_config", Kind::ConfigFiles);
        row("mistral", "params.json", R"({"dim": 4096, "n_layers": 32, "n_heads": 32})", "mistral_params", Kind::ConfigFiles);
        row("tekken", "tekken.json", R"({"config": {"pattern": "x"}, "vocab": [{"rank": 0, "token_bytes": "AA=="}], "special_tokens": []})", "tekken", Kind::TokenizerFiles);
        row("trainer state", "trainer_state.json", R"({"global_step": 1, "log_history": []})", "trainer_state", Kind::TrainingLog);
        // Wire.
        row("chat request", "a.json", R"({"model": "m", "messages": [{"role": "user", "content": "x"}], "temperature": 0})", "request", Kind::RequestBody);
        row("completion request", "a.json", R"({"prompt": "I", "temperature": 0, "max_tokens": 5})", "request", Kind::RequestBody);
        row("anthropic request", "a.json", R"({"model": "claude", "max_tokens": 10, "system": "s", "messages": []})", "request", Kind::RequestBody);
        row("responses request", "a.json", R"({"model": "m", "input": "hello"})", "request", Kind::RequestBody);
        row("tgi request", "a.json", R"({"inputs": "x", "parameters": {"temperature": 0.1}})", "request", Kind::RequestBody);
        row("sglang request", "a.json", R"({"text": "x", "sampling_params": {"temperature": 0}})", "request", Kind::RequestBody);
        row("llama.cpp request", "a.json", R"({"prompt": "x", "n_predict": 8})", "request", Kind::RequestBody);
        row("chat response", "a.json", R"({"id": "x", "object": "chat.completion", "choices": [], "usage": {}})", "response", Kind::ResponseBody);
        row("anthropic response", "a.json", R"({"type": "message", "role": "assistant", "content": [], "stop_reason": "end_turn", "usage": {}})", "response", Kind::ResponseBody);
        row("ollama response", "a.json", R"({"model": "m", "message": {"role": "assistant"}, "done": true})", "response", Kind::ResponseBody);
        row("ollama generate response", "a.json", R"({"model": "m", "response": "x", "done": true})", "response", Kind::ResponseBody);
        row("tgi response", "a.json", R"({"generated_text": "x", "details": {}})", "response", Kind::ResponseBody);
        row("tgi load test", "a.json", R"([{"generated_text": "x"}])", "response", Kind::ResponseBody);
        row("sglang response", "a.json", R"({"text": "x", "meta_info": {}})", "response", Kind::ResponseBody);
        row("llama.cpp response", "a.json", R"({"content": "x", "tokens_predicted": 1, "timings": {}})", "response", Kind::ResponseBody);
        row("openai responses answer", "a.json", R"({"object": "response", "output": [], "status": "completed", "model": "m"})", "response", Kind::ResponseBody);
        row("har", "a.har", R"({"log": {"version": "1.2", "entries": []}})", "har", Kind::RequestLog);
        row("sampling", "effective_sampling_params.json", R"({"temperature": 0.1, "top_k": 1, "top_p": 0.001})", "sampling_params", Kind::EffectiveSamplingParams);
        row("engine args", "engine_args.json", R"({"model": "m", "generation_config": "auto"})", "engine_args", Kind::EngineArgs);
        row("ollama show", "api_show.json", R"({"model_info": {}, "template": "x", "parameters": "y"})", "ollama_show", Kind::EffectiveConfig);
        row("ollama ps", "api_ps.json", R"({"models": [{"name": "m", "context_length": 4096}]})", "ollama_ps", Kind::EffectiveConfig);
        // Captures.
        row("manifest", "trace.json", R"({"prosector": 1, "artifacts": []})", "trace_manifest", Kind::TraceManifest);
        row("tokens", "tokens.json", R"({"ids": [1, 2], "pieces": ["a", "b"]})", "tokens", Kind::TokenArray);
        row("bare tokens", "tokens.json", R"([1, 2, 3])", "tokens", Kind::TokenArray);
        row("encode", "encode.json", R"({"text": "a", "tokens": ["a"], "offsets": [[0, 1]]})", "encode", Kind::EncodeRecord);
        row("activations", "activation_stats.json", R"({"dtype": "float16", "modules": [{"name": "x", "abs_max": "inf"}]})", "activation_stats", Kind::ActivationStats);
        row("batch", "b.json", R"({"input_ids": [[1]], "labels": [[1]]})", "batch", Kind::TrainingBatch);
        row("query range", "a.json", R"({"status": "success", "data": {"resultType": "matrix", "result": []}})", "prometheus_json", Kind::MetricHistory);
        row("results", "results.json", R"({"results": {"gsm8k": {}}, "versions": {}})", "eval_results", Kind::EvalConfig);
        row("inspect", "log.json", R"({"version": 2, "status": "success", "eval": {"task": "t"}})", "inspect_log", Kind::EvalSamples);
        row("otlp", "a.json", R"({"resourceSpans": []})", "otlp_spans", Kind::RequestLog);
        row("nothing in particular", "a.json", R"({"x": 1})", "json", Kind::Data);
        // JSON Lines.
        row("requests", "a.jsonl", "{\"model\": \"m\", \"messages\": []}\n{\"model\": \"m\", \"messages\": []}\n", "request", Kind::RequestBody);
        row("one line", "a.jsonl", "{\"doc_id\": 0, \"resps\": []}", "eval_samples", Kind::EvalSamples);
        row("lines under .json", "a.json", "{\"doc_id\": 0, \"target\": 1}\n{\"doc_id\": 1, \"target\": 1}\n", "eval_samples", Kind::EvalSamples);
        row("mooncake", "t.jsonl", "{\"timestamp\": 0, \"input_length\": 1, \"output_length\": 2, \"hash_ids\": []}\n", "mooncake", Kind::RequestLog);
        row("preferences", "d.jsonl", "{\"prompt\": \"a\", \"chosen\": \"b\", \"rejected\": \"c\"}\n", "preferences", Kind::PreferencePairs);
        row("json log", "s.jsonl", "{\"timestamp\": \"t\", \"level\": \"INFO\", \"fields\": {}, \"target\": \"text_generation_launcher\"}\n", "json_log", Kind::StartupLog);
    }
    void recognised()
    {
        QFETCH(QByteArray, name);
        QFETCH(QByteArray, text);
        QFETCH(QByteArray, expectedFormat);
        QFETCH(Kind, kind);
        const auto reader = sniffed(name.toStdString(), text.toStdString());
        QVERIFY(reader == "json" || reader == "jsonl");
        const auto reading = readWith(reader, text.toStdString(), name.toStdString());
        QVERIFY_RESULT(reading);
        QCOMPARE(format(reading, reader), expectedFormat.toStdString());
        QCOMPARE(nameOf(reading->kind), nameOf(kind));
        QCOMPARE(describeProblems(reading), std::string());
        QVERIFY(!reading->summary.empty() || expectedFormat == "tokenizer_config" || expectedFormat == "trace_manifest");
    }

    void damage_data()
    {
        QTest::addColumn<QByteArray>("name");
        QTest::addColumn<QByteArray>("text");
        QTest::addColumn<Errc>("code");
        QTest::addColumn<quint64>("offset");
        QTest::addColumn<QByteArray>("expectedFormat");
        QTest::newRow("empty") << QByteArray("config.json") << QByteArray() << Errc::Truncated << quint64(0) << QByteArray("config");
        QTest::newRow("web page") << QByteArray("config.json") << QByteArray("<!DOCTYPE html>") << Errc::Malformed << quint64(0) << QByteArray("config");
        QTest::newRow("bytes") << QByteArray("config.json") << QByteArray("\0\1\2", 3) << Errc::Malformed << quint64(0) << QByteArray("config");
        QTest::newRow("cut") << QByteArray("config.json") << QByteArray("{\"model_type\": \"llama\", \"vocab_size\": ") << Errc::Truncated << quint64(38) << QByteArray("config");
        QTest::newRow("single quotes") << QByteArray("a.json") << QByteArray("{\"model_type\": 'llama'}") << Errc::Malformed << quint64(15) << QByteArray("json");
        QTest::newRow("comment") << QByteArray("tokenizer.json") << QByteArray("{\"model\": {\"vocab\": {}}, // note\n}") << Errc::Malformed << quint64(25) << QByteArray("tokenizer_json");
        QTest::newRow("nesting") << QByteArray("config.json") << QByteArray(100'000'000, '[') << Errc::TooLarge << quint64(1000) << QByteArray("config");
        QTest::newRow("nested objects") << QByteArray("a.json") << QByteArray("{\"a\":").repeated(200'000) << Errc::TooLarge << quint64(5000) << QByteArray("json");
        QTest::newRow("second value") << QByteArray("config.json") << QByteArray("{\"model_type\": \"a\"} {\"x\": 1}") << Errc::Malformed << quint64(20) << QByteArray("config");
        QTest::newRow("utf-16") << QByteArray("config.json") << QByteArray("\xFF\xFE{\0}\0", 6) << Errc::Malformed << quint64(0) << QByteArray("config");
    }
    void damage()
    {
        QFETCH(QByteArray, name);
        QFETCH(QByteArray, text);
        QFETCH(Errc, code);
        QFETCH(quint64, offset);
        QFETCH(QByteArray, expectedFormat);
        QCOMPARE(sniffed(name.toStdString(), std::string_view(text.constData(), static_cast<std::size_t>(text.size()))), std::string_view("json"));
        const auto reading = readWith("json", std::string_view(text.constData(), static_cast<std::size_t>(text.size())), name.toStdString());
        QVERIFY_RESULT(reading);
        QCOMPARE(reading->problems.size(), std::size_t(1));
        QCOMPARE(reading->problems[0].code, code);
        QCOMPARE(std::get<ByteRange>(reading->problems[0].where).from, std::uint64_t(offset));
        QVERIFY(!reading->problems[0].expected.empty() && !reading->problems[0].found.empty());
        QCOMPARE(format(reading, "json"), expectedFormat.toStdString());
    }

    void tokenRecords_data()
    {
        QTest::addColumn<QByteArray>("text");
        QTest::addColumn<QByteArray>("path"); // of the one problem; empty when there is none
        QTest::newRow("whole") << QByteArray(R"({"ids": [1, 2], "pieces": ["a", "b"], "offsets": [[0, 1], [1, 1]], "roles": ["user", "user"],
            "logprobs": [null, -0.5], "top_logprobs": [null, {}], "prompt_length": 2})") << QByteArray();
        QTest::newRow("pieces") << QByteArray(R"({"ids": [1, 2], "pieces": ["a"]})") << QByteArray("$.pieces");
        QTest::newRow("offsets") << QByteArray(R"({"ids": [1], "offsets": [[0, 1], [1, 2]], "pieces": ["a"]})") << QByteArray("$.offsets");
        QTest::newRow("offset backwards") << QByteArray(R"({"ids": [1], "offsets": [[3, 1]], "pieces": ["a"]})") << QByteArray("$.offsets[0]");
        QTest::newRow("offset of three") << QByteArray(R"({"ids": [1], "offsets": [[3, 4, 5]], "pieces": ["a"]})") << QByteArray("$.offsets[0]");
        QTest::newRow("roles") << QByteArray(R"({"ids": [1, 2], "roles": []})") << QByteArray("$.roles");
        QTest::newRow("logprobs") << QByteArray(R"({"ids": [1, 2], "pieces": ["a", "b"], "logprobs": [0.5, 1, 2]})") << QByteArray("$.logprobs");
        QTest::newRow("logprob of text") << QByteArray(R"({"ids": [1], "pieces": ["a"], "logprobs": ["x"]})") << QByteArray("$.logprobs[0]");
        QTest::newRow("id that is none") << QByteArray(R"({"ids": [1, 2.5], "pieces": ["a", "b"]})") << QByteArray("$.ids[1]");
        QTest::newRow("prompt too long") << QByteArray(R"({"ids": [1, 2], "prompt_length": 3})") << QByteArray("$.prompt_length");
        QTest::newRow("prompt below zero") << QByteArray(R"({"ids": [1, 2], "prompt_length": -1})") << QByteArray("$.prompt_length");
        QTest::newRow("second of a list") << QByteArray(R"([{"ids": [1], "pieces": ["a"]}, {"ids": [1], "pieces": []}])") << QByteArray("$[1].pieces");
    }
    void tokenRecords()
    {
        QFETCH(QByteArray, text);
        QFETCH(QByteArray, path);
        const auto reading = readWith("json", text.toStdString(), "tokens.json");
        QVERIFY_RESULT(reading);
        QCOMPARE(format(reading, "json"), std::string("tokens"));
        QCOMPARE(reading->problems.size(), std::size_t(path.isEmpty() ? 0 : 1));
        if (!path.isEmpty())
            QCOMPARE(std::get<JsonPath>(reading->problems[0].where).path, path.toStdString());
    }

    void remarks_data()
    {
        QTest::addColumn<QByteArray>("text");
        QTest::addColumn<Remark::Kind>("kind");
        QTest::newRow("duplicate key") << QByteArray(R"({"model_type": "a", "eos_token_id": 1, "eos_token_id": 2})") << Remark::Kind::DuplicateKey;
        QTest::newRow("NaN") << QByteArray(R"({"model_type": "a", "x": NaN})") << Remark::Kind::NonFiniteNumber;
        QTest::newRow("Infinity") << QByteArray(R"({"model_type": "a", "x": -Infinity})") << Remark::Kind::NonFiniteNumber;
        QTest::newRow("invalid UTF-8") << QByteArray("{\"model_type\": \"\xC3\x28\"}") << Remark::Kind::InvalidUtf8;
        QTest::newRow("byte order mark") << QByteArray("\xEF\xBB\xBF{\"model_type\": \"a\"}") << Remark::Kind::ByteOrderMark;
    }
    void remarks()
    {
        QFETCH(QByteArray, text);
        QFETCH(Remark::Kind, kind);
        const auto reading = readWith("json", text.toStdString(), "config.json");
        QVERIFY_RESULT(reading);
        QCOMPARE(describeProblems(reading), std::string());
        const auto &remarks = dynamic_cast<const TreeContent &>(*reading->content).document->remarks();
        QCOMPARE(remarks.size(), std::size_t(1));
        QCOMPARE(remarks[0].kind, kind);
    }

    void manyRemarksStayFew()
    {
        // Each remark's path costs the length of its array: a hundred of them are made, not a million.
        const auto reading = readWith("json", (QByteArray("[NaN") + QByteArray(",NaN").repeated(1'000'000) + ']').toStdString(), "a.json");
        QVERIFY_RESULT(reading);
        QCOMPARE(dynamic_cast<const TreeContent &>(*reading->content).document->remarks().size(), Document::maxRemarks);
        const auto keys = readWith("json", (QByteArray("{\"a\":1") + QByteArray(",\"a\":1").repeated(300'000) + '}').toStdString(), "a.json");
        QCOMPARE(dynamic_cast<const TreeContent &>(*keys->content).document->remarks().size(), Document::maxRemarks);
    }

    void lines()
    {
        const auto reading = readWith("jsonl", "{\"a\": 1}\r\n\n  \n{\"a\": 2}\n{\"a\": \n{\"b\"\n{\"a\": 3}", "x.jsonl");
        QVERIFY_RESULT(reading);
        const auto &content = dynamic_cast<const LinesContent &>(*reading->content);
        QCOMPARE(content.lines.size(), std::size_t(5));
        QCOMPARE(content.lines[1].line, std::uint64_t(4));
        QCOMPARE(content.lines[1].offset, std::uint64_t(14));
        QCOMPARE(content.document(1)->root()["a"].integer(), std::optional<std::int64_t>(2));
        QCOMPARE(content.document(4)->root()["a"].integer(), std::optional<std::int64_t>(3));
        QCOMPARE(reading->problems.size(), std::size_t(1));
        QVERIFY(reading->problems[0].message.starts_with("line 5: "));
        QVERIFY(reading->problems[0].message.find("1 more damaged") != std::string::npos);
        QCOMPARE(std::get<ByteRange>(reading->problems[0].where).from, std::uint64_t(29));
    }

    void sizes()
    {
        // Numbers beyond 64 bits, merges in both spellings, a token as text and as object.
        const auto config = readWith("json", R"({"model_max_length": 1000000000000000019884624838656, "tokenizer_class": "X", "eos_token": {"content": "</s>"}})", "tokenizer_config.json");
        const auto &tree = dynamic_cast<const TreeContent &>(*config->content);
        QCOMPARE(tree.root()["model_max_length"].number(), std::optional(1000000000000000019884624838656.0));
        for (const char *const merges : {R"(["a b"])", R"([["a", "b"]])"}) {
            const auto text = std::string(R"({"added_tokens": [], "model": {"vocab": {"a": 0}, "merges": )") + merges + "}}";
            QCOMPARE(format(readWith("json", text, "tokenizer.json"), "json"), std::string("tokenizer_json"));
        }
    }

    void lfsPointer()
    {
        const std::string good = "version https://git-lfs.github.com/spec/v1\noid sha256:ab\nsize 12\n";
        for (const char *const name : {"model.safetensors", "config.json", "tokenizer.model", "x"})
            QCOMPARE(sniffed(name, good), std::string_view("lfs"));
        QCOMPARE(dynamic_cast<const LfsContent &>(*readWith("lfs", good)->content).declaredSize, std::uint64_t(12));
        QCOMPARE(dynamic_cast<const LfsContent &>(*readWith("lfs", good)->content).oid, std::string("sha256:ab"));
        for (const char *const bad : {"size -1\n", "size x\n", "size 99999999999999999999999\n", ""}) {
            const auto reading = readWith("lfs", std::string("version https://git-lfs.github.com/spec/v1\n") + bad);
            QVERIFY_RESULT(reading);
            QCOMPARE(reading->problems.size(), std::size_t(1));
        }
        QVERIFY(sniffed("x", "version https://git-lfs.github.com/spec/v1\n" + std::string(5000, 'x')) != "lfs");
    }
};

PROSECTOR_TEST(TestJsonReaders, tst_jsonreaders)

#include "tst_jsonreaders.moc"
