// SPDX-License-Identifier: GPL-3.0-or-later
// Inspect's .eval logs: a zip of a journal and samples. Recognised here; read by a later capability.
// Layout: UKGovernmentBEIS/inspect_ai, src/inspect_ai/log/_recorders/eval.py.
#include "models/artifacts/reader.h"
#include "models/artifacts/shapes.h"

namespace prosector {

namespace {

int sniffEval(const Head &head)
{
    const auto text = head.text();
    if (!text.starts_with("PK\x03\x04"))
        return 0;
    const bool journal = text.substr(0, 200).find("_journal/") != std::string_view::npos;
    return journal || matchesPattern(head.name, "*.eval") ? 95 : 0;
}

Result<Reading> openEval(SourcePtr source, const Job &)
{
    return Reading{.kind = Kind::EvalSamples, .summary = "Inspect log, " + sizeText(source->size())};
}

} // namespace

extern constinit const Reader reader_inspecteval{"inspecteval", "Inspect evaluation log", sniffEval, openEval};

} // namespace prosector
