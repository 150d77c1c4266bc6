// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/arguments.h"

#include <CLI/CLI.hpp>
#include <cstdio>

namespace prosector {

namespace {
constexpr int usageError = 2;
}

ParsedArguments parseArguments(int argc, char **argv)
{
    Arguments arguments;
    std::string size;
    CLI::App app{"Opens model folders and traces of language-model systems and shows what went wrong.", "prosector"};
    app.add_option("PATH", arguments.paths, "Model folders, traces, files, archives");
    app.add_option("--baseline", arguments.baseline, "The other run, to compare with");
    app.add_option("--case", arguments.caseNumber, "Open a taught case")->check(CLI::PositiveNumber);
    auto *const shot = app.add_option("--screenshot", arguments.screenshot, "Write a picture of the window and exit");
    auto *const panel = app.add_option("--panel", arguments.panel, "Open this panel: an instrument id, source:FILE, configuration, tensors, log, findings, welcome");
    shot->needs(panel);
    app.add_option("--size", size, "Size of the picture in pixels, as 1280x800")->needs(shot);
    app.add_option("--theme", arguments.theme, "light, dark or system")->check(CLI::IsMember({"light", "dark", "system"}));
    app.add_option("--font-scale", arguments.fontScale, "Multiplies the size of the interface font")->check(CLI::Range(0.5, 3.0));
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError &error) {
        return {std::nullopt, app.exit(error) == 0 ? 0 : usageError};
    }
    if (!size.empty() && (std::sscanf(size.c_str(), "%dx%d", &arguments.width, &arguments.height) != 2 || arguments.width < 320
                          || arguments.height < 240 || arguments.width > 16384 || arguments.height > 16384)) {
        std::fprintf(stderr, "prosector: --size is %s; expected WIDTHxHEIGHT from 320x240 to 16384x16384\n", size.c_str());
        return {std::nullopt, usageError};
    }
    return {std::move(arguments), 0};
}

} // namespace prosector
