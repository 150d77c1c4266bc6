// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/core/resources.h"

#include <cstdlib>
#include <filesystem>

namespace prosector {

std::string resourceFolder()
{
    if (const char *const chosen = std::getenv("PROSECTOR_RESOURCES"); chosen && *chosen)
        return chosen;
    std::error_code error;
    const auto program = std::filesystem::read_symlink("/proc/self/exe", error);
    const auto installed = program.parent_path().parent_path() / "share/prosector";
    if (!error && std::filesystem::is_directory(installed / "facts", error))
        return installed.string();
    return PROSECTOR_SOURCE_RESOURCES;
}

} // namespace prosector
