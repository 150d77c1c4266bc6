// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QTemporaryDir>

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

namespace prosector::test {

/// A folder that lasts as long as the object, filled by the test.
class TempFolder {
public:
    /// `name` may hold folders; they are made.
    TempFolder &file(std::string_view name, std::string_view bytes)
    {
        const std::filesystem::path at = std::filesystem::path(path()) / name;
        std::filesystem::create_directories(at.parent_path());
        std::ofstream(at, std::ios::binary) << bytes;
        return *this;
    }
    void remove(std::string_view name) const { std::filesystem::remove(path(name)); }
    std::string path() const { return m_folder.path().toStdString(); }
    std::string path(std::string_view name) const { return path() + '/' + std::string(name); }

private:
    QTemporaryDir m_folder;
};

} // namespace prosector::test
