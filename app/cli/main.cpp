// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/cli.h"

#include "models/core/plaintext.h"
#include "models/core/version.h"

#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdio>
#include <exception>
#include <new>
#include <optional>

using namespace prosector;
using namespace prosector::cli;

namespace {

int usage(const std::string &message)
{
    std::fprintf(stderr, "prosector-cli: %s (try --help)\n", neutralised(message).c_str());
    return UsageError;
}

/// "examine, artifacts, …"
std::string commandList(const CLI::App &app)
{
    std::string list;
    for (const CLI::App *const command : app.get_subcommands({}))
        list += (list.empty() ? "" : ", ") + command->get_name();
    return list;
}

bool isCommand(const CLI::App &app, const std::string &name)
{
    const auto commands = app.get_subcommands([&name](const CLI::App *command) { return command->get_name() == name; });
    return !commands.empty();
}

/// What stands where a command should, if it is none; the parser would only say that one is missing.
std::optional<std::string> strayWord(const CLI::App &app, int argc, char **argv)
{
    for (int i = 1; i < argc; ++i) {
        const std::string word = argv[i];
        if (word == "--facts") {
            ++i;
            continue;
        }
        if (word.starts_with("--facts=") || word == "--help" || word == "-h" || word == "--version")
            continue;
        return isCommand(app, word) ? std::nullopt : std::optional(word);
    }
    return std::nullopt;
}

int parse(CLI::App &app, int argc, char **argv)
{
    if (const auto word = strayWord(app, argc, argv)) {
        if (word->size() > 1 && word->starts_with('-'))
            return usage(*word + ": no such option before a command");
        return usage('"' + *word + "\": no such command; there are " + commandList(app));
    }
    try {
        app.parse(argc, argv);
    } catch (const CLI::Success &success) { // --help, --version
        return app.exit(success);
    } catch (const CLI::ParseError &error) {
        return usage(error.what());
    }
    return AllWell;
}

} // namespace

int main(int argc, char **argv)
{
    std::signal(SIGXFSZ, SIG_IGN); // the write then says that the file would be too large
    CLI::App app{"Finds out why a language-model system gave a wrong answer without crashing.", "prosector-cli"};
    Context context;
    app.require_subcommand(1);
    app.fallthrough();
    app.set_version_flag("--version", "prosector " + std::string(version()));
    app.add_option("--facts", context.factsFolder, "Folder with tables of known engines and models to use instead of the bundled ones")
        ->type_name("DIR");
    app.footer("Exit status: 0 nothing at or above --fail-on, 1 findings, 2 usage, 3 an input could not be read at all, "
               "130 interrupted.");
    addExamine(app, context);
    addArtifacts(app, context);
    addInstrument(app, context);
    addRender(app, context);
    addTokenize(app, context);
    addDecode(app, context);
    auto *const help = app.add_subcommand("help", "What the program or one of its commands does");
    std::string command;
    help->add_option("COMMAND", command, "The command to explain");
    help->callback([&app, &command, &context] {
        if (!command.empty() && !isCommand(app, command)) {
            context.status = usage('"' + command + "\": no such command; there are " + commandList(app));
            return;
        }
        std::fputs((command.empty() ? app.help() : app.get_subcommand(command)->help(app.get_name())).c_str(), stdout);
    });
    try {
        const int parsed = parse(app, argc, argv);
        return parsed != AllWell ? parsed : context.status;
    } catch (const std::bad_alloc &) {
        return fail(InputError, {Errc::TooLarge, "not enough memory"});
    } catch (const std::exception &exception) {
        return fail(InputError, {Errc::Internal, exception.what()});
    }
}
