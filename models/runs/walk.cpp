// SPDX-License-Identifier: GPL-3.0-or-later
// Walking a folder without leaving it and without walking in circles.
#include "models/runs/runbuilder.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

namespace prosector {

namespace {

namespace fs = std::filesystem;

/// `path` is `folder` or lies below it; both canonical.
bool isInside(const fs::path &path, const fs::path &folder)
{
    const auto [inFolder, inPath] = std::mismatch(folder.begin(), folder.end(), path.begin(), path.end());
    return inFolder == folder.end();
}

/// A snapshot of the Hugging Face cache is a folder of links into `blobs` beside it:
/// `models--owner--name/snapshots/<revision>/config.json -> ../../blobs/<hash>`.
fs::path blobsOf(const fs::path &root)
{
    const auto snapshots = root.parent_path();
    return snapshots.filename() == "snapshots" ? snapshots.parent_path() / "blobs" : fs::path();
}

class Walker {
public:
    Walker(const fs::path &root, const Job &job) : m_root(root), m_blobs(blobsOf(root)), m_job(job) {}

    Result<void> folder(const fs::path &path, const std::string &prefix, int depth)
    {
        if (m_job.cancelled())
            return Job::cancelledError();
        std::error_code error;
        std::vector<fs::directory_entry> entries;
        for (fs::directory_iterator it(path, error), end; !error && it != end; it.increment(error))
            entries.push_back(*it);
        if (error) {
            const auto shown = prefix.empty() ? "." : prefix.substr(0, prefix.size() - 1);
            refuse(shown, Errc::Unreadable, "cannot list the folder", "", error.message());
            if (entries.empty())
                return {};
        }
        std::sort(entries.begin(), entries.end(), [](const auto &a, const auto &b) {
            return a.path().filename().native() < b.path().filename().native();
        });
        for (const auto &entry : entries) {
            const auto name = prefix + entry.path().filename().string();
            const auto status = entry.symlink_status(error);
            if (m_full)
                return {};
            if (fs::is_directory(status)) {
                if (entry.path().filename() == ".git") // bookkeeping, and with LFS a second copy of the weights
                    continue;
                if (depth >= maxFolderDepth) {
                    refuse(name, Errc::TooLarge, "folders nested too deeply",
                           "at most " + std::to_string(maxFolderDepth) + " levels", "one more");
                } else if (auto done = folder(entry.path(), name + '/', depth + 1); !done) {
                    return done;
                }
            } else if (fs::is_symlink(status)) {
                link(entry.path(), name);
            } else {
                file(entry.path(), name, status);
            }
        }
        return {};
    }

    Walk walk;

private:
    void refuse(std::string path, Errc code, std::string message, std::string expected, std::string found)
    {
        walk.unreadable.push_back({std::move(path), {code, std::move(message), Whole{}, std::move(expected), std::move(found)}});
    }

    void file(const fs::path &path, const std::string &name, fs::file_status status)
    {
        if (!fs::is_regular_file(status)) {
            refuse(name, Errc::Unsupported, "not opened", "a regular file", typeText(status));
        } else if (walk.files.size() == maxFiles) {
            m_full = true;
            refuse(name, Errc::TooLarge, "this and what follows is not opened",
                   "at most " + std::to_string(maxFiles) + " files", "more");
        } else {
            walk.files.push_back({name, path.string(), nullptr});
        }
    }

    /// A link to a file is opened under the link's name. A folder inside the input is walked under its
    /// own name, so a link to one adds nothing; one to a folder above it is a loop and said so.
    void link(const fs::path &path, const std::string &name)
    {
        std::error_code error;
        const auto target = fs::read_symlink(path, error).string();
        const auto real = fs::canonical(path, error);
        if (error == std::errc::too_many_symbolic_link_levels) {
            refuse(name, Errc::Unreadable, "symbolic links in a loop", "", "-> " + target);
        } else if (error == std::errc::no_such_file_or_directory) {
            refuse(name, Errc::NotFound, "symbolic link to nothing", "", "-> " + target);
        } else if (error) {
            refuse(name, Errc::Unreadable, "symbolic link cannot be followed", "", error.message());
        } else if (!isInside(real, m_root) && (m_blobs.empty() || !isInside(real, m_blobs))) {
            refuse(name, Errc::Unsupported, "symbolic link leads out of the opened folder",
                   "a target inside it", "-> " + target);
        } else if (!fs::is_directory(real, error)) {
            file(path, name, fs::status(path, error));
        } else if (isInside(fs::canonical(path.parent_path(), error), real)) {
            refuse(name, Errc::Unreadable, "symbolic link to a folder that holds it, a loop", "", "-> " + target);
        }
    }

    static std::string typeText(fs::file_status status)
    {
        switch (status.type()) {
        case fs::file_type::fifo:
            return "a pipe";
        case fs::file_type::socket:
            return "a socket";
        case fs::file_type::block:
        case fs::file_type::character:
            return "a device";
        default:
            return "something else";
        }
    }

    fs::path m_root, m_blobs;
    const Job &m_job;
    bool m_full = false;
};

} // namespace

Result<Walk> walkFolder(const std::string &folder, const std::string &prefix, const Job &job)
{
    std::error_code error;
    const auto root = fs::canonical(folder, error);
    if (error)
        return Error{Errc::Unreadable, folder + ": " + error.message()};
    Walker walker(root, job);
    if (auto done = walker.folder(root, prefix, 0); !done)
        return done.error();
    return std::move(walker.walk);
}

} // namespace prosector
