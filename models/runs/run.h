// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/artifacts/artifact.h"
#include "models/artifacts/tensors.h"
#include "models/core/job.h"

#include <memory>
#include <span>
#include <string>
#include <vector>

namespace prosector {

/// The files of one directory that make up a model: each member is invalid when absent. A GGUF file
/// is a model by itself and appears in `gguf` of its directory's folder.
struct ModelFolder {
    std::string path; ///< directory relative to the input, "" for the top
    ArtifactId config, generationConfig, tokenizerJson, tokenizerConfig, specialTokensMap, addedTokens,
        sentencePiece, adapterConfig, quantizeConfig, weightIndex, modelCard, preprocessorConfig, vocabulary;
    std::vector<ArtifactId> chatTemplates; ///< chat_template.jinja and named template files
    std::vector<ArtifactId> weights;       ///< safetensors, PyTorch checkpoints; LFS pointers under such names
    std::vector<ArtifactId> gguf;
    std::vector<ArtifactId> all;           ///< every artifact of the directory that belongs to the model
};

/// What was given on the command line or dropped on the window.
struct Input {
    std::string path;   ///< as given
    std::string kind;   ///< "model_folder", "trace", "file", "archive"
    std::string sha256; ///< see Run::open
};

/// A place that could not be read, for the report.
struct Unreadable {
    std::string path;
    Error error;
};

/// One opened set of evidence. Immutable after opening and shared between threads.
class Run {
public:
    /// Opens files, folders and archives, each an input, in the order given. Symbolic links are
    /// followed once (loops and links out of the input are `unreadable`). Fails only when an input
    /// does not exist or cannot be read at all; anything below that is in `unreadable()`.
    ///
    /// An input's sha256 is that of its bytes for a single file up to `hashWhole` bytes; for a folder
    /// or archive of the sorted lines "<sha256>  <size>  <path>\n". Of larger files only the first
    /// mebibyte is hashed (a 405-billion-parameter model is 800 GB), and its line says so with "head:".
    static Result<std::shared_ptr<const Run>> open(std::span<const std::string> paths, const Job &job);
    static constexpr std::uint64_t hashWhole = 64ULL << 20;

    const std::string &name() const { return m_name; }
    std::span<const Input> inputs() const { return m_inputs; }
    std::span<const Artifact> artifacts() const { return m_artifacts; }
    const Artifact &artifact(ArtifactId id) const { return m_artifacts[id.index]; }
    /// Null when the id is invalid.
    const Artifact *find(ArtifactId id) const { return id.valid() ? &m_artifacts[id.index] : nullptr; }
    const Artifact *byName(std::string_view name) const;
    std::vector<const Artifact *> ofKind(Kind kind) const;
    std::vector<const Artifact *> ofFormat(std::string_view format) const;
    /// In order of path; folders without any model file are not listed.
    std::span<const ModelFolder> models() const { return m_models; }
    std::span<const Unreadable> unreadable() const { return m_unreadable; }

private:
    friend class RunBuilder;
    std::string m_name;
    std::vector<Input> m_inputs;
    std::vector<Artifact> m_artifacts;
    std::vector<ModelFolder> m_models;
    std::vector<Unreadable> m_unreadable;
};
using RunPtr = std::shared_ptr<const Run>;

} // namespace prosector
