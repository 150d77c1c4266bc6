// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/core/bytesource.h"
#include "models/core/document.h"

#include <memory>
#include <optional>
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

/// JSON Lines: an index of where each value stands; the values are parsed when asked for, so a log of
/// hundreds of megabytes costs 24 bytes a line. Blank lines are not listed. At most `maxLines` lines
/// are indexed; the rest is named in the artifact's problems, as is the first damaged line among the
/// first `checkedBytes` (lines further on are only found damaged by asking for them).
struct LinesContent final : Content {
    struct Line {
        std::uint64_t offset; ///< in the file
        std::uint64_t line;   ///< counted from 1
        std::uint32_t length; ///< without the line end
    };
    static constexpr std::size_t maxLines = 16'000'000;
    static constexpr std::uint64_t checkedBytes = 32ULL << 20;

    SourcePtr source;
    std::vector<Line> lines;

    /// The value of one line, counted from 0. Its byte ranges are relative to `lines[index].offset`.
    /// A line that does not parse gives a document with a `problem()`, never null.
    DocumentPtr document(std::size_t index) const;
};

/// Plain text with its lines found: logs, templates, prompts. Line ends are not part of a line.
/// At most `limit` bytes are held: of a longer text the beginning and the end, where a log says why it
/// stopped. The lines between are counted, so that numbers are right, and read as empty; that they were
/// not read is one of the artifact's problems.
struct TextContent final : Content {
    static constexpr std::uint64_t limit = 64ULL << 20;
    /// What of the file is not in `text`.
    struct Gap {
        std::uint64_t at = 0;    ///< in `text`; the beginning of a line
        std::uint64_t bytes = 0; ///< 0: nothing is left out
        std::uint64_t lines = 0;
    };
    explicit TextContent(std::string t);
    TextContent(std::string t, Gap leftOut);
    std::string text;
    std::vector<std::uint32_t> lineStarts; ///< in `text`, of each line that is there; never empty
    Gap gap;
    std::size_t lineCount() const { return lineStarts.size() + gap.lines; }
    std::string_view line(std::size_t index) const;    ///< counted from 0; empty for one left out
    std::uint64_t lineOffset(std::size_t index) const; ///< in the file; of lines left out that of the gap
    std::size_t lineAt(std::uint64_t offset) const;    ///< the line that holds a byte of the file

private:
    std::optional<std::size_t> position(std::size_t index) const; ///< in lineStarts; none for a line left out
    std::size_t m_gapLine = 0; ///< lines before the gap
};

/// A Git-LFS pointer: the file it stands for was never fetched.
struct LfsContent final : Content {
    std::string oid;
    std::uint64_t declaredSize = 0;
};

/// What a reader makes of the bytes.
struct Reading {
    Kind kind = Kind::Unknown;
    std::string summary{};                   ///< one short phrase for lists: "191 tensors, 14.2 GB"
    std::shared_ptr<const Content> content{}; ///< null when nothing could be decoded
    std::vector<Error> problems{};           ///< what could not be read; the rest was kept
    std::vector<std::string> remarks{};      ///< readable but remarkable
    std::string_view format{};               ///< what was recognised, a literal; empty: the reader's id
};

/// One typed piece of evidence with its origin. Owned by a Run; immutable.
struct Artifact {
    ArtifactId id;
    std::string name;       ///< unique in the run; the `id` of trace.json, else the path
    std::string path;       ///< relative to the opened input, '/'-separated; `archive.zip!member`
    Kind kind = Kind::Unknown;
    std::string format;     ///< what was recognised: "gguf", "config", "jsonl" (a reader's id or a row of shapes.h)
    std::string summary;
    std::uint64_t size = 0; ///< bytes
    SourcePtr source;       ///< never null
    std::shared_ptr<const Content> content;
    std::vector<Error> problems;
    std::vector<std::string> remarks; ///< readable but remarkable: "named .json, but holds a GGUF file"
    std::string tensor;     ///< trace.json: the one tensor of the file that is meant, or empty
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
