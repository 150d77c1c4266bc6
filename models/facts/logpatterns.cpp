// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/facts/logpatterns.h"

#include "models/facts/literalscan.h"
#include "models/facts/table.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <algorithm>
#include <array>
#include <mutex>

namespace prosector {

namespace {

/// Limits of one match: far above what any line needs, far below what a hostile one could cost.
constexpr std::uint32_t matchLimit = 200'000;
constexpr std::uint32_t depthLimit = 1'000;

/// A regex compiled at its first use, by whichever thread comes first.
class LazyRegex {
public:
    explicit LazyRegex(std::string text) : m_text(std::move(text)) {}
    ~LazyRegex()
    {
        pcre2_code_free(m_code);
        pcre2_match_context_free(m_context);
    }
    LazyRegex(const LazyRegex &) = delete;
    LazyRegex &operator=(const LazyRegex &) = delete;

    struct Group {
        std::string name;
        std::uint32_t number;
    };

    /// Null when it does not compile.
    const pcre2_code *code() const
    {
        std::call_once(m_once, [this] { compile(); });
        return m_code;
    }
    const std::vector<Group> &groups() const { return m_groups; }
    const std::string &error() const { return m_error; }

    /// Number of the groups filled, or a negative value.
    int match(std::string_view subject, pcre2_match_data *data) const
    {
        if (!code())
            return -1;
        return pcre2_match(m_code, reinterpret_cast<PCRE2_SPTR>(subject.data()), subject.size(), 0, 0, data, m_context);
    }

private:
    void compile() const
    {
        int error = 0;
        PCRE2_SIZE where = 0;
        m_code = pcre2_compile(reinterpret_cast<PCRE2_SPTR>(m_text.data()), m_text.size(), 0, &error, &where, nullptr);
        if (!m_code) {
            std::array<PCRE2_UCHAR, 160> text{};
            pcre2_get_error_message(error, text.data(), text.size());
            m_error = std::string(reinterpret_cast<const char *>(text.data())) + " at offset " + std::to_string(where);
            return;
        }
        pcre2_jit_compile(m_code, PCRE2_JIT_COMPLETE);
        m_context = pcre2_match_context_create(nullptr);
        pcre2_set_match_limit(m_context, matchLimit);
        pcre2_set_depth_limit(m_context, depthLimit);

        std::uint32_t count = 0, entrySize = 0;
        PCRE2_SPTR names = nullptr;
        pcre2_pattern_info(m_code, PCRE2_INFO_NAMECOUNT, &count);
        pcre2_pattern_info(m_code, PCRE2_INFO_NAMEENTRYSIZE, &entrySize);
        pcre2_pattern_info(m_code, PCRE2_INFO_NAMETABLE, &names);
        for (std::uint32_t i = 0; i < count; ++i, names += entrySize) {
            m_groups.push_back({reinterpret_cast<const char *>(names + 2),
                                static_cast<std::uint32_t>(names[0] << 8 | names[1])});
        }
        std::sort(m_groups.begin(), m_groups.end(), [](const Group &a, const Group &b) { return a.number < b.number; });
    }

    std::string m_text;
    mutable std::once_flag m_once;
    mutable pcre2_code *m_code = nullptr;
    mutable pcre2_match_context *m_context = nullptr;
    mutable std::vector<Group> m_groups;
    mutable std::string m_error;
};

/// One block of result offsets per thread: no allocation per match.
pcre2_match_data *threadMatchData()
{
    struct Holder {
        pcre2_match_data *data = pcre2_match_data_create(64, nullptr);
        ~Holder() { pcre2_match_data_free(data); }
    };
    thread_local Holder holder;
    return holder.data;
}

LogPattern readPattern(Value entry)
{
    LogPattern pattern;
    for (const Value member : entry) {
        const std::string key = member.key();
        if (key == "id") pattern.id = member.string("");
        else if (key == "engine") pattern.engine = member.string("");
        else if (key == "also_in") pattern.alsoIn = stringsOf(member);
        else if (key == "class") pattern.logClass = member.string("");
        else if (key == "severity") pattern.severity = member.string("");
        else if (key == "who_set_it") pattern.whoSetIt = member.string("");
        else if (key == "settings") pattern.settings = stringsOf(member);
        else if (key == "regex") pattern.regex = member.string("");
        else if (key == "literals") pattern.literals = stringsOf(member);
        else if (key == "example") pattern.examples.insert(pattern.examples.begin(), member.string(""));
        else if (key == "more_examples") {
            for (std::string &text : stringsOf(member))
                pattern.examples.push_back(std::move(text));
        } else if (key == "captured") {
            for (const Value field : member)
                pattern.captured.emplace_back(field.key(), field.string(""));
        } else if (key == "first") pattern.first = member.string("");
        else if (key == "last") pattern.last = member.string("");
        else if (key == "note") pattern.note = member.string("");
        else if (key == "source") pattern.source = member.string("");
        else if (key == "status") pattern.verified = member.string("") == "verified";
    }
    return pattern;
}

std::string levelName(std::string_view level)
{
    if (level == "D" || level == "DEBUG" || level == "TRACE")
        return "debug";
    if (level == "I" || level == "INFO")
        return "info";
    if (level == "W" || level == "WARN" || level == "WARNING")
        return "warning";
    if (level == "E" || level == "ERROR" || level == "CRITICAL")
        return "error";
    return {};
}

} // namespace

struct LogPatterns::State {
    struct Prefix {
        std::string engine;
        std::unique_ptr<LazyRegex> regex;
    };
    std::vector<LogPattern> patterns;
    std::vector<std::unique_ptr<LazyRegex>> regexes; ///< one per pattern
    std::vector<Prefix> prefixes;                    ///< the most telling first
    LiteralScan scan;
    std::vector<std::uint32_t> always; ///< patterns without a literal
};

LogPatterns::LogPatterns() : m_state(std::make_unique<State>()) {}
LogPatterns::~LogPatterns() = default;
LogPatterns::LogPatterns(LogPatterns &&) noexcept = default;
LogPatterns &LogPatterns::operator=(LogPatterns &&) noexcept = default;

Result<LogPatterns> LogPatterns::parse(DocumentPtr table, std::string_view name)
{
    if (auto checked = checkFactsTable(*table, name); !checked)
        return checked.error();
    LogPatterns result;
    State &state = *result.m_state;
    std::vector<std::pair<std::string, std::uint32_t>> literals;
    for (const Value entry : table->root()["patterns"]) {
        LogPattern read = readPattern(entry);
        if (read.id.empty())
            return Error{Errc::Malformed, "pattern without an id", entry.anchor()};
        if (read.regex.empty())
            continue;
        const auto index = static_cast<std::uint32_t>(state.patterns.size());
        const LogPattern &pattern = state.patterns.emplace_back(std::move(read));
        state.regexes.push_back(std::make_unique<LazyRegex>(pattern.regex));
        for (const std::string &literal : pattern.literals)
            literals.emplace_back(literal, index);
        if (pattern.literals.empty())
            state.always.push_back(index);
    }
    state.scan = LiteralScan(literals);
    for (const Value entry : table->root()["prefixes"])
        state.prefixes.push_back({entry["engine"].string(""), std::make_unique<LazyRegex>(entry["regex"].string(""))});
    return result;
}

std::span<const LogPattern> LogPatterns::patterns() const
{
    return m_state->patterns;
}

const LogPattern *LogPatterns::byId(std::string_view id) const
{
    const auto it = std::find_if(m_state->patterns.begin(), m_state->patterns.end(), [&](const LogPattern &p) { return p.id == id; });
    return it == m_state->patterns.end() ? nullptr : &*it;
}

void LogPatterns::candidates(std::string_view line, std::vector<std::uint32_t> &out) const
{
    out.assign(m_state->always.begin(), m_state->always.end());
    m_state->scan.find(line, out);
    if (out.size() > 1) {
        std::sort(out.begin(), out.end());
        out.erase(std::unique(out.begin(), out.end()), out.end());
    }
}

bool LogPatterns::matches(std::size_t pattern, std::string_view line) const
{
    return m_state->regexes[pattern]->match(line, threadMatchData()) > 0;
}

std::optional<std::vector<Capture>> LogPatterns::match(std::size_t pattern, std::string_view line) const
{
    const LazyRegex &regex = *m_state->regexes[pattern];
    pcre2_match_data *const data = threadMatchData();
    const int count = regex.match(line, data);
    if (count <= 0)
        return std::nullopt;
    const PCRE2_SIZE *const offsets = pcre2_get_ovector_pointer(data);
    std::vector<Capture> captures;
    for (const LazyRegex::Group &group : regex.groups()) {
        if (group.number >= static_cast<std::uint32_t>(count))
            continue;
        const PCRE2_SIZE begin = offsets[2 * group.number], end = offsets[2 * group.number + 1];
        if (begin == PCRE2_UNSET || begin > end)
            continue;
        captures.push_back({group.name, std::string(line.substr(begin, end - begin)), begin, end});
    }
    return captures;
}

LinePrefix LogPatterns::prefix(std::string_view line) const
{
    LinePrefix result;
    // A prefix stands at the beginning; the rest of a very long line decides nothing.
    const std::string_view head = line.substr(0, 512);
    for (const State::Prefix &candidate : m_state->prefixes) {
        // The forms of llama.cpp and Transformers fit nearly any text; what they match says little.
        pcre2_match_data *const data = threadMatchData();
        const int count = candidate.regex->match(head, data);
        if (count <= 0)
            continue;
        const PCRE2_SIZE *const offsets = pcre2_get_ovector_pointer(data);
        result.engine = candidate.engine;
        for (const LazyRegex::Group &group : candidate.regex->groups()) {
            if (group.number >= static_cast<std::uint32_t>(count) || offsets[2 * group.number] == PCRE2_UNSET)
                continue;
            const std::size_t begin = offsets[2 * group.number], end = offsets[2 * group.number + 1];
            const std::string_view text = head.substr(begin, end - begin);
            if (group.name == "level")
                result.level = levelName(text);
            else if (group.name == "date")
                result.time = std::string(text);
            else if (group.name == "time" || group.name == "stamp")
                result.time += (result.time.empty() ? "" : " ") + std::string(text);
            else if (group.name == "kind")
                result.level = "warning";
            else if (group.name == "msg")
                result.message = begin;
        }
        return result;
    }
    return result;
}

Result<void> LogPatterns::compileAll() const
{
    for (std::size_t i = 0; i < m_state->regexes.size(); ++i) {
        if (!m_state->regexes[i]->code())
            return Error{Errc::Malformed, "regex of pattern " + m_state->patterns[i].id + " does not compile: " + m_state->regexes[i]->error()};
    }
    return {};
}

std::string_view withoutColour(std::string_view line, std::string &buffer)
{
    if (line.find('\x1b') == std::string_view::npos)
        return line;
    buffer.clear();
    for (std::size_t i = 0; i < line.size();) {
        if (line[i] == '\x1b' && i + 1 < line.size() && line[i + 1] == '[') {
            std::size_t end = i + 2;
            while (end < line.size() && (line[end] == ';' || (line[end] >= '0' && line[end] <= '9')))
                ++end;
            if (end < line.size() && line[end] == 'm') {
                i = end + 1;
                continue;
            }
        }
        buffer.push_back(line[i++]);
    }
    return buffer;
}

} // namespace prosector
