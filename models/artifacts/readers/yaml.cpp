// SPDX-License-Identifier: GPL-3.0-or-later
// YAML files (evaluation tasks, recipes, deployment probes) as trees: their keys say what they are.
#include "models/artifacts/jsonread.h"
#include "models/artifacts/reader.h"
#include "models/artifacts/shapes.h"
#include "models/artifacts/textshapes.h"

namespace prosector {

namespace {

int sniffYaml(const Head &head)
{
    return matchesAny(head.name, "*.yaml *.yml") && looksLikeText(head.text()) ? 25 : 0;
}

Result<Reading> openYaml(SourcePtr source, const Job &job)
{
    auto text = readText(*source, TextContent::limit);
    if (!text)
        return text.error();
    return readTree(Document::parseYaml(std::move(*text), {}, job.stopToken()), *source);
}

} // namespace

extern constinit const Reader reader_yaml{"yaml", "YAML", sniffYaml, openYaml};

} // namespace prosector
