// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/config/inventory.h"

#include "models/artifacts/tensorkinds.h"
#include "models/config/commandline.h"
#include "models/config/tokenizerfacts.h"
#include "models/core/ascii.h"
#include "models/core/digest.h"

#include <algorithm>
#include <array>

namespace prosector {

namespace {

bool isHex(std::string_view text, std::size_t digits)
{
    return text.size() == digits && text.find_first_not_of("0123456789abcdefABCDEF") == std::string_view::npos;
}

std::string withoutScheme(std::string text)
{
    const auto colon = text.find(':');
    return asciiLower(colon == std::string::npos || !text.starts_with("sha") ? text : text.substr(colon + 1));
}

Value firstOf(Value object, std::initializer_list<const char *> keys)
{
    for (const char *const key : keys) {
        if (const Value value = object[key]; value.isSet())
            return value;
    }
    return {};
}

// A file's entry: a hash, an object with hashes, or the content itself.
void addFile(Replica &replica, std::string name, Value value, const Anchor *line)
{
    ReplicaFile file{.name = std::move(name), .where = line ? *line : value.anchor()};
    if (value.isObject()) {
        const Value hash = firstOf(value, {"sha256", "hash", "digest", "header_sha256", "raw_sha256"});
        const Value meaning = firstOf(value, {"canonical_sha256", "canonical", "canonical_hash", "tensors_sha256", "tensor_hash", "data_sha256"});
        if (hash.isString() || meaning.isString()) {
            file.hash = withoutScheme((hash.isString() ? hash : meaning).string(""));
            file.canonical = withoutScheme(meaning.string(""));
        } else {
            file.hash = sha256Hex(value.raw());
            file.canonical = sha256Hex(canonicalJson(value));
        }
    } else if (value.isString()) {
        file.hash = withoutScheme(value.string(""));
        // Text that is JSON itself is compared by what it means.
        if (file.hash.starts_with('{')) {
            const auto document = Document::parseJson(value.string(""));
            if (!document->problem())
                file.canonical = sha256Hex(canonicalJson(document->root()));
            file.hash = sha256Hex(value.string(""));
        }
    }
    if (!file.hash.empty())
        replica.files.push_back(std::move(file));
}

void addReplica(std::vector<Replica> &replicas, ArtifactId artifact, Value row, const Anchor *line)
{
    Replica replica{.artifact = artifact, .where = line ? *line : row.anchor()};
    replica.name = firstOf(row, {"replica", "pod", "name", "instance", "host", "node", "id"}).string("");
    if (replica.name.empty())
        replica.name = "replica " + std::to_string(replicas.size() + 1);
    replica.service = firstOf(row, {"model", "service", "deployment", "pool"}).string("");
    replica.revision = firstOf(row, {"revision", "model_revision", "ref", "branch"}).string("");
    replica.resolved = firstOf(row, {"resolved", "resolved_revision", "commit", "commit_hash"}).string("");
    replica.started = firstOf(row, {"started", "started_at", "start", "start_time", "created", "start_day"}).string("");
    for (const char *const key : {"files", "file_hashes", "hashes", "sha256"}) {
        const Value files = row[key];
        for (const Value file : files) {
            if (files.isObject())
                addFile(replica, file.key(), file, line);
            else if (const Value name = firstOf(file, {"path", "name", "file"}); name.isString())
                addFile(replica, name.string(""), file, line);
        }
    }
    // Ollama's /api/tags: one digest for the model.
    if (row["digest"].isString())
        addFile(replica, "model", row["digest"], line);
    // Flat rows: "chat_template_sha256", "config_hash".
    for (const Value member : row) {
        const std::string key = member.key();
        for (const std::string_view ending : {"_sha256", "_hash", "_digest"}) {
            if (member.isString() && key.ends_with(ending) && key.size() > ending.size() && key != "commit_hash")
                addFile(replica, key.substr(0, key.size() - ending.size()), member, line);
        }
    }
    replicas.push_back(std::move(replica));
}

std::string firstLine(const Artifact &artifact)
{
    const auto bytes = artifact.source->readUpTo(0, 256);
    if (!bytes)
        return {};
    const std::string text(asText(*bytes));
    return text.substr(0, text.find_first_of("\r\n"));
}

// "a/models--org--name/snapshots/abc/config.json" → {"a/models--org--name", "snapshots", "abc", "config.json"}
struct CachePath {
    std::string_view model, part, first, rest;
};
std::optional<CachePath> cachePathOf(std::string_view path)
{
    const auto begin = path.find("models--");
    if (begin == std::string_view::npos || (begin > 0 && path[begin - 1] != '/'))
        return std::nullopt;
    const auto model = path.find('/', begin);
    if (model == std::string_view::npos)
        return std::nullopt;
    const auto part = path.find('/', model + 1);
    if (part == std::string_view::npos)
        return std::nullopt;
    const auto first = path.find('/', part + 1);
    return CachePath{path.substr(0, model), path.substr(model + 1, part - model - 1),
                     path.substr(part + 1, first == std::string_view::npos ? first : first - part - 1),
                     first == std::string_view::npos ? std::string_view() : path.substr(first + 1)};
}

std::string modelName(std::string_view folder)
{
    std::string name(folder.substr(folder.find("models--") + 8));
    if (const auto at = name.find("--"); at != std::string::npos)
        name.replace(at, 2, "/");
    return name;
}

// The artifact of a path relative to the folder of another one, or of that path's end.
const Artifact *fileBeside(const Run &run, const Artifact &list, std::string_view name)
{
    while (name.starts_with("./") || name.starts_with('*'))
        name.remove_prefix(name.starts_with("./") ? 2 : 1);
    const std::string wanted = list.path.substr(0, list.path.rfind('/') + 1) + std::string(name);
    for (const Artifact &artifact : run.artifacts()) {
        if (artifact.input == list.input && artifact.path == wanted)
            return &artifact;
    }
    return nullptr;
}

std::optional<std::uint64_t> sizeOf(Value value)
{
    const auto number = value.integer();
    return number && *number >= 0 ? std::optional(static_cast<std::uint64_t>(*number)) : std::nullopt;
}

void addJsonManifest(std::vector<ManifestEntry> &entries, const Run &run, const Artifact &artifact)
{
    const Value root = artifact.tree();
    if (root["replicas"] || artifact.kind == Kind::ReplicaInventory)
        return;
    // The hub's API lists files as an array, or as "siblings"; of a file in Git-LFS it names the pointer's blob too.
    for (const Value file : root.isArray() ? root : firstOf(root, {"files", "siblings"})) {
        const Value name = firstOf(file, {"path", "name", "file", "rfilename"});
        const Value stored = firstOf(file["lfs"], {"oid", "sha256"});
        const Value hash = file.isString() ? file : stored ? stored : firstOf(file, {"sha256", "digest", "hash", "oid", "blob_id", "blobId", "sha1"});
        const std::string sha = withoutScheme(hash.string(""));
        if (!isHex(sha, 64) && !isHex(sha, 40))
            continue;
        const std::string path = name.isString() ? name.string("") : file.key();
        entries.push_back({artifact.id, hash.anchor(), path, sha, sizeOf(file["size"]), fileBeside(run, artifact, path)});
    }
    // Ollama and OCI: blobs are named by their digest.
    if (!root["schemaVersion"] || !root["layers"].isArray())
        return;
    for (const Value layer : root["layers"]) {
        const std::string sha = withoutScheme(layer["digest"].string(""));
        if (!isHex(sha, 64))
            continue;
        const Artifact *blob = nullptr;
        for (const Artifact &candidate : run.artifacts()) {
            const auto file = fileNameOf(candidate.path);
            if (file == "sha256-" + sha || file == "sha256:" + sha)
                blob = &candidate;
        }
        entries.push_back({artifact.id, layer["digest"].anchor(), layer["mediaType"].string("layer"), sha, sizeOf(layer["size"]), blob});
    }
}

// "<64 hex>  name" or "<64 hex> *name" on every line.
void addHashList(std::vector<ManifestEntry> &entries, const Run &run, const Artifact &artifact, const TextContent &text)
{
    if (text.lineCount() > 100'000 || text.line(0).size() < 66 || !isHex(text.line(0).substr(0, 64), 64))
        return;
    for (std::size_t i = 0; i < text.lineCount(); ++i) {
        const auto line = text.line(i);
        if (line.size() < 66 || !isHex(line.substr(0, 64), 64) || line[64] != ' ')
            continue;
        const auto name = line.substr(line.find_first_not_of(" *", 64) == std::string_view::npos ? 65 : line.find_first_not_of(" *", 64));
        entries.push_back({artifact.id, LogLine{i + 1, i + 1}, std::string(name), asciiLower(line.substr(0, 64)), {}, fileBeside(run, artifact, name)});
    }
}

void addFlag(std::vector<RevisionFlag> &flags, const std::string &spelling, const std::string &value, ArtifactId artifact, Anchor where)
{
    std::string name = spelling.substr(spelling.find_first_not_of('-') == std::string::npos ? 0 : spelling.find_first_not_of('-'));
    std::replace(name.begin(), name.end(), '-', '_');
    if ((name == "revision" || name == "tokenizer_revision" || name == "code_revision") && !value.empty() && value != "None" && value != "null"
        && value != "true")
        flags.push_back({name, value, artifact, std::move(where)});
}

// Files that lie under the replica's name beside the inventory show what a hash means.
void addMeanings(const Run &run, std::vector<Replica> &replicas)
{
    for (Replica &replica : replicas) {
        const Artifact &list = run.artifact(replica.artifact);
        for (ReplicaFile &file : replica.files) {
            if (!file.canonical.empty())
                continue;
            const Artifact *const held = fileBeside(run, list, replica.name + "/" + file.name);
            if (held && held->tree() && !held->as<TreeContent>()->document->problem())
                file.canonical = sha256Hex(canonicalJson(held->tree()));
        }
    }
}

} // namespace

bool isCommit(std::string_view revision)
{
    return isHex(revision, 40);
}

std::vector<Replica> replicasOf(const Run &run)
{
    std::vector<Replica> replicas;
    for (const Artifact *const artifact : run.ofKind(Kind::ReplicaInventory)) {
        if (const auto *const lines = artifact->as<LinesContent>()) {
            for (std::size_t i = 0; i < std::min<std::size_t>(lines->lines.size(), 100'000); ++i) {
                const Anchor line = LogLine{lines->lines[i].line, lines->lines[i].line};
                if (const auto document = lines->document(i); document->root().isObject())
                    addReplica(replicas, artifact->id, document->root(), &line);
            }
            continue;
        }
        const Value root = artifact->tree();
        Value list = root.isArray() ? root : firstOf(root, {"replicas", "pods", "instances"});
        if (!list && root.isObject())
            addReplica(replicas, artifact->id, root, nullptr);
        for (const Value row : list) {
            if (row.isObject())
                addReplica(replicas, artifact->id, row, nullptr);
        }
    }
    addMeanings(run, replicas);
    return replicas;
}

std::vector<HubCache> hubCachesOf(const Run &run)
{
    std::map<std::string_view, HubCache> caches;
    for (const Artifact &artifact : run.artifacts()) {
        const auto path = cachePathOf(artifact.path);
        if (!path)
            continue;
        HubCache &cache = caches[path->model];
        cache.name = modelName(path->model);
        if (path->part == "refs") {
            std::string name(path->first);
            if (!path->rest.empty())
                name += "/" + std::string(path->rest);
            if (const std::string commit = firstLine(artifact); !commit.empty())
                cache.refs.push_back({std::move(name), commit, artifact.id});
        } else if (path->part == "snapshots") {
            cache.snapshots.emplace(path->first, artifact.id);
        }
    }
    std::vector<HubCache> result;
    for (auto &[folder, cache] : caches)
        result.push_back(std::move(cache));
    return result;
}

std::vector<RevisionFlag> revisionFlagsOf(const Run &run)
{
    std::vector<RevisionFlag> flags;
    for (const Kind kind : {Kind::EngineArgs, Kind::EffectiveConfig}) {
        for (const Artifact *const artifact : run.ofKind(kind)) {
            for (const Value member : artifact->tree()) {
                if (member.isString())
                    addFlag(flags, member.key(), member.string(""), artifact->id, member.anchor());
            }
            const Value command = firstOf(artifact->tree(), {"command", "cmd", "args"});
            if (command.isString()) {
                for (const Argument &argument : parseCommandLine(command.string("")).arguments)
                    addFlag(flags, argument.spelling, argument.value, artifact->id, command.anchor());
            }
            if (const auto *const text = artifact->as<TextContent>()) {
                for (const Argument &argument : parseCommandLine(text->text).arguments)
                    addFlag(flags, argument.spelling, argument.value, artifact->id, Whole{});
            }
        }
    }
    for (const Artifact *const log : run.ofKind(Kind::StartupLog)) {
        const auto *const text = log->as<TextContent>();
        for (std::size_t i = 0; text && i < text->lineCount(); ++i) {
            if (!looksLikeServerCommand(text->line(i)))
                continue;
            for (const Argument &argument : parseCommandLine(text->line(i)).arguments)
                addFlag(flags, argument.spelling, argument.value, log->id, LogLine{i + 1, i + 1});
        }
    }
    return flags;
}

std::vector<ManifestEntry> manifestEntriesOf(const Run &run)
{
    std::vector<ManifestEntry> entries;
    for (const Artifact &artifact : run.artifacts()) {
        if ((artifact.tree().isObject() || artifact.tree()[0]["path"]) && artifact.kind != Kind::TokenizerFiles) {
            addJsonManifest(entries, run, artifact);
        } else if (const auto *const text = artifact.as<TextContent>(); text && artifact.kind != Kind::StartupLog) {
            addHashList(entries, run, artifact, *text);
        }
        // Files of Git-LFS lie in the cache under their SHA-256, others under the id of their Git blob.
        const auto path = cachePathOf(artifact.path);
        if (path && path->part == "blobs" && (isHex(path->first, 64) || isHex(path->first, 40)))
            entries.push_back({artifact.id, Whole{}, std::string(path->first.substr(0, 16)) + "… of the cache", asciiLower(path->first), {}, &artifact});
    }
    return entries;
}

} // namespace prosector
