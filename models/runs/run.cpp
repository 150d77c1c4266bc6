// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/runs/run.h"

#include "models/artifacts/damage.h"

#include <algorithm>

namespace prosector {

bool Run::readAnythingOf(std::uint32_t input) const
{
    return std::any_of(m_artifacts.begin(), m_artifacts.end(),
                       [input](const Artifact &artifact) { return artifact.input == input && !holdsNothing(artifact) && !gaveNothing(artifact); });
}

const Artifact *Run::byName(std::string_view name) const
{
    const auto it = std::find_if(m_artifacts.begin(), m_artifacts.end(), [&](const Artifact &a) { return a.name == name; });
    return it == m_artifacts.end() ? nullptr : &*it;
}

std::vector<const Artifact *> Run::ofKind(Kind kind) const
{
    std::vector<const Artifact *> found;
    for (const Artifact &artifact : m_artifacts) {
        if (artifact.kind == kind)
            found.push_back(&artifact);
    }
    return found;
}

std::vector<const Artifact *> Run::ofFormat(std::string_view format) const
{
    std::vector<const Artifact *> found;
    for (const Artifact &artifact : m_artifacts) {
        if (artifact.format == format)
            found.push_back(&artifact);
    }
    return found;
}

const Artifact *Run::inFolder(const ModelFolder &folder, std::string_view format) const
{
    for (const ArtifactId id : folder.all) {
        if (m_artifacts[id.index].format == format)
            return &m_artifacts[id.index];
    }
    return nullptr;
}

const ModelFolder *Run::folderOf(ArtifactId id) const
{
    for (const ModelFolder &folder : m_models) {
        if (std::find(folder.all.begin(), folder.all.end(), id) != folder.all.end())
            return &folder;
    }
    return nullptr;
}

} // namespace prosector
