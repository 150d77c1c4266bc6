// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/config/architecture.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace prosector {

namespace {

struct Alias {
    ArchField field;
    std::string_view key;
};

// In order of preference. Spellings of Transformers' config classes and of the remote-code models
// converted by llama.cpp (gguf-py and conversion/*.py look for the same ones).
constexpr std::array configAliases = std::to_array<Alias>({
    {ArchField::Layers, "num_hidden_layers"}, {ArchField::Layers, "n_layer"}, {ArchField::Layers, "n_layers"},
    {ArchField::Layers, "num_layers"},
    {ArchField::Hidden, "hidden_size"}, {ArchField::Hidden, "n_embd"}, {ArchField::Hidden, "d_model"},
    {ArchField::Hidden, "dim"},
    {ArchField::FeedForward, "intermediate_size"}, {ArchField::FeedForward, "n_inner"},
    {ArchField::FeedForward, "ffn_hidden_size"}, {ArchField::FeedForward, "d_ff"},
    {ArchField::FeedForward, "ffn_dim"}, {ArchField::FeedForward, "hidden_dim"},
    {ArchField::ExpertFeedForward, "moe_intermediate_size"}, {ArchField::ExpertFeedForward, "expert_ffn_hidden_size"},
    {ArchField::Heads, "num_attention_heads"}, {ArchField::Heads, "n_head"}, {ArchField::Heads, "n_heads"},
    {ArchField::Heads, "num_heads"},
    {ArchField::KvHeads, "num_key_value_heads"}, {ArchField::KvHeads, "n_kv_heads"}, {ArchField::KvHeads, "num_kv_heads"},
    {ArchField::KvHeads, "n_head_kv"}, {ArchField::KvHeads, "multi_query_group_num"},
    {ArchField::HeadDim, "head_dim"}, {ArchField::HeadDim, "kv_channels"}, {ArchField::HeadDim, "d_kv"},
    {ArchField::HeadDim, "attention_head_size"},
    {ArchField::ValueDim, "v_head_dim"},
    {ArchField::Context, "max_position_embeddings"}, {ArchField::Context, "n_positions"},
    {ArchField::Context, "n_ctx"}, {ArchField::Context, "max_sequence_length"}, {ArchField::Context, "seq_length"},
    {ArchField::Context, "max_seq_len"},
    {ArchField::Vocab, "vocab_size"}, {ArchField::Vocab, "padded_vocab_size"},
    {ArchField::NormEps, "rms_norm_eps"}, {ArchField::NormEps, "layer_norm_eps"},
    {ArchField::NormEps, "layer_norm_epsilon"}, {ArchField::NormEps, "layernorm_epsilon"},
    {ArchField::NormEps, "norm_epsilon"}, {ArchField::NormEps, "norm_eps"},
    {ArchField::PartialRotary, "partial_rotary_factor"}, {ArchField::PartialRotary, "rotary_pct"},
    {ArchField::RotaryDim, "rotary_dim"},
    {ArchField::SlidingWindow, "sliding_window"}, {ArchField::SlidingWindow, "sliding_window_size"},
    {ArchField::SlidingWindow, "local_attention"},
    {ArchField::SlidingPattern, "sliding_window_pattern"}, {ArchField::SlidingPattern, "_sliding_window_pattern"},
    {ArchField::UseSlidingWindow, "use_sliding_window"}, {ArchField::MaxWindowLayers, "max_window_layers"},
    {ArchField::LayerTypes, "layer_types"}, {ArchField::AttentionChunk, "attention_chunk_size"},
    {ArchField::AttentionSoftcap, "attn_logit_softcapping"}, {ArchField::FinalSoftcap, "final_logit_softcapping"},
    {ArchField::QueryScalar, "query_pre_attn_scalar"},
    {ArchField::AttentionMultiplier, "attention_multiplier"},
    {ArchField::EmbeddingMultiplier, "embedding_multiplier"}, {ArchField::EmbeddingMultiplier, "scale_emb"},
    {ArchField::ResidualMultiplier, "residual_multiplier"},
    {ArchField::LogitScale, "logits_scaling"}, {ArchField::LogitScale, "logit_scale"},
    {ArchField::Experts, "num_experts"}, {ArchField::Experts, "num_local_experts"},
    {ArchField::Experts, "n_routed_experts"}, {ArchField::Experts, "moe_num_experts"},
    {ArchField::ExpertsUsed, "num_experts_per_tok"}, {ArchField::ExpertsUsed, "experts_per_token"},
    {ArchField::ExpertsUsed, "num_experts_per_token"}, {ArchField::ExpertsUsed, "moe_k"},
    {ArchField::SharedExperts, "n_shared_experts"}, {ArchField::SharedExperts, "num_shared_experts"},
    {ArchField::RoutedScale, "routed_scaling_factor"}, {ArchField::DenseLead, "first_k_dense_replace"},
    {ArchField::KvLoraRank, "kv_lora_rank"}, {ArchField::QLoraRank, "q_lora_rank"},
    {ArchField::NextnLayers, "num_nextn_predict_layers"},
    {ArchField::TiedHead, "tie_word_embeddings"},
    {ArchField::AttentionBias, "attention_bias"}, {ArchField::Activation, "hidden_act"},
    {ArchField::Activation, "hidden_activation"}, {ArchField::Activation, "activation_function"},
    {ArchField::DataType, "dtype"}, {ArchField::DataType, "torch_dtype"},
    {ArchField::ModelLength, "model_max_length"},
    {ArchField::Bos, "bos_token_id"}, {ArchField::Eos, "eos_token_id"}, {ArchField::Pad, "pad_token_id"},
});

// gguf-py/gguf/constants.py, class Keys; after "{arch}.".
constexpr std::array ggufAliases = std::to_array<Alias>({
    {ArchField::Layers, "block_count"}, {ArchField::Hidden, "embedding_length"},
    {ArchField::FeedForward, "feed_forward_length"}, {ArchField::ExpertFeedForward, "expert_feed_forward_length"},
    {ArchField::Heads, "attention.head_count"}, {ArchField::KvHeads, "attention.head_count_kv"},
    {ArchField::HeadDim, "attention.key_length"}, {ArchField::ValueDim, "attention.value_length"},
    {ArchField::Context, "context_length"}, {ArchField::Vocab, "vocab_size"},
    {ArchField::NormEps, "attention.layer_norm_rms_epsilon"}, {ArchField::NormEps, "attention.layer_norm_epsilon"},
    {ArchField::RotaryDim, "rope.dimension_count"},
    {ArchField::SlidingWindow, "attention.sliding_window"},
    {ArchField::SlidingPattern, "attention.sliding_window_pattern"},
    {ArchField::AttentionSoftcap, "attn_logit_softcapping"}, {ArchField::FinalSoftcap, "final_logit_softcapping"},
    {ArchField::AttentionMultiplier, "attention.scale"}, {ArchField::EmbeddingMultiplier, "embedding_scale"},
    {ArchField::ResidualMultiplier, "residual_scale"}, {ArchField::LogitScale, "logit_scale"},
    {ArchField::Experts, "expert_count"}, {ArchField::ExpertsUsed, "expert_used_count"},
    {ArchField::SharedExperts, "expert_shared_count"}, {ArchField::RoutedScale, "expert_weights_scale"},
    {ArchField::DenseLead, "leading_dense_block_count"}, {ArchField::KvLoraRank, "attention.kv_lora_rank"},
    {ArchField::QLoraRank, "attention.q_lora_rank"}, {ArchField::NextnLayers, "nextn_predict_layers"},
});
constexpr std::array ggufIds = std::to_array<Alias>({
    {ArchField::Bos, "tokenizer.ggml.bos_token_id"}, {ArchField::Eos, "tokenizer.ggml.eos_token_id"},
    {ArchField::Pad, "tokenizer.ggml.padding_token_id"},
});

enum class Shape : std::uint8_t { Number, Numbers, Flag, Word, Words, Pattern };

Shape shapeOf(ArchField field)
{
    switch (field) {
    case ArchField::UseSlidingWindow: case ArchField::TiedHead: case ArchField::AttentionBias: return Shape::Flag;
    case ArchField::Activation: case ArchField::DataType: return Shape::Word;
    case ArchField::LayerTypes: return Shape::Words;
    case ArchField::SlidingPattern: return Shape::Pattern; // a period, a word or one flag per layer
    case ArchField::Bos: case ArchField::Eos: case ArchField::Pad: case ArchField::KvHeads: case ArchField::Heads:
    case ArchField::FeedForward: return Shape::Numbers; // one, or one per layer
    default: return Shape::Number;
    }
}

bool fits(Shape shape, const Setting &setting)
{
    switch (shape) {
    case Shape::Number: return setting.number.has_value();
    case Shape::Numbers: return !setting.numbers.empty();
    case Shape::Flag: return setting.boolean.has_value();
    case Shape::Word: return setting.word.has_value();
    case Shape::Words: return !setting.words.empty();
    case Shape::Pattern: return true;
    }
    return false;
}

std::string_view wanted(Shape shape)
{
    switch (shape) {
    case Shape::Number: return "a number";
    case Shape::Numbers: return "a number or a list of numbers";
    case Shape::Flag: return "true or false";
    case Shape::Word: return "a string";
    case Shape::Words: return "a list of strings";
    case Shape::Pattern: return "a number or a list";
    }
    return {};
}

std::string shortened(std::string text)
{
    constexpr std::size_t limit = 120;
    if (text.size() <= limit)
        return text;
    std::size_t cut = limit;
    while (cut > 0 && (static_cast<unsigned char>(text[cut]) & 0xC0) == 0x80)
        --cut;
    return text.substr(0, cut) + "…";
}

/// Takes a setting when it has the right shape; else remarks on it. False when the search goes on.
bool take(Architecture &architecture, ArchField field, Setting setting)
{
    const Shape shape = shapeOf(field);
    if (!fits(shape, setting)) {
        architecture.remarks.push_back(
            {setting.where.note + ": expected " + std::string(wanted(shape)), setting.where});
        return false;
    }
    constexpr double beyond64 = 18446744073709551616.0;
    if (setting.number && std::isfinite(*setting.number) && std::abs(*setting.number) >= beyond64)
        architecture.remarks.push_back({setting.where.note + ": beyond 64 bits", setting.where});
    if (setting.number && !std::isfinite(*setting.number)) {
        architecture.remarks.push_back({setting.where.note + ": not a finite number", setting.where});
        return false;
    }
    architecture.settings.emplace_back(field, std::move(setting));
    return true;
}

RopeSettings::Type ropeTypeOf(std::string_view name, bool &mrope)
{
    using Type = RopeSettings::Type;
    mrope = name == "mrope";
    // "axial" (Transformers 5) is how image encoders rotate: by two coordinates, unscaled.
    if (name.empty() || name == "default" || name == "mrope" || name == "none" || name == "axial")
        return Type::None;
    if (name == "linear")
        return Type::Linear;
    if (name == "dynamic")
        return Type::Dynamic;
    if (name == "yarn" || name == "deepseek_yarn")
        return Type::Yarn;
    if (name == "longrope" || name == "su")
        return Type::LongRope;
    if (name == "llama3")
        return Type::Llama3;
    return name == "proportional" ? Type::Proportional : Type::Unknown;
}

RopeSettings ropeOf(ArtifactId artifact, Value scaling, Value theta)
{
    RopeSettings rope;
    rope.theta = settingOf(artifact, theta);
    if (!scaling.isObject())
        return rope;
    rope.scaling = Setting::of(artifact, scaling);
    const Value ropeType = scaling["rope_type"], type = scaling["type"];
    rope.typeName = settingOf(artifact, ropeType.isSet() ? ropeType : type);
    if (ropeType.isSet() && type.isSet())
        rope.otherType = Setting::of(artifact, type);
    rope.type = ropeTypeOf(rope.typeName && rope.typeName->word ? *rope.typeName->word : "", rope.mrope);
    rope.mrope = rope.mrope || scaling["mrope_section"].isSet();
    rope.factor = settingOf(artifact, scaling["factor"]);
    rope.original = settingOf(artifact, scaling["original_max_position_embeddings"]);
    rope.lowFreq = settingOf(artifact, scaling["low_freq_factor"]);
    rope.highFreq = settingOf(artifact, scaling["high_freq_factor"]);
    rope.attention = settingOf(artifact, scaling["attention_factor"]);
    rope.shortFactor = settingOf(artifact, scaling["short_factor"]);
    rope.longFactor = settingOf(artifact, scaling["long_factor"]);
    rope.partialRotary = settingOf(artifact, scaling["partial_rotary_factor"]);
    if (scaling["rope_theta"].isSet())
        rope.theta = Setting::of(artifact, scaling["rope_theta"]);
    return rope;
}

/// A map from layer type to parameters, as Transformers 5 writes it for models with two kinds of layers.
bool isPerLayerType(Value parameters)
{
    if (!parameters.isObject() || parameters.size() == 0)
        return false;
    for (const Value member : parameters) {
        if (!member.isObject() && !member.isNull())
            return false;
    }
    return true;
}

class ConfigReader {
public:
    ConfigReader(ArtifactId artifact, Value root) : m_root(root), m_text(textPartOf(root))
    {
        m_result.artifact = artifact;
    }

    Architecture read()
    {
        m_result.modelType = find("model_type").string("");
        for (const Value name : m_root["architectures"])
            m_result.classes.push_back(name.string(""));
        ArchField done{};
        bool any = false;
        for (const Alias &alias : configAliases) {
            if (any && alias.field == done)
                continue;
            any = false;
            const Value value = find(alias.key);
            if (!value.isSet())
                continue;
            if (take(m_result, alias.field, Setting::of(m_result.artifact, value))) {
                done = alias.field;
                any = true;
            }
        }
        readMpt();
        readRope();
        if (m_result.rope.front().original == std::nullopt && m_result.rope.front().type == RopeSettings::Type::LongRope)
            m_result.rope.front().original =
                settingOf(m_result.artifact, find("original_max_position_embeddings"));
        return std::move(m_result);
    }

private:
    Value find(std::string_view key) const
    {
        const Value inner = m_text[key];
        return inner.isSet() || m_text == m_root ? inner : m_root[key];
    }

    void readMpt() // the only attention numbers one level down
    {
        const Value kv = m_text["attn_config"]["kv_n_heads"];
        if (kv.isSet() && !m_result.get(ArchField::KvHeads))
            take(m_result, ArchField::KvHeads, Setting::of(m_result.artifact, kv));
    }

    void readRope()
    {
        const ArtifactId artifact = m_result.artifact;
        Value theta = find("rope_theta");
        if (!theta.isSet())
            theta = find("rotary_emb_base");
        const Value parameters = find("rope_parameters");
        const Value scaling = find("rope_scaling");
        for (const Value object : {parameters, scaling}) {
            if (object.isSet() && !object.isObject()) {
                const Setting setting = Setting::of(artifact, object);
                m_result.remarks.push_back({setting.where.note + ": expected an object", setting.where});
            }
        }
        const Value chosen = parameters.isObject() ? parameters : scaling;
        if (isPerLayerType(chosen)) {
            for (const Value member : chosen) {
                auto rope = ropeOf(artifact, member, theta);
                rope.layerType = member.key();
                m_result.rope.push_back(std::move(rope));
            }
            std::stable_partition(m_result.rope.begin(), m_result.rope.end(),
                                  [](const RopeSettings &r) { return r.layerType == "full_attention"; });
            return;
        }
        m_result.rope.push_back(ropeOf(artifact, chosen, theta));
        const Value local = find("rope_local_base_freq");
        if (local.isSet()) { // Gemma 3: windowed layers have their own base and no scaling
            m_result.rope.front().layerType = "full_attention";
            RopeSettings windowed;
            windowed.layerType = "sliding_attention";
            windowed.theta = Setting::of(artifact, local);
            m_result.rope.push_back(std::move(windowed));
        }
    }

    Value m_root, m_text;
    Architecture m_result;
};

} // namespace

std::string_view nameOf(ArchField field)
{
    switch (field) { // where the first spelling is not the usual one
    case ArchField::DataType: return "torch_dtype";
    default: break;
    }
    const auto *const it =
        std::find_if(configAliases.begin(), configAliases.end(), [&](const Alias &a) { return a.field == field; });
    return it == configAliases.end() ? std::string_view() : it->key;
}

std::string_view nameOf(RopeSettings::Type type)
{
    static constexpr std::array<std::string_view, 8> names{"none",     "linear", "dynamic",      "yarn",
                                                           "longrope", "llama3", "proportional", "unknown"};
    return names[static_cast<std::size_t>(type)];
}

Setting Setting::of(ArtifactId artifact, Value value)
{
    Setting setting;
    setting.text = shortened(std::string(value.raw()));
    setting.number = value.number();
    setting.boolean = value.boolean();
    setting.word = value.string();
    if (setting.number)
        setting.numbers = {*setting.number};
    if (value.isArray()) {
        for (const Value element : value) {
            if (const auto number = element.number())
                setting.numbers.push_back(*number);
            else if (auto word = element.string())
                setting.words.push_back(std::move(*word));
        }
    }
    setting.where = {artifact, value.anchor(), value.key() + " = " + setting.text};
    return setting;
}

Setting Setting::of(ArtifactId artifact, const GgufEntry &entry)
{
    Setting setting;
    const GgufValue &value = entry.value;
    setting.text = value.display();
    if (value.type == GgufValue::Type::Bool)
        setting.boolean = value.integer != 0;
    else if (value.isNumber())
        setting.number = value.real;
    else if (value.type == GgufValue::Type::String)
        setting.word = value.text;
    constexpr std::size_t perLayer = 4096; // what is listed by layer; vocabularies are not settings
    if (value.numbers.size() <= perLayer) {
        for (std::size_t i = 0; i < value.numbers.size(); ++i)
            setting.numbers.push_back(value.numbers[i]);
    }
    if (value.strings.size() <= perLayer) {
        for (std::size_t i = 0; i < value.strings.size(); ++i)
            setting.words.emplace_back(value.strings[i]);
    }
    if (setting.number)
        setting.numbers = {*setting.number};
    setting.where = {artifact, GgufContent::anchor(entry.key), entry.key + " = " + setting.text};
    return setting;
}

std::optional<Setting> settingOf(ArtifactId artifact, Value value)
{
    if (!value.isSet())
        return std::nullopt;
    return Setting::of(artifact, value);
}

std::optional<Setting> settingOf(ArtifactId artifact, const GgufContent &gguf, std::string_view key)
{
    const auto it =
        std::find_if(gguf.entries.begin(), gguf.entries.end(), [&](const GgufEntry &e) { return e.key == key; });
    if (it == gguf.entries.end())
        return std::nullopt;
    return Setting::of(artifact, *it);
}

const Setting *Architecture::get(ArchField field) const
{
    const auto it = std::find_if(settings.begin(), settings.end(), [&](const auto &s) { return s.first == field; });
    return it == settings.end() ? nullptr : &it->second;
}

std::optional<double> Architecture::number(ArchField field) const
{
    const Setting *const setting = get(field);
    return setting ? setting->number : std::nullopt;
}

std::optional<bool> Architecture::flag(ArchField field) const
{
    const Setting *const setting = get(field);
    return setting ? setting->boolean : std::nullopt;
}

std::optional<double> Architecture::headDim() const
{
    if (const auto stated = number(ArchField::HeadDim))
        return stated;
    const auto hidden = number(ArchField::Hidden), heads = number(ArchField::Heads);
    if (!hidden || !heads || *heads <= 0)
        return std::nullopt;
    return std::floor(*hidden / *heads);
}

std::optional<double> Architecture::rotaryDim() const
{
    if (const auto stated = number(ArchField::RotaryDim))
        return stated;
    const auto head = headDim();
    if (!head)
        return std::nullopt;
    auto share = number(ArchField::PartialRotary);
    if (!rope.empty() && rope.front().partialRotary && rope.front().partialRotary->number)
        share = rope.front().partialRotary->number;
    return share ? std::floor(*head * *share) : *head;
}

std::optional<bool> Architecture::tiedHead() const
{
    if (const auto stated = flag(ArchField::TiedHead))
        return stated;
    if (gguf)
        return std::nullopt;
    // What the configuration classes of transformers 4.57.1 and 5.24.0 give when nothing is stated (the classes
    // were asked: AutoConfig.for_model(type).tie_word_embeddings). A type is listed where both versions agree or only
    // one knows it; mt5 and qwen3_vl_moe_text changed between them and are left out. Sorted.
    static constexpr auto untied = std::to_array<std::string_view>({
        "afmoe", "apertus", "arcee", "aria_text", "bamba", "bitnet", "code_llama", "codegen", "dbrx",
        "deepseek_v2", "deepseek_v3", "deepseek_v32", "diffllama", "doge", "dots1", "exaone4",
        "falcon_h1", "flex_olmo", "glm", "glm4", "glm4_moe", "glm4_moe_lite", "glm4v_moe_text",
        "glm4v_text", "gpt_neox", "gpt_oss", "gptj", "granite", "granitemoe", "granitemoehybrid",
        "granitemoeshared", "helium", "hunyuan_v1_dense", "hunyuan_v1_moe", "internlm3", "jamba",
        "llama", "llama4_text", "longcat_flash", "mamba2", "minimax", "minimax_m2", "ministral",
        "ministral3", "mistral", "mixtral", "mllama_text_model", "nemotron", "nemotron_h", "olmo",
        "olmo2", "olmo3", "olmoe", "persimmon", "phi", "phi3", "phi4_multimodal", "phimoe", "qwen2",
        "qwen2_5_vl_text", "qwen2_moe", "qwen2_vl_text", "qwen3", "qwen3_5_moe_text", "qwen3_5_text",
        "qwen3_moe", "qwen3_next", "qwen3_vl_text", "rwkv", "seed_oss", "stablelm"});
    static constexpr auto tied = std::to_array<std::string_view>({
        "albert", "bart", "bert", "biogpt", "bloom", "cohere", "cohere2", "deberta-v2", "distilbert",
        "electra", "ernie4_5", "ernie4_5_moe", "falcon", "falcon_mamba", "gemma", "gemma2", "gemma3",
        "gemma3_text", "gemma3n", "gemma3n_text", "gpt2", "gpt_bigcode", "gpt_neo", "jetmoe", "lfm2",
        "lfm2_moe", "longt5", "mamba", "marian", "mbart", "modernbert", "mpnet", "mpt", "opt",
        "pegasus", "recurrent_gemma", "roberta", "smollm3", "starcoder2", "switch_transformers", "t5",
        "t5gemma", "umt5", "vaultgemma", "whisper", "xglm", "xlm-roberta", "zamba", "zamba2"});
    if (std::binary_search(untied.begin(), untied.end(), modelType))
        return false;
    if (std::binary_search(tied.begin(), tied.end(), modelType))
        return true;
    return std::nullopt;
}

std::optional<double> Architecture::slidingWindow() const
{
    const auto window = number(ArchField::SlidingWindow);
    if (!window || *window <= 0 || flag(ArchField::UseSlidingWindow) == false)
        return std::nullopt;
    return window;
}

Value textPartOf(Value root)
{
    for (const std::string_view key : {"text_config", "llm_config", "language_config", "text_model_config", "language_model"}) {
        if (const Value part = root[key]; part.isObject() && part.size() > 0)
            return part;
    }
    const Value thinker = root["thinker_config"]["text_config"];
    return thinker.isObject() ? thinker : root;
}

Value visionPartOf(Value root)
{
    for (const std::string_view key : {"vision_config", "vision_tower_config", "visual"}) {
        if (const Value part = root[key]; part.isObject())
            return part;
    }
    const Value thinker = root["thinker_config"]["vision_config"];
    return thinker.isObject() ? thinker : Value();
}

Architecture architectureOfConfig(ArtifactId artifact, Value root)
{
    return ConfigReader(artifact, root).read();
}

Architecture architectureOfGguf(ArtifactId artifact, const GgufContent &gguf)
{
    Architecture result;
    result.artifact = artifact;
    result.gguf = true;
    result.modelType = gguf.architecture();
    const std::string prefix = result.modelType + '.';
    RopeSettings rope, windowed;
    const auto entryOf = [&](std::string_view key) { return settingOf(artifact, gguf, key); };
    for (const Alias &alias : ggufAliases) {
        if (result.get(alias.field))
            continue;
        if (auto setting = entryOf(prefix + std::string(alias.key)))
            take(result, alias.field, std::move(*setting));
    }
    for (const Alias &alias : ggufIds) {
        if (auto setting = entryOf(alias.key))
            take(result, alias.field, std::move(*setting));
    }
    rope.theta = entryOf(prefix + "rope.freq_base");
    rope.typeName = entryOf(prefix + "rope.scaling.type");
    rope.factor = entryOf(prefix + "rope.scaling.factor");
    rope.original = entryOf(prefix + "rope.scaling.original_context_length");
    rope.attention = entryOf(prefix + "rope.scaling.attn_factor");
    if (rope.typeName && rope.typeName->word)
        rope.type = ropeTypeOf(*rope.typeName->word, rope.mrope);
    if (!rope.typeName && !rope.factor) { // before the typed keys there was one factor
        rope.factor = entryOf(prefix + "rope.scale_linear");
        if (rope.factor && rope.factor->number && *rope.factor->number > 1)
            rope.type = RopeSettings::Type::Linear;
    }
    rope.scaling = rope.typeName ? rope.typeName : rope.factor;
    result.rope.push_back(std::move(rope));
    windowed.theta = entryOf(prefix + "rope.freq_base_swa");
    if (windowed.theta) {
        result.rope.front().layerType = "full_attention";
        windowed.layerType = "sliding_attention";
        result.rope.push_back(std::move(windowed));
    }
    return result;
}

} // namespace prosector
