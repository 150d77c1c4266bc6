// SPDX-License-Identifier: GPL-3.0-or-later
// T10: are two "equal" strings byte-equal?
#include "models/artifacts/rowtable.h"
#include "models/core/wording.h"
#include "models/instruments/instrument.h"
#include "models/prompts/tokenizerview.h"
#include "models/prompts/unicodetwins.h"
#include "models/wire/bodies.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>

namespace prosector {

namespace {

constexpr std::size_t longestKey = 512;   ///< bytes; longer strings are texts, not keys
constexpr std::size_t mostStrings = 400'000;
constexpr std::size_t shownTwins = 20;

/// What a string is used for. The order is that of weight.
enum class Use : std::uint8_t { Prompt, Stored, Key, Filter };

struct Spot {
    std::string text;
    Use use = Use::Stored;
    bool missed = false; ///< looked up, and nothing was found
    bool counterpart = false; ///< only as the other side of a lookup
    Evidence where{};
    std::string field; ///< name of the member, so that authors are compared with authors
};

std::string_view nameOf(Use use)
{
    constexpr std::array<std::string_view, 4> names{"a prompt", "a stored value", "a key", "a filter"};
    return names[static_cast<std::size_t>(use)];
}

bool anyOf(std::string_view name, std::initializer_list<std::string_view> names)
{
    return std::find(names.begin(), names.end(), name) != names.end();
}

/// Whether a record says that its lookup found nothing.
bool foundNothing(Value record)
{
    for (const std::string_view key : {"hits", "results", "documents", "retrieved", "matches", "count", "n_results", "num_results"}) {
        const Value value = record[key];
        if ((value.isArray() && value.size() == 0) || value.integer() == 0)
            return true;
    }
    for (const std::string_view key : {"hit", "found", "cache_hit"}) {
        if (record[key].boolean() == false || record[key].string("") == "miss")
            return true;
    }
    return false;
}

class Collector {
public:
    std::vector<Spot> spots;
    bool sawLookups = false;

    Result<void> artifact(const Artifact &artifact, const Job &job)
    {
        m_artifact = &artifact;
        m_counterpart = artifact.kind == Kind::Data || artifact.kind == Kind::IndexStats;
        if (const auto *const lines = artifact.as<LinesContent>()) {
            for (std::size_t i = 0; i < lines->lines.size() && spots.size() < mostStrings; ++i) {
                if (i % 256 == 0 && job.cancelled())
                    return Job::cancelledError();
                const auto document = lines->document(i);
                m_line = lines->lines[i].line;
                record(document->root());
            }
            m_line.reset();
        } else if (artifact.format == "csv") {
            return table(artifact, job);
        } else if (const Value root = artifact.tree(); root.isArray()) {
            for (const Value element : root)
                record(element);
        } else {
            record(root);
        }
        return {};
    }

    void prompt(const WireBody &body)
    {
        for (const Value message : body.value["messages"]) {
            std::string text = messageText(message["content"]);
            if (!text.empty() && spots.size() < mostStrings)
                spots.push_back({std::move(text), Use::Prompt, false, false, body.at(message["content"], "text of a message"), "prompt:" + message["role"].string("")});
        }
        if (body.value["prompt"].isString())
            spots.push_back({body.value["prompt"].string(""), Use::Prompt, false, false, body.at(body.value["prompt"], "prompt"), "prompt:"});
    }

private:
    Evidence at(Value value) const
    {
        return {m_artifact->id, m_line ? Anchor(LogLine{*m_line, *m_line}) : value.anchor(), {}};
    }

    void add(Value value, Use use, bool missed, const std::string &field)
    {
        const auto text = value.string();
        if (!text || text->empty() || text->size() > longestKey || spots.size() >= mostStrings)
            return;
        spots.push_back({*text, use, missed, m_counterpart && use == Use::Stored, at(value), field});
    }

    /// All strings below a filter; operators such as `$eq` give their member's name to what they hold.
    void leaves(Value value, Use use, bool missed, const std::string &field)
    {
        if (value.isString()) {
            add(value, use, missed, field);
            return;
        }
        if (!value.isObject() && !value.isArray())
            return;
        for (const Value inner : value) {
            const std::string key = inner.key();
            leaves(inner, use, missed, key.empty() || key.starts_with('$') || anyOf(key, {"eq", "value", "match", "must", "should", "operator"}) ? field : key);
        }
    }

    void record(Value record)
    {
        if (!record.isObject())
            return;
        const bool missed = foundNothing(record);
        bool filtered = false;
        for (const Value member : record) {
            const std::string key = member.key();
            if (anyOf(key, {"filter", "filters", "where", "metadata_filter", "tags_filter"})) {
                leaves(member, Use::Filter, missed, key);
                filtered = true;
            } else if (anyOf(key, {"key", "cache_key", "lookup_key"})) {
                sawLookups = true;
                add(member, Use::Key, missed, "key");
            } else if (anyOf(key, {"results", "documents", "hits", "matches", "retrieved", "metadata", "payload", "stored", "values", "items", "rows"})) {
                leaves(member, Use::Stored, false, key);
            } else if (m_artifact->kind != Kind::RequestBody && member.isString() && !anyOf(key, {"query", "text", "content", "timestamp", "time", "request_id", "object"})) {
                add(member, Use::Stored, false, key);
            }
        }
        sawLookups = sawLookups || filtered;
    }

    Result<void> table(const Artifact &artifact, const Job &job)
    {
        auto rows = RowTable::of(artifact, job);
        if (!rows)
            return rows.error();
        if (!*rows)
            return {};
        const auto key = (*rows)->column("key") ? (*rows)->column("key") : (*rows)->column("cache_key");
        const auto hit = (*rows)->column("hit");
        if (!key)
            return {};
        sawLookups = true;
        for (std::size_t i = 0; i < (*rows)->rowCount() && spots.size() < mostStrings; ++i) {
            const std::string text((*rows)->text(i, *key));
            if (!text.empty() && text.size() <= longestKey)
                spots.push_back({text, Use::Key, hit && (*rows)->number(i, *hit) == 0.0, false, {artifact.id, (*rows)->anchor(i), {}}, "key"});
        }
        return {};
    }

    const Artifact *m_artifact = nullptr;
    std::optional<std::uint64_t> m_line{};
    bool m_counterpart = false;
};

/// Prompts go with prompts of their role, filters and keys with what they are looked up in.
bool comparable(const Spot &a, const Spot &b)
{
    if ((a.use == Use::Prompt) != (b.use == Use::Prompt))
        return false;
    if (a.use == Use::Prompt)
        return a.field == b.field;
    if (a.use == Use::Stored && b.use == Use::Stored)
        return a.field == b.field && !a.counterpart && !b.counterpart;
    if ((a.counterpart || b.counterpart) && !a.missed && !b.missed)
        return false;
    return true;
}

std::optional<Severity> severityOf(TwinBy by, const Spot &a, const Spot &b)
{
    if (by == TwinBy::Case || by == TwinBy::Compatible)
        return a.use == Use::Prompt ? std::nullopt : std::optional(Severity::Info);
    if (a.missed || b.missed)
        return Severity::Error;
    return by == TwinBy::Homoglyph ? Severity::Info : Severity::Warning;
}

Finding findingOf(TwinBy by, Severity severity, const Spot &a, const Spot &b)
{
    // The one that was looked for first.
    const Spot &asked = b.use > a.use || (b.missed && !a.missed) ? b : a;
    const Spot &other = &asked == &a ? b : a;
    const bool missed = asked.missed || other.missed;
    const auto named = [](const Spot &spot) { return spot.use == Use::Prompt ? std::string("A prompt") : shownPiece(spot.text); };
    Finding finding{"tokens.twin." + std::string(by == TwinBy::NormalForm ? "nfc" : by == TwinBy::WhiteSpace ? "space" : by == TwinBy::Ignorable ? "ignorable" : by == TwinBy::Mixed ? "mixed"
                                                 : by == TwinBy::Case     ? "case" : by == TwinBy::Compatible ? "nfkc" : "homoglyph"),
                    severity,
                    named(asked) + (missed ? " was looked up and not found; " : " and ") + (asked.use == Use::Prompt ? "another" : shownPiece(other.text))
                        + (missed ? " is there, and differs only by " : " differ only by ") + std::string(nameOf(by)),
                    firstDifference(asked.text, other.text) + ". " + std::string(nameOf(asked.use)) + " and " + std::string(nameOf(other.use)) + " that look the same are two strings to every comparison of bytes."};
    for (const Spot *const spot : {&asked, &other}) {
        Evidence where = spot->where;
        where.note = shownPiece(spot->text) + ", " + std::string(nameOf(spot->use)) + (spot->missed ? ", nothing found" : "") + ", " + counted(spot->text.size(), "byte");
        finding.evidence.push_back(std::move(where));
    }
    finding.falseIf = "The two are meant to be different values.";
    finding.next = {"C1", "V6"};
    return finding;
}

Result<Report> run(const Inputs &inputs, const Params &, const Job &job)
{
    Collector collector;
    bool sources = false;
    for (const Artifact &artifact : inputs.run.artifacts()) {
        if (job.cancelled())
            return Job::cancelledError();
        switch (artifact.kind) {
        case Kind::RetrievalLog:
        case Kind::CacheLog:
        case Kind::CacheKeyFields:
        case Kind::KvCacheTable:
        case Kind::IndexStats:
        case Kind::Data:
            break;
        default:
            continue;
        }
        if (artifact.size > (64U << 20) || artifact.format == "json_schema")
            continue;
        sources = sources || (artifact.kind != Kind::Data && artifact.kind != Kind::IndexStats);
        if (auto done = collector.artifact(artifact, job); !done)
            return done.error();
    }
    auto visited = eachBody(inputs.run, job, [&](const WireBody &body) {
        if (body.role != WireBody::Role::Request || body.artifact->kind == Kind::Data)
            return;
        sources = true;
        collector.prompt(body);
    });
    if (!visited)
        return visited.error();
    if (!sources && !collector.sawLookups)
        return Report::missingInputs({"retrieval_log", "cache_key_fields", "request_body"});
    std::map<std::string, std::vector<const Spot *>> groups;
    std::size_t count = 0;
    for (const Spot &spot : collector.spots) {
        if (++count % 1024 == 0 && job.cancelled())
            return Job::cancelledError();
        auto &group = groups[twinKey(spot.text)];
        // One of each spelling, use and field is enough.
        const bool known = std::any_of(group.begin(), group.end(), [&](const Spot *s) { return s->text == spot.text && s->use == spot.use && s->missed == spot.missed && s->field == spot.field; });
        if (!known && group.size() < 64)
            group.push_back(&spot);
    }
    Report report;
    std::size_t notShown = 0;
    for (auto &[key, group] : groups) {
        std::stable_sort(group.begin(), group.end(), [](const Spot *a, const Spot *b) { return std::pair(a->missed, a->use) > std::pair(b->missed, b->use); });
        std::set<std::pair<std::string, std::string>> told;
        for (std::size_t i = 0; i < group.size(); ++i) {
            for (std::size_t j = i + 1; j < group.size(); ++j) {
                const Spot &a = *group[i], &b = *group[j];
                if (a.text == b.text || !comparable(a, b))
                    continue;
                const auto by = twinBy(a.text, b.text);
                const auto severity = by ? severityOf(*by, a, b) : std::nullopt;
                if (!severity || !told.insert({std::min(a.text, b.text), std::max(a.text, b.text)}).second)
                    continue;
                if (report.findings.size() < shownTwins)
                    report.findings.push_back(findingOf(*by, *severity, a, b));
                else
                    ++notShown;
            }
        }
    }
    if (notShown > 0)
        report.notSeen.push_back(counted(notShown, "pair") + " more of the same kind, not listed");
    return report;
}

constexpr std::array<std::string_view, 5> usable{"request_body", "retrieval_log", "cache_key_fields", "cache_log", "index_stats"};

} // namespace

extern constinit const Instrument tokens_unicode_twins{
    "T10", "Unicode twin finder", "Are two \"equal\" strings byte-equal?", "tokens_unicode_twins", usable, {}, run};

} // namespace prosector
