// SPDX-License-Identifier: GPL-3.0-or-later
// F6: which exact bytes are loaded?
#include "models/artifacts/tensorkinds.h"
#include "models/config/effective.h"
#include "models/config/inventory.h"
#include "models/core/digest.h"
#include "models/core/wording.h"
#include "models/instruments/instrument.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>

namespace prosector {

namespace {

using namespace std::string_view_literals;

constexpr std::size_t evidenceLimit = 8;
constexpr std::uint64_t hashLimit = 256ULL << 20; // bytes of one file that are hashed here

class RevisionPin {
public:
    RevisionPin(const Inputs &inputs, const Job &job) : m_inputs(inputs), m_run(inputs.run), m_job(job) {}

    Result<Report> look()
    {
        const auto replicas = replicasOf(m_run);
        lookAtReplicas(replicas);
        lookAtCaches();
        if (const auto done = lookAtFlags(replicas); !done)
            return done.error();
        for (const ManifestEntry &entry : manifestEntriesOf(m_run)) {
            if (m_job.cancelled())
                return Job::cancelledError();
            if (auto done = lookAtEntry(entry); !done)
                return done.error();
        }
        reportManifest();
        if (m_job.cancelled())
            return Job::cancelledError();
        if (!m_decided && m_report.findings.empty())
            m_report.missing = {"replica_inventory", "engine_args", "trace_manifest"};
        return std::move(m_report);
    }

private:
    Finding &add(std::string code, Severity severity, std::string title, std::string detail, std::string falseIf)
    {
        m_report.findings.push_back({.code = std::move(code), .severity = severity, .title = std::move(title), .detail = std::move(detail)});
        m_report.findings.back().falseIf = std::move(falseIf);
        return m_report.findings.back();
    }

    // Replicas of one service: the same files, the same revision, and none that moves.
    void lookAtReplicas(const std::vector<Replica> &replicas)
    {
        std::map<std::string, std::vector<const Replica *>> services;
        for (const Replica &replica : replicas)
            services[replica.service].push_back(&replica);
        for (const auto &[service, members] : services) {
            m_decided = true;
            drawGrid(service, members);
            std::set<std::string> names;
            for (const Replica *const replica : members) {
                for (const ReplicaFile &file : replica->files)
                    names.insert(file.name);
            }
            for (const std::string &name : names)
                compareFile(name, members);
            compareRevisions(members);
        }
    }

    static const ReplicaFile *fileOf(const Replica &replica, const std::string &name)
    {
        const auto it = std::find_if(replica.files.begin(), replica.files.end(), [&](auto &f) { return f.name == name; });
        return it == replica.files.end() ? nullptr : &*it;
    }

    // Equal bytes, or equal meaning where that is known (JSON written anew, shards rebuilt).
    static bool same(const ReplicaFile &a, const ReplicaFile &b)
    {
        return a.hash == b.hash || (!a.canonical.empty() && a.canonical == b.canonical);
    }

    void compareFile(const std::string &name, const std::vector<const Replica *> &members)
    {
        const ReplicaFile *first = nullptr;
        const Replica *owner = nullptr;
        bool differs = false, reformatted = false;
        for (const Replica *const replica : members) {
            const ReplicaFile *const file = fileOf(*replica, name);
            if (!file)
                continue;
            if (!first) {
                first = file;
                owner = replica;
            }
            differs = differs || !same(*first, *file);
            reformatted = reformatted || (first->hash != file->hash && same(*first, *file));
        }
        if (!differs) {
            if (reformatted)
                m_report.notSeen.push_back(name + " is written differently on the replicas and means the same");
            return;
        }
        Finding &finding = add("revision.replica.mismatch", Severity::Error, name + " is not the same on all replicas", "",
                               "the files differ in form only and mean the same to the engine");
        std::string groups;
        for (const Replica *const replica : members) {
            const ReplicaFile *const file = fileOf(*replica, name);
            if (!file)
                continue;
            groups += (groups.empty() ? "" : ", ") + replica->name + " " + file->hash.substr(0, 12);
            if (finding.evidence.size() < evidenceLimit)
                finding.evidence.push_back({replica->artifact, file->where, replica->name + (replica->revision.empty() ? "" : " at \"" + replica->revision + "\"")
                                                                               + ": " + file->hash.substr(0, 16)});
        }
        finding.detail = "Replies depend on which replica serves: " + groups + ".";
        if (members.size() > 1 && !owner->revision.empty() && !isCommit(owner->revision))
            finding.detail += " All may name \"" + owner->revision + "\" and have resolved it on different days.";
        finding.measure = Measure{.number = static_cast<double>(members.size()), .unit = "replicas"};
        finding.next = {"O7", "R10"};
    }

    void compareRevisions(const std::vector<const Replica *> &members)
    {
        std::map<std::string, std::vector<const Replica *>> commits;
        std::set<std::string> days;
        std::vector<const Replica *> floating;
        for (const Replica *const replica : members) {
            if (replica->revision.empty())
                continue;
            if (isCommit(replica->revision)) {
                commits[replica->revision].push_back(replica);
            } else {
                floating.push_back(replica);
                if (!replica->started.empty())
                    days.insert(replica->started.substr(0, 10));
            }
            if (!replica->resolved.empty())
                commits[replica->resolved].push_back(replica);
        }
        if (commits.size() > 1) {
            Finding &finding = add("revision.replica.mismatch", Severity::Error, "Replicas of one service run " + counted(commits.size(), "commit"),
                                   "Replies depend on which replica serves.", "the deployment is being rolled out at this moment");
            for (const auto &[commit, list] : commits) {
                for (const Replica *const replica : list) {
                    if (finding.evidence.size() < evidenceLimit)
                        finding.evidence.push_back({replica->artifact, replica->where, replica->name + " runs " + commit.substr(0, 12)});
                }
            }
            finding.next = {"O7"};
        }
        if (floating.empty())
            return;
        const bool drifting = floating.size() >= 2 && days.size() >= 2;
        Finding &finding = add("revision.floating", drifting ? Severity::Warning : Severity::Info,
                               counted(floating.size(), "replica") + (floating.size() == 1 ? " names" : " name") + " \"" + floating.front()->revision
                                   + "\", which moves",
                               drifting ? "They started on " + counted(days.size(), "day") + " and each took what the name meant that day."
                                        : "A restart takes what the name means then.",
                               "the name never moves (a tag kept fixed)");
        for (const Replica *const replica : floating) {
            if (finding.evidence.size() < evidenceLimit)
                finding.evidence.push_back({replica->artifact, replica->where, replica->name + " at \"" + replica->revision + "\""
                                                                                  + (replica->started.empty() ? "" : ", started " + replica->started)});
        }
        finding.next = {"O7"};
    }

    void drawGrid(const std::string &service, const std::vector<const Replica *> &members)
    {
        std::set<std::string> names;
        for (const Replica *const replica : members) {
            for (const ReplicaFile &file : replica->files)
                names.insert(file.name);
        }
        if (names.empty() || names.size() * members.size() > 10'000)
            return;
        Grid grid{service.empty() ? "Replicas by file" : "Replicas of " + service + " by file", {}, {names.begin(), names.end()}, {}};
        for (const Replica *const replica : members) {
            grid.rowLabels.push_back(replica->name);
            for (const std::string &name : names) {
                const ReplicaFile *const file = fileOf(*replica, name);
                const ReplicaFile *const first = fileOf(*members.front(), name);
                Cell cell;
                if (file) {
                    cell.text = file->hash.substr(0, 8);
                    cell.source = Evidence{replica->artifact, file->where, file->hash};
                    if (first && !same(*first, *file))
                        cell.severity = Severity::Error;
                }
                grid.cells.push_back(std::move(cell));
            }
        }
        m_report.grids.push_back(std::move(grid));
    }

    // The Hugging Face cache: models--org--name/{refs,snapshots}.
    void lookAtCaches()
    {
        for (const HubCache &cache : hubCachesOf(m_run)) {
            m_decided = true;
            for (const HubCache::Ref &ref : cache.refs) {
                m_resolved[ref.name].insert(ref.commit);
                const auto snapshot = cache.snapshots.find(ref.commit);
                if (snapshot != cache.snapshots.end())
                    continue;
                Finding &finding = add("revision.ref.dangling", Severity::Error,
                                       cache.name + ": \"" + ref.name + "\" means a commit that is not in the cache",
                                       "The snapshot " + ref.commit.substr(0, 12) + " is absent; an offline start fails or takes another one.",
                                       "the snapshot lies in another cache folder");
                finding.evidence.push_back({ref.artifact, LogLine{1, 1}, ref.name + " = " + ref.commit.substr(0, 40)});
                for (const auto &[commit, artifact] : cache.snapshots) {
                    if (finding.evidence.size() < evidenceLimit)
                        finding.evidence.push_back({artifact, Whole{}, "a file of snapshot " + commit.substr(0, 12)});
                }
            }
            if (cache.snapshots.size() < 2)
                continue;
            Finding &finding = add("revision.snapshots", Severity::Info,
                                   cache.name + " lies in the cache in " + counted(cache.snapshots.size(), "revision"),
                                   "Which one is served depends on the revision that the start names.", "older snapshots are never named by any start");
            for (const auto &[commit, artifact] : cache.snapshots) {
                if (finding.evidence.size() < evidenceLimit)
                    finding.evidence.push_back({artifact, Whole{}, "a file of snapshot " + commit.substr(0, 12)});
            }
        }
    }

    // --revision and its kin in launch commands, and the revision that an engine prints when it starts.
    Result<void> lookAtFlags(const std::vector<Replica> &replicas)
    {
        auto flags = revisionFlagsOf(m_run);
        const auto configs = m_inputs.configs(m_job);
        if (!configs)
            return configs.error();
        for (const EffectiveConfig &config : **configs) {
            const EffectiveSetting *const setting = config.find("revision");
            if (!setting)
                continue;
            std::vector<Candidate> sayings = setting->candidates;
            if (setting->observed)
                sayings.push_back(*setting->observed);
            for (const Candidate &said : sayings) {
                const bool printed = said.evidence && std::holds_alternative<LogLine>(said.evidence->where) && said.value != "none" && !said.value.empty();
                const bool told = std::any_of(flags.begin(), flags.end(), [&](const RevisionFlag &flag) { return flag.value == said.value; });
                if (printed && !told)
                    flags.push_back({"revision", said.value, said.evidence->artifact, said.evidence->where});
            }
        }
        for (const RevisionFlag &flag : flags) {
            m_decided = true;
            if (isCommit(flag.value) || !replicas.empty())
                continue;
            const auto resolved = m_resolved.find(flag.value);
            Finding &finding = add("revision.floating", Severity::Info, flag.name + " names \"" + flag.value + "\", which moves",
                                   resolved != m_resolved.end() && resolved->second.size() == 1
                                       ? "In the cache it means " + resolved->second.begin()->substr(0, 40) + " now; a restart takes what it means then."
                                       : "A restart takes what the name means then.",
                                   "the name never moves (a tag kept fixed)");
            finding.evidence.push_back({flag.artifact, flag.where, flag.name + " = " + flag.value});
            finding.next = {"O7"};
        }
        return {};
    }

    // A file that a manifest names, against the file opened here.
    Result<void> lookAtEntry(const ManifestEntry &entry)
    {
        const Artifact *const file = entry.file;
        if (!file)
            return {};
        m_decided = true;
        const auto offend = [&](std::string note) {
            m_wrong.push_back({entry.artifact, entry.where, entry.name + ": " + note});
            if (m_wrong.size() + 1 < 2 * evidenceLimit)
                m_wrong.push_back({file->id, Whole{}, "the file opened here"});
            m_wrongNames.push_back(entry.name);
        };
        if (const auto *const pointer = file->as<LfsContent>()) {
            const std::string_view oid = pointer->oid;
            if (entry.sha256.size() == 64 && (oid.starts_with("sha256:") ? oid.substr(7) : oid) != entry.sha256)
                offend("the pointer means another file");
            return {}; // that it is a pointer is said by W8
        }
        if (entry.size && *entry.size != file->size) {
            offend("the manifest says " + counted(*entry.size, "byte") + ", the file has " + std::to_string(file->size));
            return {};
        }
        if (file->size > hashLimit) {
            m_report.notSeen.push_back(file->path + ": its hash, since only files up to 256 MiB are hashed here");
            return {};
        }
        const bool blob = entry.sha256.size() == 40;
        const auto hash = blob ? gitBlobHex(*file->source, m_job) : sha256Hex(*file->source, m_job);
        if (!hash)
            return hash.error().code == Errc::Cancelled ? Result<void>(hash.error()) : Result<void>();
        if (*hash == entry.sha256)
            return {};
        // Line ends or spacing changed on the way are told apart from another content.
        if (!blob && withOtherLineEnds(*file, entry.sha256)) {
            m_report.notSeen.push_back(file->path + " differs from the manifest in its line ends only");
            return {};
        }
        offend("the manifest says " + entry.sha256.substr(0, 16) + ", the file is " + hash->substr(0, 16));
        return {};
    }

    static bool withOtherLineEnds(const Artifact &file, const std::string &wanted)
    {
        const auto *const text = file.as<TextContent>();
        const std::string *const content = text ? &text->text : file.as<TreeContent>() ? &file.as<TreeContent>()->document->text() : nullptr;
        if (!content)
            return false;
        std::string lines, windows;
        for (const char c : *content) {
            if (c == '\r')
                continue;
            lines += c;
            if (c == '\n')
                windows += '\r';
            windows += c;
        }
        return sha256Hex(lines) == wanted || sha256Hex(windows) == wanted;
    }

    void reportManifest()
    {
        if (m_wrongNames.empty())
            return;
        Finding &finding = add("revision.manifest.mismatch", Severity::Error,
                               m_wrongNames.size() == 1 ? m_wrongNames.front() + " is not the file of the manifest"
                                                        : counted(m_wrongNames.size(), "file") + " are not those of the manifest, first " + m_wrongNames.front(),
                               "The bytes loaded are other than those that were released.", "the manifest belongs to another revision");
        m_wrong.resize(std::min<std::size_t>(m_wrong.size(), 2 * evidenceLimit));
        finding.evidence = m_wrong;
        finding.measure = Measure{.number = static_cast<double>(m_wrongNames.size()), .unit = "files"};
        finding.next = {"W8", "R10"};
    }

    const Inputs &m_inputs;
    const Run &m_run;
    const Job &m_job;
    Report m_report;
    bool m_decided = false;
    std::map<std::string, std::set<std::string>> m_resolved; // ref → commits
    std::vector<Evidence> m_wrong;
    std::vector<std::string> m_wrongNames;
};

Result<Report> run(const Inputs &inputs, const Params &, const Job &job)
{
    return RevisionPin(inputs, job).look();
}

constexpr std::array inputKinds{"replica_inventory"sv, "engine_args"sv, "startup_log"sv, "trace_manifest"sv, "config_files"sv};

} // namespace

extern constinit const Instrument configuration_revision_pin{
    .id = "F6",
    .name = "Revision pin check",
    .question = "Which exact bytes are loaded?",
    .slug = "configuration_revision_pin",
    .inputs = inputKinds,
    .params = {},
    .run = run,
};

} // namespace prosector
