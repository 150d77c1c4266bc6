// SPDX-License-Identifier: GPL-3.0-or-later
// One JSON value: its keys say what it is (models/artifacts/shapes.h).
#include "models/artifacts/jsonread.h"
#include "models/artifacts/reader.h"
#include "models/artifacts/shapes.h"

namespace prosector {

namespace {

int sniffJson(const Head &head)
{
    const bool named = matchesPattern(head.name, "*.json") || matchesPattern(head.name, "*.har");
    if (looksLikeJson(head.text()))
        return named ? 30 : 15;
    // Something else under such a name (a web page, an empty file) is damaged JSON and not just text.
    return named ? 12 : 0;
}

} // namespace

extern constinit const Reader reader_json{"json", "JSON", sniffJson, openJson};

} // namespace prosector
