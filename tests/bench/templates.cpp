// SPDX-License-Identifier: GPL-3.0-or-later
// prosector_bench_templates ROUNDS FILE.jsonl: renders each row {"template", "variables"} so many times from
// a parsed template, with provenance, and prints the seconds of the best round of each as JSON.
#include "models/core/bytesource.h"
#include "models/templates/template.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>

using namespace prosector;

int main(int argc, char **argv)
{
    if (argc != 3)
        return 2;
    const auto file = openFile(argv[2]);
    if (!file)
        return 3;
    const auto bytes = (*file)->read(0, (*file)->size());
    if (!bytes)
        return 3;
    const std::string text(asText(*bytes));
    const char *separator = "{\"seconds\": [";
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = std::min(text.find('\n', at), text.size());
        const auto row = Document::parseJson(text.substr(at, end - at));
        at = end + 1;
        const auto parsed = Template::parse(row->root()["template"].string(""));
        if (!parsed)
            return 3;
        double best = 1e9;
        TemplateInputs inputs; // ready beforehand, as Python's dictionaries are
        for (const Value variable : row->root()["variables"])
            inputs.set(variable.key(), variable);
        for (int round = 0; round < std::atoi(argv[1]); ++round) {
            const auto begin = std::chrono::steady_clock::now();
            const Rendered rendered = (*parsed)->render(inputs);
            if (rendered.error)
                return 4;
            best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
        }
        std::printf("%s%.9f", separator, best);
        separator = ", ";
    }
    std::printf("]}\n");
}
