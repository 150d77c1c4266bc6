// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/config/logclearing.h"

#include "models/artifacts/tensors.h"
#include "models/config/pyrepr.h"

#include <algorithm>
#include <array>

namespace prosector {

namespace {

using Verdict = Clearing::Verdict;

/// Most lines of an encode comparison that are read.
constexpr std::size_t comparisonLimit = 100'000;

std::string fileName(const Artifact &artifact)
{
    return artifact.path.substr(artifact.path.rfind('/') + 1);
}

Clearing clearing(Verdict verdict, const Artifact &artifact, Anchor where, std::string why)
{
    return {verdict, why, {artifact.id, std::move(where), std::move(why)}};
}

/// config.json of the one model of the set; null when there is none or several.
const Artifact *configOf(const Run &run, const EvidenceSet &set)
{
    const Artifact *found = nullptr;
    for (const std::size_t index : set.models) {
        if (const Artifact *const config = run.find(run.models()[index].config); config && config->tree()) {
            if (found)
                return nullptr;
            found = config;
        }
    }
    return found;
}

std::vector<std::pair<const Artifact *, const GgufContent *>> ggufsOf(const Run &run, const EvidenceSet &set)
{
    std::vector<std::pair<const Artifact *, const GgufContent *>> found;
    for (const std::size_t index : set.models) {
        for (const ArtifactId id : run.models()[index].gguf) {
            if (const auto *gguf = run.artifact(id).as<GgufContent>())
                found.emplace_back(&run.artifact(id), gguf);
        }
    }
    return found;
}

std::optional<Clearing> notMistral(const Run &run, const EvidenceSet &set)
{
    const Artifact *const config = configOf(run, set);
    if (!config)
        return std::nullopt;
    const Value type = config->tree()["model_type"];
    const auto name = type.string();
    if (!name)
        return std::nullopt;
    for (const std::string_view family : {"mistral", "mixtral", "ministral", "pixtral", "voxtral", "devstral", "magistral"}) {
        if (name->find(family) != std::string::npos)
            return clearing(Verdict::Confirms, *config, type.anchor(), fileName(*config) + " says model_type " + *name);
    }
    return clearing(Verdict::Clears, *config, type.anchor(), fileName(*config) + " says model_type " + *name + ", which is no Mistral model");
}

/// Rows that hold the ids with and without the flag.
std::optional<Clearing> equalEncodings(const Run &run, const EvidenceSet &set)
{
    const auto differs = [](Value row) -> std::optional<bool> {
        const Value off = row["ids_flag_off"], on = row["ids_flag_on"];
        if (!off.isArray() || !on.isArray())
            return std::nullopt;
        if (off.size() != on.size())
            return true;
        auto other = on.begin();
        for (const Value id : off) {
            if (id.raw() != (*other).raw())
                return true;
            ++other;
        }
        return false;
    };
    for (const ArtifactId id : set.artifacts) {
        const Artifact &artifact = run.artifact(id);
        std::size_t rows = 0;
        if (const auto *lines = artifact.as<LinesContent>()) {
            for (std::size_t i = 0; i < std::min(lines->lines.size(), comparisonLimit); ++i) {
                const auto verdict = differs(lines->document(i)->root());
                if (!verdict)
                    break;
                ++rows;
                if (*verdict) {
                    const LogLine where{lines->lines[i].line, lines->lines[i].line};
                    return clearing(Verdict::Confirms, artifact, where, fileName(artifact) + ": the ids differ with and without the flag");
                }
            }
        } else if (const auto verdict = differs(artifact.tree())) {
            rows = 1;
            if (*verdict)
                return clearing(Verdict::Confirms, artifact, Whole{}, fileName(artifact) + ": the ids differ with and without the flag");
        }
        if (rows > 0) {
            return clearing(Verdict::Clears, artifact, Whole{},
                            fileName(artifact) + ": equal ids with and without the flag in " + std::to_string(rows) + (rows == 1 ? " text" : " texts"));
        }
    }
    return std::nullopt;
}

/// The tensors that the line names.
std::vector<std::string> tensorsNamed(const JudgedLine &line)
{
    std::vector<std::string> names;
    if (!line.hit)
        return names;
    for (const std::string_view capture : {"keys", "names", "name", "key"}) {
        const std::string_view text = line.hit->capture(capture);
        if (text.empty())
            continue;
        if (text.front() == '[' || text.front() == '{') {
            for (const ReprValue::Member &member : parseRepr(text).members)
                names.push_back(member.value[0].text);
        } else {
            names.emplace_back(text);
        }
        return names;
    }
    return names;
}

std::optional<Clearing> newHead(const JudgedLine &line)
{
    constexpr auto heads = std::to_array<std::string_view>({"classifier", "score", "qa_outputs", "pooler", "cls", "classification_head", "v_head",
                                                            "value_head", "reward_head", "pre_classifier", "summary", "head"});
    const std::vector<std::string> names = tensorsNamed(line);
    if (names.empty())
        return std::nullopt;
    for (const std::string &name : names) {
        bool head = false;
        for (std::size_t from = 0; from <= name.size();) {
            const std::size_t dot = std::min(name.find('.', from), name.size());
            head |= std::find(heads.begin(), heads.end(), std::string_view(name).substr(from, dot - from)) != heads.end();
            from = dot + 1;
        }
        if (!head)
            return std::nullopt;
    }
    return clearing(Verdict::Clears, *line.log, LogLine{line.line, line.line}, "the line names nothing but a task head: " + names.front());
}

std::optional<Clearing> tiedHead(const JudgedLine &line, const Run &run, const EvidenceSet &set)
{
    const std::vector<std::string> names = tensorsNamed(line);
    const Artifact *const config = configOf(run, set);
    if (names.empty() || !config)
        return std::nullopt;
    for (const std::string &name : names) {
        if (name != "lm_head.weight" && name != "output.weight" && !name.ends_with(".lm_head.weight"))
            return std::nullopt;
    }
    const Value tied = config->tree()["tie_word_embeddings"];
    if (!tied.boolean().value_or(false))
        return std::nullopt;
    return clearing(Verdict::Clears, *config, tied.anchor(), fileName(*config) + " ties the output head to the embeddings");
}

std::optional<Clearing> ggufHasPre(const Run &run, const EvidenceSet &set)
{
    for (const auto &[artifact, gguf] : ggufsOf(run, set)) {
        const auto model = gguf->string("tokenizer.ggml.model");
        const auto pre = gguf->string("tokenizer.ggml.pre");
        if (pre && !pre->empty() && *pre != "default")
            return clearing(Verdict::Clears, *artifact, GgufContent::anchor("tokenizer.ggml.pre"), fileName(*artifact) + " names the pre-tokenizer " + *pre);
        if (model && *model != "gpt2")
            return clearing(Verdict::Clears, *artifact, GgufContent::anchor("tokenizer.ggml.model"), fileName(*artifact) + " has a " + *model + " vocabulary, which uses no pre-tokenizer");
        if (model)
            return clearing(Verdict::Confirms, *artifact, GgufContent::anchor("tokenizer.ggml.model"), fileName(*artifact) + " has a gpt2 vocabulary and names no pre-tokenizer");
    }
    return std::nullopt;
}

/// The value of kv_cache_dtype in a line that lists settings: kv_cache_dtype=auto, 'kv_cache_dtype': 'fp8_e5m2'.
std::string_view cacheTypeIn(std::string_view line)
{
    const auto at = line.find("kv_cache_dtype");
    const auto from = at == std::string_view::npos ? at : line.find_first_not_of("'\" :=", at + 14);
    return from == std::string_view::npos ? std::string_view() : line.substr(from, line.find_first_of("'\" ,)}", from) - from);
}

/// Said of the cache elsewhere, it outweighs the line: engines print "fp8_e4m3" as a fixed text.
std::optional<Clearing> kvNotE4m3(const JudgedLine &line, const Run &run, const EvidenceSet &set)
{
    const auto noScale = [](std::string_view type) { return type == "auto" || type.find("e5m2") != std::string_view::npos || type == "bfloat16" || type == "float16"; };
    if (line.hit) {
        const std::string_view type = line.hit->capture("dtype");
        if (type.find("e5m2") != std::string_view::npos)
            return clearing(Verdict::Clears, *line.log, LogLine{line.line, line.line}, "the line itself says " + std::string(type) + ", whose range needs no scale");
    }
    for (const ArtifactId id : set.artifacts) {
        const Artifact &artifact = run.artifact(id);
        const Value type = artifact.tree()["kv_cache_dtype"];
        if ((artifact.kind == Kind::EngineArgs || artifact.kind == Kind::EffectiveConfig) && noScale(type.string("")))
            return clearing(Verdict::Clears, artifact, type.anchor(), fileName(artifact) + " says kv_cache_dtype " + type.string(""));
    }
    constexpr std::size_t settingsLines = 2000; // engines list their settings when they start
    const auto *const text = line.log->as<TextContent>();
    for (std::size_t i = 0; text && i < std::min(text->lineCount(), settingsLines); ++i) {
        if (const auto type = cacheTypeIn(text->line(i)); noScale(type))
            return clearing(Verdict::Clears, *line.log, LogLine{i + 1, i + 1}, "the engine lists kv_cache_dtype " + std::string(type));
    }
    return std::nullopt;
}

std::optional<Clearing> latentAttention(const Run &run, const EvidenceSet &set)
{
    const Artifact *const config = configOf(run, set);
    if (!config)
        return std::nullopt;
    const Value rank = config->tree()["kv_lora_rank"];
    if (!rank.isNumber())
        return std::nullopt;
    return clearing(Verdict::Clears, *config, rank.anchor(), fileName(*config) + " declares latent attention (kv_lora_rank)");
}

std::optional<Clearing> encoder(const Run &run, const EvidenceSet &set)
{
    for (const auto &[artifact, gguf] : ggufsOf(run, set)) {
        if (gguf->architecture().find("bert") != std::string::npos)
            return clearing(Verdict::Clears, *artifact, GgufContent::anchor("general.architecture"), fileName(*artifact) + " is an encoder (" + gguf->architecture() + ")");
    }
    const Artifact *const config = configOf(run, set);
    if (!config)
        return std::nullopt;
    const Value type = config->tree()["model_type"];
    if (type.string("").find("bert") != std::string::npos)
        return clearing(Verdict::Clears, *config, type.anchor(), fileName(*config) + " is an encoder (" + type.string("") + ")");
    return std::nullopt;
}

std::optional<Clearing> mropeSection(const JudgedLine &line)
{
    if (!line.hit)
        return std::nullopt;
    const std::string_view keys = line.hit->capture("keys");
    const std::string_view type = line.hit->capture("type");
    if (keys != "{'mrope_section'}" || (type != "default" && type != "mrope"))
        return std::nullopt;
    return clearing(Verdict::Clears, *line.log, LogLine{line.line, line.line}, "the only key is mrope_section, which other code applies");
}

} // namespace

std::optional<Clearing> judge(std::string_view condition, const JudgedLine &line, const Run &run, const EvidenceSet &set)
{
    if (condition == "not_mistral")
        return notMistral(run, set);
    if (condition == "equal_encodings")
        return equalEncodings(run, set);
    if (condition == "new_head")
        return newHead(line);
    if (condition == "tied_head")
        return tiedHead(line, run, set);
    if (condition == "gguf_has_pre")
        return ggufHasPre(run, set);
    if (condition == "kv_not_e4m3")
        return kvNotE4m3(line, run, set);
    if (condition == "latent_attention")
        return latentAttention(run, set);
    if (condition == "encoder")
        return encoder(run, set);
    if (condition == "mrope_section")
        return mropeSection(line);
    return std::nullopt;
}

} // namespace prosector
