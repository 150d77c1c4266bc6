// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/core/finding.h"
#include "models/facts/logpatterns.h"

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace prosector {

/// How a line is judged when it stands in a log, and what would clear it.
struct LogRule {
    std::string id, title, logClass;
    Severity severity = Severity::Info;
    std::vector<std::string> patterns; ///< ids of the log-lines table
    bool hasRegex = false;             ///< the wording in general, for engines and versions the table has not
    std::vector<std::string> clears;   ///< conditions, see F3
    std::string falseIf;
    std::vector<std::string> next;
};

/// Table `resources/facts/log-rules.json`: our judgement, as data. Safe to read from any thread.
class LogRules {
public:
    static Result<LogRules> parse(DocumentPtr table);

    std::span<const LogRule> rules() const { return m_rules; }
    /// The rule that names the pattern, or null.
    const LogRule *ofPattern(std::string_view patternId) const;
    /// Rules whose own regex matches the (colour-free) line.
    void matching(std::string_view line, std::vector<const LogRule *> &out) const;
    Result<void> compileAll() const { return m_regexes.compileAll(); }

private:
    std::vector<LogRule> m_rules;
    std::vector<std::size_t> m_ruleOfRegex;
    LogPatterns m_regexes;
};

} // namespace prosector
