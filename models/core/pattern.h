// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/core/result.h"

#include <memory>
#include <string_view>

namespace prosector {

/// A regular expression from a file nobody vouches for (module patterns of quantisation and adapter
/// configurations, written for Python's re): matching ends at a limit and then counts as no match.
class NamePattern {
public:
    enum class Extent : std::uint8_t {
        Full,  ///< the whole subject, as re.fullmatch
        Start, ///< from its beginning, as re.match
    };
    static Result<NamePattern> compile(std::string_view text, Extent extent);
    /// From any thread.
    bool matches(std::string_view subject) const;

private:
    struct Code;
    std::shared_ptr<const Code> m_code;
};

} // namespace prosector
