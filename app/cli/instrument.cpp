// SPDX-License-Identifier: GPL-3.0-or-later
// instrument list | show ID: what there is to ask, and the help page of one.
#include "app/cli/cli.h"

#include "models/report/instrumentlist.h"

#include <CLI/CLI.hpp>
#include <memory>

namespace prosector::cli {

namespace {

struct Options {
    std::string id, format = "text";
};

int print(const Result<std::string> &text)
{
    if (!text)
        return fail(UsageError, text.error());
    if (const auto written = writeOutput({}, *text); !written)
        return fail(UsageError, written.error());
    return AllWell;
}

Result<std::string> show(const Options &options)
{
    const Instrument *const instrument = findInstrument(options.id);
    if (!instrument)
        return Error{Errc::Usage, options.id + ": no such instrument (see `instrument list`)"};
    return options.format == "json" ? instrumentJson(*instrument) : instrumentText(*instrument);
}

} // namespace

void addInstrument(CLI::App &app, Context &context)
{
    auto *const command = app.add_subcommand("instrument", "List the instruments, or explain one");
    command->require_subcommand(1);
    const auto options = std::make_shared<Options>();
    const auto addFormat = [&options](CLI::App *to) {
        to->add_option("--format", options->format, "Form of the output")
            ->check(CLI::IsMember(std::vector<std::string>{"text", "json"}))->capture_default_str();
    };
    auto *const list = command->add_subcommand("list", "Every instrument and its question");
    addFormat(list);
    list->callback([options, &context] {
        context.status = print(options->format == "json" ? instrumentListJson() : instrumentListText());
    });
    auto *const show = command->add_subcommand("show", "What it asks, its thresholds, its false alarms");
    show->add_option("ID", options->id, "The instrument's id, F5")->required();
    addFormat(show);
    show->callback([options, &context] { context.status = print(cli::show(*options)); });
}

} // namespace prosector::cli
