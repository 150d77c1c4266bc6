// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/cli.h"

#include "models/core/plaintext.h"
#include "models/core/utf8.h"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <system_error>
#include <thread>

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
    try {
        std::thread([signals] {
            int signal = 0;
            sigwait(&signals, &signal);
            source.request_stop();
            sigwait(&signals, &signal);
            std::_Exit(Interrupted); // asked twice
        }).detach();
    } catch (const std::system_error &) { // no room for a thread: the signals end the program as ever
        pthread_sigmask(SIG_UNBLOCK, &signals, nullptr);
    }
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

Result<FactsPtr> loadFacts(const Context &context)
{
    return context.factsFolder.empty() ? Facts::load() : Facts::load(context.factsFolder);
}

bool hasUnreadableInput(const Run &run)
{
    for (std::uint32_t i = 0; i < run.inputs().size(); ++i) {
        if (!run.readAnythingOf(i))
            return true;
    }
    return false;
}

void sayUnopenedInputs(const Run &run)
{
    for (const Unreadable &unreadable : run.unreadable()) {
        if (unreadable.path == run.inputs()[unreadable.input].path && !run.readAnythingOf(unreadable.input))
            fail(InputError, {unreadable.error.code, unreadable.path + ": " + unreadable.error.message, unreadable.error.where,
                              unreadable.error.expected, unreadable.error.found});
    }
}

} // namespace prosector::cli
