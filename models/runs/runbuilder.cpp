// SPDX-License-Identifier: GPL-3.0-or-later
// Opening: walk the inputs, let the readers sniff, name and link by trace.json, group by model.
#include "models/runs/runbuilder.h"

#include "models/artifacts/reader.h"
#include "models/artifacts/shapes.h"
#include "models/core/archive.h"
#include "models/core/guarded.h"
#include "models/core/digest.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <filesystem>
#include <mutex>
#include <system_error>
#include <thread>

#include <sys/stat.h>

namespace prosector {

namespace fs = std::filesystem;

namespace {

constexpr std::uint64_t hashedHead = 1 << 20;

std::string_view lastPart(std::string_view path)
{
    const auto cut = path.find_last_of('/');
    return cut == std::string_view::npos ? path : path.substr(cut + 1);
}

/// Lower-case hex, "head:" before it when only the beginning was hashed; empty when unreadable.
Result<std::string> hashOf(const ByteSource &source, const Job &job)
{
    if (source.size() <= Run::hashWhole)
        return sha256Hex(source, job);
    const auto head = source.read(0, hashedHead);
    if (!head)
        return head.error();
    return "head:" + sha256Hex(asText(*head));
}

/// Content decides what a file is; that its name promised something else is worth knowing.
void compareWithName(Artifact &artifact, std::string_view name)
{
    struct Promise {
        std::string_view names;
        std::string_view formats; ///< any of these keeps it
    };
    // Formats whose beginning is unmistakable: such a name over other bytes is a damaged or wrong file.
    static constexpr Promise promises[] = {
        {"*.safetensors", "safetensors lfs"}, {"*.gguf", "gguf lfs"}, {"*.npy", "npy lfs"}, {"*.npz", "npz lfs"},
    };
    for (const Promise &promise : promises) {
        if (!matchesAny(name, promise.names) || matchesAny(artifact.format, promise.formats))
            continue;
        const auto format = promise.formats.substr(0, promise.formats.find(' '));
        if (std::none_of(readers().begin(), readers().end(), [&](const Reader *reader) { return reader->id == format; }))
            continue;
        if (artifact.format.empty()) {
            artifact.problems.push_back({Errc::Malformed, "the file does not begin like its name says", ByteRange{0, std::min<std::uint64_t>(artifact.size, 16)},
                                         std::string(format), artifact.size == 0 ? "an empty file" : "bytes of no known format"});
        } else {
            artifact.remarks.push_back("named like " + std::string(format) + ", but holds " + artifact.format);
        }
    }
    // Only sentence-transformers' list of modules is an array.
    const Shape *const promised = artifact.content ? shapeByName(name) : nullptr;
    const bool object = promised && promised->format != "sentence_modules" && promised->kind >= Kind::ConfigFiles && promised->kind <= Kind::QuantizationConfig
                        && promised->kind != Kind::WeightIndex && promised->kind != Kind::ModelCard;
    if (const Value root = artifact.tree(); object && root && !root.isObject() && artifact.problems.empty())
        artifact.problems.push_back({Errc::Malformed, "not an object, as a file of this name is", root.anchor(), "an object", std::string(root.raw().substr(0, 40))});
    for (const Shape &shape : modelShapes()) {
        if (!shape.names.empty() && matchesAny(name, shape.names) && shape.format != artifact.format && artifact.kind != Kind::LfsPointer
            && artifact.kind != Kind::Unknown && !(shape.format == "config" && artifact.format.starts_with("sentence_"))) {
            artifact.remarks.push_back("named like " + std::string(shape.format) + ", but holds " + artifact.format);
            break;
        }
    }
}

} // namespace

RunBuilder::RunBuilder(const Job &job) : m_job(job), m_run(std::make_shared<Run>()) {}

Result<void> RunBuilder::addInput(const std::string &path)
{
    struct stat status {};
    const bool known = ::stat(path.c_str(), &status) == 0;
    const int error = errno;
    if (known && !m_opened.emplace(status.st_dev, status.st_ino).second)
        return {};
    m_input = static_cast<std::uint32_t>(m_run->m_inputs.size());
    m_run->m_inputs.push_back({path, "file", {}});
    const auto before = m_run->m_unreadable.size();
    Result<void> done;
    if (!known && (error == ENOENT || error == ENOTDIR))
        done = Error{Errc::NotFound, "no such file or folder"};
    else if (!known)
        done = Error{Errc::Unreadable, std::generic_category().message(error)};
    else
        done = guarded([&] { return S_ISDIR(status.st_mode) ? addFolder(path) : addFile(path); });
    if (!done && done.error().code == Errc::Cancelled)
        return done;
    if (!done)
        m_run->m_unreadable.push_back({path, done.error(), m_input});
    m_inputsOpened += done ? 1 : 0;
    if (m_run->m_unreadable.size() == before && !m_run->readAnythingOf(m_input))
        m_run->m_unreadable.push_back({path, {Errc::Unsupported, "nothing in it was recognised"}, m_input});
    for (auto i = before; i < m_run->m_unreadable.size(); ++i)
        m_run->m_unreadable[i].input = m_input;
    return {};
}

Result<void> RunBuilder::addFolder(const std::string &path)
{
    std::error_code error;
    fs::directory_iterator(path, error);
    if (error)
        return Error{Errc::Unreadable, "cannot list the folder: " + error.message()};
    auto walk = walkFolder(path, "", m_job);
    if (!walk)
        return walk.error();
    if (walk->files.empty() && walk->unreadable.empty())
        walk->unreadable.push_back({".", {Errc::NotFound, "the folder is empty", Whole{}, "at least one file", "none"}});
    const auto first = m_run->m_artifacts.size();
    if (auto done = addSet(std::move(*walk), path); !done)
        return done;
    m_run->m_inputs.back().kind = kindOfFolder(first);
    return {};
}

Result<void> RunBuilder::addSet(Walk walk, const std::string &folder)
{
    keepUnreadable(walk.unreadable);
    const auto first = m_run->m_artifacts.size();
    std::vector<std::string> hashLines;
    if (auto done = addFiles(walk.files, &hashLines); !done)
        return done;
    if (auto done = applyManifests(first, folder, &hashLines); !done)
        return done;
    std::sort(hashLines.begin(), hashLines.end());
    Digest hash;
    for (const std::string &line : hashLines)
        hash.add(line);
    m_run->m_inputs.back().sha256 = hash.hex();
    return {};
}

Result<void> RunBuilder::addFile(const std::string &path)
{
    const auto name = fs::path(path).filename().string();
    auto source = openFile(path, name);
    if (!source) {
        Error error = source.error(); // the path is said with it
        if (error.message.starts_with(name + ": "))
            error.message.erase(0, name.size() + 2);
        return error;
    }
    const auto head = (*source)->readUpTo(0, headBytes);
    if (!head)
        return head.error();
    const Reader *const reader = sniff({name, *head, (*source)->size()});
    if (reader && reader->id == "archive")
        return addArchive(*source);
    if (auto done = addFiles({{name, {}, *source}}, nullptr); !done)
        return done;
    auto hash = hashOf(**source, m_job);
    if (!hash)
        return hash.error();
    m_run->m_inputs.back().sha256 = *hash;
    return {};
}

/// An archive as an input is a folder that happens to be packed: its members are the files.
Result<void> RunBuilder::addArchive(SourcePtr source)
{
    auto archive = openArchive(source, m_job);
    if (!archive)
        return archive.error();
    Walk walk;
    for (ArchiveMember &member : archive->members)
        walk.files.push_back({std::move(member.name), {}, std::move(member.bytes)});
    // As the parts of paths are ordered, without taking each path apart at every comparison.
    const auto rank = [](char c) { return c == '/' ? 0 : static_cast<unsigned char>(c) + 1; };
    std::stable_sort(walk.files.begin(), walk.files.end(), [&rank](const FoundFile &a, const FoundFile &b) {
        return std::lexicographical_compare(a.path.begin(), a.path.end(), b.path.begin(), b.path.end(),
                                            [&rank](char x, char y) { return rank(x) < rank(y); });
    });
    for (Error &problem : archive->problems)
        walk.unreadable.push_back({source->name(), std::move(problem)});
    if (walk.files.empty() && walk.unreadable.empty())
        walk.unreadable.push_back({source->name(), {Errc::NotFound, "the archive is empty", Whole{}, "at least one member", "none"}});
    m_run->m_inputs.back().kind = "archive";
    return addSet(std::move(walk), "");
}

void RunBuilder::keepUnreadable(std::vector<Unreadable> &found)
{
    for (Unreadable &one : found) {
        one.input = m_input;
        m_run->m_unreadable.push_back(std::move(one));
    }
}

/// Opens all files with a few threads and appends them in the order given.
Result<void> RunBuilder::addFiles(const std::vector<FoundFile> &files, std::vector<std::string> *hashLines)
{
    auto opened = openAll(files, hashLines != nullptr);
    if (!opened)
        return opened.error();
    for (Opened &one : *opened) {
        if (hashLines && !one.hashLine.empty())
            hashLines->push_back(std::move(one.hashLine));
        keepUnreadable(one.unreadable);
        if (!one.artifact)
            continue;
        one.artifact->id = {static_cast<std::uint32_t>(m_run->m_artifacts.size())};
        one.artifact->name = uniqueName(one.artifact->path);
        one.artifact->input = m_input;
        m_run->m_artifacts.push_back(std::move(*one.artifact));
    }
    return {};
}

Result<std::vector<RunBuilder::Opened>> RunBuilder::openAll(const std::vector<FoundFile> &files, bool hash)
{
    std::vector<Opened> opened(files.size());
    std::atomic<std::size_t> next = 0, done = 0;
    std::mutex mutex;
    std::optional<Error> failure;
    const auto work = [&] {
        for (std::size_t i = next++; i < files.size(); i = next++) {
            auto one = guarded([&] { return openOne(files[i], hash); });
            if (!one && one.error().code != Errc::Cancelled) {
                // Without its content, so that what else there is can be kept.
                opened[i].unreadable.push_back({files[i].path, one.error()});
                continue;
            }
            if (!one) {
                const std::lock_guard lock(mutex);
                failure = one.error();
                next = files.size();
                return;
            }
            opened[i] = std::move(*one);
            m_job.progress(static_cast<double>(++done) / static_cast<double>(files.size()), files[i].path);
        }
    };
    {
        const auto cores = std::clamp<std::size_t>(std::thread::hardware_concurrency(), 1, 8);
        std::vector<std::jthread> helpers;
        try {
            for (std::size_t i = 1; i < std::min(cores, files.size()); ++i)
                helpers.emplace_back(work);
        } catch (const std::exception &) { // no room for another thread: fewer do
        }
        work();
    }
    if (failure)
        return *failure;
    return opened;
}

/// An error only when cancelled: whatever else goes wrong is part of the result.
Result<RunBuilder::Opened> RunBuilder::openOne(const FoundFile &file, bool hash) const
{
    if (m_job.cancelled())
        return Job::cancelledError();
    Opened opened;
    auto source = file.source ? Result<SourcePtr>(file.source) : openFile(file.onDisk, file.path);
    if (!source) {
        opened.unreadable.push_back({file.path, source.error()});
        return opened;
    }
    Artifact artifact;
    artifact.path = file.path;
    artifact.source = *source;
    artifact.size = artifact.source->size();
    const auto name = lastPart(file.path);
    const auto head = artifact.source->readUpTo(0, headBytes);
    const Reader *const reader = head ? sniff({name, *head, artifact.size}) : nullptr;
    if (!head) {
        opened.unreadable.push_back({file.path, head.error()});
    } else if (reader) {
        artifact.format = reader->id;
        auto reading = guarded([&] { return reader->open(artifact.source, m_job); });
        if (m_job.cancelled())
            return Job::cancelledError();
        if (reading) {
            artifact.kind = reading->kind;
            artifact.summary = std::move(reading->summary);
            artifact.content = std::move(reading->content);
            artifact.problems = std::move(reading->problems);
            artifact.remarks = std::move(reading->remarks);
            if (!reading->format.empty())
                artifact.format = reading->format;
        } else {
            artifact.problems.push_back(reading.error());
        }
    }
    compareWithName(artifact, name);
    for (const Error &problem : artifact.problems)
        opened.unreadable.push_back({file.path, problem});
    if (hash) {
        const auto digest = hashOf(*artifact.source, m_job);
        if (!digest && digest.error().code == Errc::Cancelled)
            return digest.error();
        opened.hashLine = (digest ? *digest : "unreadable") + "  " + std::to_string(artifact.size) + "  " + file.path + '\n';
    }
    opened.artifact = std::move(artifact);
    return opened;
}

/// The path, or with several inputs the input's name before it; numbered if even that is taken.
std::string RunBuilder::uniqueName(const std::string &path)
{
    std::string name = path;
    if (m_names.contains(name) && m_input > 0)
        name = fs::path(m_run->m_inputs.back().path).lexically_normal().filename().string() + '/' + path;
    if (int &taken = m_names[name]; taken++ > 0)
        name += '#' + std::to_string(taken);
    return name;
}

/// A model folder holds models and nothing that was captured of a run.
std::string RunBuilder::kindOfFolder(std::size_t first) const
{
    bool model = false;
    for (std::size_t i = first; i < m_run->m_artifacts.size(); ++i) {
        const Kind kind = m_run->m_artifacts[i].kind;
        if (kind == Kind::TraceManifest || (kind >= Kind::TokenArray && kind <= Kind::Sweep))
            return "trace";
        model = model || (kind >= Kind::LfsPointer && kind <= Kind::QuantizationConfig);
    }
    return model ? "model_folder" : "trace";
}

Result<RunPtr> RunBuilder::finish()
{
    if (m_inputsOpened == 0 && !m_run->m_unreadable.empty()) {
        Error error = m_run->m_unreadable[0].error;
        error.message = m_run->m_unreadable[0].path + ": " + error.message;
        for (std::size_t i = 1; i < m_run->m_unreadable.size(); ++i) {
            error.message = (i == 1 ? describe(error) : error.message) + "; " + m_run->m_unreadable[i].path + ": " + describe(m_run->m_unreadable[i].error);
            error = {error.code, error.message};
        }
        return error;
    }
    if (!m_run->m_inputs.empty()) {
        auto path = fs::path(m_run->m_inputs[0].path).lexically_normal();
        if (!path.has_filename())
            path = path.parent_path();
        std::error_code error;
        m_run->m_name = (path == "." || path == ".." ? fs::canonical(path, error) : path).filename().string();
    }
    m_run->m_models = groupModels(m_run->m_artifacts);
    return RunPtr(m_run);
}

Result<RunPtr> Run::open(std::span<const std::string> paths, const Job &job)
{
    RunBuilder builder(job);
    for (const std::string &path : paths) {
        if (auto done = builder.addInput(path); !done)
            return done.error();
    }
    return builder.finish();
}

} // namespace prosector
