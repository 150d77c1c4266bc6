// SPDX-License-Identifier: GPL-3.0-or-later
// What the commands of prosector-cli share. Each command is a file of this folder with one `add…` function.
#pragma once

#include "models/core/job.h"
#include "models/facts/facts.h"
#include "models/runs/run.h"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace CLI {
class App;
}

namespace prosector::cli {

/// Scripts depend on these (README.md).
enum ExitStatus { AllWell = 0, Findings = 1, UsageError = 2, InputError = 3, Interrupted = 130 };

/// Options that stand before or after any command, and what the command ends with.
struct Context {
    std::string factsFolder; ///< empty: the tables that came with the program
    int status = AllWell;
};

void addExamine(CLI::App &app, Context &context);
void addArtifacts(CLI::App &app, Context &context);
void addInstrument(CLI::App &app, Context &context);
void addRender(CLI::App &app, Context &context);
void addTokenize(CLI::App &app, Context &context);
void addDecode(CLI::App &app, Context &context);

/// A job that Ctrl+C stops and that shows its progress on stderr, where that is a terminal. One per process.
Job startJob();
/// Takes the progress line away, so that other text can follow.
void endProgress();

/// One line on stderr. Returns the status to end with: `Interrupted` for a cancelled job, else `status`.
int fail(int status, const Error &error);

/// Whether a report may go to `path`: not over an input or into one, whatever links lead there, not over
/// what may only be read. Asked before the inputs are opened, and with the run for files that are
/// inputs under another name. Error Usage or Unreadable.
Result<void> checkOutput(const std::string &path, std::span<const std::string> inputs);
Result<void> checkOutput(const std::string &path, const Run &run);

/// Text to a file, complete or not at all (written beside it, then renamed; a link stays a link), or to
/// stdout when `path` is empty or "-".
Result<void> writeOutput(const std::string &path, std::string_view text);

Result<FactsPtr> loadFacts(const Context &context);

/// Whether one of the inputs gave nothing at all: not opened, or nothing in it could be decoded.
bool hasUnreadableInput(const Run &run);

/// A line on stderr for each input that gave nothing, where the run was opened for the sake of others.
void sayUnopenedInputs(const Run &run);

} // namespace prosector::cli
