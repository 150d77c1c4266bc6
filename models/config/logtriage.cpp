// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/config/logtriage.h"

#include "models/artifacts/logline.h"

#include <algorithm>
#include <array>
#include <map>

namespace prosector {

namespace {

/// Lines whose prefix is looked at to tell the engine; patterns that match tell it too.
constexpr std::uint64_t prefixLines = 2000;
/// Longest part of a line that is matched: a dump of arguments may take tens of kilobytes.
constexpr std::size_t longestLine = 1U << 18;

/// The prefix forms of these are their own; those of llama.cpp and Transformers fit nearly any text.
bool tellingPrefix(std::string_view engine)
{
    return engine == "vLLM" || engine == "SGLang" || engine == "Ollama" || engine == "TGI";
}

bool belongsTo(const LogPattern &pattern, std::string_view engine)
{
    return pattern.engine == engine
        || std::find(pattern.alsoIn.begin(), pattern.alsoIn.end(), engine) != pattern.alsoIn.end();
}

/// Engines of the Python world load with Transformers, Ollama runs llama.cpp: their lines mix in.
bool runsInside(std::string_view inner, std::string_view outer)
{
    if (inner == "Transformers")
        return outer == "vLLM" || outer == "SGLang" || outer == "TGI";
    return inner == "llama.cpp" && outer == "Ollama";
}

std::string engineOf(const std::map<std::string, std::uint64_t> &prefixes, const std::map<std::string, std::uint64_t> &hits)
{
    std::string best;
    std::uint64_t most = 0;
    const auto hitsOf = [&](const std::string &engine) {
        const auto it = hits.find(engine);
        return it == hits.end() ? 0 : it->second;
    };
    for (const auto &[engine, count] : prefixes) {
        // SGLang's bracketed date is used by many programs: it needs a line of its own as well.
        if (count > most && (engine != "SGLang" || hitsOf(engine) > 0)) {
            best = engine;
            most = count;
        }
    }
    if (!best.empty())
        return best;
    for (const auto &[engine, count] : hits) {
        if (count > most) {
            best = engine;
            most = count;
        }
    }
    return best;
}

/// Whose line it is, behind whatever collectors put first; `cut` becomes the length of that.
std::string engineOfLine(const LogPatterns &patterns, std::string_view line, std::size_t &cut)
{
    cut = 0;
    for (int i = 0; i < 4; ++i) { // a log is rarely collected more often than that
        const std::string engine = patterns.prefix(line.substr(cut)).engine;
        if (tellingPrefix(engine))
            return engine;
        std::size_t more = collectorPrefix(line.substr(cut));
        if (more == 0)
            more = stampPrefix(line.substr(cut));
        if (more == 0)
            return {};
        cut += more;
    }
    return {};
}

/// Rust prints `quantize: Some(` and its value on three lines; they are one.
std::string_view withOption(const TextContent &text, std::size_t index, std::string_view line, std::string &buffer)
{
    if (!line.ends_with("Some("))
        return line;
    buffer = line;
    std::string colour;
    for (std::size_t next = index + 1; next < std::min(text.lineCount(), index + 4); ++next) {
        std::string_view part = withoutColour(text.line(next).substr(0, 4096), colour);
        part.remove_prefix(std::min(part.find_first_not_of(' '), part.size()));
        buffer += part;
        if (part.starts_with(')'))
            return buffer;
        if (buffer.ends_with(','))
            buffer.pop_back();
    }
    return line;
}

std::string versionIn(const LogHit &hit)
{
    for (const std::string_view name : {"version", "build"}) {
        std::string_view text = hit.capture(name);
        if (text.starts_with('v') || text.starts_with('b'))
            text.remove_prefix(1);
        if (!text.empty() && text.front() >= '0' && text.front() <= '9')
            return (name == "build" ? "b" : "") + std::string(text);
    }
    return {};
}

} // namespace

std::string_view LogHit::capture(std::string_view name) const
{
    const auto it = std::find_if(captures.begin(), captures.end(), [&](const Capture &c) { return c.name == name; });
    return it == captures.end() ? std::string_view() : it->text;
}

const LogHit *LogTriage::first(std::string_view patternId) const
{
    const auto it = std::find_if(hits.begin(), hits.end(), [&](const LogHit &h) { return h.pattern->id == patternId; });
    return it == hits.end() ? nullptr : &*it;
}

bool isLog(const Artifact &artifact)
{
    if (!artifact.as<TextContent>())
        return false;
    if (artifact.kind == Kind::StartupLog)
        return true;
    // Text that is not recognised as a log counts as one only by the name; ".out" names too many other things.
    return artifact.kind == Kind::Text && std::string_view(artifact.path).ends_with(".log");
}

Result<LogTriage> triageLog(const TextContent &text, const LogPatterns &patterns, const Job &job)
{
    LogTriage triage;
    triage.lines = text.lineCount();
    const auto table = patterns.patterns();
    std::vector<LogCount> counts(table.size());
    std::map<std::string, std::uint64_t> prefixVotes, hitVotes;
    std::vector<std::uint32_t> candidates;
    std::string buffer, optionBuffer;
    bool stamped = false;

    for (std::size_t i = 0; i < text.lineCount(); ++i) {
        if (i % 4096 == 0) {
            if (job.cancelled())
                return Job::cancelledError();
            job.progress(static_cast<double>(i) / static_cast<double>(text.lineCount()), "reading the log");
        }
        const std::string_view whole = withoutColour(text.line(i).substr(0, longestLine), buffer);
        std::size_t cut = 0;
        if (i < prefixLines) {
            const std::string engine = engineOfLine(patterns, whole, cut);
            if (!engine.empty())
                ++prefixVotes[engine];
            stamped = stamped || (cut > 0 && stampPrefix(whole) == cut);
        } else { // the prefix forms cost more than the patterns: further on only what stood before is taken off
            cut = stamped ? stampPrefix(whole) : 0;
            for (std::size_t more = collectorPrefix(whole.substr(cut)); more > 0; more = collectorPrefix(whole.substr(cut)))
                cut += more;
        }
        const std::string_view line = withOption(text, i, whole.substr(cut), optionBuffer);
        patterns.candidates(line, candidates);
        for (const std::uint32_t index : candidates) {
            LogCount &count = counts[index];
            if (count.count >= LogTriage::keptPerPattern) {
                if (patterns.matches(index, line)) {
                    ++count.count;
                    count.lastLine = i + 1;
                }
                continue;
            }
            auto captures = patterns.match(index, line);
            if (!captures)
                continue;
            if (count.count++ == 0)
                count.firstLine = i + 1;
            count.pattern = &table[index];
            count.lastLine = i + 1;
            for (Capture &capture : *captures) {
                capture.begin += cut;
                capture.end += cut;
            }
            ++hitVotes[table[index].engine];
            triage.hits.push_back({i + 1, &table[index], std::move(*captures)});
        }
    }

    triage.engine = engineOf(prefixVotes, hitVotes);
    // A line that the log's own engine explains needs no other engine's reading.
    if (!triage.engine.empty()) {
        std::vector<LogHit> kept;
        for (std::size_t i = 0; i < triage.hits.size();) {
            std::size_t end = i;
            bool own = false, inner = false;
            for (; end < triage.hits.size() && triage.hits[end].line == triage.hits[i].line; ++end) {
                own |= belongsTo(*triage.hits[end].pattern, triage.engine);
                inner |= runsInside(triage.hits[end].pattern->engine, triage.engine);
            }
            for (; i < end; ++i) {
                const LogPattern &pattern = *triage.hits[i].pattern;
                if (own ? belongsTo(pattern, triage.engine) : !inner || runsInside(pattern.engine, triage.engine)) {
                    kept.push_back(std::move(triage.hits[i]));
                } else {
                    LogCount &count = counts[static_cast<std::size_t>(&pattern - table.data())];
                    if (count.count > 0 && --count.count == 0)
                        count.pattern = nullptr;
                }
            }
        }
        triage.hits = std::move(kept);
    }
    for (const LogHit &hit : triage.hits) {
        if (!triage.version.empty())
            break;
        if (hit.pattern->logClass == "version" && belongsTo(*hit.pattern, triage.engine)) {
            triage.version = versionIn(hit);
            triage.versionLine = triage.version.empty() ? 0 : hit.line;
        }
    }
    for (const LogCount &count : counts) {
        if (count.pattern)
            triage.counts.push_back(count);
    }
    std::sort(triage.counts.begin(), triage.counts.end(), [](const LogCount &a, const LogCount &b) {
        return std::pair(a.firstLine, std::string_view(a.pattern->id)) < std::pair(b.firstLine, std::string_view(b.pattern->id));
    });
    return triage;
}

} // namespace prosector
