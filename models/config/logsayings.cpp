// SPDX-License-Identifier: GPL-3.0-or-later
// What the lines of a log say of settings: the captures that settings.json names.
#include "models/config/commandline.h"
#include "models/config/sayings.h"

#include <algorithm>

namespace prosector {

namespace {

using Role = LogValue::Role;
using Standing = Saying::Standing;

std::string_view baseName(std::string_view path)
{
    const auto slash = path.find_last_of("/\\");
    return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

Evidence lineOf(const Artifact &artifact, const LogHit &hit)
{
    return {artifact.id, hit.where(), {}};
}

/// A log may load several models (target and draft, or one after the other in Ollama); each load is a block of
/// lines. The block of the file that is open counts; else the first, which llama.cpp loads as the target.
struct Blocks {
    std::vector<const LogHit *> loads;
    std::size_t chosen = 0;
    bool known = true;

    bool inAnother(std::uint64_t line) const
    {
        if (loads.size() < 2)
            return false;
        const auto after = std::upper_bound(loads.begin(), loads.end(), line, [](std::uint64_t l, const LogHit *h) { return l < h->line; });
        if (after == loads.begin())
            return false;
        return !known || static_cast<std::size_t>(after - loads.begin()) - 1 != chosen;
    }
};

Blocks blocksOf(const LogTriage &triage, std::string_view servedFile)
{
    Blocks blocks;
    for (const LogHit &hit : triage.hits) {
        if (hit.pattern->id == "llamacpp.meta")
            blocks.loads.push_back(&hit);
    }
    if (blocks.loads.size() < 2)
        return blocks;
    for (std::size_t i = 0; i < blocks.loads.size(); ++i) {
        if (!servedFile.empty() && baseName(blocks.loads[i]->capture("file")) == baseName(servedFile)) {
            blocks.chosen = i;
            return blocks;
        }
    }
    blocks.known = triage.engine == "llama.cpp";
    return blocks;
}

/// Lines about the model itself and its context, as against lines about slots and requests.
bool ofOneLoad(const LogHit &hit, const LogValue &value, const SettingSpec *spec)
{
    if (hit.pattern->id.starts_with("llamacpp.slot") || !hit.pattern->id.starts_with("llamacpp."))
        return false;
    if (value.role == Role::Loaded || value.role == Role::GgufPair || value.role == Role::GgufOverride)
        return true;
    return spec && (spec->architecture || spec->category == "position" || spec->category == "cache" || spec->category == "precision");
}

void addArguments(Sayings &into, const Facts &facts, const std::vector<Argument> &arguments, Origin origin, Standing standing,
                  int weight, const Evidence &evidence, bool argument, bool skipUnset)
{
    for (const Argument &given : arguments) {
        const bool unset = given.value.empty() || given.value == "none" || given.value == "None";
        const bool open = unset || given.value == "auto";
        if (skipUnset && unset)
            continue;
        addSaying(into, facts, given.environment ? Origin::Environment : origin, standing, standing == Standing::Observed && open ? 0 : weight,
                  given.spelling, given.value, evidence, argument);
    }
}

/// A flag whose printed value is its default was most likely not given.
bool isDefault(const Sayings &sayings, const Facts &facts, const Argument &given, const SettingSpec &spec)
{
    const auto found = facts.engineDefaults.inForce(sayings.engine, given.spelling, sayings.version, "flag");
    return found && sameValue(spec.kind, normalValue(spec.kind, found->row->value), normalValue(spec.kind, given.value));
}

void addDump(Sayings &into, const Facts &facts, const LogHit &hit, const LogValue &value, const Evidence &evidence)
{
    const std::string_view text = hit.capture(value.capture);
    switch (value.role) {
    case Role::FlagsDump:
        addArguments(into, facts, argumentsOf(parseRepr(text)), Origin::Flag, Standing::Candidate, 0, evidence, true, true);
        break;
    case Role::ConfigDump:
        addArguments(into, facts, argumentsOf(parseReprMembers(text)), Origin::LogLine, Standing::Observed, 1, evidence, true, false);
        break;
    case Role::ArgsDump:
        for (const Argument &given : argumentsOf(parseReprMembers(text))) {
            const SettingSpec *const spec = facts.settings.resolve(into.engine, given.spelling, true);
            if (!spec || leftOpen(normalValue(spec->kind, given.value)) || isDefault(into, facts, given, *spec))
                continue;
            addSaying(into, facts, Origin::Flag, Standing::Candidate, 0, given.spelling, given.value, evidence, true);
        }
        break;
    case Role::SamplingDump:
        addArguments(into, facts, argumentsOf(parseRepr(text)), Origin::LogLine, Standing::Observed, 1, evidence, false, false);
        break;
    case Role::RequestDump:
        addArguments(into, facts, argumentsOf(parseRepr(text)), Origin::Request, Standing::Candidate, 0, evidence, false, true);
        ++into.requests;
        break;
    case Role::FileDump:
        addArguments(into, facts, argumentsOf(parseRepr(text)), Origin::CheckpointFile, Standing::Candidate, 0, evidence, false, true);
        break;
    case Role::Command: {
        // Ollama starts llama.cpp's server: the names are that program's.
        CommandLine command = parseCommandLine(text);
        if (command.engine.empty())
            command = parseCommandLine("llama-server " + std::string(text));
        addArguments(into, facts, command.arguments, Origin::LogLine, Standing::Observed, 2, evidence, true, true);
        break;
    }
    case Role::EnvDump:
        for (const Argument &given : argumentsOf(parseRepr(text))) {
            // Empty and 0 stand for "not set" in Ollama's own listing.
            if (!given.value.empty() && given.value != "0" && given.value != "false")
                addSaying(into, facts, Origin::Environment, Standing::Candidate, 0, given.spelling, given.value, evidence);
        }
        break;
    default: break;
    }
}

void addIgnored(Sayings &into, const Facts &facts, const LogHit &hit, const LogValue &value, const Evidence &evidence)
{
    const std::string_view text = hit.capture(value.capture);
    std::vector<std::string> names;
    if (text.starts_with('{') || text.starts_with('[')) {
        for (const ReprValue::Member &member : parseRepr(text).members)
            names.push_back(member.value[0].text);
    } else {
        names.emplace_back(text);
    }
    for (const std::string &name : names) {
        const std::size_t before = into.all.size();
        addSaying(into, facts, Origin::Request, Standing::Ignored, 0, name, "", evidence);
        if (into.all.size() > before)
            into.all.back().candidate.note = "the engine says that it does not read this field";
    }
}

} // namespace

void collectLog(Sayings &into, const Artifact &artifact, const LogTriage &triage, const Facts &facts, const std::string &servedFile)
{
    const Blocks blocks = blocksOf(triage, servedFile);
    for (const LogHit &hit : triage.hits) {
        const Evidence evidence = lineOf(artifact, hit);
        for (const LogValue *const value : facts.settings.logValues(hit.pattern->id)) {
            const SettingSpec *const spec = facts.settings.find(value->setting);
            if (blocks.inAnother(hit.line) && ofOneLoad(hit, *value, spec))
                continue;
            const std::string text(value->capture.empty() ? std::string_view(value->value) : hit.capture(value->capture));
            const auto say = [&](Origin origin, Standing standing, int weight, const char *note) {
                if (!spec || text.empty())
                    return;
                addSaying(into, facts, origin, standing, weight, value->setting, text, evidence);
                Candidate &added = into.all.back().candidate;
                added.spelling = value->capture.empty() ? value->setting : value->capture;
                added.note = note;
                added.source = hit.pattern->citation();
            };
            switch (value->role) {
            case Role::Effective: say(Origin::LogLine, Standing::Observed, 2, ""); break;
            case Role::Loaded: say(Origin::CheckpointFile, Standing::Loaded, 0, "as the engine read it"); break;
            case Role::Declared: say(Origin::CheckpointFile, Standing::Candidate, 0, "as the log states it"); break;
            case Role::Flag: say(Origin::Flag, Standing::Candidate, 0, ""); break;
            case Role::Asked: say(Origin::Flag, Standing::Ignored, 0, "asked for, then changed by the engine"); break;
            case Role::Default: say(Origin::EngineDefault, Standing::Observed, 2, "chosen by the engine"); break;
            case Role::Override: say(Origin::EngineOverride, Standing::Observed, 3, "changed by the engine"); break;
            case Role::Hardware: say(Origin::Hardware, Standing::Observed, 3, "decided by the device"); break;
            case Role::FlagPair: {
                std::string_view given = hit.capture("value");
                while (given.ends_with(',') || given.ends_with(' '))
                    given.remove_suffix(1);
                if (given.starts_with("Some(") && given.ends_with(')')) { // an option that is set, as Rust prints it
                    given = given.substr(5, given.size() - 6);
                    while (given.ends_with(',') || given.ends_with(' '))
                        given.remove_suffix(1);
                }
                const ReprValue parsed = parseRepr(given);
                if (!parsed.isNone() && !given.ends_with('('))
                    addSaying(into, facts, Origin::Flag, Standing::Candidate, 0, hit.capture("name"), parsed.text, evidence, true);
                break;
            }
            case Role::GgufPair:
            case Role::GgufOverride: {
                // The architecture's name stands before the key.
                const std::string key(hit.capture("key"));
                const auto dot = key.find('.');
                const bool ofArch = dot != std::string::npos && !key.starts_with("tokenizer.") && !key.starts_with("general.");
                const std::string suffix = ofArch ? key.substr(dot + 1) : key;
                const bool override = value->role == Role::GgufOverride;
                if (suffix.find('.') == std::string::npos || ofArch || key.starts_with("general.sampling.")) {
                    addSaying(into, facts, override ? Origin::Flag : Origin::CheckpointFile,
                              override ? Standing::Candidate : Standing::Loaded, 0, suffix, hit.capture("value"), evidence, false, "GGUF");
                }
                break;
            }
            case Role::IgnoredFields: addIgnored(into, facts, hit, *value, evidence); break;
            default: addDump(into, facts, hit, *value, evidence); break;
            }
        }
    }
}

} // namespace prosector
