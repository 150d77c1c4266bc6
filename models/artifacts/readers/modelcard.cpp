// SPDX-License-Identifier: GPL-3.0-or-later
// Model cards: the YAML front matter of a README.md, between two lines `---`.
// https://huggingface.co/docs/hub/model-cards
#include "models/artifacts/jsonread.h"
#include "models/artifacts/reader.h"
#include "models/artifacts/shapes.h"

namespace prosector {

namespace {

/// Where the front matter begins: behind the first line, if that is `---`.
std::size_t frontMatter(std::string_view text)
{
    std::size_t at = text.starts_with("\xEF\xBB\xBF") ? 3 : 0;
    if (!text.substr(at).starts_with("---"))
        return std::string_view::npos;
    at += 3;
    const auto end = text.find('\n', at);
    return end != std::string_view::npos && text.substr(at, end - at).find_first_not_of(" \t\r") == std::string_view::npos
               ? end + 1
               : std::string_view::npos;
}

/// The offset of the closing line, or npos.
std::size_t closingLine(std::string_view text, std::size_t from)
{
    for (std::size_t at = from; at < text.size();) {
        const auto end = std::min(text.find('\n', at), text.size());
        const auto line = text.substr(at, end - at);
        if (line.starts_with("---") && line.find_first_not_of("- \t\r") == std::string_view::npos)
            return at;
        at = end + 1;
    }
    return std::string_view::npos;
}

int sniffCard(const Head &head)
{
    return matchesAny(head.name, "*.md *.MD") && frontMatter(head.text()) != std::string_view::npos ? 60 : 0;
}

Result<Reading> openCard(SourcePtr source, const Job &job)
{
    auto text = readText(*source, TextContent::limit);
    if (!text)
        return text.error();
    const auto from = frontMatter(*text);
    if (from == std::string_view::npos) // the file changed since it was recognised
        return Error{Errc::Malformed, "no front matter", Whole{}, "a first line \"---\"", text->empty() ? "an empty file" : "none"};
    const auto to = closingLine(*text, from);
    const auto end = to == std::string::npos ? text->size() : to;
    const auto document = Document::parseYaml(std::move(*text), ByteRange{from, end}, job.stopToken());
    Reading reading{.kind = Kind::ModelCard, .content = std::make_shared<TreeContent>(document)};
    if (to == std::string::npos) {
        reading.problems.push_back({Errc::Truncated, "front matter without an end", ByteRange{from, document->text().size()},
                                    "a closing line \"---\"", "the end of the file"});
    } else if (document->problem()) {
        reading.problems.push_back(*document->problem());
    }
    const Value root = document->root();
    for (const char *const key : {"license", "base_model", "library_name", "pipeline_tag"}) {
        const Value value = root[key].isArray() ? root[key][0] : root[key];
        if (const auto said = value.string())
            reading.summary += (reading.summary.empty() ? "" : ", ") + std::string(key) + ' ' + *said;
    }
    return reading;
}

} // namespace

extern constinit const Reader reader_modelcard{"modelcard", "model card", sniffCard, openCard};

} // namespace prosector
