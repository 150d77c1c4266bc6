// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/tokenizers/open.h"

#include "models/tokenizers/gguf.h"
#include "models/tokenizers/pipeline.h"
#include "models/tokenizers/sentencepiece.h"
#include "models/tokenizers/slowfiles.h"
#include "models/tokenizers/tiktoken.h"
#include "models/tokenizers/transformers.h"

#include <algorithm>
#include <array>
#include <optional>

namespace prosector {

namespace {

/// How a file of one format becomes a tokenizer.
struct Opener {
    std::string_view format;
    Result<TokenizerPtr> (*open)(const Artifact &artifact);
};

Result<TokenizerPtr> openJson(const Artifact &artifact)
{
    return tokenizerFromJson(artifact.tree());
}

Result<TokenizerPtr> openSentencePiece(const Artifact &artifact)
{
    auto model = readText(*artifact.source);
    return model ? tokenizerFromSentencePiece(std::move(*model)) : model.error();
}

Result<TokenizerPtr> openRanks(const Artifact &artifact)
{
    const auto file = readText(*artifact.source);
    return file ? tokenizerFromTiktoken(*file) : file.error();
}

Result<TokenizerPtr> openTekken(const Artifact &artifact)
{
    return tokenizerFromTekken(artifact.tree());
}

Result<TokenizerPtr> openGguf(const Artifact &artifact)
{
    const auto *const content = artifact.as<GgufContent>();
    if (!content)
        return Error{Errc::Unsupported, "GGUF file that could not be read", Whole{}};
    return tokenizerFromGguf(*content);
}

constexpr std::array openers{
    Opener{"gguf", openGguf},
    Opener{"tokenizer_json", openJson},
    Opener{"sentencepiece", openSentencePiece},
    Opener{"tiktoken", openRanks},
    Opener{"tekken", openTekken},
};

const Opener *openerOf(const Artifact &artifact)
{
    const auto *const found =
        std::find_if(openers.begin(), openers.end(), [&](const Opener &o) { return o.format == artifact.format; });
    return found == openers.end() ? nullptr : found;
}

/// The same error, with the file it is about.
Error inFile(Error error, const Artifact &artifact)
{
    error.message = artifact.path + ": " + error.message;
    return error;
}

/// The files of a folder that Transformers reads.
class FolderFiles {
public:
    FolderFiles(const Run &run, const ModelFolder &folder) : m_run(run), m_folder(folder) {}

    /// `json` is tokenizer.json, or made in its place; `file` is what to name in errors.
    Result<OpenedTokenizer> open(Value json, const Artifact &file) const
    {
        auto settings = transformersSettings(json, tree(m_folder.tokenizerConfig), tree(m_folder.specialTokensMap),
                                             tree(m_folder.addedTokens));
        auto made = PipelineTokenizer::fromJson(json, settings);
        if (!made)
            return inFile(made.error(), file);
        OpenedTokenizer opened{std::move(*made), file.id, {}, settings.cleanUpSpaces, std::move(settings.notes)};
        opened.options.specialsAsText = settings.splitSpecialTokens;
        opened.options.truncateAndPad = false;
        return opened;
    }

    /// Files of a slow tokenizer, or nothing when there are none that Transformers would convert.
    std::optional<Result<OpenedTokenizer>> openSlow() const
    {
        const Artifact *const vocabulary = m_run.find(m_folder.vocabulary);
        const Artifact *const sentencePiece = m_run.find(m_folder.sentencePiece);
        const Artifact *const merges = m_run.find(m_folder.merges);
        SlowFiles files;
        files.config = tree(m_folder.tokenizerConfig);
        if (vocabulary && vocabulary->format == "vocab")
            files.vocabulary = vocabulary->tree();
        if (vocabulary && vocabulary->format == "wordpiece_vocab")
            files.wordPieces = vocabulary->as<TextContent>();
        if (merges)
            files.merges = merges->as<TextContent>();
        if (sentencePiece)
            files.sentencePiece = sentencePiece->as<SentencePieceContent>();
        const auto json = tokenizerJsonOf(files);
        if (!json)
            return std::nullopt;
        auto opened = open((*json)->root(), files.sentencePiece ? *sentencePiece : *vocabulary);
        if (!opened)
            return opened;
        if (files.wordPieces) // the default of the slow BERT classes, unlike all others'
            opened->cleanUpSpaces = files.config["clean_up_tokenization_spaces"].boolean().value_or(true);
        opened->notes.push_back("no tokenizer.json: converted from " + m_run.artifact(opened->file).path + " as Transformers would");
        return opened;
    }

private:
    Value tree(ArtifactId id) const
    {
        const Artifact *const file = m_run.find(id);
        return file ? file->tree() : Value();
    }
    const Run &m_run;
    const ModelFolder &m_folder;
};

} // namespace

bool isTokenizerFile(const Artifact &artifact)
{
    return openerOf(artifact) != nullptr;
}

Result<OpenedTokenizer> openTokenizer(const Artifact &artifact)
{
    const Opener *const opener = openerOf(artifact);
    if (!opener)
        return Error{Errc::Unsupported, artifact.path, Whole{}, "a tokenizer", artifact.format};
    auto made = opener->open(artifact);
    if (!made)
        return inFile(made.error(), artifact);
    return OpenedTokenizer{std::move(*made), artifact.id};
}

Result<OpenedTokenizer> openTokenizer(const Run &run, const ModelFolder &folder)
{
    const FolderFiles files(run, folder);
    if (const Artifact *const json = run.find(folder.tokenizerJson))
        return files.open(json->tree(), *json);
    if (auto slow = files.openSlow())
        return std::move(*slow);
    for (const ArtifactId id : {folder.sentencePiece, folder.vocabulary}) {
        const Artifact *const artifact = run.find(id);
        if (artifact && isTokenizerFile(*artifact))
            return openTokenizer(*artifact);
    }
    for (const std::vector<ArtifactId> *const list : {&folder.gguf, &folder.all}) {
        for (const ArtifactId id : *list) {
            if (isTokenizerFile(run.artifact(id)))
                return openTokenizer(run.artifact(id));
        }
    }
    return Error{Errc::NotFound, folder.path.empty() ? run.name() : folder.path, Whole{},
                 "tokenizer.json, tokenizer.model, tekken.json, a rank file or a GGUF file with a vocabulary", "none of them"};
}

Result<OpenedTokenizer> openTokenizer(const Run &run)
{
    if (run.inputs().size() == 1 && run.inputs()[0].kind == "file" && run.artifacts().size() == 1)
        return openTokenizer(run.artifacts()[0]);
    std::optional<Error> first;
    for (const ModelFolder &folder : run.models()) {
        auto opened = openTokenizer(run, folder);
        if (opened)
            return opened;
        if (!first || first->code == Errc::NotFound)
            first = opened.error();
    }
    if (first)
        return *first;
    for (const Artifact &artifact : run.artifacts()) {
        if (isTokenizerFile(artifact))
            return openTokenizer(artifact);
    }
    return Error{Errc::NotFound, run.name(), Whole{}, "a tokenizer", "none"};
}

} // namespace prosector
