// SPDX-License-Identifier: GPL-3.0-or-later
// F8: does larger mean what the code thinks it means?
#include "models/artifacts/rowtable.h"
#include "models/artifacts/tensordata.h"
#include "models/config/selection.h"
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

constexpr std::array<ParamSpec, 3> specs{{
    {"rows", "Fewest rows with both numbers for a rate", "rows", 10, 3, 1e6},
    {"error", "Agreement (Kendall's tau-b) below which the order is reversed", "", -0.5, -1, 0},
    {"warning", "Agreement below which it is in doubt", "", -0.2, -1, 0},
}};
constexpr std::size_t evidenceLimit = 8;
constexpr std::size_t rowLimit = 2'000;       // of one query; more are thinned evenly
constexpr std::size_t columnLimit = 8;        // score columns of one table
constexpr std::uint64_t pairLimit = 20'000'000; // comparisons of one pair of columns
constexpr std::uint64_t tableLimit = 64ULL << 20; // bytes of a table that is read

enum class Sense : std::uint8_t { None, Higher, Lower, Raw, Label }; // Raw: as the index defines it; Label: 1 is the better of 0 and 1

// What a column's name says: words between separators, the last part of a dotted name.
Sense senseOf(std::string_view column)
{
    std::string name = asciiLower(column);
    if (const auto dot = name.rfind('.'); dot != std::string::npos)
        name.erase(0, dot + 1);
    constexpr std::array lowerWords{"distance"sv, "dist"sv, "l2"sv, "euclidean"sv};
    constexpr std::array higherNames{"similarity"sv, "cosine_similarity"sv, "cosine"sv, "relevance"sv, "relevance_score"sv,
                                     "rerank_score"sv, "reranker_score"sv, "similarity_score"sv, "inner_product"sv, "dot_product"sv,
                                     "bm25"sv, "bm25_score"sv, "relevant"sv, "is_relevant"sv, "relevance_label"sv, "qrel"sv};
    constexpr std::array labelNames{"label"sv, "gold"sv, "target"sv, "y_true"sv};
    if (std::find(labelNames.begin(), labelNames.end(), name) != labelNames.end())
        return Sense::Label;
    constexpr std::array rawNames{"score"sv, "raw_score"sv, "index_score"sv, "vector_score"sv};
    for (const auto word : lowerWords) {
        const auto at = name.find(word);
        if (at != std::string::npos && (at == 0 || name[at - 1] == '_') && (at + word.size() == name.size() || name[at + word.size()] == '_'))
            return Sense::Lower;
    }
    if (std::find(higherNames.begin(), higherNames.end(), name) != higherNames.end())
        return Sense::Higher;
    return std::find(rawNames.begin(), rawNames.end(), name) != rawNames.end() ? Sense::Raw : Sense::None;
}

// What the index's description says of its raw scores, with the place; nothing where it is silent.
std::optional<std::pair<Sense, Evidence>> indexSense(const Run &run)
{
    for (const Artifact *const artifact : run.ofKind(Kind::IndexStats)) {
        const Value root = artifact->tree();
        for (const char *const key : {"index_type", "metric_type", "metric", "space", "distance_strategy", "distance"}) {
            const Value value = root[key];
            const std::string text = asciiLower(value.string(""));
            const auto has = [&](std::string_view word) { return text.find(word) != std::string::npos; };
            const bool higher = has("flatip") || has("inner") || text == "ip" || has("dot") || has("similarity")
                                || (std::string_view(key) == "distance_strategy" && has("cosine"));
            const bool smaller = has("l2") || has("euclid") || has("distance");
            if (higher || smaller)
                return std::pair(smaller ? Sense::Lower : Sense::Higher,
                                 Evidence{artifact->id, value.anchor(), std::string(key) + " = " + value.string("") + ": larger is "
                                                                            + (smaller ? "farther" : "nearer")});
        }
    }
    return std::nullopt;
}

struct Tau {
    double value = 0;
    std::uint64_t pairs = 0; ///< rows compared
    bool reversed = false;   ///< strictly monotone, falling
    std::size_t distinct = 0;
    std::size_t untied = 0;  ///< rows outside the largest tie of their group, in the column with fewer
};

// Kendall's tau-b within groups (Kendall 1945: ties in either column are taken out of the denominator).
Tau tauOf(const std::vector<std::vector<std::pair<double, double>>> &groups)
{
    Tau tau;
    double concordant = 0, discordant = 0, onlyX = 0, onlyY = 0;
    std::uint64_t budget = pairLimit;
    std::set<double> distinctX, distinctY;
    std::size_t outsideX = 0, outsideY = 0;
    for (const auto &group : groups) {
        std::map<double, std::size_t> countsX, countsY;
        std::size_t largestX = 0, largestY = 0;
        for (const auto &[x, y] : group) {
            largestX = std::max(largestX, ++countsX[x]);
            largestY = std::max(largestY, ++countsY[y]);
        }
        outsideX += group.size() - largestX;
        outsideY += group.size() - largestY;
        tau.pairs += group.size();
        const std::size_t step = group.size() / rowLimit + 1;
        for (std::size_t i = 0; i < group.size(); i += step) {
            distinctX.insert(group[i].first);
            distinctY.insert(group[i].second);
            for (std::size_t j = i + step; j < group.size() && budget > 0; j += step, --budget) {
                const double x = group[j].first - group[i].first, y = group[j].second - group[i].second;
                if (x == 0 && y == 0)
                    continue;
                if (x == 0)
                    ++onlyY; // tied in x
                else if (y == 0)
                    ++onlyX; // tied in y
                else
                    ((x > 0) == (y > 0) ? concordant : discordant) += 1;
            }
        }
    }
    const double untiedX = concordant + discordant + onlyX, untiedY = concordant + discordant + onlyY;
    if (untiedX > 0 && untiedY > 0)
        tau.value = (concordant - discordant) / std::sqrt(untiedX * untiedY);
    tau.distinct = std::min(distinctX.size(), distinctY.size());
    tau.untied = std::min(outsideX, outsideY);
    tau.reversed = concordant == 0 && discordant > 0 && onlyX == 0 && onlyY == 0;
    return tau;
}

class Polarity {
public:
    Polarity(const Inputs &inputs, const Params &params, const Job &job) : m_run(inputs.run), m_params(params), m_job(job) {}

    Result<Report> look()
    {
        const auto index = indexSense(m_run);
        for (const Artifact &artifact : m_run.artifacts()) {
            if (m_job.cancelled())
                return Job::cancelledError();
            if (artifact.size > tableLimit || !mayHoldScores(artifact))
                continue;
            const auto table = RowTable::of(artifact, m_job);
            if (!table)
                return table.error();
            if (*table)
                lookAtTable(artifact, **table, index);
        }
        lookAtSelections();
        lookAtRatios();
        if (const auto done = lookAtMasks(); !done)
            return done.error();
        if (!m_decided && m_report.findings.empty())
            m_report.missing = {"retrieval_log", "training_log"};
        return std::move(m_report);
    }

private:
    static bool mayHoldScores(const Artifact &artifact)
    {
        switch (artifact.kind) {
        case Kind::TokenizerFiles:
        case Kind::ConfigFiles:
        case Kind::Weights:
        case Kind::WeightIndex:
        case Kind::StartupLog:
        case Kind::MetricHistory:
            return false;
        default:
            break;
        }
        std::size_t found = 0;
        for (const std::string &column : RowTable::columnsOf(artifact))
            found += senseOf(column) != Sense::None;
        return found >= 2;
    }

    void lookAtTable(const Artifact &artifact, const RowTable &table, const std::optional<std::pair<Sense, Evidence>> &index)
    {
        std::vector<std::pair<std::size_t, Sense>> columns;
        for (std::size_t c = 0; c < table.columns().size() && columns.size() < columnLimit; ++c) {
            Sense sense = senseOf(table.columns()[c]);
            if (sense == Sense::Raw)
                sense = index ? index->first : Sense::Higher;
            else if (sense == Sense::Label)
                sense = isBinary(table, c) ? Sense::Higher : Sense::None;
            if (sense != Sense::None)
                columns.emplace_back(c, sense);
        }
        for (std::size_t i = 0; i < columns.size(); ++i) {
            for (std::size_t j = i + 1; j < columns.size(); ++j)
                comparePair(artifact, table, columns[i], columns[j], index);
        }
    }

    // Labels of 0 and 1 have an order; numbers of classes have none.
    static bool isBinary(const RowTable &table, std::size_t column)
    {
        bool any = false;
        for (std::size_t row = 0; row < table.rowCount(); ++row) {
            const auto label = table.number(row, column);
            if (label && *label != 0 && *label != 1)
                return false;
            any = any || label;
        }
        return any;
    }

    static std::vector<std::vector<std::pair<double, double>>> grouped(const RowTable &table, std::size_t x, std::size_t y, double sign,
                                                                       std::vector<std::size_t> &rows)
    {
        std::optional<std::size_t> query;
        for (const char *const name : {"query_id", "query", "qid", "question", "request_id"}) {
            if (!query)
                query = table.column(name);
        }
        std::map<std::string_view, std::vector<std::pair<double, double>>> groups;
        for (std::size_t row = 0; row < table.rowCount(); ++row) {
            const auto a = table.number(row, x), b = table.number(row, y);
            if (!a || !b)
                continue;
            groups[query ? table.text(row, *query) : std::string_view()].emplace_back(*a, sign * *b);
            rows.push_back(row);
        }
        std::vector<std::vector<std::pair<double, double>>> result;
        if (groups.size() == rows.size() && groups.size() > 1) { // one result per query: compare across
            result.emplace_back();
            for (auto &[key, group] : groups)
                result.front().push_back(group.front());
        } else {
            for (auto &[key, group] : groups)
                result.push_back(std::move(group));
        }
        return result;
    }

    void comparePair(const Artifact &artifact, const RowTable &table, std::pair<std::size_t, Sense> a, std::pair<std::size_t, Sense> b,
                     const std::optional<std::pair<Sense, Evidence>> &index)
    {
        std::vector<std::size_t> rows;
        const double sign = a.second == b.second ? 1 : -1; // a distance beside a similarity is right to fall
        const Tau tau = tauOf(grouped(table, a.first, b.first, sign, rows));
        if (rows.size() < 2)
            return;
        const bool counted3 = tau.reversed && tau.distinct >= 3;
        if (static_cast<double>(tau.pairs) < m_params["rows"] && !counted3) {
            m_decided = m_decided || (tau.distinct >= 3 && tau.value > 0);
            if (!m_decided)
                m_report.notSeen.push_back(artifact.path + ": " + std::to_string(tau.pairs) + " rows are too few to compare "
                                           + table.columns()[a.first] + " with " + table.columns()[b.first]);
            return;
        }
        // One or two rows beside a tie of all the others carry the whole of tau: no order to speak of.
        if (!counted3 && tau.untied < 3) {
            m_report.notSeen.push_back(artifact.path + ": all but " + counted(tau.untied, "row") + " are tied, so "
                                       + table.columns()[a.first] + " and " + table.columns()[b.first] + " were not compared");
            return;
        }
        m_decided = true;
        if (!counted3 && tau.value > m_params["warning"])
            return;
        const std::string x = table.columns()[a.first], y = table.columns()[b.first];
        const bool error = counted3 || tau.value < m_params["error"];
        Finding finding{.code = "polarity.reversed", .severity = error ? Severity::Error : Severity::Warning};
        finding.title = y + (sign > 0 ? " falls" : " rises") + " as " + x + " rises";
        const auto word = [](Sense sense) { return sense == Sense::Higher ? " (larger is better)" : " (smaller is better)"; };
        finding.detail = "By their names and the index, " + x + word(a.second) + " and " + y + word(b.second) + " should order the rows "
                         + (sign > 0 ? "alike" : "oppositely") + "; a threshold or a sort on one of them keeps the worst rows.";
        finding.measure = Measure{.number = tau.value, .unit = "Kendall tau-b against the expected order", .n = tau.pairs};
        finding.evidence.push_back({artifact.id, std::holds_alternative<LogLine>(table.anchor(rows.front()))
                                                     ? table.anchor(rows.front(), rows.back())
                                                     : Anchor(Whole{}),
                                    std::to_string(rows.size()) + " rows with both columns"});
        std::stable_sort(rows.begin(), rows.end(), [&](std::size_t r, std::size_t s) { return *table.number(r, a.first) > *table.number(s, a.first); });
        Table sample{"Rows by " + x, {x, y}, {}};
        for (const std::size_t row : rows) {
            if (sample.rows.size() >= 200)
                break;
            Evidence place{artifact.id, table.anchor(row), x + " " + std::string(table.text(row, a.first)) + ", " + y + " " + std::string(table.text(row, b.first))};
            if (finding.evidence.size() < 4)
                finding.evidence.push_back(place);
            sample.rows.push_back({{std::string(table.text(row, a.first)), place, Severity::Ok, true},
                                   {std::string(table.text(row, b.first)), place, Severity::Ok, true}});
        }
        if (index)
            finding.evidence.push_back(index->second);
        finding.falseIf = "one of the columns means the opposite of its name";
        finding.next = {"V8", "V1"};
        m_report.tables.push_back(std::move(sample));
        m_report.findings.push_back(std::move(finding));
    }

    // The checkpoint a trainer chose against the direction of its metric.
    void lookAtSelections()
    {
        for (const ModelSelection &selection : modelSelectionsOf(m_run)) {
            const std::string metric = selection.metric;
            const auto better = directionOf(metric);
            if (!better) {
                m_report.notSeen.push_back(selection.state->path + ": whether larger is better for \"" + metric + "\"");
                continue;
            }
            m_decided = m_decided || selection.declaredGreater || (selection.chosen && selection.lowest.value != selection.highest.value);
            const auto [worst, best] = *better == Direction::Higher ? std::pair(selection.lowest, selection.highest)
                                                                     : std::pair(selection.highest, selection.lowest);
            if (selection.declaredGreater && *selection.declaredGreater != (*better == Direction::Higher)) {
                Finding finding{.code = "polarity.selection.declared", .severity = Severity::Error};
                finding.title = std::string("Selection takes ") + (*selection.declaredGreater ? "larger" : "smaller") + " " + metric + " for better";
                finding.detail = metric + (*better == Direction::Higher ? " is better when larger." : " is better when smaller.");
                finding.evidence = {selection.declaredAt};
                if (selection.chosenAt)
                    finding.evidence.push_back(*selection.chosenAt);
                finding.falseIf = "the metric of that name is computed with the opposite sign";
                finding.next = {"L8"};
                if (!(selection.chosen && worst.value != best.value && selection.chosen == worst.value))
                    finding.severity = Severity::Warning; // declared, and not seen to choose wrongly
                m_report.findings.push_back(std::move(finding));
            }
            if (selection.chosen && selection.chosenAt && worst.value != best.value && selection.chosen == worst.value) {
                Finding finding{.code = "polarity.selection.worst", .severity = Severity::Error};
                finding.title = "The checkpoint kept as best has the worst " + metric;
                finding.detail = "Chosen: " + decimal(*selection.chosen) + "; the best of " + std::to_string(selection.evaluations) + " evaluations is "
                                 + decimal(best.value) + ".";
                finding.measure = Measure{.number = *selection.chosen, .unit = metric, .n = selection.evaluations};
                finding.evidence = {*selection.chosenAt, {selection.state->id, JsonPath{worst.path}, "the chosen evaluation: " + decimal(worst.value)},
                                    {selection.state->id, JsonPath{best.path}, "the best evaluation: " + decimal(best.value)}};
                finding.falseIf = "the metric of that name is computed with the opposite sign";
                finding.next = {"L8"};
                m_report.findings.push_back(std::move(finding));
            }
        }
    }

    static bool countsZeros(const Artifact &artifact)
    {
        const auto columns = RowTable::columnsOf(artifact);
        return std::any_of(columns.begin(), columns.end(), [](const std::string &column) {
            return column == "zeros" || column == "zero_fraction" || column == "zero_ratio" || column == "n_zero";
        });
    }

    // Zeros and elements of one row: counted, or a share of a known number (of 1 where none is known).
    static std::optional<std::pair<double, double>> zerosIn(const RowTable &table, std::size_t row)
    {
        const auto number = [&](std::initializer_list<const char *> names) -> std::optional<double> {
            for (const char *const name : names) {
                if (const auto column = table.column(name))
                    return table.number(row, *column);
            }
            return std::nullopt;
        };
        auto elements = number({"elements", "numel", "total", "size", "count"});
        if (const auto shape = table.column("shape"); !elements && shape) {
            double product = 1, extent = 0;
            bool inside = false, any = false;
            for (const char c : std::string(table.text(row, *shape)) + ' ') {
                const bool digit = c >= '0' && c <= '9';
                extent = digit ? extent * 10 + (c - '0') : extent;
                if (!digit && inside) {
                    product *= extent;
                    extent = 0;
                    any = true;
                }
                inside = digit;
            }
            if (any)
                elements = product;
        }
        if (const auto share = number({"zero_fraction", "zero_ratio"}); share && *share >= 0 && *share <= 1)
            return std::pair(*share * elements.value_or(1), elements.value_or(1));
        const auto zeros = number({"zeros", "n_zero"});
        return zeros && elements && *elements > 0 ? std::optional(std::pair(*zeros, *elements)) : std::nullopt;
    }

    // A declared share of zeros against the counted one.
    void lookAtRatios()
    {
        std::optional<std::pair<double, Evidence>> declared;
        for (const Kind kind : {Kind::EffectiveConfig, Kind::EngineArgs, Kind::ConfigFiles, Kind::QuantizationConfig, Kind::Data}) {
            for (const Artifact *const artifact : m_run.ofKind(kind)) {
                for (const Value holder : {artifact->tree(), artifact->tree()["sparsity_config"]}) {
                    for (const char *const key : {"sparsity", "sparsity_ratio", "prune_ratio", "pruning_ratio", "global_sparsity"}) {
                        const Value value = holder[key];
                        if (const auto number = value.number(); number && *number > 0 && *number < 1 && !declared)
                            declared = std::pair(*number, Evidence{artifact->id, value.anchor(), std::string(key) + " = " + std::string(value.raw())});
                    }
                }
            }
        }
        if (!declared)
            return;
        double zeros = 0, elements = 0;
        std::optional<Evidence> place;
        for (const Artifact &stats : m_run.artifacts()) {
            if (stats.size > tableLimit || !countsZeros(stats))
                continue;
            const auto table = RowTable::of(stats, m_job);
            if (!table || !*table)
                continue;
            for (std::size_t row = 0; row < (*table)->rowCount(); ++row) {
                const auto counted = zerosIn(**table, row);
                if (!counted)
                    continue;
                zeros += counted->first;
                elements += counted->second;
                if (!place)
                    place = Evidence{stats.id, (*table)->anchor(row), "zeros and elements of each tensor"};
            }
        }
        if (elements <= 0)
            return;
        m_decided = true;
        const double share = zeros / elements;
        if (std::abs(share - (1 - declared->first)) > 0.02 || std::abs(share - declared->first) < 0.1)
            return;
        Finding finding{.code = "polarity.ratio", .severity = Severity::Error};
        finding.title = decimal(share * 100, 3) + " % of the weights are zero, the complement of the declared " + decimal(declared->first * 100, 3) + " %";
        finding.detail = "One side names what is kept, the other what is removed.";
        finding.measure = Measure{.number = share, .unit = "zeros per weight", .n = static_cast<std::uint64_t>(elements)};
        finding.evidence = {*place, declared->second};
        finding.falseIf = "the declared number is defined as the share that is kept";
        finding.next = {"W7", "W6"};
        m_report.findings.push_back(std::move(finding));
    }

    // A square mask whose allowed cells are exactly those a causal mask forbids.
    Result<void> lookAtMasks()
    {
        std::vector<const Artifact *> captures = m_run.ofKind(Kind::AttentionMask);
        for (const Artifact *const tensors : m_run.ofKind(Kind::Tensors))
            captures.push_back(tensors);
        for (const Artifact *const artifact : captures) {
            const auto *const content = artifact->as<TensorContent>();
            if (!content)
                continue;
            for (const TensorInfo &info : content->tensors) {
                const auto &shape = info.shape;
                if (artifact->kind != Kind::AttentionMask && info.name.find("mask") == std::string::npos)
                    continue;
                if (shape.size() < 2 || shape[shape.size() - 1] != shape[shape.size() - 2] || shape.back() < 3 || shape.back() > 4096
                    || !hasPlainValues(info.dtype))
                    continue;
                const std::uint64_t n = shape.back();
                const auto cells = readTensor<double>(*artifact->source, info, 0, n * n, m_job);
                if (!cells) {
                    if (cells.error().code == Errc::Cancelled)
                        return cells.error();
                    continue;
                }
                m_decided = true;
                const bool additive = std::any_of(cells->begin(), cells->end(), [](double v) { return v < 0; });
                std::uint64_t wrong = 0;
                for (std::uint64_t q = 0; q < n; ++q) {
                    for (std::uint64_t k = 0; k < n; ++k) {
                        const double value = (*cells)[q * n + k];
                        wrong += (additive ? value == 0 : value != 0) != (k > q);
                    }
                }
                if (wrong != 0)
                    continue;
                Finding finding{.code = "polarity.mask", .severity = Severity::Error};
                finding.title = "The mask allows exactly what a causal mask forbids";
                finding.detail = "Every query may see the keys behind it and none before: allowed and forbidden are exchanged.";
                finding.measure = Measure{.number = static_cast<double>(n * (n - 1) / 2), .unit = "allowed cells", .n = n * n};
                finding.evidence = {{artifact->id, MaskCells{{MaskRect{0, 1, 1, n}}}, "the first query sees every later key"}};
                finding.falseIf = "the engine takes true for \"masked\"";
                finding.next = {"M5", "M1"};
                m_report.findings.push_back(std::move(finding));
            }
        }
        return {};
    }

    const Run &m_run;
    const Params &m_params;
    const Job &m_job;
    Report m_report;
    bool m_decided = false;
};

Result<Report> run(const Inputs &inputs, const Params &params, const Job &job)
{
    return Polarity(inputs, params, job).look();
}

constexpr std::array inputKinds{"retrieval_log"sv, "index_stats"sv, "training_log"sv, "weight_stats"sv, "attention_mask"sv};

} // namespace

extern constinit const Instrument configuration_polarity_check{
    .id = "F8",
    .name = "Polarity check",
    .question = "Does larger mean what the code thinks it means?",
    .slug = "configuration_polarity_check",
    .inputs = inputKinds,
    .params = specs,
    .run = run,
};

} // namespace prosector
