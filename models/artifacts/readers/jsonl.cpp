// SPDX-License-Identifier: GPL-3.0-or-later
// JSON Lines: the first value says what they are (models/artifacts/shapes.h).
#include "models/artifacts/jsonread.h"
#include "models/artifacts/reader.h"

namespace prosector {

namespace {

int sniffLines(const Head &head)
{
    return looksLikeJsonLines(head.text(), head.name) ? 35 : 0;
}

} // namespace

extern constinit const Reader reader_jsonl{"jsonl", "JSON Lines", sniffLines, openJsonLines};

} // namespace prosector
