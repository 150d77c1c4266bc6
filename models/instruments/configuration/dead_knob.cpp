// SPDX-License-Identifier: GPL-3.0-or-later
// F7: does this setting do anything?
#include "models/artifacts/rowtable.h"
#include "models/core/ascii.h"
#include "models/core/wording.h"
#include "models/instruments/instrument.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>

namespace prosector {

namespace {

using namespace std::string_view_literals;

constexpr std::array<ParamSpec, 2> specs{{
    {"values", "Fewest neighbouring values with one outcome that make a dead zone", "values", 3, 2, 1000},
    {"apart", "Means of repeats differ when they lie this many standard deviations of a repeat apart", "", 3, 0.1, 100},
}};
constexpr std::uint64_t tableLimit = 64ULL << 20;
constexpr std::size_t valueLimit = 10'000;

bool isOneOf(std::string_view name, std::initializer_list<std::string_view> names)
{
    const std::string small = asciiLower(name);
    return std::any_of(names.begin(), names.end(), [&](auto n) { return small == n; });
}

// Columns that name the setting, and those that are neither setting nor outcome.
bool namesSetting(std::string_view name) { return isOneOf(name, {"parameter", "setting", "knob", "param", "option", "flag"}); }
bool isBookkeeping(std::string_view name)
{
    return isOneOf(name, {"repeat", "run", "run_id", "trial", "replicate", "id", "index", "timestamp", "time", "date", "duration_s", "elapsed",
                          "seconds", "latency", "latency_s", "latency_ms", "default", "is_default", "note", "n", "total", "of", "documented",
                          "documentation", "doc", "description", "cached", "cache_hit", "prompt_id", "item", "prompt"});
}
// Outcomes by name: what a setting without a column of its own name cannot be.
bool isOutcome(std::string_view name)
{
    const std::string small = asciiLower(name);
    for (const auto word : {"output"sv, "hash"sv, "sha"sv, "decision"sv, "vector"sv, "ratio"sv, "changed"sv, "text"sv, "answer"sv, "response"sv,
                            "completion"sv, "score"sv, "accuracy"sv, "ids"sv, "tokens"sv}) {
        if (small.find(word) != std::string::npos)
            return true;
    }
    return false;
}

struct Point {
    double value = 0;
    std::size_t firstRow = 0;
    std::size_t repeats = 0;
    std::set<std::string> outcomes; ///< of the repeats, each all outcome columns joined
    std::vector<double> numbers;    ///< of the repeats, where the outcome is one number
    bool isDefault = false;
};

struct Knob {
    std::string name;
    std::vector<Point> points; ///< by value
    std::vector<std::string> outcomeColumns;
    std::optional<double> defaultValue{};
    std::optional<Evidence> defaultAt{};
    bool documentedInert = false; ///< the documentation says that it does nothing here
};

class DeadKnob {
public:
    DeadKnob(const Inputs &inputs, const Params &params, const Job &job) : m_run(inputs.run), m_params(params), m_job(job) {}

    Result<Report> look()
    {
        for (const Artifact &artifact : m_run.artifacts()) {
            if (m_job.cancelled())
                return Job::cancelledError();
            if (artifact.size > tableLimit || !maybeSweep(artifact))
                continue;
            const auto table = RowTable::of(artifact, m_job);
            if (!table)
                return table.error();
            if (*table)
                lookAtTable(artifact, **table);
        }
        if (!m_decided && m_report.findings.empty())
            m_report.missing = {"sweep"};
        return std::move(m_report);
    }

private:
    // A table in which a parameter and its value stand, or that is a sweep by kind or name.
    static bool maybeSweep(const Artifact &artifact)
    {
        const std::string path = asciiLower(artifact.path);
        const auto columns = RowTable::columnsOf(artifact);
        if (columns.size() < 2)
            return false;
        if (artifact.kind == Kind::Sweep || path.find("sweep") != std::string::npos || path.find("ablation") != std::string::npos)
            return true;
        const bool named = std::any_of(columns.begin(), columns.end(), namesSetting);
        const bool valued = std::any_of(columns.begin(), columns.end(), [](auto &c) { return isOneOf(c, {"value", "setting_value"}); });
        return named && valued && (artifact.kind == Kind::Data || artifact.kind == Kind::TrainingLog || artifact.kind == Kind::EvalSamples);
    }

    void lookAtTable(const Artifact &artifact, const RowTable &table)
    {
        std::optional<std::size_t> nameColumn, valueColumn;
        for (std::size_t c = 0; c < table.columns().size(); ++c) {
            if (!nameColumn && namesSetting(table.columns()[c]))
                nameColumn = c;
            if (!valueColumn && isOneOf(table.columns()[c], {"value", "setting_value"}))
                valueColumn = c;
        }
        const Value outer = table.outer();
        std::string named;
        for (const char *const key : {"parameter", "setting", "knob", "param", "name"}) {
            if (named.empty())
                named = outer[key].string("");
        }
        if (!valueColumn && !named.empty())
            valueColumn = table.column(named);
        // Else the first column of numbers that is no outcome.
        for (std::size_t c = 0; c < table.columns().size() && !valueColumn; ++c) {
            if (!isBookkeeping(table.columns()[c]) && !isOutcome(table.columns()[c]) && table.number(0, c))
                valueColumn = c;
        }
        if (!valueColumn)
            return;
        if (named.empty() && !nameColumn)
            named = table.columns()[*valueColumn];
        std::map<std::string, std::vector<std::size_t>> rowsOf;
        for (std::size_t row = 0; row < table.rowCount(); ++row)
            rowsOf[nameColumn ? std::string(table.text(row, *nameColumn)) : named].push_back(row);
        for (const auto &[name, rows] : rowsOf)
            lookAtKnob(artifact, table, knobOf(artifact, table, name, rows, nameColumn, *valueColumn), rows);
    }

    Knob knobOf(const Artifact &artifact, const RowTable &table, const std::string &name, const std::vector<std::size_t> &rows,
                std::optional<std::size_t> nameColumn, std::size_t valueColumn) const
    {
        Knob knob{.name = name};
        std::vector<std::size_t> outcomes;
        for (std::size_t c = 0; c < table.columns().size(); ++c) {
            if (c == valueColumn || c == nameColumn || isBookkeeping(table.columns()[c]))
                continue;
            outcomes.push_back(c);
            knob.outcomeColumns.push_back(table.columns()[c]);
        }
        std::map<double, Point> points;
        const auto defaultColumn = table.column("default") ? table.column("default") : table.column("is_default");
        for (const std::size_t row : rows) {
            const auto value = table.number(row, valueColumn);
            if (!value || points.size() >= valueLimit)
                continue;
            auto [it, isNew] = points.try_emplace(*value);
            Point &point = it->second;
            if (isNew) {
                point.value = *value;
                point.firstRow = row;
            }
            ++point.repeats;
            std::string outcome;
            for (const std::size_t c : outcomes)
                outcome += std::string(table.text(row, c)) + '\x1f';
            point.outcomes.insert(std::move(outcome));
            if (const auto number = outcomes.size() == 1 ? table.number(row, outcomes.front()) : std::nullopt)
                point.numbers.push_back(*number);
            if (!defaultColumn)
                continue;
            // A flag of the row, or the default's value in every row.
            const auto text = table.text(row, *defaultColumn);
            const bool flag = text == "true" || text == "True";
            if (flag || (text != "false" && text != "False" && table.number(row, *defaultColumn))) {
                knob.defaultValue = flag ? *value : *table.number(row, *defaultColumn);
                knob.defaultAt = Evidence{artifact.id, table.anchor(row), "the default is " + decimal(*knob.defaultValue)};
            }
        }
        for (auto &[value, point] : points)
            knob.points.push_back(std::move(point));
        readOuter(artifact, table, knob);
        return knob;
    }

    // Settings of the whole table, and the default from a file that lists settings.
    void readOuter(const Artifact &artifact, const RowTable &table, Knob &knob) const
    {
        const Value outer = table.outer();
        if (const Value value = outer["default"]; value.number() && !knob.defaultValue) {
            knob.defaultValue = value.number();
            knob.defaultAt = Evidence{artifact.id, value.anchor(), "the default is " + std::string(value.raw())};
        }
        for (const char *const key : {"documented", "documented_effect", "documentation", "doc"}) {
            const Value value = outer[key];
            knob.documentedInert = knob.documentedInert || value.boolean() == false || (value.isString() && value.string("").empty());
        }
        for (const Kind kind : {Kind::EffectiveConfig, Kind::EngineArgs, Kind::EffectiveSamplingParams, Kind::ConfigFiles}) {
            for (const Artifact *const file : m_run.ofKind(kind)) {
                const Value value = file->tree()[knob.name];
                if (value.number() && !knob.defaultValue) {
                    knob.defaultValue = value.number();
                    knob.defaultAt = Evidence{file->id, value.anchor(), knob.name + " = " + std::string(value.raw())};
                }
            }
        }
    }

    // A reason why a constant outcome says nothing about the setting.
    static std::string excuse(const RowTable &table, const Knob &knob)
    {
        const auto constantly = [&](std::initializer_list<const char *> names, double wanted) {
            for (const char *const name : names) {
                const Value stated = table.outer()[name];
                if (stated.number() == wanted)
                    return true;
                const auto column = table.column(name);
                if (!column)
                    continue;
                bool all = table.rowCount() > 0;
                for (std::size_t row = 0; row < table.rowCount() && all; ++row)
                    all = table.number(row, *column) == wanted;
                if (all)
                    return true;
            }
            return false;
        };
        const std::string name = asciiLower(knob.name);
        if (name != "top_k" && constantly({"top_k"}, 1))
            return "top_k is 1: sampling settings cannot act";
        if (name != "temperature" && constantly({"temperature"}, 0))
            return "temperature is 0: sampling settings and seeds cannot act";
        for (const char *const column : {"cached", "cache_hit"}) {
            if (const auto at = table.column(column)) {
                for (std::size_t row = 0; row < table.rowCount(); ++row) {
                    if (table.number(row, *at) == 1.0)
                        return "responses came from a cache (see C7)";
                }
            }
        }
        return {};
    }

    void lookAtKnob(const Artifact &artifact, const RowTable &table, const Knob &knob, const std::vector<std::size_t> &rows)
    {
        const std::string what = artifact.path + ": " + knob.name;
        if (knob.outcomeColumns.empty() || knob.points.size() < 3) {
            m_report.notSeen.push_back(what + ", since fewer than 3 values are recorded with an outcome");
            return;
        }
        if (const std::string reason = excuse(table, knob); !reason.empty()) {
            m_report.notSeen.push_back(what + ", since " + reason);
            return;
        }
        const auto fewest = static_cast<std::size_t>(m_params["values"]);
        // Zones: runs of neighbouring values with one and the same outcome.
        const bool noisy = std::any_of(knob.points.begin(), knob.points.end(), [](auto &p) { return p.outcomes.size() > 1; });
        if (noisy && !distinguishable(knob)) {
            m_report.notSeen.push_back(what + ", since repeats at one value differ as much as values do");
            return;
        }
        plot(knob);
        std::size_t begin = 0, bestBegin = 0, bestEnd = 0;
        std::optional<std::size_t> defaultPoint;
        for (std::size_t i = 0; i < knob.points.size(); ++i) {
            if (i > 0 && knob.points[i].outcomes != knob.points[begin].outcomes)
                begin = i;
            if (i + 1 - begin > bestEnd - bestBegin) {
                bestBegin = begin;
                bestEnd = i + 1;
            }
            if (knob.defaultValue == knob.points[i].value)
                defaultPoint = i;
        }
        const bool whole = bestEnd - bestBegin == knob.points.size();
        if (defaultPoint && !whole) {
            bestBegin = bestEnd = *defaultPoint;
            while (bestBegin > 0 && knob.points[bestBegin - 1].outcomes == knob.points[*defaultPoint].outcomes)
                --bestBegin;
            while (bestEnd < knob.points.size() && knob.points[bestEnd].outcomes == knob.points[*defaultPoint].outcomes)
                ++bestEnd;
        }
        if (!whole && !defaultPoint) {
            // Which values matter cannot be said without the default.
            if (bestEnd - bestBegin < fewest) {
                m_decided = true;
                return;
            }
            m_report.notSeen.push_back(what + ": the default, which tells whether the values that do nothing are in use");
        }
        m_decided = true;
        if (bestEnd - bestBegin < fewest)
            return;
        report(artifact, table, knob, rows, bestBegin, bestEnd, whole, defaultPoint.has_value());
    }

    // Repeats of a measured number: the means of some values lie further apart than repeats scatter.
    bool meansApart(const std::vector<std::vector<double>> &measured) const
    {
        double lowest = 0, highest = 0, square = 0, freedom = 0;
        for (std::size_t i = 0; i < measured.size(); ++i) {
            double mean = 0;
            for (const double number : measured[i])
                mean += number / static_cast<double>(measured[i].size());
            for (const double number : measured[i])
                square += (number - mean) * (number - mean);
            freedom += static_cast<double>(measured[i].size()) - 1;
            lowest = i == 0 ? mean : std::min(lowest, mean);
            highest = i == 0 ? mean : std::max(highest, mean);
        }
        return freedom <= 0 || highest - lowest > m_params["apart"] * std::sqrt(square / freedom);
    }

    // With repeats: some values share no outcome; of measured numbers, some means are apart.
    bool distinguishable(const Knob &knob) const
    {
        const bool measured = std::all_of(knob.points.begin(), knob.points.end(), [](const Point &p) { return p.numbers.size() == p.repeats; });
        if (measured) {
            std::vector<std::vector<double>> numbers;
            for (const Point &point : knob.points)
                numbers.push_back(point.numbers);
            return meansApart(numbers);
        }
        for (const Point &point : knob.points) {
            for (const Point &other : knob.points) {
                const bool shares = std::any_of(point.outcomes.begin(), point.outcomes.end(), [&](auto &o) { return other.outcomes.contains(o); });
                if (!shares)
                    return true;
            }
        }
        return false;
    }

    void plot(const Knob &knob)
    {
        Series series{"Outcomes by " + knob.name, knob.name, "distinct outcome", {}, {}, {}, false};
        std::map<std::set<std::string>, double> numbers;
        for (const Point &point : knob.points) {
            const double number = numbers.try_emplace(point.outcomes, static_cast<double>(numbers.size() + 1)).first->second;
            series.x.push_back(point.value);
            series.y.push_back(number);
            if (knob.defaultValue == point.value)
                series.marks.push_back({point.value, number, "default", Severity::Info});
        }
        m_report.series.push_back(std::move(series));
    }

    void report(const Artifact &artifact, const RowTable &table, const Knob &knob, const std::vector<std::size_t> &rows, std::size_t begin,
                std::size_t end, bool whole, bool defaultKnown)
    {
        const std::string from = decimal(knob.points[begin].value), to = decimal(knob.points[end - 1].value);
        Finding finding{.code = whole ? "knob.dead" : "knob.dead.zone"};
        finding.severity = whole || !defaultKnown || knob.documentedInert ? Severity::Warning : Severity::Error;
        finding.title = whole ? knob.name + " does nothing from " + from + " to " + to
                              : knob.name + " does nothing from " + from + " to " + to + (defaultKnown ? ", where its default lies" : "");
        std::string columns;
        for (const std::string &column : knob.outcomeColumns)
            columns += (columns.empty() ? "" : ", ") + column;
        finding.detail = counted(end - begin, "value") + " give the same " + columns + ".";
        if (end < knob.points.size())
            finding.detail += " The first value that acts is " + decimal(knob.points[end].value) + ".";
        else if (begin > 0)
            finding.detail += " It acts up to " + decimal(knob.points[begin - 1].value) + ".";
        const std::size_t repeated = static_cast<std::size_t>(std::count_if(knob.points.begin(), knob.points.end(), [](auto &p) { return p.repeats > 1; }));
        finding.detail += repeated > 0 ? " Repeats were run at " + counted(repeated, "value") + "."
                                       : " No value was repeated: what noise looks like is not known.";
        finding.measure = Measure{.number = static_cast<double>(end - begin), .unit = "values without effect", .n = rows.size()};
        for (std::size_t i = begin; i < end && finding.evidence.size() < 6; ++i)
            finding.evidence.push_back({artifact.id, table.anchor(knob.points[i].firstRow), knob.name + " = " + decimal(knob.points[i].value)});
        if (end < knob.points.size())
            finding.evidence.push_back({artifact.id, table.anchor(knob.points[end].firstRow), knob.name + " = " + decimal(knob.points[end].value) + " acts"});
        if (knob.defaultAt)
            finding.evidence.push_back(*knob.defaultAt);
        finding.falseIf = "it acts on inputs this sweep does not hold (lengths never reached), or the answers came from a cache";
        finding.next = {"C7", "F1"};
        m_report.findings.push_back(std::move(finding));
    }

    const Run &m_run;
    const Params &m_params;
    const Job &m_job;
    Report m_report;
    bool m_decided = false;
};

Result<Report> run(const Inputs &inputs, const Params &params, const Job &job)
{
    return DeadKnob(inputs, params, job).look();
}

constexpr std::array inputKinds{"sweep"sv, "effective_config"sv};

} // namespace

extern constinit const Instrument configuration_dead_knob{
    .id = "F7",
    .name = "Dead-knob test",
    .question = "Does this setting do anything?",
    .slug = "configuration_dead_knob",
    .inputs = inputKinds,
    .params = specs,
    .run = run,
};

} // namespace prosector
