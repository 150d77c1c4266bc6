// SPDX-License-Identifier: GPL-3.0-or-later
// Where a report goes: never over what it reports on, complete or not at all.
#include "app/cli/cli.h"

#include <cerrno>
#include <cstring>
#include <filesystem>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace prosector::cli {

namespace {

namespace fs = std::filesystem;

constexpr int maxLinks = 40; ///< as the kernel follows

Error writeError(const std::string &path, int error = errno)
{
    return {Errc::Unreadable, path + ": cannot be written: " + std::strerror(error)};
}

Error refusal(const std::string &path, const std::string &why)
{
    return {Errc::Usage, "--output " + path + ": " + why};
}

bool isStandardOutput(const std::string &path)
{
    return path.empty() || path == "-";
}

Result<void> writeAll(int file, std::string_view text, const std::string &path)
{
    while (!text.empty()) {
        const ssize_t written = ::write(file, text.data(), text.size());
        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0)
            return writeError(path);
        text.remove_prefix(static_cast<std::size_t>(written));
    }
    return {};
}

/// The file that a path means: links followed, also those to a file that does not exist yet.
Result<fs::path> targetOf(const std::string &path)
{
    fs::path target = path;
    std::error_code error;
    for (int links = 0; fs::is_symlink(target, error); ++links) {
        if (links == maxLinks)
            return writeError(path, ELOOP);
        const auto next = fs::read_symlink(target, error);
        if (error)
            return writeError(path, error.value());
        target = next.is_absolute() ? next : target.parent_path() / next;
    }
    const auto folder = fs::canonical(target.has_parent_path() ? target.parent_path() : fs::path("."), error);
    if (error)
        return writeError(path, error.value());
    return folder / target.filename();
}

/// `path` is `folder` or lies below it; both canonical.
bool isInside(const fs::path &path, const fs::path &folder)
{
    return std::mismatch(folder.begin(), folder.end(), path.begin(), path.end()).first == folder.end();
}

bool isSameFile(const struct stat &file, const std::string &path)
{
    struct stat other {};
    return ::stat(path.c_str(), &other) == 0 && other.st_dev == file.st_dev && other.st_ino == file.st_ino;
}

/// The new file takes over who may read the old one; one that is new what the umask leaves of rw-rw-rw-.
bool takeOverPermissions(int file, const fs::path &old)
{
    struct stat status {};
    if (::stat(old.c_str(), &status) == 0) {
        // Only root may give files away; where that fails the file is the writer's.
        [[maybe_unused]] const int given = ::fchown(file, status.st_uid, status.st_gid);
        return ::fchmod(file, status.st_mode & 07777) == 0;
    }
    const mode_t mask = ::umask(0);
    ::umask(mask);
    return ::fchmod(file, 0666 & ~mask) == 0;
}

} // namespace

Result<void> checkOutput(const std::string &path, std::span<const std::string> inputs)
{
    if (isStandardOutput(path))
        return {};
    const auto target = targetOf(path);
    if (!target)
        return target.error();
    for (const std::string &input : inputs) {
        std::error_code error;
        const auto opened = fs::canonical(input, error);
        if (error)
            continue; // said when it is opened
        if (*target == opened)
            return refusal(path, "is the input itself, which is never written to");
        if (isInside(*target, opened))
            return refusal(path, "lies in the opened folder " + input + ", which is never written to");
    }
    struct stat status {};
    if (::stat(target->c_str(), &status) != 0)
        return {};
    if (S_ISDIR(status.st_mode))
        return refusal(path, "is a folder");
    for (const std::string &input : inputs) {
        if (isSameFile(status, input))
            return refusal(path, "is the input " + input + " under another name, which is never written to");
    }
    if (S_ISREG(status.st_mode) && (status.st_mode & 0222) == 0) // root, too, protects files from itself
        return refusal(path, "is read-only");
    if (::access(target->c_str(), W_OK) != 0)
        return writeError(path);
    return {};
}

Result<void> checkOutput(const std::string &path, const Run &run)
{
    struct stat status {};
    if (isStandardOutput(path) || ::stat(path.c_str(), &status) != 0)
        return {};
    for (const Artifact &artifact : run.artifacts()) {
        const Input &input = run.inputs()[artifact.input];
        const bool folder = input.kind != "file" && input.kind != "archive";
        const std::string file = folder ? input.path + '/' + artifact.path : input.path;
        if (isSameFile(status, file))
            return refusal(path, "is " + file + " under another name, which is never written to");
    }
    return {};
}

Result<void> writeOutput(const std::string &path, std::string_view text)
{
    endProgress();
    if (isStandardOutput(path))
        return writeAll(STDOUT_FILENO, text, "standard output");
    const auto target = targetOf(path);
    if (!target)
        return target.error();
    struct stat status {};
    if (::stat(target->c_str(), &status) == 0 && !S_ISREG(status.st_mode)) {
        // A device or pipe cannot be replaced by renaming.
        const int file = ::open(target->c_str(), O_WRONLY | O_CLOEXEC);
        if (file < 0)
            return writeError(path);
        auto done = writeAll(file, text, path);
        ::close(file);
        return done;
    }
    std::string temporary = target->string() + ".XXXXXX";
    const int file = ::mkostemp(temporary.data(), O_CLOEXEC);
    if (file < 0)
        return writeError(path);
    auto done = writeAll(file, text, path);
    if (done && (!takeOverPermissions(file, *target) || ::fsync(file) != 0))
        done = writeError(path);
    if (::close(file) != 0 && done)
        done = writeError(path);
    if (done && ::rename(temporary.c_str(), target->c_str()) != 0)
        done = writeError(path);
    if (!done)
        ::unlink(temporary.c_str());
    return done;
}

} // namespace prosector::cli
