// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

#include <QTest>

namespace prosector {

/// The folder of shared real files and reports: the environment's PROSECTOR_CORPUS, else a folder
/// `shared` beside this source tree or beside one of its parents. Empty when there is none.
inline std::string sharedFolder()
{
    namespace fs = std::filesystem;
    if (const char *const chosen = std::getenv("PROSECTOR_CORPUS"))
        return chosen;
    for (fs::path at = fs::path(PROSECTOR_TEST_SOURCE_DIR).parent_path(); at != at.parent_path(); at = at.parent_path()) {
        if (fs::is_directory(at.parent_path() / "shared/corpus"))
            return (at.parent_path() / "shared").string();
    }
    return {};
}

} // namespace prosector

/// In a test function: names the shared folder or skips with a plain line.
#define REQUIRE_SHARED(variable)                                                                                       \
    const std::string variable = prosector::sharedFolder();                                                            \
    if (variable.empty())                                                                                              \
    QSKIP("the shared corpus is not here: set PROSECTOR_CORPUS to test against it")
