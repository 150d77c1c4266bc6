// SPDX-License-Identifier: GPL-3.0-or-later
// Every fuzz target in one program: `fuzz_<reader id>`, `fuzz_members` (opening archives),
// `fuzz_document`, `fuzz_pickle`. Whatever a reader makes of the bytes is then looked at as the program would.
#include "models/artifacts/pickle.h"
#include "models/artifacts/reader.h"
#include "models/artifacts/sentencepiecemodel.h"
#include "models/artifacts/tensordata.h"
#include "models/core/archive.h"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

using namespace prosector;

namespace {

using Target = void (*)(std::string_view bytes);

const Reader *chosenReader = nullptr;
Target target = nullptr;

void look(const Value &value)
{
    (void)value.string();
    (void)value.number();
    (void)value.integer();
    (void)value.path();
}

/// A range that a window will mark lies in the file.
void mustLieIn(ByteRange range, std::uint64_t size)
{
    if (range.from > range.to || range.to > size)
        std::abort();
}

void lookAtTree(const Document &document)
{
    std::size_t left = 500;
    std::vector<Value> open{document.root()};
    while (!open.empty() && left-- > 0) {
        const Value value = open.back();
        open.pop_back();
        look(value);
        mustLieIn(value.range(), document.text().size());
        if (value && document.at(value.path()).type() == Value::Type::Missing && document.remarks().empty())
            std::abort(); // every value is found at its own path
        for (const Value child : value) {
            if (open.size() > 500)
                break;
            open.push_back(child);
        }
    }
}

void lookAtTensors(const TensorContent &content, const ByteSource &source)
{
    std::size_t left = 50;
    for (const TensorInfo &tensor : content.tensors) {
        if (left-- == 0)
            break;
        (void)tensor.shapeText();
        const std::uint64_t some = std::min<std::uint64_t>(tensor.bytes.size(), 100);
        (void)readTensor<double>(sourceOf(content, tensor, source), tensor, 0, some / (tensor.dtype && tensor.dtype->blockBytes ? tensor.dtype->blockBytes : 1), Job());
        (void)readTensor<std::int64_t>(sourceOf(content, tensor, source), tensor, Job(), 1000);
    }
    if (const auto *const gguf = dynamic_cast<const GgufContent *>(&content)) {
        for (const GgufEntry &entry : gguf->entries) {
            (void)entry.value.display();
            mustLieIn(entry.bytes, source.size());
        }
    }
}

void lookAtLines(const LinesContent &content, std::uint64_t size)
{
    for (std::size_t i = 0; i < std::min<std::size_t>(content.lines.size(), 20); ++i) {
        mustLieIn({content.lines[i].offset, content.lines[i].offset + content.lines[i].length}, size);
        lookAtTree(*content.document(i));
    }
}

void lookAtText(const TextContent &content)
{
    std::size_t bytes = 0;
    for (std::size_t i = 0; i < content.lineCount(); ++i)
        bytes += content.line(i).size();
    if (bytes > content.text.size())
        std::abort();
}

void lookAt(const Content *content, const ByteSource &source)
{
    if (const auto *const tree = dynamic_cast<const TreeContent *>(content)) {
        lookAtTree(*tree->document);
    } else if (const auto *const tensors = dynamic_cast<const TensorContent *>(content)) {
        lookAtTensors(*tensors, source);
    } else if (const auto *const lines = dynamic_cast<const LinesContent *>(content)) {
        lookAtLines(*lines, source.size());
    } else if (const auto *const text = dynamic_cast<const TextContent *>(content)) {
        lookAtText(*text);
    } else if (const auto *const index = dynamic_cast<const WeightIndexContent *>(content)) {
        lookAtTree(*index->document);
    } else if (const auto *const model = dynamic_cast<const SentencePieceContent *>(content)) {
        for (const auto &piece : model->pieces)
            mustLieIn(piece.bytes, source.size());
        for (const auto &setting : model->settings)
            mustLieIn(setting.bytes, source.size());
    }
}

void fuzzReader(std::string_view bytes)
{
    const auto source = memorySource("file", bytes);
    const auto head = source->readUpTo(0, headBytes);
    (void)chosenReader->sniff({"file", *head, source->size()});
    const auto reading = chosenReader->open(source, Job());
    if (!reading)
        return;
    for (const Error &problem : reading->problems)
        (void)describe(problem);
    lookAt(reading->content.get(), *source);
}

void fuzzArchive(std::string_view bytes)
{
    (void)looksLikeArchive(std::as_bytes(std::span(bytes)).first(std::min<std::size_t>(bytes.size(), headBytes)));
    // Low limits, so that a small input cannot keep a run busy with unpacking.
    const auto archive = openArchive(memorySource("a", bytes), Job(), {.members = 1000, .memberBytes = 4 << 20, .totalBytes = 16 << 20});
    if (!archive)
        return;
    for (const ArchiveMember &member : archive->members) {
        if (safeMemberName(member.name) != member.name)
            std::abort();
        (void)member.bytes->readUpTo(0, 4096);
    }
}

void fuzzDocument(std::string_view bytes)
{
    lookAtTree(*Document::parseJson(std::string(bytes)));
}

void fuzzPickle(std::string_view bytes)
{
    (void)readPickle(std::string(bytes), Job());
}

} // namespace

extern "C" int LLVMFuzzerInitialize(int *, char ***argv)
{
    const std::string_view program = (*argv)[0];
    const auto at = program.rfind("fuzz_");
    const auto name = at == std::string_view::npos ? std::string_view() : program.substr(at + 5);
    if (name == "members")
        target = fuzzArchive;
    else if (name == "document")
        target = fuzzDocument;
    else if (name == "pickle")
        target = fuzzPickle;
    for (const Reader *const reader : readers()) {
        if (reader->id == name) {
            chosenReader = reader;
            target = fuzzReader;
        }
    }
    if (!target) {
        std::fprintf(stderr, "call this program by a link named fuzz_ and a reader's id, members, document or pickle\n");
        std::exit(2);
    }
    return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size)
{
    target({reinterpret_cast<const char *>(data), size});
    return 0;
}
