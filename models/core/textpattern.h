// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/core/anchor.h"
#include "models/core/job.h"

#include <functional>
#include <memory>
#include <string_view>

namespace prosector {

/// A regular expression as a user types it to search a long text: PCRE2's syntax with Unicode properties,
/// `^` and `$` at every line. The text may hold bytes that are not UTF-8; no match spans them.
class TextPattern {
public:
    /// Malformed, with the place in the expression.
    static Result<TextPattern> compile(std::string_view expression);

    /// Calls `found` for every match that is not empty, from left to right, until it returns false. Stops between
    /// stretches of the text when the job is cancelled. TooLarge when the expression backtracks without end.
    Result<void> findAll(std::string_view text, const Job &job, const std::function<bool(const ByteRange &)> &found) const;

private:
    struct Code;
    std::shared_ptr<const Code> m_code;
};

} // namespace prosector
