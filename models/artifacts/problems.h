// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/core/result.h"

#include <string>
#include <vector>

namespace prosector {

/// What was wrong with one file, of which a hostile one can have millions: the first `limit` are
/// kept, the rest is counted and said in one line.
class Problems {
public:
    static constexpr std::size_t limit = 100;

    void add(Error problem)
    {
        if (m_kept.size() < limit)
            m_kept.push_back(std::move(problem));
        else
            ++m_more;
    }
    bool empty() const { return m_kept.empty(); }

    std::vector<Error> take()
    {
        if (m_more > 0)
            m_kept.push_back({Errc::TooLarge, "and " + std::to_string(m_more) + " more problems, not listed"});
        return std::move(m_kept);
    }

private:
    std::vector<Error> m_kept;
    std::uint64_t m_more = 0;
};

} // namespace prosector
