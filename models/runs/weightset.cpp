// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/runs/weightset.h"

#include "models/artifacts/tensorkinds.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <set>

namespace prosector {

namespace {

// "model-00001-of-00002.safetensors" → {"model", "safetensors", 1, 2}; no part: 0, 0.
struct FileName {
    std::string stem, extension;
    std::uint32_t part = 0, parts = 0;
    std::size_t digits = 5;
};

std::optional<std::uint32_t> numberAt(std::string_view text)
{
    std::uint32_t number = 0;
    if (text.empty() || text.size() > 6)
        return std::nullopt;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    return error == std::errc() && end == text.data() + text.size() ? std::optional(number) : std::nullopt;
}

FileName takeApartFile(std::string_view name)
{
    FileName result;
    const auto dot = name.rfind('.');
    result.extension = dot == std::string_view::npos ? "" : name.substr(dot + 1);
    std::string_view stem = name.substr(0, dot);
    if (const auto of = stem.rfind("-of-"); of != std::string_view::npos) {
        const auto dash = stem.rfind('-', of - 1);
        if (of > 0 && dash != std::string_view::npos) {
            const auto part = numberAt(stem.substr(dash + 1, of - dash - 1));
            const auto parts = numberAt(stem.substr(of + 4));
            if (part && parts) {
                result.part = *part;
                result.parts = *parts;
                result.digits = of - dash - 1;
                stem = stem.substr(0, dash);
            }
        }
    }
    result.stem = stem;
    return result;
}

std::string partName(const FileName &name, std::uint32_t part)
{
    const auto padded = [&](std::uint32_t number) {
        std::string text = std::to_string(number);
        return text.size() < name.digits ? std::string(name.digits - text.size(), '0') + text : text;
    };
    return name.stem + "-" + padded(part) + "-of-" + padded(name.parts) + "." + name.extension;
}

using Key = std::pair<std::string, std::string>; // stem (with the number of parts), extension
Key keyOf(const FileName &name)
{
    return {name.parts ? name.stem + "-of-" + std::to_string(name.parts) : name.stem, name.extension};
}

void addStored(WeightSet &set)
{
    for (const Artifact *const file : set.files) {
        if (const auto *const content = file->as<TensorContent>()) {
            for (const TensorInfo &info : content->tensors)
                set.rows.push_back({info.name, &info, file, {}});
        }
    }
    std::stable_sort(set.rows.begin(), set.rows.end(), [](auto &a, auto &b) { return a.name < b.name; });
}

// Marks what the index claims and adds rows for tensors that no file holds.
void addClaimed(WeightSet &set, const WeightIndexContent &index)
{
    std::vector<WeightRow> unstored;
    for (const auto &row : index.rows) {
        const auto range = std::equal_range(set.rows.begin(), set.rows.end(), WeightRow{.name = row.tensor},
                                            [](const WeightRow &a, const WeightRow &b) { return a.name < b.name; });
        bool stored = false;
        for (auto it = range.first; it != range.second; ++it) {
            it->claimedFile = row.file;
            stored = true;
        }
        if (!stored)
            unstored.push_back({row.tensor, nullptr, nullptr, row.file});
    }
    set.rows.insert(set.rows.end(), unstored.begin(), unstored.end());
    std::stable_sort(set.rows.begin(), set.rows.end(), [](auto &a, auto &b) { return a.name < b.name; });
}

} // namespace

bool isTrainingLeftover(std::string_view fileName)
{
    using namespace std::string_view_literals;
    constexpr std::array names{"training_args"sv, "optimizer"sv, "scheduler"sv, "rng_state"sv, "scaler"sv,
                               "trainer_state"sv, "random_states"sv};
    return std::any_of(names.begin(), names.end(), [&](auto name) { return fileName.starts_with(name); });
}

bool WeightSet::complete() const
{
    return absent.empty() && !files.empty() && std::all_of(files.begin(), files.end(), [](const Artifact *file) {
        return file->as<TensorContent>() && file->problems.empty();
    });
}

bool WeightSet::listed() const
{
    return absent.empty() && !files.empty()
           && std::all_of(files.begin(), files.end(), [](const Artifact *file) { return file->as<TensorContent>(); });
}

const WeightRow *WeightSet::firstOf(std::string_view prefix) const
{
    const auto it = std::lower_bound(rows.begin(), rows.end(), prefix,
                                     [](const WeightRow &row, std::string_view n) { return row.name < n; });
    return it != rows.end() && it->name.starts_with(prefix) ? &*it : nullptr;
}

JsonPath WeightSet::claimAnchor(std::string_view tensor)
{
    std::string path = "$.weight_map";
    appendPathKey(path, tensor);
    return JsonPath{std::move(path)};
}

Evidence WeightSet::placeOf(const WeightRow &row, std::string note) const
{
    if (row.file)
        return {row.file->id, TensorBlock{std::string(row.name)}, std::move(note)};
    return {index->id, claimAnchor(row.name), std::move(note)};
}

std::string WeightSet::describe() const
{
    const Artifact *const first = files.empty() ? index : files[0];
    return files.size() == 1 && absent.empty() ? first->path : first->path + " and its shards";
}

const WeightRow *WeightSet::find(std::string_view wanted) const
{
    const auto it = std::lower_bound(rows.begin(), rows.end(), wanted,
                                     [](const WeightRow &row, std::string_view n) { return row.name < n; });
    return it != rows.end() && it->name == wanted ? &*it : nullptr;
}

std::vector<WeightSet> weightSetsOf(const Run &run, const ModelFolder &folder)
{
    std::map<Key, WeightSet> sets;
    std::map<Key, FileName> sample;
    const auto setFor = [&](const FileName &name) -> WeightSet & {
        const Key key = keyOf(name);
        WeightSet &set = sets[key];
        set.folder = &folder;
        set.name = name.stem;
        set.extension = name.extension;
        set.parts = std::max(set.parts, name.parts);
        sample.emplace(key, name);
        return set;
    };
    std::vector<ArtifactId> files = folder.weights;
    files.insert(files.end(), folder.gguf.begin(), folder.gguf.end());
    for (const ArtifactId id : files) {
        const Artifact &file = run.artifact(id);
        const auto name = fileNameOf(file.path);
        if (isTrainingLeftover(name) || file.kind == Kind::AdapterFiles || name.starts_with("adapter_"))
            continue;
        setFor(takeApartFile(name)).files.push_back(&file);
    }
    for (const ArtifactId id : folder.all) {
        const Artifact &artifact = run.artifact(id);
        const auto *const index = artifact.as<WeightIndexContent>();
        if (!index || index->rows.empty())
            continue;
        std::set<std::string_view> claimed;
        for (const auto &row : index->rows)
            claimed.insert(row.file);
        WeightSet &set = setFor(takeApartFile(*claimed.begin()));
        set.index = &artifact;
        std::set<std::string_view> present;
        for (const Artifact *const file : set.files)
            present.insert(fileNameOf(file->path));
        // Shards of other names (split by hand) belong to the index that names them.
        for (const ArtifactId other : files) {
            const Artifact &file = run.artifact(other);
            const auto name = fileNameOf(file.path);
            if (claimed.contains(name) && present.insert(name).second) {
                set.files.push_back(&file);
                for (auto &[key, rest] : sets) {
                    if (&rest != &set)
                        std::erase(rest.files, &file);
                }
            }
        }
        for (const auto name : claimed) {
            if (!present.contains(name))
                set.absent.emplace_back(name);
        }
    }
    std::vector<WeightSet> result;
    for (auto &[key, set] : sets) {
        if (set.files.empty() && !set.index)
            continue;
        const FileName &name = sample.at(key);
        if (!set.index && name.parts > 0 && name.parts <= 100'000) {
            std::set<std::string_view> present;
            for (const Artifact *const file : set.files)
                present.insert(fileNameOf(file->path));
            for (std::uint32_t part = 1; part <= name.parts; ++part) {
                if (auto wanted = partName(name, part); !present.contains(wanted))
                    set.absent.push_back(std::move(wanted));
            }
        }
        std::sort(set.absent.begin(), set.absent.end());
        std::sort(set.files.begin(), set.files.end(), [](auto *a, auto *b) { return a->path < b->path; });
        addStored(set);
        if (set.index)
            addClaimed(set, *set.index->as<WeightIndexContent>());
        result.push_back(std::move(set));
    }
    return result;
}

} // namespace prosector
