// SPDX-License-Identifier: GPL-3.0-or-later
// trace.json: names, kinds and links of what lies beside it (format: DESIGN.md, "Trace folder").
#include "models/runs/runbuilder.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <set>

namespace prosector {

namespace fs = std::filesystem;

namespace {

constexpr std::int64_t knownVersion = 1;

std::string folderOf(std::string_view path)
{
    const auto cut = path.rfind('/');
    return std::string(path.substr(0, cut == std::string_view::npos ? 0 : cut + 1));
}

/// A path of a manifest, taken apart and joined again, or why it is refused. `climbs` says whether it
/// begins with its one permitted `..`.
struct SafePath {
    std::string path;
    bool climbs = false;
};
Result<SafePath> safePath(std::string_view text, bool mayClimb)
{
    const auto refuse = [&](std::string expected) {
        return Error{Errc::Malformed, "a path in trace.json is refused", Whole{}, std::move(expected), std::string(text)};
    };
    if (text.empty() || text.find('\0') != std::string_view::npos)
        return refuse("a path");
    if (text[0] == '/' || text.find('\\') != std::string_view::npos || (text.size() > 1 && text[1] == ':'))
        return refuse("a relative path with '/' between its parts");
    SafePath safe;
    for (std::size_t begin = 0; begin <= text.size();) {
        const auto end = std::min(text.find('/', begin), text.size());
        const auto part = text.substr(begin, end - begin);
        if (part == ".." && mayClimb && !safe.climbs && safe.path.empty())
            safe.climbs = true;
        else if (part == "..")
            return refuse(mayClimb ? "at most one '..', at the beginning" : "a path that stays in the folder of trace.json");
        else if (!part.empty() && part != ".")
            safe.path += (safe.path.empty() ? "" : "/") + std::string(part);
        begin = end + 1;
    }
    if (safe.path.empty())
        return refuse("the name of a file or folder");
    return safe;
}

} // namespace

/// One manifest being applied to the artifacts of an input.
class RunBuilder::Manifest {
public:
    Manifest(RunBuilder &builder, std::uint32_t index, std::size_t first)
        : m_builder(builder), m_index(index), m_first(first), m_root(builder.m_run->m_artifacts[index].tree()),
          m_path(builder.m_run->m_artifacts[index].path), m_folder(folderOf(m_path))
    {
    }

    void apply()
    {
        if (m_root["prosector"].integer() != knownVersion) {
            problem({Errc::Unsupported, "another version of trace.json; read as version 1", m_root["prosector"].anchor(),
                     "1", std::string(m_root["prosector"].raw())});
        }
        auto &artifacts = m_builder.m_run->m_artifacts;
        for (std::uint32_t i = static_cast<std::uint32_t>(m_first); i < artifacts.size(); ++i)
            m_byPath[artifacts[i].path] = i;
        const Value entries = m_root["artifacts"];
        if (entries && !entries.isArray())
            problem({Errc::Malformed, "not a list", entries.anchor(), "a list of artifacts", std::string(entries.raw().substr(0, 40))});
        std::vector<std::pair<std::uint32_t, Value>> links;
        for (const Value entry : entries.isArray() ? entries : Value()) {
            if (const auto index = name(entry))
                links.emplace_back(*index, entry["of"]);
        }
        for (const auto &[index, of] : links) {
            if (!of.isSet())
                continue;
            const auto target = m_names.find(of.string(""));
            if (target == m_names.end())
                problem({Errc::NotFound, "\"of\" names no artifact", of.anchor(), "the id of an artifact", std::string(of.raw())});
            else
                artifacts[index].of = target->second;
        }
        breakCircles(links);
    }

private:
    void problem(Error error)
    {
        m_builder.m_run->m_unreadable.push_back({m_path, error, m_builder.m_input});
        m_builder.m_run->m_artifacts[m_index].problems.push_back(std::move(error));
    }

    /// What belongs to itself, directly or by way of others, belongs to nothing.
    void breakCircles(const std::vector<std::pair<std::uint32_t, Value>> &links)
    {
        auto &artifacts = m_builder.m_run->m_artifacts;
        std::map<std::string_view, std::uint32_t> byName;
        for (const auto &[index, of] : links)
            byName[artifacts[index].name] = index;
        std::set<std::uint32_t> known; // their way ends
        for (const auto &[index, of] : links) {
            std::vector<std::uint32_t> way;
            std::set<std::uint32_t> onWay;
            auto at = std::optional(index);
            while (at && !known.contains(*at) && onWay.insert(*at).second) {
                way.push_back(*at);
                const auto next = byName.find(artifacts[*at].of);
                at = next == byName.end() ? std::nullopt : std::optional(next->second);
            }
            if (at && onWay.contains(*at)) {
                problem({Errc::Malformed, artifacts[way.back()].path + " belongs to itself", of.anchor(),
                         "the id of another artifact, without a circle", std::string(of.raw())});
                artifacts[way.back()].of.clear();
            }
            known.insert(way.begin(), way.end());
        }
    }

    /// Names the artifact an entry means; nothing when it means none.
    std::optional<std::uint32_t> name(Value entry)
    {
        const Value file = entry["file"];
        if (!file.isString()) {
            problem({Errc::Malformed, "an artifact without a file", entry.anchor(), "\"file\": a path", std::string(file.raw())});
            return std::nullopt;
        }
        auto path = safePath(file.string(""), false);
        if (!path) {
            auto error = path.error();
            error.where = file.anchor();
            problem(std::move(error));
            return std::nullopt;
        }
        const auto found = m_byPath.find(m_folder + path->path);
        if (found == m_byPath.end()) {
            m_builder.m_run->m_unreadable.push_back({m_folder + path->path,
                {Errc::NotFound, "named in " + m_path + " at " + file.path() + ", but absent", Whole{}, "a file", "none"}, m_builder.m_input});
            return std::nullopt;
        }
        auto &artifacts = m_builder.m_run->m_artifacts;
        std::uint32_t index = found->second;
        if (!m_claimed.insert(index).second) { // another tensor of a file that has a name already
            index = static_cast<std::uint32_t>(artifacts.size());
            artifacts.push_back(artifacts[found->second]);
            artifacts.back().id = {index};
            artifacts.back().problems.clear();
            artifacts.back().name = m_builder.uniqueName(artifacts.back().path);
        }
        Artifact &artifact = artifacts[index];
        setName(artifact, entry["id"]);
        setKind(artifact, entry["kind"]);
        artifact.tensor = entry["tensor"].string("");
        const auto *const tensors = artifact.as<TensorContent>();
        if (!artifact.tensor.empty() && tensors && !tensors->find(artifact.tensor))
            problem({Errc::NotFound, artifact.path + " holds no tensor of that name", entry["tensor"].anchor(), artifact.tensor, "none"});
        return index;
    }

    void setName(Artifact &artifact, Value id)
    {
        const auto text = id.string("");
        if (text.empty())
            return;
        if (m_names.contains(text)) {
            problem({Errc::Malformed, "an id stands twice", id.anchor(), "an id of its own", text});
            return;
        }
        artifact.name = m_builder.uniqueName(text);
        m_names[text] = artifact.name;
    }

    void setKind(Artifact &artifact, Value kind)
    {
        if (!kind.isSet() || artifact.kind == Kind::LfsPointer)
            return;
        const Kind declared = kindFromString(kind.string(""));
        if (declared == Kind::Unknown && kind.string("") != nameOf(Kind::Unknown))
            problem({Errc::Malformed, "unknown kind of artifact", kind.anchor(), "a kind such as \"request_body\"", std::string(kind.raw())});
        else
            artifact.kind = declared;
    }

    RunBuilder &m_builder;
    std::uint32_t m_index;
    std::size_t m_first;
    Value m_root;
    std::string m_path, m_folder;
    std::map<std::string, std::uint32_t, std::less<>> m_byPath;
    std::map<std::string, std::string, std::less<>> m_names; ///< id -> name in the run
    std::set<std::uint32_t> m_claimed;
};

Result<void> RunBuilder::applyManifests(std::size_t first, const std::string &folder, std::vector<std::string> *hashLines)
{
    const auto end = m_run->m_artifacts.size();
    for (std::size_t i = first; i < end; ++i) {
        const Artifact &artifact = m_run->m_artifacts[i];
        const bool named = artifact.path == "trace.json" || artifact.path.ends_with("/trace.json");
        if (artifact.kind != Kind::TraceManifest || !named)
            continue;
        Manifest(*this, static_cast<std::uint32_t>(i), first).apply();
        if (auto done = openDeclaredModel(i, first, folder, hashLines); !done)
            return done;
    }
    return {};
}

/// The model a manifest names: inside the input it is open already; one neighbour of the input is
/// opened here; anything else is refused.
Result<void> RunBuilder::openDeclaredModel(std::size_t manifest, std::size_t first, const std::string &folder,
                                           std::vector<std::string> *hashLines)
{
    const std::string manifestPath = m_run->m_artifacts[manifest].path;
    const Value value = m_run->m_artifacts[manifest].tree()["model"]["path"];
    if (!value.isString())
        return {};
    const auto refuse = [&](Error error) {
        error.where = value.anchor();
        m_run->m_artifacts[manifest].problems.push_back(error);
        m_run->m_unreadable.push_back({manifestPath, std::move(error), m_input});
        return Result<void>();
    };
    const auto safe = safePath(value.string(""), true);
    if (!safe)
        return refuse(safe.error());
    const auto here = folderOf(manifestPath);
    const bool outside = safe->climbs && here.empty();
    const auto inside = (safe->climbs && !here.empty() ? folderOf(std::string_view(here).substr(0, here.size() - 1)) : here) + safe->path;
    if (!outside) {
        const bool known = std::any_of(m_run->m_artifacts.begin() + static_cast<std::ptrdiff_t>(first), m_run->m_artifacts.end(),
                                       [&](const Artifact &a) { return a.path == inside || a.path.starts_with(inside + '/'); });
        return known ? Result<void>() : refuse({Errc::NotFound, "the model that trace.json names is absent", Whole{}, inside, "none"});
    }
    if (folder.empty())
        return refuse({Errc::Unsupported, "a model outside the archive is not opened", Whole{}, "a path inside it", value.string("")});
    std::error_code error;
    const auto root = fs::canonical(folder, error);
    const auto wanted = root.parent_path() / safe->path;
    const auto real = fs::canonical(wanted, error);
    if (error)
        return refuse({Errc::NotFound, "the model that trace.json names is absent", Whole{}, value.string(""), "none"});
    if (real != wanted)
        return refuse({Errc::Unsupported, "the model path leads through a symbolic link", Whole{}, "a folder beside the opened one", real.string()});
    if (std::mismatch(real.begin(), real.end(), root.begin(), root.end()).first == real.end())
        return {}; // the opened folder itself, by another way
    const auto shown = "../" + safe->path;
    if (!fs::is_directory(real, error))
        return addFiles({{shown, real.string(), nullptr}}, hashLines);
    auto walk = walkFolder(real.string(), shown + '/', m_job);
    if (!walk)
        return walk.error();
    keepUnreadable(walk->unreadable);
    return addFiles(walk->files, hashLines);
}

} // namespace prosector
