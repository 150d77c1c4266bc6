// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/cli.h"

#include "models/core/plaintext.h"
#include "models/core/version.h"

#include <CLI/CLI.hpp>
#include <cstdio>

using namespace prosector;
using namespace prosector::cli;

int main(int argc, char **argv)
{
    CLI::App app{"Finds out why a language-model system gave a wrong answer without crashing.", "prosector-cli"};
    Context context;
    app.require_subcommand(1);
    app.fallthrough();
    app.set_version_flag("--version", "prosector " + std::string(version()));
    app.add_option("--facts", context.factsFolder, "Folder with tables of known engines and models to use instead of the bundled ones")
        ->type_name("DIR");
    app.footer("Exit status: 0 nothing at or above --fail-on, 1 findings, 2 usage, 3 an input could not be read at all.");
    addExamine(app, context);
    addArtifacts(app, context);
    addInstrument(app, context);
    try {
        app.parse(argc, argv);
    } catch (const CLI::Success &success) { // --help, --version
        return app.exit(success);
    } catch (const CLI::ParseError &error) {
        std::fprintf(stderr, "prosector-cli: %s (try --help)\n", neutralised(error.what()).c_str());
        return UsageError;
    }
    return context.status;
}
