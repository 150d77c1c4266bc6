// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/runs/inspect.h"

#include "models/core/hex.h"
#include "models/core/utf8.h"
#include "models/runs/locate.h"

#include <algorithm>

namespace prosector {

namespace {

constexpr std::size_t decodedLimit = 4000; // bytes of a decoded text that are shown

std::string shortened(std::string_view text)
{
    if (text.size() <= decodedLimit)
        return toValidUtf8(text);
    std::size_t end = decodedLimit;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80)
        --end;
    return toValidUtf8(text.substr(0, end)) + "…";
}

std::string_view typeName(Value::Type type)
{
    switch (type) {
    case Value::Type::Null: return "null";
    case Value::Type::Boolean: return "boolean";
    case Value::Type::Number: return "number";
    case Value::Type::String: return "string";
    case Value::Type::Array: return "array";
    case Value::Type::Object: return "object";
    case Value::Type::Missing: break;
    }
    return "";
}

class Inspector {
public:
    explicit Inspector(const Artifact &artifact) : m_artifact(artifact) {}

    void add(Fact::Kind kind, std::string label, std::string value)
    {
        if (!value.empty())
            facts.push_back({kind, std::move(label), std::move(value)});
    }

    void addValue(Value value)
    {
        if (!value)
            return add(Fact::Kind::Decoded, "Value", "there is no value at this path");
        add(Fact::Kind::Decoded, "Type", std::string(typeName(value.type())));
        if (const auto text = value.string())
            add(Fact::Kind::Decoded, "Value", text->empty() ? "\"\"" : shortened(*text));
        else if (value.isArray() || value.isObject())
            add(Fact::Kind::Decoded, value.isArray() ? "Elements" : "Members", std::to_string(value.size()));
        else
            add(Fact::Kind::Decoded, "Value", shortened(value.raw()));
    }

    void addPath(const std::string &path)
    {
        if (const auto *const tree = m_artifact.as<TreeContent>())
            return addValue(tree->document->at(path));
        if (const auto *const index = m_artifact.as<WeightIndexContent>())
            return addValue(index->document->at(path));
        const auto *const gguf = m_artifact.as<GgufContent>();
        if (!gguf)
            return;
        for (const GgufEntry &entry : gguf->entries) {
            if (GgufContent::anchor(entry.key).path != path)
                continue;
            add(Fact::Kind::Decoded, "Type", std::string(nameOf(entry.value.type)));
            add(Fact::Kind::Decoded, "Value", shortened(entry.value.display(decodedLimit)));
            return;
        }
        add(Fact::Kind::Decoded, "Value", "there is no such key");
    }

    void addTensor(const TensorBlock &block)
    {
        const auto *const content = m_artifact.as<TensorContent>();
        const TensorInfo *const tensor = content ? content->find(block.tensor) : nullptr;
        if (!tensor)
            return add(Fact::Kind::Decoded, "Tensor", "there is no tensor of this name");
        add(Fact::Kind::Decoded, "Element type", tensor->dtypeName);
        add(Fact::Kind::Decoded, "Shape", tensor->shapeText());
        const auto elements = tensor->elements();
        add(Fact::Kind::Decoded, "Elements", elements ? std::to_string(*elements) : "more than 2^64");
    }

    void addText(const std::optional<ByteRange> &bytes, const char *label)
    {
        const std::string_view text = textOf(m_artifact);
        if (bytes && bytes->to <= text.size())
            add(Fact::Kind::Decoded, label, shortened(text.substr(bytes->from, bytes->size())));
    }

    void addDecoded(const Anchor &where, const std::optional<ByteRange> &bytes)
    {
        if (const auto *const path = std::get_if<JsonPath>(&where))
            addPath(path->path);
        else if (const auto *const block = std::get_if<TensorBlock>(&where))
            addTensor(*block);
        else if (std::holds_alternative<LogLine>(where))
            addText(bytes, "Text");
        else if (std::holds_alternative<TemplateSpan>(where))
            addText(bytes, "Template text");
        else if (std::holds_alternative<ByteRange>(where))
            addText(bytes, "Text");
    }

    void addBytes(const std::optional<ByteRange> &bytes, const Anchor &where)
    {
        if (!bytes || std::holds_alternative<Whole>(where))
            return;
        add(Fact::Kind::Raw, "Offset", std::to_string(bytes->from));
        add(Fact::Kind::Raw, "Length", std::to_string(bytes->size()) + (bytes->size() == 1 ? " byte" : " bytes"));
        const auto excerpt =
            m_artifact.source->readUpTo(bytes->from, std::min<std::uint64_t>(bytes->size(), excerptBytes));
        if (!excerpt)
            return add(Fact::Kind::Raw, "Bytes", describe(excerpt.error()));
        add(Fact::Kind::Raw, "Bytes", hexText(*excerpt) + (bytes->size() > excerpt->size() ? " …" : ""));
    }

    std::vector<Fact> facts;

private:
    const Artifact &m_artifact;
};

bool overlap(const ByteRange &a, const ByteRange &b)
{
    return a.from < b.to && b.from < a.to;
}

/// Whether evidence at `there` speaks of `here`: the same place, or bytes in common.
bool touches(const Artifact &artifact, const Place &here, const std::optional<ByteRange> &bytes, const Place &there)
{
    if (there.side != here.side || there.artifact != here.artifact)
        return false;
    if (there.where == here.where || std::holds_alternative<Whole>(here.where)
        || std::holds_alternative<Whole>(there.where))
        return true;
    const auto other = bytes ? anchorToBytes(artifact, there.where) : std::nullopt;
    return other && overlap(*bytes, *other);
}

} // namespace

std::vector<Fact> inspect(const Run &run, const Selection &selection, std::span<const Outcome *const> outcomes)
{
    if (selection.empty() || selection.front().artifact.index >= run.artifacts().size())
        return {};
    const Place &here = selection.front();
    const Artifact &artifact = run.artifact(here.artifact);
    const auto bytes = anchorToBytes(artifact, here.where);
    const bool whole = std::holds_alternative<Whole>(here.where);

    Inspector inspector(artifact);
    inspector.add(Fact::Kind::Artifact, "File", toValidUtf8(artifact.path));
    if (artifact.name != artifact.path)
        inspector.add(Fact::Kind::Artifact, "Artifact", toValidUtf8(artifact.name));
    inspector.add(Fact::Kind::Artifact, "Kind", std::string(nameOf(artifact.kind)));
    inspector.add(Fact::Kind::Artifact, "Format", artifact.format);
    inspector.add(Fact::Kind::Artifact, "Size",
                  std::to_string(artifact.size) + (artifact.size == 1 ? " byte" : " bytes"));
    if (whole) {
        inspector.add(Fact::Kind::Artifact, "Contents", artifact.summary);
        for (const Error &problem : artifact.problems) {
            inspector.facts.push_back({Fact::Kind::Artifact,
                                       "Problem",
                                       toValidUtf8(describe(problem)),
                                       {{here.side, here.artifact, problem.where}}});
        }
    } else {
        inspector.add(Fact::Kind::Where, "Place", toValidUtf8(describe(here.where)));
        if (!bytes && std::holds_alternative<JsonPath>(here.where))
            inspector.add(Fact::Kind::Where, "Bytes", "none: the place does not exist in this file");
    }
    inspector.addBytes(bytes, here.where);
    inspector.addDecoded(here.where, bytes);

    for (std::size_t i = 1; i < selection.size(); ++i) {
        const Artifact *const linked =
            selection[i].artifact.index < run.artifacts().size() && selection[i].side == here.side
            ? run.find(selection[i].artifact)
            : nullptr;
        const std::string where = describe(selection[i].where);
        inspector.facts.push_back(
            {Fact::Kind::Link,
             "Linked",
             toValidUtf8((linked ? linked->path : "in the other run") + (where.empty() ? "" : " " + where)),
             {selection[i]}});
    }

    const std::size_t findingsFrom = inspector.facts.size();
    for (const Outcome *const outcome : outcomes) {
        if (!outcome || !outcome->report)
            continue;
        for (const Finding &finding : outcome->report->findings) {
            if (std::any_of(finding.evidence.begin(), finding.evidence.end(),
                            [&](const Evidence &e) { return touches(artifact, here, bytes, placeOf(e)); }))
                inspector.facts.push_back({Fact::Kind::Finding, "Finding " + std::string(outcome->instrument->id),
                                           toValidUtf8(finding.title), placesOf(finding), finding.severity});
        }
    }
    std::stable_sort(inspector.facts.begin() + static_cast<std::ptrdiff_t>(findingsFrom), inspector.facts.end(),
                     [](const Fact &a, const Fact &b) { return a.severity > b.severity; });
    return std::move(inspector.facts);
}

} // namespace prosector
