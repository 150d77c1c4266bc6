// SPDX-License-Identifier: GPL-3.0-or-later
// W8, files: pointers, shards, index against headers.
#include "models/instruments/weights/parts/completeness.h"

#include "models/artifacts/tensorkinds.h"
#include "models/artifacts/tensorname.h"

#include <algorithm>
#include <map>
#include <set>

namespace prosector::completeness {

namespace {

std::string fileNameText(const Artifact &artifact)
{
    return std::string(fileNameOf(artifact.path));
}

void tabulate(const WeightSet &set, Report &report)
{
    Table table{"Files of " + set.describe(), {"file", "tensors", "bytes", "state"}, {}};
    for (const Artifact *const file : set.files) {
        const auto *const content = file->as<TensorContent>();
        const bool pointer = file->as<LfsContent>();
        table.rows.push_back({{std::string(fileNameOf(file->path)), Evidence{file->id, Whole{}, "the file"}},
                              {content ? std::to_string(content->tensors.size()) : "", {}, Severity::Ok, true},
                              {std::to_string(file->size), {}, Severity::Ok, true},
                              {pointer ? "pointer" : content ? "read" : "not read", {},
                               pointer ? Severity::Error : Severity::Ok}});
    }
    for (const std::string &name : set.absent)
        table.rows.push_back({{name}, {}, {}, {"absent", {}, Severity::Error}});
    report.tables.push_back(std::move(table));
}

void lookAtAbsentFiles(const WeightSet &set, Report &report)
{
    // A split GGUF that was renamed still says how many parts it has.
    if (set.gguf() && set.absent.empty()) {
        for (const Artifact *const file : set.files) {
            const auto *const gguf = file->as<GgufContent>();
            const auto parts = gguf ? gguf->integer("split.count") : std::nullopt;
            if (parts && *parts > static_cast<std::int64_t>(set.files.size())) {
                Finding &finding = add(report, "weights.file.absent", Severity::Error,
                                       fileNameText(*file) + " is one part of " + std::to_string(*parts) + ", of which "
                                           + std::to_string(set.files.size()) + " are here");
                finding.detail = "The tensors of the other parts are nowhere.";
                finding.evidence.push_back({file->id, GgufContent::anchor("split.count"), "split.count = " + std::to_string(*parts)});
                finding.falseIf = "the other parts lie in another folder from which they are loaded";
                return;
            }
        }
    }
    if (set.absent.empty())
        return;
    std::map<std::string_view, std::pair<std::uint64_t, std::string_view>> claims; // file → tensors, first of them
    if (set.index) {
        for (const auto &row : set.index->as<WeightIndexContent>()->rows) {
            auto &claim = claims[row.file];
            if (claim.first++ == 0)
                claim.second = row.tensor;
        }
    }
    Finding &finding = add(report, "weights.file.absent", Severity::Error,
                           set.absent.size() == 1 ? set.absent[0] + " is absent"
                                                  : counted(set.absent.size(), "weight file") + " are absent");
    std::uint64_t tensors = 0;
    for (const std::string &name : set.absent) {
        const auto claim = claims.find(name);
        if (claim != claims.end())
            tensors += claim->second.first;
        if (finding.evidence.size() >= evidenceLimit)
            continue;
        if (claim != claims.end())
            finding.evidence.push_back({set.index->id, WeightSet::claimAnchor(claim->second.second),
                                        "the index expects " + counted(claim->second.first, "tensor") + " in " + name});
        else
            finding.evidence.push_back({set.files[0]->id, Whole{}, "its name counts " + counted(set.parts, "part")
                                                                       + "; " + name + " is not beside it"});
    }
    finding.detail = set.index ? "The index places " + counted(tensors, "tensor") + " in files that are not in the folder."
                               : "The files' names count parts that are not in the folder.";
    finding.measure = Measure{.number = static_cast<double>(set.absent.size()), .unit = "files"};
    finding.falseIf = "the files are fetched before serving, or lie in another folder from which they are loaded";
    finding.next = {"F6"};
}

// A name stored twice: the claimed file may hold the other copy.
bool storedIn(const WeightSet &set, const WeightRow &row)
{
    for (const WeightRow *it = set.find(row.name); it && it != set.rows.data() + set.rows.size() && it->name == row.name; ++it) {
        if (it->file && fileNameOf(it->file->path) == row.claimedFile)
            return true;
    }
    return false;
}

// Index against headers, for files whose tensor list could be read.
void lookAtClaims(const WeightSet &set, Report &report)
{
    if (!set.index)
        return;
    std::map<std::string_view, const Artifact *> byName;
    for (const Artifact *const file : set.files)
        byName[fileNameOf(file->path)] = file;
    std::vector<const WeightRow *> lost, moved, unclaimed;
    for (const WeightRow &row : set.rows) {
        if (row.claimedFile.empty()) {
            unclaimed.push_back(&row);
            continue;
        }
        const auto claimed = byName.find(row.claimedFile);
        if (claimed == byName.end() || !claimed->second->as<TensorContent>())
            continue; // absent or unreadable: said elsewhere
        if (!row.file)
            lost.push_back(&row);
        else if (row.file != claimed->second && !storedIn(set, row))
            moved.push_back(&row);
    }
    if (!lost.empty() || !moved.empty()) {
        Finding &finding = add(report, "weights.tensor.absent", Severity::Error,
                               counted(lost.size() + moved.size(), "tensor")
                                   + (lost.size() + moved.size() == 1 ? " is" : " are")
                                   + " not in the file the index names");
        const WeightRow &first = lost.empty() ? *moved[0] : *lost[0];
        finding.detail = std::string(first.name)
                         + (lost.empty() ? " lies in " + fileNameText(*first.file) : " is in no file of the folder")
                         + "; the index names " + std::string(first.claimedFile) + ".";
        for (const auto *list : {&lost, &moved}) {
            for (const WeightRow *const row : *list) {
                if (finding.evidence.size() >= evidenceLimit)
                    break;
                finding.evidence.push_back({set.index->id, WeightSet::claimAnchor(row->name),
                                            std::string(row->name) + " is claimed for " + std::string(row->claimedFile)
                                                + (row->file ? " and lies in " + fileNameText(*row->file) : " and not there")});
            }
        }
        finding.measure = Measure{.number = static_cast<double>(lost.size() + moved.size()), .unit = "tensors"};
        finding.falseIf = "the loader takes tensors from any file by name and the tensor is in another one";
        finding.next = {"F3"};
    }
    if (!unclaimed.empty()) {
        Finding &finding = add(report, "weights.index.unclaimed", Severity::Info,
                               counted(unclaimed.size(), "stored tensor") + (unclaimed.size() == 1 ? " is" : " are")
                                   + " not in the index");
        finding.detail = "Loaders that follow the index leave them out; those that read every file take them.";
        for (std::size_t i = 0; i < std::min(unclaimed.size(), evidenceLimit); ++i) {
            finding.evidence.push_back({unclaimed[i]->file->id, TensorBlock{std::string(unclaimed[i]->name)},
                                        std::string(unclaimed[i]->name) + " is stored and not claimed"});
        }
        finding.measure = Measure{.number = static_cast<double>(unclaimed.size()), .unit = "tensors"};
        finding.falseIf = "the engine needs them and reads files without the index";
    }
}

void lookAtFileEnds(const WeightSet &set, Report &report)
{
    Finding *finding = nullptr;
    std::uint64_t count = 0;
    const WeightRow *first = nullptr;
    for (const WeightRow &row : set.rows) {
        if (!row.info || row.info->bytes.to <= row.file->size)
            continue;
        ++count;
        if (!finding) {
            finding = &add(report, "weights.file.cut", Severity::Error, "");
            first = &row;
        }
        if (finding->evidence.size() < evidenceLimit) {
            finding->evidence.push_back({row.file->id, TensorBlock{std::string(row.name)},
                                         "its data ends at byte " + std::to_string(row.info->bytes.to) + " of "
                                             + std::to_string(row.file->size)});
        }
    }
    if (!finding)
        return;
    finding->title = "The data of " + counted(count, "tensor") + " leaves " + fileNameText(*first->file);
    finding->detail = "The file is shorter than its header says: an interrupted download or copy.";
    finding->measure = Measure{.number = static_cast<double>(count), .unit = "tensors"};
    finding->falseIf = "the file was still being written";
    finding->next = {"F6"};
}

void lookAtTotalSize(const WeightSet &set, Report &report)
{
    const auto *const index = set.index ? set.index->as<WeightIndexContent>() : nullptr;
    if (!index || !index->totalSize || !set.complete())
        return;
    // Tied tensors stored twice were counted once by the writer.
    std::uint64_t sum = 0, largestTie = 0, unclaimed = 0;
    for (std::size_t i = 0; i < set.rows.size(); ++i) {
        const WeightRow &row = set.rows[i];
        if (!row.info)
            return; // its absence is said already
        if (i > 0 && row.name == set.rows[i - 1].name)
            continue;
        sum += row.info->bytes.size();
        if (row.claimedFile.empty())
            unclaimed += row.info->bytes.size();
        if (leafOf(moduleOf(row.name)) == "lm_head")
            largestTie = row.info->bytes.size();
    }
    const std::uint64_t declared = *index->totalSize;
    if (declared == sum || declared + unclaimed == sum || (largestTie && declared + largestTie == sum))
        return;
    Finding &finding = add(report, "weights.size.mismatch", Severity::Error,
                           "The index declares " + counted(declared, "byte") + " of tensors, the files hold " + std::to_string(sum));
    finding.detail = "The index was not written together with these files: one of them comes from another save, precision or model.";
    finding.evidence.push_back({set.index->id, JsonPath{"$.metadata.total_size"}, "total_size = " + std::to_string(declared)});
    for (const Artifact *const file : set.files) {
        if (finding.evidence.size() < evidenceLimit)
            finding.evidence.push_back({file->id, Whole{}, counted(file->as<TensorContent>()->dataBytes(), "byte") + " of tensors"});
    }
    finding.measure = Measure{.number = static_cast<double>(sum) - static_cast<double>(declared), .unit = "bytes"};
    finding.falseIf = "total_size was written by a tool that counts otherwise (parameters, or tied tensors once)";
    finding.next = {"F6"};
}

} // namespace

// Files the model cannot do without, of which only the pointer was fetched.
void lookAtPointers(const Run &run, const ModelFolder &folder, Report &report)
{
    std::set<ArtifactId> weights(folder.weights.begin(), folder.weights.end());
    weights.insert(folder.gguf.begin(), folder.gguf.end());
    for (const ArtifactId id : {folder.config, folder.generationConfig, folder.tokenizerJson, folder.tokenizerConfig,
                                folder.sentencePiece, folder.adapterConfig, folder.weightIndex, folder.vocabulary})
        weights.insert(id);
    Finding *finding = nullptr;
    std::uint64_t count = 0, bytes = 0;
    for (const ArtifactId id : folder.all) {
        const Artifact &artifact = run.artifact(id);
        const auto *const pointer = artifact.as<LfsContent>();
        if (!pointer || isTrainingLeftover(fileNameOf(artifact.path)))
            continue;
        const auto name = fileNameOf(artifact.path);
        const bool isModelFile = weights.contains(id) || name.ends_with(".safetensors") || name.ends_with(".gguf")
                                 || name.starts_with("pytorch_model") || name.starts_with("tokenizer");
        if (!isModelFile)
            continue;
        ++count;
        bytes += pointer->declaredSize;
        if (!finding)
            finding = &add(report, "weights.pointer", Severity::Error, "");
        if (finding->evidence.size() < evidenceLimit) {
            finding->evidence.push_back({id, Whole{}, "a Git-LFS pointer of " + counted(artifact.size, "byte")
                                                          + " for a file of " + std::to_string(pointer->declaredSize)});
        }
    }
    if (!finding)
        return;
    finding->title = count == 1 ? std::string(fileNameOf(run.find(finding->evidence[0].artifact)->path))
                                      + " is a Git-LFS pointer, not the file"
                                : counted(count, "file") + " are Git-LFS pointers, not the files";
    finding->detail = "The folder was cloned without fetching what Git-LFS stores; "
                      + counted(bytes, "byte") + " of the model are not here. \"git lfs pull\" fetches them.";
    finding->measure = Measure{.number = static_cast<double>(count), .unit = "files"};
    finding->falseIf = "the files are fetched before serving, or served from another place";
    finding->next = {"F6"};
}

void lookAtCutHeaders(const Run &run, Report &report)
{
    Finding finding{.code = "weights.file.cut", .severity = Severity::Error, .title = ""};
    std::uint64_t count = 0;
    const Artifact *first = nullptr;
    for (const Artifact &artifact : run.artifacts()) {
        if (artifact.format != "gguf" && artifact.format != "safetensors")
            continue;
        const auto *const content = artifact.as<TensorContent>();
        const bool leavesFile = content && std::any_of(content->tensors.begin(), content->tensors.end(), [&](const TensorInfo &tensor) {
            return tensor.bytes.to > artifact.size; // said of its data
        });
        const auto cut = std::find_if(artifact.problems.begin(), artifact.problems.end(),
                                      [](const Error &problem) { return problem.code == Errc::Truncated; });
        // A web page under such a name has no header to end in.
        const bool foreign = artifact.format == "safetensors" && !content && artifact.size > 8;
        if (leavesFile || foreign || cut == artifact.problems.end())
            continue;
        if (count++ == 0)
            first = &artifact;
        if (finding.evidence.size() < evidenceLimit)
            finding.evidence.push_back({artifact.id, cut->where, cut->message});
    }
    if (!first)
        return;
    finding.title = count == 1 ? fileNameText(*first) + " ends inside its header" : counted(count, "file") + " end inside their headers";
    finding.detail = "The header promises more than the file holds: an interrupted download or copy. No engine loads it.";
    finding.measure = Measure{.number = static_cast<double>(count), .unit = "files"};
    finding.falseIf = "the file was still being written";
    finding.next = {"F6"};
    report.findings.push_back(std::move(finding));
}

void lookAtFiles(const WeightSet &set, Report &report)
{
    tabulate(set, report);
    lookAtAbsentFiles(set, report);
    lookAtClaims(set, report);
    lookAtFileEnds(set, report);
    lookAtTotalSize(set, report);
}

} // namespace prosector::completeness
