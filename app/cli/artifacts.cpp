// SPDX-License-Identifier: GPL-3.0-or-later
// artifacts PATH...: what was recognised, as what, how large.
#include "app/cli/cli.h"

#include "models/report/report.h"

#include <CLI/CLI.hpp>
#include <memory>

namespace prosector::cli {

namespace {

struct Options {
    std::vector<std::string> paths;
    std::string format = "text";
};

int run(const Options &options)
{
    const Job job = startJob();
    const auto opened = Run::open(options.paths, job);
    if (!opened)
        return fail(InputError, opened.error());
    sayUnopenedInputs(**opened);
    const std::string text = options.format == "json" ? artifactsJson(**opened) : artifactsText(**opened);
    if (const auto written = writeOutput({}, text); !written)
        return fail(UsageError, written.error());
    return hasUnreadableInput(**opened) ? InputError : AllWell;
}

} // namespace

void addArtifacts(CLI::App &app, Context &context)
{
    auto *const command = app.add_subcommand("artifacts", "List what was recognised, as what, how large");
    const auto options = std::make_shared<Options>();
    command->add_option("PATH", options->paths, "Model folders, traces, files, archives")->required();
    command->add_option("--format", options->format, "Form of the list")
        ->check(CLI::IsMember(std::vector<std::string>{"text", "json"}))->capture_default_str();
    command->callback([options, &context] { context.status = run(*options); });
}

} // namespace prosector::cli
