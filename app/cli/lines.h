// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/core/document.h"
#include "models/core/job.h"
#include "models/core/result.h"

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace prosector::cli {

/// The whole of a file. Errors are openFile's and readText's.
Result<std::string> fileText(const std::string &path);

/// Lines for standard output, written in blocks.
class LineOutput {
public:
    Result<void> line(std::string_view text);
    /// Writes what is left and gives the status to end with: `status`, or UsageError, said on stderr.
    int finish(int status);

private:
    Result<void> flush();

    std::string m_text;
};

/// Puts out what `answer` makes of each line of a JSON Lines file that is not blank. The document may have
/// a problem(); lines count from 1. Gives AllWell, or, said on stderr, why it ended early.
int eachJsonLine(const std::string &path, const Job &job,
                 const std::function<std::string(const Document &document, std::size_t line)> &answer);

} // namespace prosector::cli
