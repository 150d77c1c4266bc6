// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/config/evidencesets.h"

#include "models/config/logtriage.h"

#include <map>
#include <set>

namespace prosector {

namespace {

/// What two siblings must both have to be two bodies of evidence.
constexpr int modelMark = -1;

struct Item {
    std::string path; ///< below the current directory
    ArtifactId artifact{};
    std::size_t model = SIZE_MAX;
};

/// First component and the rest; no component for a file of this directory.
std::pair<std::string, std::string> split(const std::string &path)
{
    const auto slash = path.find('/');
    return slash == std::string::npos ? std::pair(std::string(), path) : std::pair(path.substr(0, slash), path.substr(slash + 1));
}

class Grouping {
public:
    explicit Grouping(const Run &run) : m_run(run) {}

    void group(const std::string &scope, const std::vector<Item> &items, const std::vector<Item> &shared)
    {
        std::map<std::string, std::vector<Item>> children;
        std::vector<Item> own;
        std::map<std::string, std::set<int>> marks;
        bool ownServer = false;
        for (const Item &item : items) {
            auto [child, rest] = split(item.path);
            if (child.empty()) {
                ownServer |= item.artifact.valid() && isServerEvidence(m_run.artifact(item.artifact));
                own.push_back(item);
                continue;
            }
            if (item.model != SIZE_MAX)
                marks[child].insert(modelMark);
            else if (const Artifact &artifact = m_run.artifact(item.artifact); isServerEvidence(artifact))
                marks[child].insert(isLog(artifact) ? static_cast<int>(Kind::StartupLog) : static_cast<int>(artifact.kind));
            children[child].push_back({rest, item.artifact, item.model});
        }
        std::map<int, int> holders;
        for (const auto &[child, kinds] : marks) {
            for (const int kind : kinds)
                ++holders[kind];
        }
        bool apart = false;
        for (const auto &[kind, count] : holders)
            apart |= count > 1 && (kind != modelMark || !ownServer);
        // Two models beside one server's evidence (target and draft, base and adapter) belong to it.
        if (apart && holders[modelMark] > 1) {
            bool serverElsewhere = false;
            for (const auto &[kind, count] : holders)
                serverElsewhere |= kind != modelMark && count == 1;
            bool otherTwice = false;
            for (const auto &[kind, count] : holders)
                otherTwice |= kind != modelMark && count > 1;
            apart = otherTwice || !serverElsewhere;
        }
        if (!apart) {
            emit(scope, items, shared);
            return;
        }
        std::vector<Item> beside = shared;
        beside.insert(beside.end(), own.begin(), own.end());
        std::vector<Item> rest;
        for (auto &[child, members] : children) {
            if (marks.contains(child))
                continue;
            for (Item &member : members)
                beside.push_back(std::move(member));
        }
        for (const auto &[child, kinds] : marks)
            group(scope.empty() ? child : scope + '/' + child, children[child], beside);
    }

    std::vector<EvidenceSet> take() { return std::move(m_sets); }

private:
    void emit(const std::string &scope, const std::vector<Item> &items, const std::vector<Item> &shared)
    {
        EvidenceSet set{scope, {}, {}};
        for (const auto *list : {&items, &shared}) {
            for (const Item &item : *list) {
                if (item.model != SIZE_MAX)
                    set.models.push_back(item.model);
                else
                    set.artifacts.push_back(item.artifact);
            }
        }
        m_sets.push_back(std::move(set));
    }

    const Run &m_run;
    std::vector<EvidenceSet> m_sets;
};

} // namespace

bool isServerEvidence(const Artifact &artifact)
{
    return artifact.kind == Kind::EngineArgs || artifact.kind == Kind::EffectiveSamplingParams
        || artifact.kind == Kind::EffectiveConfig || isLog(artifact);
}

std::vector<EvidenceSet> evidenceSets(const Run &run)
{
    // With several inputs each folder is a child of its own; a single file given lies at the top.
    const bool several = run.inputs().size() > 1;
    const auto placed = [&](std::uint32_t input, const std::string &path) {
        const bool folder = several && run.inputs()[input].kind != "file";
        return folder ? "input " + std::to_string(input + 1) + '/' + path : path;
    };
    std::vector<Item> items;
    for (const Artifact &artifact : run.artifacts())
        items.push_back({placed(artifact.input, artifact.path), artifact.id, SIZE_MAX});
    for (std::size_t i = 0; i < run.models().size(); ++i) {
        const ModelFolder &model = run.models()[i];
        std::uint32_t input = 0;
        if (!model.all.empty())
            input = run.artifact(model.all.front()).input;
        items.push_back({placed(input, model.path.empty() ? "." : model.path + "/."), {}, i});
    }
    Grouping grouping(run);
    grouping.group({}, items, {});
    std::vector<EvidenceSet> sets = grouping.take();
    for (EvidenceSet &set : sets) {
        for (std::size_t i = 0; several && i < run.inputs().size(); ++i) {
            const std::string mark = "input " + std::to_string(i + 1);
            if (set.scope == mark || set.scope.starts_with(mark + '/')) {
                set.scope = run.inputs()[i].path + set.scope.substr(mark.size());
                break;
            }
        }
    }
    return sets;
}

} // namespace prosector
