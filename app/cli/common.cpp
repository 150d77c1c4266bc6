// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/cli.h"

#include "models/core/plaintext.h"
#include "models/core/utf8.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <thread>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace prosector::cli {

namespace {

std::mutex progressMutex;
bool progressShown = false; // under progressMutex

void showProgress(double fraction, std::string_view what)
{
    using Clock = std::chrono::steady_clock;
    static const Clock::time_point begin = Clock::now();
    static Clock::time_point last = begin;
    const std::scoped_lock lock(progressMutex);
    const auto now = Clock::now();
    // Quick work shows nothing; slow work ten times a second.
    if (now - begin < std::chrono::milliseconds(200) || now - last < std::chrono::milliseconds(100))
        return;
    last = now;
    progressShown = true;
    std::string text = neutralised(what);
    while (displayWidth(text) > 60)
        text = toValidUtf8(text.substr(0, text.size() - 4));
    if (fraction >= 0)
        std::fprintf(stderr, "\r\x1b[K%3.0f %%  %s", std::min(fraction, 1.0) * 100, text.c_str());
    else
        std::fprintf(stderr, "\r\x1b[K%s", text.c_str());
}

Error writeError(const std::string &path)
{
    return {Errc::Unreadable, path + ": cannot be written: " + std::strerror(errno)};
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

/// New files get what the umask leaves of rw-rw-rw-; an old file keeps its permissions.
mode_t modeFor(const std::string &path)
{
    struct stat status {};
    if (::stat(path.c_str(), &status) == 0)
        return status.st_mode & 07777;
    const mode_t mask = ::umask(0);
    ::umask(mask);
    return 0666 & ~mask;
}

/// Whether its reader kept nothing of it.
bool holdsNothing(const Artifact &artifact)
{
    if (const auto *const tree = artifact.as<TreeContent>())
        return !tree->root();
    if (const auto *const lines = artifact.as<LinesContent>())
        return lines->lines.empty();
    if (const auto *const gguf = artifact.as<GgufContent>())
        return gguf->entries.empty() && gguf->tensors.empty();
    if (const auto *const tensors = artifact.as<TensorContent>())
        return tensors->tensors.empty() && tensors->metadata.empty();
    return !artifact.content;
}

} // namespace

Job startJob()
{
    // One thread waits for the signals, which all others block: a handler may not stop a job safely.
    static std::stop_source source;
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &signals, nullptr);
    std::thread([signals] {
        int signal = 0;
        sigwait(&signals, &signal);
        source.request_stop();
        sigwait(&signals, &signal);
        std::_Exit(Interrupted); // asked twice
    }).detach();
    return Job(source.get_token(), ::isatty(STDERR_FILENO) ? Job::Progress(showProgress) : Job::Progress());
}

void endProgress()
{
    const std::scoped_lock lock(progressMutex);
    if (progressShown)
        std::fputs("\r\x1b[K", stderr);
    progressShown = false;
}

int fail(int status, const Error &error)
{
    endProgress();
    std::fprintf(stderr, "prosector-cli: %s\n", neutralised(describe(error)).c_str());
    return error.code == Errc::Cancelled ? static_cast<int>(Interrupted) : status;
}

Result<void> writeOutput(const std::string &path, std::string_view text)
{
    endProgress();
    if (path.empty())
        return writeAll(STDOUT_FILENO, text, "standard output");
    struct stat status {};
    if (::stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode)) {
        // A device or pipe cannot be replaced by renaming.
        const int file = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
        if (file < 0)
            return writeError(path);
        auto done = writeAll(file, text, path);
        ::close(file);
        return done;
    }
    std::string temporary = path + ".XXXXXX";
    const int file = ::mkostemp(temporary.data(), O_CLOEXEC);
    if (file < 0)
        return writeError(path);
    auto done = writeAll(file, text, path);
    if (done && (::fchmod(file, modeFor(path)) != 0 || ::fsync(file) != 0))
        done = writeError(path);
    if (::close(file) != 0 && done)
        done = writeError(path);
    if (done && ::rename(temporary.c_str(), path.c_str()) != 0)
        done = writeError(path);
    if (!done)
        ::unlink(temporary.c_str());
    return done;
}

Result<FactsPtr> loadFacts(const Context &context)
{
    return context.factsFolder.empty() ? Facts::load() : Facts::load(context.factsFolder);
}

bool hasUnreadableInput(const Run &run)
{
    // A file that is whole and unknown has no problem; one that cannot be opened has no artifact.
    for (std::uint32_t i = 0; i < run.inputs().size(); ++i) {
        const auto artifacts = run.artifacts();
        const auto it = std::find_if(artifacts.begin(), artifacts.end(), [i](const Artifact &a) { return a.input == i; });
        if (run.inputs()[i].kind != "file")
            continue;
        if (it == artifacts.end() || (holdsNothing(*it) && !it->problems.empty()))
            return true;
    }
    return false;
}

} // namespace prosector::cli
