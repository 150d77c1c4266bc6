// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/core/result.h"

#include <functional>
#include <stop_token>
#include <string_view>

namespace prosector {

/// What a long computation is given: a way to be stopped and a way to say how far it is.
/// Copyable; may be used from any thread. The progress function must be thread-safe and is
/// expected to throttle itself.
class Job {
public:
    using Progress = std::function<void(double fraction, std::string_view what)>;

    Job() = default;
    explicit Job(std::stop_token stop, Progress progress = {})
        : m_stop(std::move(stop)), m_progress(std::move(progress))
    {
    }

    bool cancelled() const { return m_stop.stop_requested(); }

    /// `fraction` in 0..1, or negative when the length is unknown.
    void progress(double fraction, std::string_view what = {}) const
    {
        if (m_progress)
            m_progress(fraction, what);
    }

    const std::stop_token &stopToken() const { return m_stop; }

    /// The one error that says "the user stopped this".
    static Error cancelledError() { return {Errc::Cancelled, "cancelled"}; }

private:
    std::stop_token m_stop;
    Progress m_progress;
};

} // namespace prosector
