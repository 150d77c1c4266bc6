// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/core/bytesource.h"
#include "models/core/document.h"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace prosector {

/// What a piece of evidence is good for. The names (`nameOf`) are those of trace.json and of
/// `catalogue/cases.md`; extended, never renamed.
enum class Kind : std::uint8_t {
    Unknown,
    LfsPointer, ///< a Git-LFS pointer standing where the file should be
    ConfigFiles, TokenizerFiles, ChatTemplate, AdapterFiles, Weights, WeightIndex, ModelCard,
    QuantizationConfig, TraceManifest,
    TokenArray, RenderedPrompt, RequestBody, ResponseBody, SseStream, StartupLog, EffectiveConfig,
    EffectiveSamplingParams, EngineArgs, AttentionMask, PositionIds, Logits, Tensors, KvCacheTable, CacheLog,
    CacheKeyFields, WeightStats, ActivationStats, EncodeRecord, TrainingBatch, TrainingLog, PreferencePairs,
    IndexStats, RetrievalLog, EvalSamples, EvalConfig, JudgeVerdicts, MetricHistory, HistogramSnapshot,
    RequestLog, ReplicaInventory, DeployEvents, ProbeConfig, KernelTrace, Sweep, Data, Text, Archive,
};
std::string_view nameOf(Kind kind);
/// `Unknown` for a name that is none.
Kind kindFromString(std::string_view name);

/// The decoded form of an artifact. Readers derive from it; instruments and views ask for the
/// type they understand with `Artifact::as<T>()`. Immutable once opened.
struct Content {
    virtual ~Content() = default;
};

/// JSON (or YAML) as a tree.
struct TreeContent final : Content {
    DocumentPtr document;
    explicit TreeContent(DocumentPtr d) : document(std::move(d)) {}
    Value root() const { return document->root(); }
};

/// JSON Lines: one tree per line that holds one. `offset` is where the line starts in the file,
/// `line` counts from 1. A line that does not parse is in the artifact's problems.
struct LinesContent final : Content {
    struct Line {
        std::uint64_t offset, line;
        DocumentPtr document;
    };
    std::vector<Line> lines;
};

/// Plain text with its lines found: logs, templates, prompts. Line ends are not part of a line.
struct TextContent final : Content {
    explicit TextContent(std::string t);
    std::string text;
    std::vector<std::uint64_t> lineStarts; ///< byte offset of each line; never empty
    std::size_t lineCount() const { return lineStarts.size(); }
    std::string_view line(std::size_t index) const; ///< counted from 0
};

/// A Git-LFS pointer: the file it stands for was never fetched.
struct LfsContent final : Content {
    std::string oid;
    std::uint64_t declaredSize = 0;
};

/// What a reader makes of the bytes.
struct Reading {
    Kind kind = Kind::Unknown;
    std::string summary;                     ///< one short phrase for lists: "191 tensors, 14.2 GB"
    std::shared_ptr<const Content> content;  ///< null when nothing could be decoded
    std::vector<Error> problems;             ///< what could not be read; the rest was kept
};

/// One typed piece of evidence with its origin. Owned by a Run; immutable.
struct Artifact {
    ArtifactId id;
    std::string name;       ///< unique in the run; the `id` of trace.json, else the path
    std::string path;       ///< relative to the opened input, '/'-separated; `archive.zip!member`
    Kind kind = Kind::Unknown;
    std::string format;     ///< the reader's id: "gguf", "config", "jsonl"
    std::string summary;
    std::uint64_t size = 0; ///< bytes
    SourcePtr source;       ///< never null
    std::shared_ptr<const Content> content;
    std::vector<Error> problems;
    std::string of;         ///< trace.json: name of the artifact this one belongs to, or empty
    std::uint32_t input = 0; ///< which opened input it came from

    template<class T>
    const T *as() const
    {
        return dynamic_cast<const T *>(content.get());
    }
    /// Root of the tree, or a missing value if this artifact is none.
    Value tree() const
    {
        const auto *t = as<TreeContent>();
        return t ? t->root() : Value();
    }
};

} // namespace prosector
