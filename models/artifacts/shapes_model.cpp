// SPDX-License-Identifier: GPL-3.0-or-later
// What lies in a model folder: Transformers, PEFT, sentence-transformers, Mistral's own format.
// Key names: huggingface/transformers (configuration_utils, generation/configuration_utils,
// tokenization_utils_base), huggingface/peft (config.py), UKPLab/sentence-transformers (models/).
#include "models/artifacts/shapes.h"

#include <array>

namespace prosector {

namespace {

std::string count(std::size_t n, std::string_view one, std::string_view many)
{
    return std::to_string(n) + ' ' + std::string(n == 1 ? one : many);
}

std::string configSummary(Value root)
{
    const auto architecture = root["architectures"][0].string("");
    const auto type = root["model_type"].string("");
    return architecture.empty() ? type : type.empty() ? architecture : architecture + " (" + type + ')';
}

std::string tokenizerSummary(Value root)
{
    const Value model = root["model"];
    return model["type"].string("model") + ", " + count(model["vocab"].size(), "entry", "entries") + ", "
           + count(root["added_tokens"].size(), "added token", "added tokens");
}

std::string tokenizerConfigSummary(Value root)
{
    const Value chat = root["chat_template"];
    std::string text = root["tokenizer_class"].string("");
    if (chat.isArray())
        text += (text.empty() ? "" : ", ") + count(chat.size(), "chat template", "chat templates");
    else if (chat.isString())
        text += text.empty() ? "with chat template" : ", with chat template";
    return text;
}

std::string adapterSummary(Value root)
{
    return root["peft_type"].string("adapter") + ", r " + std::string(root["r"].raw());
}

std::string quantSummary(Value root)
{
    for (const char *const key : {"quant_method", "quant_algo", "method", "version"}) {
        if (const auto text = root[key].string())
            return *text;
    }
    return root["quantization"]["quant_algo"].string("");
}

std::string membersSummary(Value root)
{
    return count(root.size(), "entry", "entries");
}

/// A dictionary from piece to id: every one of the first entries has a whole number.
bool isVocabulary(Value root)
{
    if (!root.isObject() || root.size() < 64)
        return false;
    int looked = 0;
    for (const Value member : root) {
        if (!member.integer())
            return false;
        if (++looked == 64)
            break;
    }
    return true;
}

/// A dictionary from marked spellings (`<|…|>`, `[…]`) to ids.
bool isAddedTokens(Value root)
{
    if (!root.isObject() || root.size() == 0)
        return false;
    int looked = 0;
    for (const Value member : root) {
        const auto key = member.key();
        if (!member.integer() || !(key.starts_with('<') || key.starts_with('[')))
            return false;
        if (++looked == 64)
            break;
    }
    return true;
}

/// Only special-token names, and at least one.
bool isSpecialTokensMap(Value root)
{
    if (!root.isObject() || root.size() == 0 || root.size() > 64)
        return false;
    for (const Value member : root) {
        const auto key = member.key();
        if (!key.ends_with("_token") && !key.ends_with("_tokens"))
            return false;
    }
    return true;
}

bool isModuleList(Value root)
{
    return root.isArray() && root[0]["path"].isString() && root[0]["type"].string("").starts_with("sentence_transformers.");
}

constexpr std::array table = std::to_array<Shape>({
    {.format = "config", .kind = Kind::ConfigFiles, .names = "config.json",
     .keys = "model_type|architectures:a|model_type architectures:a|hidden_size num_hidden_layers|num_hidden_layers|"
             "d_model vocab_size|n_embd n_layer|quantization_config:o|vision_config:o text_config:o",
     .summary = configSummary},
    {.format = "generation_config", .kind = Kind::ConfigFiles, .names = "generation_config.json",
     .keys = "eos_token_id !model_type|bos_token_id eos_token_id !model_type !architectures|do_sample|temperature !model|"
             "top_p !model|top_k !model|max_new_tokens !model|max_length !model|_from_model_config|"
             "repetition_penalty !model|pad_token_id transformers_version !model_type|suppress_tokens|forced_decoder_ids"},
    {.format = "tokenizer_json", .kind = Kind::TokenizerFiles, .names = "tokenizer.json",
     .keys = "model:o added_tokens:a|model/vocab pre_tokenizer|model/vocab|model/type model/vocab|"
             "added_tokens:a pre_tokenizer|added_tokens:a normalizer version",
     .summary = tokenizerSummary},
    {.format = "tokenizer_config", .kind = Kind::TokenizerFiles, .names = "tokenizer_config.json",
     .keys = "tokenizer_class !model_type|added_tokens_decoder:o|tokenizer_class added_tokens_decoder:o|"
             "model_max_length !model_type|add_bos_token|clean_up_tokenization_spaces|chat_template eos_token|"
             "bos_token chat_template|name_or_path tokenizer_class|bos_token !model_type|eos_token !model_type|"
             "unk_token !model_type",
     .summary = tokenizerConfigSummary},
    {.format = "special_tokens_map", .kind = Kind::TokenizerFiles, .names = "special_tokens_map.json", .keys = "",
     .summary = membersSummary, .test = isSpecialTokensMap},
    {.format = "added_tokens", .kind = Kind::TokenizerFiles, .names = "added_tokens.json", .keys = "",
     .summary = membersSummary, .test = isAddedTokens},
    {.format = "vocab", .kind = Kind::TokenizerFiles, .names = "vocab.json *-vocab.json encoder.json", .keys = "",
     .summary = membersSummary, .test = isVocabulary},
    {.format = "tekken", .kind = Kind::TokenizerFiles, .names = "tekken.json tekken_*.json",
     .keys = "config:o vocab:a|config/pattern vocab:a special_tokens|config/pattern vocab:a"},
    {.format = "chat_template_json", .kind = Kind::ChatTemplate, .names = "chat_template.json",
     .keys = "chat_template !tokenizer_class !model_type !messages !eos_token !bos_token"},
    {.format = "adapter_config", .kind = Kind::AdapterFiles, .names = "adapter_config.json",
     .keys = "peft_type|lora_alpha r|peft_type base_model_name_or_path|peft_type lora_alpha r", .summary = adapterSummary},
    {.format = "quantize_config", .kind = Kind::QuantizationConfig,
     .names = "quantize_config.json quant_config.json quantization_config.json hf_quant_config.json "
              "quantization_config.yaml",
     .keys = "bits group_size|w_bit q_group_size|quant_method|quant_method bits group_size|quantization/quant_algo|"
             "quant_method config_groups:o|bits desc_act",
     .summary = quantSummary},
    {.format = "sentence_modules", .kind = Kind::ConfigFiles, .names = "modules.json", .keys = "", .test = isModuleList},
    {.format = "sentence_pooling", .kind = Kind::ConfigFiles, .names = "",
     .keys = "word_embedding_dimension pooling_mode_*|pooling_mode_* !model_type|word_embedding_dimension !model_type"},
    {.format = "sentence_dense", .kind = Kind::ConfigFiles, .names = "",
     .keys = "in_features out_features activation_function|in_features out_features"},
    {.format = "sentence_transformers_config", .kind = Kind::ConfigFiles, .names = "config_sentence_transformers.json",
     .keys = "__version__:o|prompts similarity_fn_name|__version__/sentence_transformers prompts"},
    {.format = "sentence_bert_config", .kind = Kind::ConfigFiles,
     .names = "sentence_bert_config.json sentence_*_config.json", .keys = "max_seq_length do_lower_case"},
    {.format = "preprocessor_config", .kind = Kind::ConfigFiles,
     .names = "preprocessor_config.json video_preprocessor_config.json image_preprocessor_config.json",
     .keys = "image_processor_type|feature_extractor_type|video_processor_type|image_mean image_std|do_resize size|"
             "feature_size sampling_rate"},
    {.format = "processor_config", .kind = Kind::ConfigFiles, .names = "processor_config.json",
     .keys = "processor_class !tokenizer_class !image_processor_type !feature_extractor_type !model_type"},
    {.format = "mistral_params", .kind = Kind::ConfigFiles, .names = "params.json",
     .keys = "dim n_layers n_heads|dim n_layers"},
    {.format = "trainer_state", .kind = Kind::TrainingLog, .names = "trainer_state.json",
     .keys = "log_history:a|log_history:a global_step",
     .summary = [](Value root) { return count(root["log_history"].size(), "row", "rows"); }},
    {.format = "training_args", .kind = Kind::ConfigFiles, .names = "training_args.json",
     .keys = "per_device_train_batch_size|gradient_accumulation_steps learning_rate|"
             "per_device_train_batch_size gradient_accumulation_steps learning_rate"},
});

} // namespace

std::span<const Shape> modelShapes()
{
    return table;
}

} // namespace prosector
