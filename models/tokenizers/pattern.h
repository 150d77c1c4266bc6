// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/core/result.h"
#include "models/tokenizers/alignedtext.h"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace prosector {

/// A regular expression as tokenizer files hold it: Oniguruma's Ruby syntax, run by PCRE2 with its
/// JIT. What differs between the two is rewritten: \s, \w, \d and \h by Unicode property, possessive
/// intervals, line anchors. Immutable; may be used by several threads.
class Pattern {
public:
    using Range = AlignedText::Range;

    /// Oniguruma: as tokenizer.json holds it. Rust: as fancy-regex reads it (tiktoken, tekken).
    enum class Dialect { Oniguruma, Rust };
    /// Malformed or Unsupported, naming the expression and the place in it.
    static Result<Pattern> compile(std::string_view expression, Dialect dialect = Dialect::Oniguruma);
    /// PCRE2's own syntax without Unicode: \s, \d, \w and \b know ASCII alone, as std::regex has them in the C
    /// locale. Subjects are bytes, or characters in UTF-8.
    enum class Unit { Byte, Character };
    static Result<Pattern> compilePlain(std::string_view expression, Unit unit);
    /// Matches exactly this text.
    static Pattern literal(std::string text);

    /// Non-overlapping matches from left to right. `text` must be UTF-8. TooLarge when the match
    /// limit is reached: the expression backtracks without end on this text.
    Result<void> findAll(std::string_view text, std::vector<Range> &matches) const;

    const std::string &source() const { return m_source; }

private:
    static Result<Pattern> build(std::string_view source, std::string_view translated, std::uint32_t flags);

    struct Compiled;
    std::string m_source;
    bool m_isLiteral = false;
    std::shared_ptr<const Compiled> m_compiled;
};

} // namespace prosector
