// SPDX-License-Identifier: GPL-3.0-or-later
// Any JSON that no other reader claims: shown as a tree, with what does not parse said.
#include "models/artifacts/reader.h"

namespace prosector {

namespace {

int sniffJson(const Head &head)
{
    const auto text = head.text();
    const auto first = text.find_first_not_of(" \t\r\n\xEF\xBB\xBF");
    if (first == std::string_view::npos || (text[first] != '{' && text[first] != '['))
        return 0;
    return head.name.ends_with(".json") ? 30 : 15;
}

Result<Reading> openJson(SourcePtr source, const Job &)
{
    const auto bytes = source->read(0, source->size());
    if (!bytes)
        return bytes.error();
    const auto document = Document::parseJson(std::string(asText(*bytes)));
    Reading reading{.kind = Kind::Data, .content = std::make_shared<TreeContent>(document)};
    if (document->problem())
        reading.problems.push_back(*document->problem());
    reading.summary = "JSON, " + std::to_string(document->root().size()) + " members";
    return reading;
}

} // namespace

extern constinit const Reader reader_json{"json", "JSON", sniffJson, openJson};

} // namespace prosector
