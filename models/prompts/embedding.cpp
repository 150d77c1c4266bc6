// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/prompts/embedding.h"

#include <algorithm>
#include <array>

namespace prosector {

namespace {

// Transformers' names by family (Llama and most others, T5 and BART, GPT-2, BLOOM and Falcon, BERT, GPT-NeoX).
constexpr std::array<std::string_view, 8> names{"model.embed_tokens.weight", "shared.weight", "wte.weight", "word_embeddings.weight",
                                               "embed_tokens.weight", "embed_in.weight", "tok_embeddings.weight", "token_embd.weight"};

bool endsInName(std::string_view tensor, std::string_view name)
{
    return tensor == name || (tensor.ends_with(name) && tensor[tensor.size() - name.size() - 1] == '.');
}

std::optional<EmbeddingTable> tableOf(const Artifact &file, const TensorInfo &tensor)
{
    if (tensor.shape.size() != 2)
        return std::nullopt;
    return EmbeddingTable{&file, &tensor, tensor.shape[0], tensor.shape[1]};
}

} // namespace

std::optional<EmbeddingTable> embeddingOf(const Run &run, const ModelFolder &folder)
{
    for (const std::string_view name : names) {
        for (const ArtifactId id : folder.weights) {
            const auto *const content = run.artifact(id).as<TensorContent>();
            if (!content)
                continue;
            for (const TensorInfo &tensor : content->tensors) {
                if (!endsInName(tensor.name, name))
                    continue;
                if (auto table = tableOf(run.artifact(id), tensor))
                    return table;
            }
        }
    }
    return std::nullopt;
}

std::optional<EmbeddingTable> embeddingOf(const Artifact &gguf)
{
    const auto *const content = gguf.as<TensorContent>();
    const TensorInfo *const tensor = content ? content->find("token_embd.weight") : nullptr;
    return tensor ? tableOf(gguf, *tensor) : std::nullopt;
}

} // namespace prosector
