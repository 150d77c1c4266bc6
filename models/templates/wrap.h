// SPDX-License-Identifier: GPL-3.0-or-later
// Python's textwrap, and its idea of words.
#pragma once

#include "models/templates/pystring.h"

namespace prosector::jinja {

struct WrapOptions {
    std::int64_t width = 79;
    bool breakLongWords = true, breakOnHyphens = true;
};

/// textwrap.wrap(line, expand_tabs=False, replace_whitespace=False): the parts of each line to be.
std::vector<Range> wrapped(std::string_view line, const WrapOptions &options);

std::int64_t countWords(std::string_view text); ///< runs of \w

} // namespace prosector::jinja
