// SPDX-License-Identifier: GPL-3.0-or-later
// *.safetensors.index.json and pytorch_model.bin.index.json: which file holds which tensor.
#include "models/artifacts/jsonread.h"
#include "models/artifacts/problems.h"
#include "models/artifacts/reader.h"
#include "models/artifacts/tensors.h"

#include <set>
#include <unordered_map>

namespace prosector {

namespace {

int sniffIndex(const Head &head)
{
    const auto text = head.text();
    const auto first = text.find_first_not_of(" \t\r\n\xEF\xBB\xBF");
    if (first == std::string_view::npos || text[first] != '{')
        return 0;
    const bool named = head.name.ends_with(".index.json");
    const bool mapped = text.find("\"weight_map\"") != std::string_view::npos;
    return mapped ? (named ? 80 : 60) : head.name.ends_with(".safetensors.index.json") ? 45 : 0;
}

Result<Reading> openIndex(SourcePtr source, const Job &job)
{
    if (source->size() > maxJsonBytes) {
        return Error{Errc::TooLarge, "JSON too large for a tree", Whole{}, "at most " + sizeText(maxJsonBytes),
                     sizeText(source->size())};
    }
    auto text = readText(*source);
    if (!text)
        return text.error();
    auto content = std::make_shared<WeightIndexContent>();
    content->document = Document::parseJson(std::move(*text), job.stopToken());
    Problems problems;
    if (content->document->problem())
        problems.add(*content->document->problem());
    for (const Remark &remark : content->document->remarks()) {
        if (remark.kind == Remark::Kind::DuplicateKey)
            problems.add({Errc::Malformed, remark.text, remark.bytes, "each key once"});
    }
    const Value map = content->document->root()["weight_map"];
    if (!map.isObject()) {
        problems.add({Errc::Malformed, "no weight_map", content->document->root() ? Anchor(JsonPath{"$"}) : Anchor(Whole{}),
                      "an object from tensor to file", map ? std::string(map.raw().substr(0, 40)) : "nothing"});
    }
    std::unordered_map<std::string, std::size_t> rowOf;
    std::set<std::string, std::less<>> files;
    for (const Value entry : map.isObject() ? map : Value()) {
        if ((content->rows.size() & 4095) == 0 && job.cancelled())
            return Job::cancelledError();
        auto file = entry.string();
        if (!file) {
            problems.add({Errc::Malformed, "weight_map names no file for \"" + entry.key() + '"', entry.anchor(), "a string",
                          std::string(entry.raw().substr(0, 40))});
            continue;
        }
        files.insert(*file);
        const auto [at, fresh] = rowOf.try_emplace(entry.key(), content->rows.size());
        if (fresh)
            content->rows.push_back({entry.key(), std::move(*file)});
        else
            content->rows[at->second].file = std::move(*file); // the last wins, as in Python
    }
    const Value total = content->document->root()["metadata"]["total_size"];
    if (const auto number = total.number()) { // some writers put a float here
        if (*number >= 0 && *number < 0x1p63)
            content->totalSize = total.integer() ? static_cast<std::uint64_t>(*total.integer())
                                                 : static_cast<std::uint64_t>(*number);
    }
    std::string summary = std::to_string(content->rows.size()) + " tensors in " + std::to_string(files.size())
        + (files.size() == 1 ? " file" : " files");
    if (content->totalSize)
        summary += ", " + sizeText(*content->totalSize);
    return Reading{Kind::WeightIndex, std::move(summary), std::move(content), problems.take()};
}

} // namespace

extern constinit const Reader reader_weightindex{"weightindex", "weight index", sniffIndex, openIndex};

} // namespace prosector
