// SPDX-License-Identifier: GPL-3.0-or-later
// Opening: walk the inputs, let the readers sniff, group what belongs to a model.
#include "models/artifacts/reader.h"
#include "models/core/sha256.h"
#include "models/runs/run.h"

#include <algorithm>
#include <filesystem>

namespace prosector {

namespace fs = std::filesystem;

class RunBuilder {
public:
    explicit RunBuilder(const Job &job) : m_job(job), m_run(std::make_shared<Run>()) {}

    Result<void> addInput(const std::string &path)
    {
        std::error_code error;
        const auto status = fs::status(path, error);
        if (error || !fs::exists(status))
            return Error{Errc::NotFound, path + ": no such file or folder"};
        m_input = static_cast<std::uint32_t>(m_run->m_inputs.size());
        const bool folder = fs::is_directory(status);
        m_run->m_inputs.push_back({path, folder ? "model_folder" : "file", {}});
        if (!folder) {
            auto source = openFile(path, fs::path(path).filename().string());
            if (!source)
                return source.error();
            return addFile(*source, fs::path(path).filename().string());
        }
        std::vector<fs::path> files;
        for (const auto &entry : fs::recursive_directory_iterator(path, error)) {
            if (entry.is_regular_file(error))
                files.push_back(entry.path());
        }
        std::sort(files.begin(), files.end());
        for (const auto &file : files) {
            const auto relative = fs::relative(file, path).generic_string();
            auto source = openFile(file.string(), relative);
            if (!source) {
                m_run->m_unreadable.push_back({relative, source.error()});
                continue;
            }
            if (auto done = addFile(*source, relative); !done)
                return done;
        }
        return {};
    }

    RunPtr finish()
    {
        m_run->m_name = m_run->m_inputs.empty() ? "" : fs::path(m_run->m_inputs[0].path).filename().string();
        return m_run;
    }

private:
    Result<void> addFile(SourcePtr source, const std::string &path)
    {
        if (m_job.cancelled())
            return Job::cancelledError();
        Artifact artifact;
        artifact.id = {static_cast<std::uint32_t>(m_run->m_artifacts.size())};
        artifact.name = artifact.path = path;
        artifact.size = source->size();
        artifact.source = source;
        artifact.input = m_input;
        const auto head = source->readUpTo(0, headBytes);
        if (!head) {
            m_run->m_unreadable.push_back({path, head.error()});
        } else if (const Reader *reader = sniff({fs::path(path).filename().string(), *head, source->size()})) {
            artifact.format = reader->id;
            auto reading = reader->open(source, m_job);
            if (reading) {
                artifact.kind = reading->kind;
                artifact.summary = std::move(reading->summary);
                artifact.content = std::move(reading->content);
                artifact.problems = std::move(reading->problems);
                for (const Error &problem : artifact.problems)
                    m_run->m_unreadable.push_back({path, problem});
            } else if (reading.error().code == Errc::Cancelled) {
                return reading.error();
            } else {
                m_run->m_unreadable.push_back({path, reading.error()});
            }
        }
        m_run->m_artifacts.push_back(std::move(artifact));
        return {};
    }

    const Job &m_job;
    std::shared_ptr<Run> m_run;
    std::uint32_t m_input = 0;
};

Result<RunPtr> Run::open(std::span<const std::string> paths, const Job &job)
{
    RunBuilder builder(job);
    for (const std::string &path : paths) {
        if (auto done = builder.addInput(path); !done)
            return done.error();
    }
    return builder.finish();
}

} // namespace prosector
