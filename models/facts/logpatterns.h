// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/core/document.h"

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace prosector {

/// What one pattern of the table says.
struct LogPattern {
    std::string id, engine;
    std::vector<std::string> alsoIn; ///< engines that print the same line
    std::string logClass;            ///< "context_length", "chat_template"
    std::string severity;            ///< "info", "watch", "warn", "serious"
    std::string whoSetIt;            ///< "effective", "checkpoint", "flag", "request", "engine_default", "engine_override", "hardware"
    std::vector<std::string> settings;
    std::string regex;
    std::vector<std::string> literals; ///< every match contains one of them; empty: unknown
    std::vector<std::string> examples;
    std::vector<std::pair<std::string, std::string>> captured; ///< what the first example gives
    std::string first, last; ///< versions whose source holds the text
    std::string note, source;
    bool verified = false;

    std::string citation() const { return verified ? source : source + " (recalled)"; }
};

/// A named group that took part in a match.
struct Capture {
    std::string name, text;
    std::size_t begin = 0, end = 0; ///< bytes of the subject
};

/// What stands before the message of a log line.
struct LinePrefix {
    std::string engine; ///< whose form it has; empty when none
    std::string level;  ///< "debug", "info", "warning", "error", or empty
    std::string time;   ///< as written, empty when none
    std::size_t message = 0; ///< where the message begins in the (colour-free) line
};

/// Table `resources/facts/log-lines.json`. Safe to use from any thread. A pattern is compiled once,
/// when a line first holds one of its literals, with PCRE2 and JIT; a match that exceeds its limits counts as
/// none. Subjects are bytes: a line need not be UTF-8.
class LogPatterns {
public:
    LogPatterns();
    ~LogPatterns();
    LogPatterns(LogPatterns &&) noexcept;
    LogPatterns &operator=(LogPatterns &&) noexcept;

    /// Rows without a regex are left out. A regex that does not compile never matches; see `compileAll`.
    /// `name`: of the table; log-rules.json has rows of the same form.
    static Result<LogPatterns> parse(DocumentPtr table, std::string_view name = "log-lines");

    std::span<const LogPattern> patterns() const;
    const LogPattern *byId(std::string_view id) const;

    /// Indices of the patterns one of whose literals stands in the line; sorted. `out` is cleared.
    /// The line has no colour codes (see `withoutColour`).
    void candidates(std::string_view line, std::vector<std::uint32_t> &out) const;
    /// Named groups of the first match, in order of the groups; nothing when it does not match.
    std::optional<std::vector<Capture>> match(std::size_t pattern, std::string_view line) const;
    /// Whether it matches, without the cost of the captures.
    bool matches(std::size_t pattern, std::string_view line) const;

    /// Which engine's form the line has.
    LinePrefix prefix(std::string_view line) const;

    /// Compiles every regex: the first that does not is the Error. For tests and for a user's own table.
    Result<void> compileAll() const;

private:
    struct State;
    std::unique_ptr<State> m_state;
};

/// The line without ANSI colour codes; a view of the line itself when it has none, else of `buffer`.
std::string_view withoutColour(std::string_view line, std::string &buffer);

} // namespace prosector
