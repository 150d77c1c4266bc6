// SPDX-License-Identifier: GPL-3.0-or-later
// Text that no other reader claims: logs, templates, streams, tables (models/artifacts/textshapes.h).
#include "models/artifacts/jsonread.h"
#include "models/artifacts/reader.h"
#include "models/artifacts/shapes.h"
#include "models/artifacts/textshapes.h"

namespace prosector {

namespace {

int sniffText(const Head &head)
{
    if (head.bytes.empty() || !looksLikeText(head.text()))
        return 0;
    // A log may hold a line that looks like JSON; one that is JSON throughout is JSON Lines.
    return matchesPattern(head.name, "*.log") && !looksLikeJsonLines(head.text(), head.name) ? 40 : 10;
}

} // namespace

extern constinit const Reader reader_text{"text", "text", sniffText, openText};

} // namespace prosector
