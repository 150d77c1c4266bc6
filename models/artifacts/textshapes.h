// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/artifacts/artifact.h"
#include "models/core/job.h"

#include <span>
#include <string_view>
#include <vector>

namespace prosector {

/// The beginning of a text, cut into lines once for all rows that look at it.
struct TextHead {
    std::string_view name;               ///< file name without folders
    std::string_view text;               ///< the first bytes
    std::vector<std::string_view> lines; ///< the first whole lines, at most 200, without line ends and ANSI colours
    std::vector<std::string> owned;      ///< behind `lines`
    std::size_t filled = 0;              ///< lines that are not blank
};

/// What a text is. As for JSON (shapes.h) this is a table: a new kind of text is a row.
struct TextShape {
    std::string_view format; ///< the artifact's `format`
    Kind kind = Kind::Text;
    std::string_view names;                ///< patterns parted by spaces, `*` for any run of characters
    int (*points)(const TextHead &) = nullptr; ///< 0: not by content; 10: surely; a fitting name adds 4
    bool nameDecides = false;              ///< the name alone is enough
};
std::span<const TextShape> textShapes();

/// The best row, or null for text that is nothing in particular.
const TextShape *classifyText(std::string_view name, std::string_view head);

/// Whether bytes are text at all: no NUL, few control characters. UTF-16 with a byte order mark counts.
bool looksLikeText(std::string_view head);

/// Opens text, of more than TextContent::limit bytes the beginning and the end (what lies between is a
/// problem), and says what it is.
/// ANSI colours stay in the text. UTF-16 is converted (a remark says so; byte offsets then count the
/// converted text). Invalid UTF-8 is kept as it stands.
Result<Reading> openText(SourcePtr source, const Job &job);

} // namespace prosector
