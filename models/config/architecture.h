// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/artifacts/tensors.h"
#include "models/core/document.h"
#include "models/core/finding.h"

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace prosector {

/// The numbers that say how a checkpoint is computed, whatever a file calls them. Lengths in tokens,
/// sizes in elements.
enum class ArchField : std::uint8_t {
    Layers, Hidden, FeedForward, ExpertFeedForward, Heads, KvHeads, HeadDim, ValueDim, Context, Vocab, NormEps,
    PartialRotary, ///< share of a head that is rotated, 0..1 (config)
    RotaryDim,     ///< rotated elements of a head (GGUF, GPT-J)
    SlidingWindow, SlidingPattern, UseSlidingWindow, MaxWindowLayers, LayerTypes, AttentionChunk,
    AttentionSoftcap, FinalSoftcap,
    QueryScalar,         ///< queries are scaled by 1/sqrt of it (Gemma)
    AttentionMultiplier, ///< queries are scaled by it (Granite)
    EmbeddingMultiplier, ResidualMultiplier, LogitScale,
    Experts, ExpertsUsed, SharedExperts, RoutedScale, DenseLead, KvLoraRank, QLoraRank, NextnLayers,
    TiedHead, AttentionBias, Activation, DataType, ModelLength,
    Bos, Eos, Pad,
};
/// The name of the field in config.json's usual spelling: "num_hidden_layers".
std::string_view nameOf(ArchField field);

/// One value with the place it was read from; `where.note` says "key = value".
struct Setting {
    std::string text;                   ///< as written, shortened
    std::optional<double> number{};
    std::optional<bool> boolean{};
    std::optional<std::string> word{};
    std::vector<double> numbers{};      ///< a list, or the number alone
    std::vector<std::string> words{};   ///< a list of strings
    Evidence where{};

    static Setting of(ArtifactId artifact, Value value);
    static Setting of(ArtifactId artifact, const GgufEntry &entry);
};
/// Nothing when the value is absent or null, or the key is not there.
std::optional<Setting> settingOf(ArtifactId artifact, Value value);
std::optional<Setting> settingOf(ArtifactId artifact, const GgufContent &gguf, std::string_view key);

/// How positions are rotated, for all layers or for one layer type. Keys as in Transformers:
/// rope_scaling and rope_theta (4), rope_parameters (5), `{arch}.rope.*` in GGUF.
struct RopeSettings {
    enum class Type : std::uint8_t { None, Linear, Dynamic, Yarn, LongRope, Llama3, Proportional, Unknown };

    std::string layerType{}; ///< "" all layers, else "full_attention", "sliding_attention"
    Type type = Type::None;
    std::optional<Setting> scaling{};  ///< the object (config) or the type key (GGUF) that declares it
    std::optional<Setting> typeName{}; ///< `rope_type`, else `type`
    std::optional<Setting> otherType{}; ///< `type` when `rope_type` stands beside it
    std::optional<Setting> theta{}, factor{}, original{}, lowFreq{}, highFreq{}, attention{}, shortFactor{},
        longFactor{}, partialRotary{};
    bool mrope = false; ///< multimodal sections; the base rotation is unscaled
};
std::string_view nameOf(RopeSettings::Type type);

/// What of a file could not be taken as it stands: a wrong type, a number beyond 64 bits.
struct SettingRemark {
    std::string text;
    Evidence where;
};

/// One description of a model, from a config.json tree or from GGUF metadata.
struct Architecture {
    ArtifactId artifact{};
    bool gguf = false;
    std::string modelType;            ///< of the text part: "llama", "gemma3_text"; GGUF: general.architecture
    std::vector<std::string> classes; ///< `architectures`
    std::vector<std::pair<ArchField, Setting>> settings;
    std::vector<RopeSettings> rope;   ///< never empty; the first is that of all layers or of full attention
    std::vector<SettingRemark> remarks;

    const Setting *get(ArchField field) const; ///< null when absent or null in the file
    std::optional<double> number(ArchField field) const;
    std::optional<bool> flag(ArchField field) const;

    /// Stated, else hidden / heads.
    std::optional<double> headDim() const;
    /// Rotated elements of one head: stated, else headDim times the rotated share.
    std::optional<double> rotaryDim() const;
    /// Whether queries and output rows share one matrix: stated, else the default of the model
    /// type in Transformers 4.57; nothing for a type we do not know or GGUF (see the tensors there).
    std::optional<bool> tiedHead() const;
    /// A sliding window that is in force: set, not switched off, not zero.
    std::optional<double> slidingWindow() const;
};

/// Reads a config.json. The text part of a multimodal model (`text_config`, `llm_config`,
/// `language_config`, `thinker_config.text_config`, …) wins over the outer level.
Architecture architectureOfConfig(ArtifactId artifact, Value root);
/// The tree in which `architectureOfConfig` looks first: the nested text part or the root itself.
Value textPartOf(Value root);
/// `vision_config` and its spellings, or a missing value.
Value visionPartOf(Value root);

/// Reads `{arch}.*` and the special ids of `tokenizer.ggml.*`.
Architecture architectureOfGguf(ArtifactId artifact, const GgufContent &gguf);

} // namespace prosector
