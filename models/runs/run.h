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
///
/// How an instrument finds "the config.json of this folder":
///
///     for (const ModelFolder &folder : run.models()) {
///         const Artifact *config = run.find(folder.config);       // null when there is none
///         Value root = config ? config->tree() : Value();         // missing value when damaged
///         auto theta = root["rope_theta"].number();
///
/// `config->id` and `root["rope_theta"].anchor()` make the evidence. Files without a member here are
/// found by their format: `run.inFolder(folder, "sentence_pooling")` (formats: models/artifacts/shapes.h
/// and the readers' ids). Files that are Git-LFS pointers fill no member but `weights` and `gguf`.
struct ModelFolder {
    std::string path; ///< directory relative to the input, "" for the top
    std::uint32_t input = 0;
    ArtifactId config, generationConfig, tokenizerJson, tokenizerConfig, specialTokensMap, addedTokens,
        sentencePiece, adapterConfig, quantizeConfig, weightIndex, modelCard, preprocessorConfig, vocabulary, merges, params;
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
    std::string path; ///< relative to the input, or the input's own as given
    Error error;
    std::uint32_t input = 0; ///< index into Run::inputs()
};

/// One opened set of evidence. Immutable after opening and shared between threads.
class Run {
public:
    /// Opens files, folders and archives, each an input, in the order given; files are read by a few
    /// threads, artifacts stand in order of their paths. A file or folder given twice is opened once.
    /// Fails only when no input can be opened; of several the others are kept, and one that does not
    /// exist or cannot be read is in `unreadable()` like anything below it.
    ///
    /// A symbolic link to a file inside the input is opened under the link's name; a folder is opened
    /// once, under its own name. Loops, links to nothing and links out of the input are `unreadable`;
    /// the one way out is a Hugging Face cache snapshot's links into its `blobs`. `.git` is not walked.
    ///
    /// A `trace.json` with a member "prosector" names the artifacts of its directory and links them.
    /// Its file names stay inside that directory. Its model path does too, or names one neighbour of the
    /// opened folder (`../qwen3`, with one leading `..` and no symbolic link), which is then opened with
    /// the rest, under paths that begin with `../qwen3/`.
    ///
    /// An input's sha256 is that of its bytes for a single file up to `hashWhole` bytes; for a folder
    /// or archive of the sorted lines "<sha256>  <size>  <path>\n". Of larger files only the first
    /// mebibyte is hashed (a 405-billion-parameter model is 800 GB), and "head:" before the hash says so.
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
    /// The first artifact of that format among a model's files, or null.
    const Artifact *inFolder(const ModelFolder &folder, std::string_view format) const;
    /// The model whose directory the artifact lies in, or null.
    const ModelFolder *folderOf(ArtifactId id) const;
    /// In order of path; folders without any model file are not listed.
    std::span<const ModelFolder> models() const { return m_models; }
    std::span<const Unreadable> unreadable() const { return m_unreadable; }
    /// Whether anything at all of this input could be decoded.
    bool readAnythingOf(std::uint32_t input) const;

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
