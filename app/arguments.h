// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace prosector {

/// The desktop program's command line (DESIGN §6).
struct Arguments {
    std::vector<std::string> paths;
    std::string baseline;
    int caseNumber = 0; ///< 0: none
    std::string screenshot, panel;
    int width = 0, height = 0; ///< of the screenshot in device pixels; 0: as the window is
    std::string theme;         ///< "", "system", "light", "dark"
    double fontScale = 0;      ///< 0: as saved
};

/// Arguments, or the exit status when there is nothing more to do (help, version, usage error).
struct ParsedArguments {
    std::optional<Arguments> arguments;
    int exitStatus = 0;
};
ParsedArguments parseArguments(int argc, char **argv);

} // namespace prosector
