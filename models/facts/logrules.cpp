// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/facts/logrules.h"

#include "models/facts/table.h"

#include <algorithm>

namespace prosector {

Result<LogRules> LogRules::parse(DocumentPtr table)
{
    auto regexes = LogPatterns::parse(table, "log-rules");
    if (!regexes)
        return regexes.error();
    LogRules result;
    result.m_regexes = std::move(*regexes);
    for (const Value entry : table->root()["patterns"]) {
        const auto severity = severityFromString(entry["severity"].string(""));
        if (!severity)
            return Error{Errc::Malformed, "log rule without a severity", entry.anchor()};
        LogRule rule{entry["id"].string(""), entry["title"].string(""), entry["class"].string(""), *severity,
                     stringsOf(entry["patterns"]), entry["regex"].isString(), stringsOf(entry["clears"]),
                     entry["false_if"].string(""), stringsOf(entry["next"])};
        if (rule.title.empty() || rule.falseIf.empty())
            return Error{Errc::Malformed, "log rule without title or false_if", entry.anchor()};
        if (rule.hasRegex)
            result.m_ruleOfRegex.push_back(result.m_rules.size());
        result.m_rules.push_back(std::move(rule));
    }
    return result;
}

const LogRule *LogRules::ofPattern(std::string_view patternId) const
{
    const auto it = std::find_if(m_rules.begin(), m_rules.end(), [&](const LogRule &rule) {
        return std::find(rule.patterns.begin(), rule.patterns.end(), patternId) != rule.patterns.end();
    });
    return it == m_rules.end() ? nullptr : &*it;
}

void LogRules::matching(std::string_view line, std::vector<const LogRule *> &out) const
{
    out.clear();
    thread_local std::vector<std::uint32_t> candidates;
    m_regexes.candidates(line, candidates);
    for (const std::uint32_t index : candidates) {
        if (m_regexes.matches(index, line))
            out.push_back(&m_rules[m_ruleOfRegex[index]]);
    }
}

} // namespace prosector
