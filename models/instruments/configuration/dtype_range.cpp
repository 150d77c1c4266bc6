// SPDX-License-Identifier: GPL-3.0-or-later
// F4: do values fit the number format they are served in?
#include "models/artifacts/tensordata.h"
#include "models/config/descriptions.h"
#include "models/config/kvscales.h"
#include "models/config/servingdtype.h"
#include "models/config/weightstatistics.h"
#include "models/instruments/instrument.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <set>

namespace prosector {

namespace {

constexpr std::array<ParamSpec, 3> specs{{
    {"near", "Share of the largest value from which a value is near it", "", 0.5, 0.01, 1},
    {"keys", "Share of the largest value that uncalibrated keys may reach", "", 0.4, 0.01, 1},
    {"scan", "Weights read for their largest value, small tensors first", "MB", 64, 0, 1e7},
}};

/// A magnitude as JSON has it: a number, or "inf" and "nan" as text.
std::optional<double> magnitude(Value value)
{
    if (const auto number = value.number())
        return std::abs(*number);
    return magnitudeOf(value.string(""));
}

/// -inf fills are how masks are written.
bool isMask(std::string_view name)
{
    return name.find("mask") != std::string_view::npos || name.ends_with("attn.bias") || name.ends_with("masked_bias");
}

std::string shown(double value)
{
    return std::isnan(value) ? "NaN" : std::isinf(value) ? "infinite" : roundedText(value);
}

class RangeCheck {
public:
    RangeCheck(const Inputs &inputs, const Params &params, const Job &job) : m_run(inputs.run), m_inputs(inputs), m_params(params), m_job(job) {}

    Result<Report> run()
    {
        const auto configs = m_inputs.configs(m_job);
        if (!configs)
            return configs.error();
        for (const Artifact *const stats : m_run.ofKind(Kind::ActivationStats))
            activations(*stats);
        for (const ModelFolder &folder : m_run.models()) {
            if (m_job.cancelled())
                return Job::cancelledError();
            if (auto done = folderOf(folder, servingOf(**configs, m_run, folder)); !done)
                return done.error();
        }
        if (auto done = statistics(**configs); !done)
            return done.error();
        if (!m_looked && m_report.findings.empty()) {
            m_report.tables.clear();
            m_report.missing = m_needed.empty() ? std::vector<std::string>{"config_files", "weights", "activation_stats"} : m_needed;
        }
        return std::move(m_report);
    }

private:
    Finding &add(std::string code, Severity severity, std::string title, std::string detail, std::vector<Evidence> evidence,
                 std::string falseIf)
    {
        Finding finding{std::move(code), severity, std::move(title), std::move(detail)};
        finding.evidence = std::move(evidence);
        finding.falseIf = std::move(falseIf);
        finding.next = {"B3", "F1"};
        return m_report.findings.emplace_back(std::move(finding));
    }

    // (b) the first module in forward order that leaves the range

    void activations(const Artifact &stats)
    {
        const Value root = stats.tree();
        const std::string dtype = canonicalDtype(root["dtype"].string(""));
        const auto limit = largestOf(dtype);
        const Value modules = root["modules"].isArray() ? root["modules"] : root["layers"];
        if (!limit || modules.size() == 0) {
            m_report.notSeen.push_back(stats.path + ": " + (limit ? "no modules" : "the number format \"" + dtype + "\" is unknown"));
            return;
        }
        m_looked = true;
        const bool scaled = *limit < 1e5 && dtype != "float16"; // 8-bit values fill their range on purpose
        Series series{"Largest activation by module (" + dtype + ")", "module, in forward order", "largest magnitude", {}, {}, {}, true};
        Value first;
        std::size_t over = 0, index = 0;
        std::string how;
        bool nearFound = false;
        double largestSeen = 0;
        for (const Value module : modules) {
            const std::string name = module["name"].string("module " + std::to_string(index));
            const auto value = magnitude(module["abs_max"].isSet() ? module["abs_max"] : module["absmax"]);
            const double infinite = module["inf"].number().value_or(0), nan = module["nan"].number().value_or(0);
            series.x.push_back(static_cast<double>(index++));
            series.y.push_back(value && std::isfinite(*value) ? *value : std::numeric_limits<double>::quiet_NaN());
            if (isMask(name))
                continue;
            // A maximum taken in bfloat16 rounds 65504 up to 65536; counts of zero then say that nothing overflowed.
            const bool counted = module["inf"].isNumber() && module["nan"].isNumber() && infinite == 0 && nan == 0
                                 && value && *value <= *limit * (1 + 1.0 / 256);
            const bool notFinite = infinite > 0 || nan > 0 || (value && !std::isfinite(*value));
            const bool beyond = value && *value >= *limit && !counted && !scaled;
            if (value && std::isfinite(*value))
                largestSeen = std::max(largestSeen, *value);
            if (notFinite || beyond) {
                ++over;
                if (!first) {
                    first = module;
                    how = infinite > 0 || (value && std::isinf(*value)) ? "overflows" : nan > 0 || (value && std::isnan(*value)) ? "is NaN" : "is out of range";
                    series.marks.push_back({series.x.back(), *limit, name, Severity::Error});
                }
            } else if (!first && !nearFound && !scaled && value && *value > m_params["near"] * *limit) {
                nearFound = true;
                Finding &finding = add("dtype.activation.near_limit", Severity::Warning,
                    name + " reaches " + numberText(*value) + " of " + numberText(*limit) + " in " + dtype,
                    "Another input takes it over the limit.", {place(stats, module["abs_max"])},
                    "The statistics cover the largest inputs that will be served.");
                finding.measure = Measure{*value / *limit, "of the largest " + dtype};
            }
        }
        if (first) {
            const Value value = first["abs_max"].isSet() ? first["abs_max"] : first;
            const std::string name = first["name"].string("a module");
            Finding &finding = add("dtype.activation.overflow", Severity::Error,
                dtype + (how == "overflows" ? " overflow first at " : how == "is NaN" ? " NaN first at " : " range left first at ") + name,
                name + ' ' + how + " (largest finite value " + numberText(*limit) + "); "
                    + (over > 1 ? std::to_string(over - 1) + " later modules follow from it." : "later modules stay finite."),
                {place(stats, value)}, "The statistics were taken with another number format than the one that is served.");
            finding.measure = Measure{static_cast<double>(over), "modules", {}, {}, modules.size()};
            if (root["dtype"])
                finding.evidence.push_back({stats.id, root["dtype"].anchor(), "dtype = " + dtype});
        } else if (dtype == "bfloat16" || dtype == "float32") {
            m_largestWide = std::max(m_largestWide.value_or(0), largestSeen);
            m_wideAt = {stats.id, modules.anchor(), "largest activation " + roundedText(largestSeen) + " in " + dtype};
        }
        m_report.series.push_back(std::move(series));
    }

    // Measured in a wide format, served in a narrow one.
    void wideActivations(const NamedDtype &serving, double limit)
    {
        if (!m_wideAt || limit > 1e30 || *m_largestWide <= m_params["near"] * limit)
            return;
        const bool over = *m_largestWide >= limit;
        Finding &finding = add(over ? "dtype.activation.overflow" : "dtype.activation.near_limit", over ? Severity::Error : Severity::Warning,
            "Activations reach " + roundedText(*m_largestWide) + ", and " + serving.name + ", which serves them, ends at " + numberText(limit),
            over ? "Where this was measured the format is wide enough; where it is served such values become infinite." : "Another input takes them over the limit.",
            {*m_wideAt, serving.where}, "The model is served in the format in which the statistics were taken.");
        finding.measure = Measure{*m_largestWide / limit, "of the largest " + serving.name};
        m_looked = true;
    }

    static Evidence place(const Artifact &stats, Value value)
    {
        const std::string text(value.raw().substr(0, 60));
        return {stats.id, value.anchor(), value.key().empty() ? text : value.key() + " = " + text};
    }

    Result<void> folderOf(const ModelFolder &folder, const EffectiveConfig *config)
    {
        const auto sets = weightSetsOf(m_run, folder);
        const auto serving = servingDtype(config, m_run, folder);
        if (auto done = cache(folder, config, sets); !done)
            return done;
        if (!serving)
            return {};
        const auto limit = largestOf(serving->name);
        if (!limit) {
            m_report.notSeen.push_back("the number format \"" + serving->name + "\" is unknown");
            return {};
        }
        if (m_run.models().size() == 1)
            wideActivations(*serving, *limit);
        // The vision tower may be served in a format of its own.
        const auto vision = serving->runtime ? std::nullopt : visionDtype(m_run, folder);
        const auto visionLimit = vision ? largestOf(vision->name) : std::nullopt;
        if (visionLimit && vision->name != serving->name && *visionLimit < 1e30) {
            m_looked = true;
            if (auto done = parameters(sets, *vision, *visionLimit, Part::Vision); !done)
                return done;
        }
        if (*limit > 1e30) { // nothing a checkpoint holds leaves the range of bfloat16 and float32
            m_looked = true;
            return {};
        }
        bool listed = false;
        for (const WeightSet &set : sets)
            listed = listed || set.listed();
        if (!listed) {
            if (!m_looked)
                m_needed = {"weights", "activation_stats"};
            m_report.notSeen.push_back(folder.path + (folder.path.empty() ? "" : ": ") + "the weights are not here, served in " + serving->name);
            return {};
        }
        m_looked = true;
        narrowed(folder, sets, *serving);
        return parameters(sets, *serving, *limit, visionLimit && vision->name != serving->name ? Part::Text : Part::All);
    }

    // (c) a checkpoint of wider range than what serves it

    void narrowed(const ModelFolder &folder, const std::vector<WeightSet> &sets, const NamedDtype &serving)
    {
        if (serving.name != "float16" || folder.adapterConfig.valid())
            return;
        std::map<std::string_view, std::uint64_t> bytes;
        std::map<std::string_view, Evidence> places;
        for (const WeightSet &set : sets) {
            if (set.gguf())
                continue; // types there are storage; the arithmetic is chosen by the back end
            for (const WeightRow &row : set.rows) {
                if (!row.info || !row.info->dtype)
                    continue;
                bytes[row.info->dtype->name] += row.info->bytes.size();
                places.try_emplace(row.info->dtype->name, set.placeOf(row, "stored as " + row.info->dtypeName));
            }
        }
        std::string_view most;
        for (const auto &[name, size] : bytes) {
            if (most.empty() || size > bytes[most])
                most = name;
        }
        if (most != "BF16" && most != "F32")
            return;
        const bool proven = m_largestWide && *m_largestWide < 0.25 * 65504;
        const Severity severity = most == "F32" || proven ? Severity::Info : Severity::Warning;
        std::vector<Evidence> evidence{serving.where, places[most]};
        if (proven)
            evidence.push_back(*m_wideAt);
        add("dtype.narrowed", severity,
            std::string("The checkpoint is stored in ") + (most == "BF16" ? "bfloat16" : "float32") + " and served in float16",
            proven ? "Activations stay below a quarter of float16's largest value, 65504."
                   : "Activations beyond 65504 become infinite there, and fluent text turns into repeated or empty tokens. Activation "
                     "statistics would tell.",
            std::move(evidence), "Activations of this model stay below 65504 on all inputs.");
    }

    // (a) parameters against the format they are computed in

    struct Candidate {
        const WeightSet *set;
        const WeightRow *row;
    };

    enum class Part : std::uint8_t { All, Text, Vision };

    static bool isVision(std::string_view name)
    {
        return name.find("vision") != std::string_view::npos || name.starts_with("visual.") || name.find(".visual.") != std::string_view::npos;
    }

    Result<void> parameters(const std::vector<WeightSet> &sets, const NamedDtype &serving, double limit, Part part)
    {
        std::vector<Candidate> candidates;
        for (const WeightSet &set : sets) {
            for (const WeightRow &row : set.rows) {
                const bool plain = row.info && row.file && row.info->dtype && row.info->bytes.size() > 0
                                   && (row.info->dtype->name == "F16" || row.info->dtype->name == "BF16" || row.info->dtype->name == "F32");
                const bool here = part == Part::All || isVision(row.name) == (part == Part::Vision);
                if (plain && here && !isMask(row.name) && !(set.gguf() && row.info->dtype->name != "F16"))
                    candidates.push_back({&set, &row});
            }
        }
        std::stable_sort(candidates.begin(), candidates.end(), [](const Candidate &a, const Candidate &b) {
            return a.row->info->bytes.size() < b.row->info->bytes.size();
        });
        const double budget = m_params["scan"] * 1e6;
        double read = 0;
        std::size_t unread = 0;
        Table table{"Largest parameters against " + serving.name, {"tensor", "stored", "largest", "of the limit"}, {}};
        for (const Candidate &candidate : candidates) {
            const auto size = static_cast<double>(candidate.row->info->bytes.size());
            if (read + size > budget) {
                ++unread;
                continue;
            }
            read += size;
            if (auto done = parameter(candidate, serving, limit, table); !done)
                return done;
        }
        if (unread > 0)
            m_report.notSeen.push_back(std::to_string(unread) + " of " + std::to_string(candidates.size())
                                       + " tensors were not read for their largest value (limit " + numberText(m_params["scan"]) + " MB)");
        if (!table.rows.empty())
            m_report.tables.push_back(std::move(table));
        return {};
    }

    Result<void> parameter(const Candidate &candidate, const NamedDtype &serving, double limit, Table &table)
    {
        const WeightRow &row = *candidate.row;
        m_measured.emplace(row.name);
        double largest = 0;
        std::uint64_t at = 0, notFinite = 0;
        const auto done = scanTensor(*row.file->source, *row.info, m_job, [&](std::uint64_t first, std::span<const double> values) {
            for (std::size_t i = 0; i < values.size(); ++i) {
                const double value = std::abs(values[i]);
                if (!std::isfinite(value)) {
                    at = notFinite++ == 0 ? first + i : at;
                } else if (value > largest && notFinite == 0) {
                    largest = value;
                    at = first + i;
                }
            }
        });
        if (!done) {
            if (done.error().code == Errc::Cancelled)
                return done;
            m_report.notSeen.push_back(std::string(row.name) + ": " + describe(done.error()));
            return {};
        }
        if (notFinite == 0 && largest <= m_params["near"] * limit)
            return {};
        const std::string name(row.name);
        const std::string value = notFinite ? std::to_string(notFinite) + " values not finite" : roundedText(largest);
        const bool over = notFinite || largest >= limit;
        const Evidence where = candidate.set->placeOf(row, "element " + std::to_string(at) + ": " + (notFinite ? "not finite" : roundedText(largest)));
        Finding &finding = add(notFinite ? "dtype.parameter.not_finite" : over ? "dtype.parameter.overflow" : "dtype.parameter.near_limit",
            over ? Severity::Error : Severity::Warning,
            name + (notFinite ? " holds " + value : " reaches " + value + ", " + serving.name + " ends at " + numberText(limit)),
            over ? "The layer gives infinities or NaN on every input." : "One multiplication or addition takes it over the limit.",
            {where, serving.where}, "Another number format is served, or this tensor is computed in a wider one.");
        if (!notFinite)
            finding.measure = Measure{largest / limit, "of the largest " + serving.name};
        table.rows.push_back({{name, where}, {row.info->dtypeName}, {value, where, Severity::Ok, true},
                              {notFinite ? "–" : roundedText(100 * largest / limit) + " %", {}, over ? Severity::Error : Severity::Warning, true}});
        return {};
    }

    /// What a table of weight statistics says of tensors that are not here to be read.
    Result<void> statistics(const std::vector<EffectiveConfig> &configs)
    {
        auto rows = weightStatistics(m_run, m_job);
        if (!rows)
            return rows.error();
        if (rows->empty())
            return {};
        const auto models = m_run.models();
        std::optional<NamedDtype> serving;
        if (models.size() == 1)
            serving = servingDtype(servingOf(configs, m_run, models[0]), m_run, models[0]);
        else if (models.empty() && configs.size() == 1)
            serving = runtimeDtype(&configs[0], "dtype");
        const auto limit = serving ? largestOf(serving->name) : std::nullopt;
        if (!limit) {
            m_report.notSeen.push_back("weight_stats: nothing says which number format serves these " + std::to_string(rows->size()) + " tensors");
            return {};
        }
        m_looked = true;
        // A tensor stored in few bits owns a scale and reaches its format's limit by construction.
        std::erase_if(*rows, [&](const TensorStatistics &row) {
            const bool plain = row.dtype.empty() || row.dtype == "float16" || row.dtype == "bfloat16" || row.dtype == "float32";
            return !plain || isMask(row.name) || m_measured.contains(row.name);
        });
        for (const TensorStatistics &row : *rows) {
            const double largest = row.largest.value_or(0);
            const bool notFinite = row.notFinite > 0 || std::isinf(largest);
            if (!notFinite && largest <= m_params["near"] * *limit)
                continue;
            const bool over = notFinite || largest >= *limit;
            Finding &finding = add(notFinite ? "dtype.parameter.not_finite" : over ? "dtype.parameter.overflow" : "dtype.parameter.near_limit",
                over ? Severity::Error : Severity::Warning,
                row.name + (notFinite ? " holds values that are not finite" : " reaches " + roundedText(largest) + ", " + serving->name + " ends at " + numberText(*limit)),
                over ? "The layer gives infinities or NaN on every input." : "One multiplication or addition takes it over the limit.",
                {row.where, serving->where}, "The statistics are of another checkpoint, or this tensor is computed in a wider format.");
            if (!notFinite)
                finding.measure = Measure{largest / *limit, "of the largest " + serving->name};
        }
        narrowedByStatistics(*rows, *serving);
        return {};
    }

    void narrowedByStatistics(const std::vector<TensorStatistics> &rows, const NamedDtype &serving)
    {
        const auto wide = std::count_if(rows.begin(), rows.end(), [](const TensorStatistics &row) { return row.dtype == "bfloat16"; });
        const bool told = std::any_of(m_report.findings.begin(), m_report.findings.end(), [](const Finding &f) { return f.code == "dtype.narrowed"; });
        if (serving.name != "float16" || told || static_cast<std::size_t>(wide) * 2 <= rows.size())
            return;
        const auto first = std::find_if(rows.begin(), rows.end(), [](const TensorStatistics &row) { return row.dtype == "bfloat16"; });
        const bool proven = m_largestWide && *m_largestWide < 0.25 * 65504;
        std::vector<Evidence> evidence{serving.where, first->where};
        if (proven)
            evidence.push_back(*m_wideAt);
        add("dtype.narrowed", proven ? Severity::Info : Severity::Warning, "The checkpoint is stored in bfloat16 and served in float16",
            proven ? "Activations stay below a quarter of float16's largest value, 65504."
                   : "Activations beyond 65504 become infinite there. Activation statistics would tell.",
            std::move(evidence), "Activations of this model stay below 65504 on all inputs.");
    }

    // (d) keys in an 8-bit cache

    Result<void> cache(const ModelFolder &folder, const EffectiveConfig *config, const std::vector<WeightSet> &sets)
    {
        const auto format = eightBitCache(config, m_run, folder);
        if (!format)
            return {};
        const double limit = largestOf(format->name).value_or(448);
        const Artifact *const file = m_run.find(folder.config);
        const Architecture arch = file ? architectureOfConfig(file->id, file->tree()) : Architecture{};
        auto ranges = keyRanges(sets, arch, m_job, m_report.notSeen);
        if (!ranges)
            return ranges.error();
        if (ranges->empty()) {
            m_report.notSeen.push_back(folder.path + (folder.path.empty() ? "" : ": ") + "an 8-bit cache, and no key bias that would bound its keys");
            return {};
        }
        m_looked = true;
        Table table{"Keys in a cache of " + format->name + " (largest value " + numberText(limit) + ")",
                    {"layer", "keys reach at least", "scale", "stored as"}, {}};
        const KeyRange *worst = nullptr;
        bool defaults = true;
        std::size_t beyond = 0, raised = 0;
        for (const KeyRange &range : *ranges) {
            defaults = defaults && range.scale.value_or(1) == 1;
            beyond += range.stored() > limit;
            raised += range.stored() > m_params["keys"] * limit;
            if (!worst || range.stored() > worst->stored())
                worst = &range;
            const Severity severity = range.stored() > limit ? Severity::Error : Severity::Ok;
            table.rows.push_back({{std::to_string(range.layer), {}, Severity::Ok, true},
                                  {roundedText(range.bound), range.bias, Severity::Ok, true},
                                  {range.scale ? roundedText(*range.scale) : "none, so 1", range.scaleAt, Severity::Ok, true},
                                  {roundedText(range.stored()), {}, severity, true}});
        }
        m_report.tables.push_back(std::move(table));
        const bool uncalibrated = defaults && worst->stored() > m_params["keys"] * limit;
        if (beyond == 0 && !uncalibrated)
            return {};
        std::vector<Evidence> evidence{worst->scaleAt, worst->bias, format->where};
        const std::string layer = "layer " + std::to_string(worst->layer);
        Finding &finding = add(uncalibrated ? "dtype.kv.uncalibrated" : "dtype.kv.saturates", Severity::Error,
            uncalibrated ? "The 8-bit cache's key scales are all 1, while keys of " + layer + " reach at least " + shown(worst->bound)
                         : "Keys of " + layer + " reach at least " + shown(worst->stored()) + " in the cache, beyond " + numberText(limit),
            uncalibrated ? "Scales of exactly 1 were never calibrated. " + format->name + " holds at most " + numberText(limit)
                               + ": what the bias alone reaches leaves too little room, so keys are clipped or lose precision."
                         : "The scale is too small for the key bias alone: keys are clipped at every position.",
            std::move(evidence), "The cache is not kept in " + format->name + ", or its scales are computed while serving.");
        finding.measure = Measure{static_cast<double>(uncalibrated ? std::max(raised, beyond) : beyond), "layers", {}, {}, ranges->size()};
        finding.next = {"W4", "F1"};
        return {};
    }

    const Run &m_run;
    const Inputs &m_inputs;
    const Params &m_params;
    const Job &m_job;
    Report m_report;
    bool m_looked = false;
    std::vector<std::string> m_needed;
    std::set<std::string, std::less<>> m_measured; ///< tensors whose values were read
    std::optional<double> m_largestWide;
    std::optional<Evidence> m_wideAt;
};

Result<Report> run(const Inputs &inputs, const Params &params, const Job &job)
{
    if (job.cancelled())
        return Job::cancelledError();
    return RangeCheck(inputs, params, job).run();
}

constexpr std::array<std::string_view, 6> usable{"config_files", "weights", "weight_stats", "activation_stats", "startup_log", "quantization_config"};

} // namespace

extern constinit const Instrument configuration_dtype_range{
    "F4", "Dtype range check", "Do values fit the number format they are served in?", "configuration_dtype_range", usable, specs, run};

} // namespace prosector
