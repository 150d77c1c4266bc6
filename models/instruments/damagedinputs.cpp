// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/instruments/damagedinputs.h"

#include "models/artifacts/damage.h"
#include "models/artifacts/shapes.h"

#include <algorithm>

namespace prosector {

namespace {

struct DamagedFile {
    std::string kind; ///< as in Instrument::inputs
    std::string text; ///< "config.json: not valid JSON at byte 14"
};

std::string sentenceOf(const std::string &path, const Error &error)
{
    return path + ": " + describe(error);
}

/// Whole as far as it goes, but not what its name says: an empty file, an empty list, a text.
bool isHollow(const Artifact &artifact)
{
    const Value root = artifact.tree();
    if (artifact.size == 0 || (root && !root.isObject() && !(root.isArray() && root.size() > 0)))
        return true;
    const auto name = std::string_view(artifact.path).substr(artifact.path.find_last_of("/!") + 1);
    switch (artifact.kind) {
    case Kind::Unknown: return shapeByName(name) || matchesAny(name, "*.log *.gguf *.safetensors tokenizer.model");
    case Kind::Data: case Kind::Text: return shapeByName(name) || matchesAny(name, "*.gguf *.safetensors tokenizer.model");
    default: return false;
    }
}

/// A kind that its reader could not tell, or that a pointer hides, is taken from the name.
Kind kindOf(const Artifact &artifact)
{
    const bool untold = artifact.kind == Kind::Unknown || artifact.kind == Kind::LfsPointer || artifact.kind == Kind::Data
                        || artifact.kind == Kind::Text;
    const Kind named = untold ? kindByName(artifact.path) : Kind::Unknown;
    return named == Kind::Unknown ? artifact.kind : named;
}

void collect(const Run &run, const std::string &before, std::vector<DamagedFile> &files)
{
    for (const Artifact &artifact : run.artifacts()) {
        if (const auto *const pointer = artifact.as<LfsContent>()) {
            files.push_back({std::string(nameOf(kindOf(artifact))),
                             before + artifact.path + ": a Git-LFS pointer, the file itself (" + std::to_string(pointer->declaredSize) + " bytes) is not here"});
        } else if (!artifact.problems.empty()) {
            files.push_back({std::string(nameOf(kindOf(artifact))), before + sentenceOf(artifact.path, artifact.problems.front())});
        } else if (isHollow(artifact)) {
            files.push_back({std::string(nameOf(kindOf(artifact))), before + artifact.path + (artifact.size == 0 ? ": empty" : ": not what its name says")});
        }
    }
    for (const Unreadable &unreadable : run.unreadable()) {
        const auto artifacts = run.artifacts();
        const bool listed = std::any_of(artifacts.begin(), artifacts.end(), [&](const Artifact &a) { return a.path == unreadable.path; });
        if (!listed)
            files.push_back({std::string(nameOf(kindByName(unreadable.path))), before + sentenceOf(unreadable.path, unreadable.error)});
    }
}

} // namespace

void nameDamagedInputs(const Instrument &instrument, const Inputs &inputs, Report &report)
{
    std::vector<DamagedFile> files;
    collect(inputs.run, "", files);
    if (inputs.baseline)
        collect(*inputs.baseline, "baseline: ", files);
    constexpr std::size_t shown = 20;
    std::size_t named = 0;
    const bool grave = std::any_of(report.findings.begin(), report.findings.end(), [](const Finding &f) { return f.severity >= Severity::Warning; });
    for (const DamagedFile &file : files) {
        if (std::find(instrument.inputs.begin(), instrument.inputs.end(), file.kind) == instrument.inputs.end() || ++named > shown)
            continue;
        if (grave) {
            report.notSeen.push_back(file.text);
            continue;
        }
        // "config_files" becomes "config_files (config.json: …)": not absent, but of no use.
        const std::string entry = file.kind + " (" + file.text + ')';
        const auto plain = std::find(report.missing.begin(), report.missing.end(), file.kind);
        if (plain != report.missing.end())
            *plain = entry;
        else
            report.missing.push_back(entry);
    }
}

} // namespace prosector
