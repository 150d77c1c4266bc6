// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/report/report.h"

#include <CLI/CLI.hpp>
#include <cstdio>

using namespace prosector;

namespace {

enum ExitStatus { AllWell = 0, Findings = 1, UsageError = 2, InputError = 3 };

int fail(int status, const Error &error)
{
    std::fprintf(stderr, "prosector-cli: %s\n", describe(error).c_str());
    return status;
}

int runExamine(const std::vector<std::string> &paths)
{
    const Job job;
    auto run = Run::open(paths, job);
    if (!run)
        return fail(InputError, run.error());
    const auto facts = Facts::load();
    if (!facts)
        return fail(InputError, facts.error());
    const auto examination = examine(*run, nullptr, **facts, {}, job);
    if (!examination)
        return fail(InputError, examination.error());
    std::fputs(toJson(*examination).c_str(), stdout);
    return examination->worst() >= Severity::Error ? Findings : AllWell;
}

} // namespace

int main(int argc, char **argv)
{
    CLI::App app{"Finds out why a language-model system gave a wrong answer without crashing.", "prosector-cli"};
    app.require_subcommand(1);
    std::vector<std::string> paths;
    auto *const examineCommand = app.add_subcommand("examine", "Run the instruments and report what they found");
    examineCommand->add_option("PATH", paths, "Model folders, traces, files, archives")->required();
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError &error) {
        return app.exit(error) == 0 ? AllWell : UsageError;
    }
    return runExamine(paths);
}
