// SPDX-License-Identifier: GPL-3.0-or-later
// Internal to models/runs: the steps of Run::open.
#pragma once

#include "models/runs/run.h"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace prosector {

/// A file found, not yet opened.
struct FoundFile {
    std::string path;   ///< relative to the input, '/'-separated
    std::string onDisk; ///< to be opened, or empty when `source` is set
    SourcePtr source;
};

/// What lies below a folder, in order of path, and what could not be walked.
struct Walk {
    std::vector<FoundFile> files;
    std::vector<Unreadable> unreadable;
};

inline constexpr std::size_t maxFiles = 200'000; ///< of one input
inline constexpr int maxFolderDepth = 64;

/// Walks a folder. `prefix` is put before the paths.
Result<Walk> walkFolder(const std::string &folder, const std::string &prefix, const Job &job);

/// Groups the artifacts of each directory of one input into model folders.
std::vector<ModelFolder> groupModels(std::span<const Artifact> artifacts);

class RunBuilder {
public:
    explicit RunBuilder(const Job &job);
    /// Fails only when cancelled.
    Result<void> addInput(const std::string &path);
    /// Fails when no input could be opened, with the first one's reason.
    Result<RunPtr> finish();

private:
    /// A file after opening: its artifact, what could not be read, its line for the input's hash.
    struct Opened {
        std::optional<Artifact> artifact;
        std::vector<Unreadable> unreadable;
        std::string hashLine;
    };

    class Manifest;

    Result<std::vector<Opened>> openAll(const std::vector<FoundFile> &files, bool hash);
    Result<Opened> openOne(const FoundFile &file, bool hash) const;
    /// Appends the artifacts of these files; adds their lines to `hashLines` if given.
    Result<void> addFiles(const std::vector<FoundFile> &files, std::vector<std::string> *hashLines);
    Result<void> addFolder(const std::string &path);
    Result<void> addFile(const std::string &path);
    Result<void> addArchive(SourcePtr source);
    /// Files of a folder or archive; `folder` is where they lie on disk, empty for an archive.
    Result<void> addSet(Walk walk, const std::string &folder);
    /// Moves them to the run as those of the current input.
    void keepUnreadable(std::vector<Unreadable> &found);
    std::string uniqueName(const std::string &path);
    /// trace.json: names, kinds and links the artifacts of this input from `first` on.
    Result<void> applyManifests(std::size_t first, const std::string &folder, std::vector<std::string> *hashLines);
    Result<void> openDeclaredModel(std::size_t manifest, std::size_t first, const std::string &folder,
                                   std::vector<std::string> *hashLines);
    std::string kindOfFolder(std::size_t first) const;

    const Job &m_job;
    std::shared_ptr<Run> m_run;
    std::uint32_t m_input = 0;
    std::size_t m_inputsOpened = 0;
    std::set<std::pair<std::uint64_t, std::uint64_t>> m_opened; ///< device and inode of each input
    std::map<std::string, int, std::less<>> m_names;
};

} // namespace prosector
