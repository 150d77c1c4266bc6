// SPDX-License-Identifier: GPL-3.0-or-later
// Which files of a directory make up a model.
#include "models/artifacts/shapes.h"
#include "models/runs/runbuilder.h"

#include <algorithm>
#include <array>

namespace prosector {

namespace {

std::string_view folderOf(std::string_view path)
{
    const auto cut = path.rfind('/');
    return cut == std::string_view::npos ? std::string_view() : path.substr(0, cut);
}

std::string_view nameOfFile(std::string_view path)
{
    const auto cut = path.rfind('/');
    return cut == std::string_view::npos ? path : path.substr(cut + 1);
}

/// Which member of the folder a format fills. Where two files claim it, the one with this name wins.
struct Role {
    std::string_view format;
    ArtifactId ModelFolder::*member;
    std::string_view name;
};
constexpr std::array roles = std::to_array<Role>({
    {"config", &ModelFolder::config, "config.json"},
    {"generation_config", &ModelFolder::generationConfig, "generation_config.json"},
    {"tokenizer_json", &ModelFolder::tokenizerJson, "tokenizer.json"},
    {"tokenizer_config", &ModelFolder::tokenizerConfig, "tokenizer_config.json"},
    {"special_tokens_map", &ModelFolder::specialTokensMap, "special_tokens_map.json"},
    {"added_tokens", &ModelFolder::addedTokens, "added_tokens.json"},
    {"sentencepiece", &ModelFolder::sentencePiece, "tokenizer.model"},
    {"adapter_config", &ModelFolder::adapterConfig, "adapter_config.json"},
    {"quantize_config", &ModelFolder::quantizeConfig, "quantize_config.json"},
    {"preprocessor_config", &ModelFolder::preprocessorConfig, "preprocessor_config.json"},
    {"vocab", &ModelFolder::vocabulary, "vocab.json"},
    {"wordpiece_vocab", &ModelFolder::vocabulary, "vocab.txt"},
    {"tekken", &ModelFolder::vocabulary, "tekken.json"},
    {"tiktoken", &ModelFolder::vocabulary, "tokenizer.model"},
    {"merges", &ModelFolder::merges, "merges.txt"},
    {"mistral_params", &ModelFolder::params, "params.json"},
});

/// Trainer leftovers that are PyTorch files but no weights.
bool isTrainerState(std::string_view name)
{
    constexpr std::array patterns = std::to_array<std::string_view>(
        {"training_args.bin", "scheduler.*", "rng_state*", "optimizer.*", "scaler.pt", "trainer_state.json"});
    return std::any_of(patterns.begin(), patterns.end(), [&](auto pattern) { return matchesPattern(name, pattern); });
}

bool hasWeightName(std::string_view name)
{
    constexpr std::array patterns =
        std::to_array<std::string_view>({"*.safetensors", "*.bin", "*.pt", "*.pth", "*.ckpt"});
    return std::any_of(patterns.begin(), patterns.end(), [&](auto pattern) { return matchesPattern(name, pattern); });
}

/// Directories whose files belong to the model above them: sentence-transformers' `1_Pooling`,
/// Transformers' `additional_chat_templates`.
bool belongsToParent(std::string_view folder)
{
    const auto name = nameOfFile(folder);
    if (name == "additional_chat_templates")
        return true;
    const auto digits = name.find_first_not_of("0123456789");
    return digits != 0 && digits != std::string_view::npos && name[digits] == '_';
}

bool isModelFile(const Artifact &artifact)
{
    switch (artifact.kind) {
    case Kind::ConfigFiles:
    case Kind::TokenizerFiles:
    case Kind::ChatTemplate:
    case Kind::AdapterFiles:
    case Kind::Weights:
    case Kind::WeightIndex:
    case Kind::ModelCard:
    case Kind::QuantizationConfig:
    case Kind::LfsPointer:
        return true;
    default:
        return false;
    }
}

void place(ModelFolder &folder, const Artifact &artifact)
{
    const auto name = nameOfFile(artifact.path);
    folder.all.push_back(artifact.id);
    if (artifact.kind == Kind::LfsPointer) {
        if (matchesPattern(name, "*.gguf"))
            folder.gguf.push_back(artifact.id);
        else if (hasWeightName(name) && !isTrainerState(name))
            folder.weights.push_back(artifact.id);
        return;
    }
    if (artifact.kind == Kind::ChatTemplate)
        folder.chatTemplates.push_back(artifact.id);
    else if (artifact.kind == Kind::WeightIndex && !folder.weightIndex.valid())
        folder.weightIndex = artifact.id;
    else if (artifact.kind == Kind::ModelCard && (!folder.modelCard.valid() || name == "README.md"))
        folder.modelCard = artifact.id;
    if (artifact.format == "gguf")
        folder.gguf.push_back(artifact.id);
    else if (artifact.as<TensorContent>() && !isTrainerState(name))
        folder.weights.push_back(artifact.id);
    const bool inSubfolder = folderOf(artifact.path) != folder.path;
    for (const Role &role : roles) {
        if (artifact.format != role.format || inSubfolder)
            continue;
        ArtifactId &slot = folder.*role.member;
        if (!slot.valid() || name == role.name)
            slot = artifact.id;
    }
}

/// Enough to be called a model: more than a card, a lone pointer or a trainer's arguments.
bool isModel(const ModelFolder &folder, std::span<const Artifact> artifacts)
{
    if (!folder.weights.empty() || !folder.gguf.empty())
        return true;
    return std::any_of(folder.all.begin(), folder.all.end(), [&](ArtifactId id) {
        const Artifact &artifact = artifacts[id.index];
        return artifact.kind != Kind::ModelCard && artifact.kind != Kind::LfsPointer && artifact.format != "training_args";
    });
}

} // namespace

std::vector<ModelFolder> groupModels(std::span<const Artifact> artifacts)
{
    std::map<std::pair<std::uint32_t, std::string>, ModelFolder> folders;
    for (const Artifact &artifact : artifacts) {
        if (!isModelFile(artifact))
            continue;
        std::string path(folderOf(artifact.path));
        if (belongsToParent(path))
            path = folderOf(path);
        ModelFolder &folder = folders[{artifact.input, path}];
        folder.path = path;
        folder.input = artifact.input;
        place(folder, artifact);
    }
    std::vector<ModelFolder> models;
    for (auto &[key, folder] : folders) {
        if (isModel(folder, artifacts))
            models.push_back(std::move(folder));
    }
    return models;
}

} // namespace prosector
