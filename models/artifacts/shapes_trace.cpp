// SPDX-License-Identifier: GPL-3.0-or-later
// What was captured of a run: tokens, caches, training, retrieval, evaluation, metrics, spans.
#include "models/artifacts/shapes.h"

#include <algorithm>
#include <array>

namespace prosector {

namespace {

std::string tokensSummary(Value root)
{
    for (const char *const key : {"ids", "token_ids", "input_ids"}) {
        if (const Value ids = root[key]; ids.isArray())
            return std::to_string(ids.size()) + " tokens";
    }
    return root.isArray() ? std::to_string(root.size()) + " tokens" : std::string();
}

std::string resultsSummary(Value root)
{
    std::string text;
    for (const Value task : root["results"]) {
        text += (text.empty() ? "" : ", ") + task.key();
        if (text.size() > 60)
            return text + " …";
    }
    return text;
}

bool isSpan(Value record)
{
    if (!record.isObject() || record.size() > 512)
        return false;
    return std::any_of(record.begin(), record.end(), [](Value member) {
        const auto key = member.key();
        return key.starts_with("gen_ai.") || key.starts_with("openinference.");
    });
}

constexpr std::array table = std::to_array<Shape>({
    {.format = "trace_manifest", .kind = Kind::TraceManifest, .names = "", .keys = "prosector:n artifacts:a|prosector:n name model:o|prosector:n",
     .summary = [](Value root) { return root["name"].string(""); }},

    {.format = "tokens", .kind = Kind::TokenArray, .names = "tokens*.json *tokens.jsonl token_ids*.json input_ids*.json",
     .keys = "ids:a !text|token_ids:a !choices !text !note|ids:a pieces:a|ids:a prompt_length|ids:a roles:a|"
             "token_ids:a logprobs:a|ids:a offsets:a pieces:a",
     .records = true, .summary = tokensSummary},
    {.format = "encode", .kind = Kind::EncodeRecord, .names = "encode*.json encode*.jsonl",
     .keys = "text input_ids !sampling_params !meta_info|text tokens !choices|text ids|text tokens offsets|"
             "text tokens input_ids|text ids_*|text ids_* round_trip|text ids tokens offsets",
     .records = true},
    {.format = "batch", .kind = Kind::TrainingBatch, .names = "batch*.json batch*.jsonl",
     .keys = "input_ids:a labels:a|input_ids:a labels:a attention_mask|input_ids:a labels:a position_ids:a|"
             "input_ids:a attention_mask:a !text !tokens",
     .records = true},
    {.format = "preferences", .kind = Kind::PreferencePairs, .names = "dpo*.jsonl preference*.jsonl",
     .keys = "chosen rejected|prompt chosen rejected|text_chosen text_rejected|text_prompt text_chosen text_rejected|"
             "chosen_ids rejected_ids|chosen_input_ids rejected_input_ids",
     .records = true},
    {.format = "training_log", .kind = Kind::TrainingLog, .names = "train*.jsonl",
     .keys = "step loss|step learning_rate|global_step loss|epoch loss|_step loss|iter loss", .records = true},
    {.format = "activation_stats", .kind = Kind::ActivationStats, .names = "activation_stats*.json activations*.json",
     .keys = "modules:a dtype !idx|layers:a dtype", .test = [](Value root) {
         return root["modules"][0]["abs_max"] || root["layers"][0]["abs_max"] || root["modules"][0]["absmax"];
     }},
    {.format = "weight_stats", .kind = Kind::WeightStats, .names = "weight_stats*.json weight_stats*.jsonl",
     .keys = "tensor shape dtype min max|name shape dtype mean std|tensor min max|name dtype abs_max !modules|name min max std|tensors:a dtype !modules",
     .records = true},

    {.format = "kv_events", .kind = Kind::CacheLog, .names = "kv_events*.jsonl", .keys = "block_hashes:a|event block_hashes:a|events:a ts",
     .records = true},
    {.format = "cache_keys", .kind = Kind::CacheKeyFields, .names = "cache_key*.json cache_key*.jsonl",
     .keys = "key_fields:a|fields:a hashed|placeholder_values:a|hashed_fields:a", .records = true},
    {.format = "kv_cache_table", .kind = Kind::KvCacheTable, .names = "kv_cache*.json kv_cache*.jsonl block_table*.json",
     .keys = "block_id owner|slot request_id token_hash|block_id token_hash refcount|block_tables:o", .records = true},
    {.format = "cache_log", .kind = Kind::CacheLog, .names = "cache*.jsonl cache*.json",
     .keys = "key hit|key hit time|key request_hash hit|cache_key hit", .records = true},

    {.format = "retrieval", .kind = Kind::RetrievalLog, .names = "retrieval*.jsonl search*.jsonl",
     .keys = "query results:a|query hits:a|query documents:a|query retrieved|doc raw_score|doc score|doc_id score !resps|"
             "query k results:a",
     .records = true},
    {.format = "index_meta", .kind = Kind::IndexStats, .names = "index_meta*.json index_stats*.json",
     .keys = "index_type|distance_strategy|metric_type|index_type distance_strategy|hnsw_config|index_type metric dimension"},

    {.format = "inspect_log", .kind = Kind::EvalSamples, .names = "",
     .keys = "eval:o status|version eval:o status|version status eval:o plan:o results", .summary = [](Value root) {
         return root["eval"]["task"].string("") + ", " + std::to_string(root["samples"].size()) + " samples";
     }},
    {.format = "eval_results", .kind = Kind::EvalConfig, .names = "results*.json",
     .keys = "results:o versions|results:o config|results:o lm_eval_version|results:o n-shot|results:o configs versions|results:o",
     .summary = resultsSummary},
    {.format = "eval_samples", .kind = Kind::EvalSamples, .names = "samples*.jsonl *samples.jsonl scenario_state*.json*",
     .keys = "doc_id resps|doc_id target|doc_id arguments|doc_id target resps filtered_resps|instance_id result|"
             "instance_id request:o result:o|question options:a answer|question_id options:a answer|question answer !query|"
             "item_id answer|sample_id score|id gold raw_answer|input ideal|run_id spec|event_id sample_id data",
     .records = true},
    {.format = "eval_config", .kind = Kind::EvalConfig, .names = "",
     .keys = "task output_type|task dataset_path|task doc_to_text|task doc_to_choice|task metric_list|group task:a|"
             "task output_type doc_to_choice target_delimiter"},
    {.format = "verdicts", .kind = Kind::JudgeVerdicts, .names = "judge*.jsonl verdicts*.jsonl",
     .keys = "pair_id verdict|pair_id winner|verdict judge|winner model_a model_b|question_id winner", .records = true},

    {.format = "prometheus_json", .kind = Kind::MetricHistory, .names = "query_range*.json",
     .keys = "status data/resultType|status data/resultType data/result:a"},
    {.format = "otlp_metrics", .kind = Kind::MetricHistory, .names = "", .keys = "resourceMetrics:a", .records = true},
    {.format = "otlp_spans", .kind = Kind::RequestLog, .names = "", .keys = "resourceSpans:a", .records = true},
    {.format = "otlp_logs", .kind = Kind::StartupLog, .names = "", .keys = "resourceLogs:a", .records = true},
    {.format = "json_log", .kind = Kind::StartupLog, .names = "",
     .keys = "timestamp level fields|timestamp level message|time level msg|ts level msg|timestamp level fields target|"
             "asctime levelname message",
     .records = true},
    {.format = "span", .kind = Kind::RequestLog, .names = "", .keys = "spanContext:o|spanContext:o attributes:o|traceId spanId|trace_id span_id",
     .records = true, .test = isSpan},
    {.format = "langfuse", .kind = Kind::RequestLog, .names = "", .keys = "trace:o observations:a"},
    {.format = "mooncake", .kind = Kind::RequestLog, .names = "*trace.jsonl",
     .keys = "timestamp input_length output_length|timestamp input_length output_length hash_ids:a", .records = true},
    {.format = "request_log", .kind = Kind::RequestLog, .names = "request_log*.jsonl",
     .keys = "request_id start|request_id arrive|request_id attempt|request_id latency|request_id status|request_id ttft|"
             "request_id arrive start end status",
     .records = true},
    {.format = "replicas", .kind = Kind::ReplicaInventory, .names = "replica*.json replica*.jsonl inventory*.json",
     .keys = "replica revision|replica file_hashes|replicas:a", .records = true},
    {.format = "deploy_events", .kind = Kind::DeployEvents, .names = "deploy*.json deploy*.jsonl", .keys = "deploy_events:a|kind from to text",
     .records = true},
    {.format = "probe_config", .kind = Kind::ProbeConfig, .names = "probe*.json probe*.yaml probe*.yml",
     .keys = "livenessProbe|readinessProbe|periodSeconds failureThreshold|probes:a|startupProbe"},
    {.format = "kernel_trace", .kind = Kind::KernelTrace, .names = "", .keys = "traceEvents:a"},
    {.format = "kernel_log", .kind = Kind::KernelTrace, .names = "kernel*.json kernel*.jsonl", .keys = "shape dtype path|kernel shape dtype", .records = true},
    {.format = "sweep", .kind = Kind::Sweep, .names = "sweep*.json sweep*.jsonl", .keys = "sweep:a|parameter value score", .records = true},
    {.format = "token_heatmap", .kind = Kind::Data, .names = "", .keys = "schema_version steps:a tokens:o|schema_version metadata:o steps:a"},
    {.format = "json_schema", .kind = Kind::Data, .names = "*.schema.json", .keys = "$schema properties|$schema $id|$defs properties|$schema title type"},
});

} // namespace

std::span<const Shape> traceShapes()
{
    return table;
}

} // namespace prosector
