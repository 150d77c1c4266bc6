// SPDX-License-Identifier: GPL-3.0-or-later
// T6: does the prompt use ids the model never learned?
#include "models/artifacts/tensordata.h"
#include "models/core/wording.h"
#include "models/instruments/instrument.h"
#include "models/prompts/embedding.h"
#include "models/prompts/proberender.h"
#include "models/prompts/tokenarrays.h"
#include "models/prompts/tokenizerview.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>

namespace prosector {

namespace {

constexpr std::array<ParamSpec, 3> specs{{
    {"share", "A row is faint when its norm is below the median divided by this", "", 20, 2, 1000},
    {"twins", "A row is unlearned when it equals this many others bit for bit", "rows", 8, 1, 1000},
    {"rows", "Rows read for the median, evenly spread", "rows", 1024, 16, 1e6},
}};

/// Norms of the rows that matter and of a sample of all.
class RowNorms {
public:
    static Result<RowNorms> of(const EmbeddingTable &table, const std::set<std::int64_t> &wanted, std::uint64_t sample, const Job &job)
    {
        RowNorms norms;
        norms.m_readable = hasPlainValues(table.tensor->dtype) && table.rows > 0 && table.columns > 0;
        if (!norms.m_readable)
            return norms;
        std::set<std::uint64_t> rows;
        for (const std::int64_t id : wanted) {
            // Rows that were never trained lie side by side.
            for (std::int64_t near = std::max<std::int64_t>(0, id - 16); near <= id + 16; ++near) {
                if (static_cast<std::uint64_t>(near) < table.rows)
                    rows.insert(static_cast<std::uint64_t>(near));
            }
        }
        const std::uint64_t step = std::max<std::uint64_t>(1, table.rows / std::max<std::uint64_t>(1, sample));
        std::vector<double> all;
        for (std::uint64_t row = 0; row < table.rows; row += step)
            rows.insert(row);
        const auto *const content = table.file->as<TensorContent>();
        const ByteSource &source = sourceOf(*content, *table.tensor, *table.file->source);
        for (const std::uint64_t row : rows) {
            if (job.cancelled())
                return Job::cancelledError();
            auto values = readTensor<float>(source, *table.tensor, row * table.columns, table.columns, job);
            if (!values) {
                norms.m_readable = false;
                norms.m_problem = describe(values.error());
                return norms;
            }
            double sum = 0;
            std::uint64_t hash = 1469598103934665603ULL;
            for (const float value : *values) {
                sum += double(value) * value;
                std::uint32_t bits = 0;
                static_assert(sizeof bits == sizeof value);
                std::copy_n(reinterpret_cast<const char *>(&value), sizeof bits, reinterpret_cast<char *>(&bits));
                hash = (hash ^ bits) * 1099511628211ULL;
            }
            norms.m_norms[row] = std::sqrt(sum);
            norms.m_hashes[row] = hash;
            ++norms.m_same[hash];
            if (row % step == 0)
                all.push_back(std::sqrt(sum));
        }
        std::nth_element(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2), all.end());
        norms.m_median = all[all.size() / 2];
        return norms;
    }

    bool readable() const { return m_readable; }
    const std::string &problem() const { return m_problem; }
    double median() const { return m_median; }
    double norm(std::int64_t id) const { return m_norms.at(static_cast<std::uint64_t>(id)); }
    std::size_t twins(std::int64_t id) const { return m_same.at(m_hashes.at(static_cast<std::uint64_t>(id))) - 1; }

private:
    bool m_readable = false;
    std::string m_problem;
    double m_median = 0;
    std::map<std::uint64_t, double> m_norms;
    std::map<std::uint64_t, std::uint64_t> m_hashes;
    std::map<std::uint64_t, std::size_t> m_same;
};

/// A place where an id is used.
struct Use {
    const TokenArray *array = nullptr; ///< null: printed by the chat template
    std::size_t index = 0;
    Evidence where{};
    bool inTemplate = false;
};

class Census {
public:
    Census(const TokenizerView &view, Report &report, const Job &job) : m_view(view), m_report(report)
    {
        m_table = view.gguf ? embeddingOf(*view.gguf) : embeddingOf(*view.run, *view.folder);
        const SpecialRole *const unk = view.facts.role("unk");
        m_unk = unk ? unk->id : view.json()["model"]["unk_id"].integer();
        for (const std::string_view role : {"eos", "bos", "pad"}) {
            const SpecialRole *const other = view.facts.role(role);
            if (other && other->id && other->id == m_unk)
                m_unk.reset(); // GPT-2, Granite: one token for all
        }
        if (!view.gguf) {
            if (const Artifact *const config = view.run->find(view.folder->config)) {
                for (const std::string_view key : {"image_token_id", "video_token_id", "audio_token_id", "image_token_index", "video_token_index", "audio_token_index"}) {
                    if (const auto id = config->tree()[key].integer())
                        m_media.insert(*id);
                }
            }
        }
        markers(job);
    }

    void add(const TokenArray &array)
    {
        ++m_arrays;
        for (std::size_t i = 0; i < array.ids.size(); ++i) {
            if (!m_media.contains(array.ids[i]) && !isHash(array, i))
                m_uses.try_emplace(array.ids[i], Use{&array, i, {}, isMarkerUse(array.ids[i])});
        }
    }

    bool usable() const { return m_table || m_view.facts.vocabularyFile.valid(); }
    bool hasUses() const { return !m_uses.empty(); }

    Result<void> run(const Params &params, const Job &job)
    {
        const std::int64_t known = m_view.facts.largestId.value_or(-1) + 1;
        const bool whole = m_view.facts.vocabularyFile.valid() && m_view.excerpt().empty();
        const std::int64_t rows = m_table ? static_cast<std::int64_t>(m_table->rows) : -1;
        std::set<std::int64_t> wanted;
        for (const auto &[id, use] : m_uses) {
            if (id >= 0 && (rows < 0 || id < rows))
                wanted.insert(id);
        }
        std::optional<RowNorms> norms;
        if (m_table && !wanted.empty()) {
            auto read = RowNorms::of(*m_table, wanted, static_cast<std::uint64_t>(params["rows"]), job);
            if (!read)
                return read.error();
            norms = std::move(*read);
            if (!norms->readable())
                m_report.notSeen.push_back(m_table->file->path + ' ' + m_table->tensor->name + ": norms of its rows" + (norms->problem().empty() ? " (" + m_table->tensor->dtypeName + " is not read as numbers)" : ": " + norms->problem()));
        } else if (!m_table && hasUses()) {
            m_report.notSeen.push_back(m_view.path() + ": rows of the embedding, which are not here");
        }
        std::vector<std::int64_t> outside, unnamed, unknown, faint, twins;
        for (const auto &[id, use] : m_uses) {
            if (id < 0)
                continue; // placeholders for pictures
            if (rows >= 0 && id >= rows)
                outside.push_back(id);
            else if (whole && known > 0 && id >= known)
                unnamed.push_back(id);
            else if (use.array && m_unk == id)
                unknown.push_back(id);
            else if (norms && norms->readable() && norms->norm(id) < norms->median() / params["share"])
                faint.push_back(id);
            else if (norms && norms->readable() && static_cast<double>(norms->twins(id)) >= params["twins"])
                twins.push_back(id);
        }
        tell(outside, "tokens.untrained.out_of_range", "is beyond the embedding's " + std::to_string(rows) + " rows", "Reading it gives an error, or what lies behind the table.", Severity::Error, norms);
        tell(unnamed, "tokens.untrained.unnamed", "is beyond the vocabulary, whose largest id is " + std::to_string(known - 1), "The row is there as padding of the table and was never trained.", Severity::Warning, norms);
        tell(unknown, "tokens.untrained.unknown", "is the unknown token", "What stood in the text is not known to the model.", Severity::Warning, norms);
        tell(faint, "tokens.untrained.faint", "has a faint embedding row", "A row that no training text ever used stays near where it began.", Severity::Warning, norms);
        tell(twins, "tokens.untrained.twins", "has the same embedding row as many others", "Rows that are equal bit for bit were set, not learned.", Severity::Warning, norms);
        padding(known, rows, whole);
        return {};
    }

private:
    /// SGLang writes hashes far above the vocabulary where pictures stand.
    bool isHash(const TokenArray &array, std::size_t i) const
    {
        return array.source.starts_with("input_ids") && array.ids[i] > (std::int64_t(1) << 24);
    }

    bool isMarkerUse(std::int64_t id) const { return m_printed.contains(id); }

    /// Markers that the chat template prints for a plain conversation: they are in every prompt. A template
    /// that knows no system turn is asked without one.
    void markers(const Job &job)
    {
        const ProbeRenders renders(m_view);
        if (!renders.chat())
            return;
        auto prompt = renders.render(Probe::SystemUser, true, job);
        if (!prompt)
            prompt = renders.render(Probe::User, true, job);
        if (!prompt) {
            m_report.notSeen.push_back(m_view.path() + ": markers of the chat template, which does not render: " + prompt.error().message);
            return;
        }
        for (const PrintedMarker &marker : renders.markersIn(*prompt)) {
            if (!marker.id || m_media.contains(*marker.id))
                continue;
            m_printed.insert(*marker.id);
            m_uses.emplace(*marker.id, Use{nullptr, 0, marker.where, true});
        }
    }

    void tell(const std::vector<std::int64_t> &ids, std::string code, const std::string &what, const std::string &follows, Severity severity, const std::optional<RowNorms> &norms)
    {
        if (ids.empty())
            return;
        // One in a template span is in every prompt.
        const auto printed = std::find_if(ids.begin(), ids.end(), [&](auto id) { return m_uses.at(id).inTemplate; });
        const std::int64_t id = printed != ids.end() ? *printed : ids.front();
        const bool rowed = norms && norms->readable() && id < static_cast<std::int64_t>(m_table->rows);
        std::vector<Evidence> evidence;
        for (const std::int64_t one : ids) {
            const Use &use = m_uses.at(one);
            if (one != id && evidence.size() >= 4)
                continue;
            Evidence where = use.array ? use.array->tokens(use.index, use.index + 1, "id " + std::to_string(one)) : use.where;
            evidence.insert(one == id ? evidence.begin() : evidence.end(), std::move(where));
        }
        std::string norm;
        if (rowed) {
            norm = " Its row has norm " + decimal(norms->norm(id), 3) + ", the median is " + decimal(norms->median(), 3) + '.';
            evidence.push_back(m_view.at(m_table->row(static_cast<std::uint64_t>(id), "norm " + decimal(norms->norm(id), 3) + " against a median of " + decimal(norms->median(), 3))));
        } else if (m_table) {
            evidence.push_back(m_view.at(m_table->at(std::to_string(m_table->rows) + " rows")));
        }
        const auto piece = m_view.piece(id);
        const bool inTemplate = m_uses.at(id).inTemplate;
        Finding finding{std::move(code), inTemplate ? Severity::Error : severity,
                        "Id " + std::to_string(id) + (piece ? " " + shownPiece(*piece) : std::string()) + (inTemplate ? ", part of every prompt, " : " ") + what + (ids.size() > 1 ? " (and " + std::to_string(ids.size() - 1) + " more)" : ""),
                        follows + norm};
        finding.evidence = std::move(evidence);
        finding.measure = Measure{rowed ? norms->norm(id) : static_cast<double>(ids.size()), rowed ? "row norm" : "ids"};
        finding.falseIf = "An adapter brings its own embedding rows, or the id is replaced before the table is read (pictures, sound).";
        finding.next = {"T13", "T12"};
        m_report.findings.push_back(std::move(finding));
    }

    void padding(std::int64_t known, std::int64_t rows, bool whole)
    {
        if (!whole || rows <= known || known <= 0)
            return;
        Finding finding{"tokens.untrained.padding", Severity::Info, std::to_string(rows) + " embedding rows for " + std::to_string(known) + " ids: the table is padded",
                        counted(static_cast<std::uint64_t>(rows - known), "row") + " belong to no token" + (rows % 64 == 0 ? "; the number is a multiple of " + std::to_string(rows % 128 == 0 ? 128 : 64) + ", as fast kernels like it." : ".")};
        finding.evidence = {m_view.at(m_table->at(std::to_string(rows) + " rows")), m_view.whole("largest id " + std::to_string(known - 1))};
        finding.measure = Measure{static_cast<double>(rows - known), "rows"};
        finding.falseIf = "Tokens were lost from the vocabulary.";
        m_report.findings.push_back(std::move(finding));
    }

    const TokenizerView &m_view;
    Report &m_report;
    std::optional<EmbeddingTable> m_table;
    std::optional<std::int64_t> m_unk;
    std::set<std::int64_t> m_media, m_printed;
    std::map<std::int64_t, Use> m_uses;
    std::size_t m_arrays = 0;
};

Result<Report> run(const Inputs &inputs, const Params &params, const Job &job)
{
    auto arrays = tokenArrays(inputs.run, TokenArray::Use::Input, job);
    if (!arrays)
        return arrays.error();
    const auto views = tokenizerViews(inputs.run);
    Report report;
    std::map<const TokenizerView *, Census> all;
    for (const TokenizerView &view : views)
        all.try_emplace(&view, view, report, job);
    for (const TokenArray &array : *arrays) {
        const TokenizerView *const view = viewFor(views, *array.artifact);
        if (view)
            all.at(view).add(array);
    }
    std::size_t looked = 0;
    for (const TokenizerView &view : views) {
        if (job.cancelled())
            return Job::cancelledError();
        Census &census = all.at(&view);
        if (!census.usable())
            continue;
        looked += census.hasUses();
        if (auto done = census.run(params, job); !done)
            return done.error();
    }
    if (looked == 0 && report.findings.empty())
        report.missing = views.empty() ? std::vector<std::string>{"tokenizer_files"} : std::vector<std::string>{"token_array"};
    return report;
}

constexpr std::array<std::string_view, 4> usable{"token_array", "tokenizer_files", "weights", "chat_template"};

} // namespace

extern constinit const Instrument tokens_untrained_ids{
    "T6", "Untrained-id census", "Does the prompt use ids the model never learned?", "tokens_untrained_ids", usable, specs, run};

} // namespace prosector
