// SPDX-License-Identifier: GPL-3.0-or-later
// W8: is every served weight really from the file?
#include "models/config/architecture.h"
#include "models/config/checkpointparts.h"
#include "models/config/freshhead.h"
#include "models/config/loaderlines.h"
#include "models/config/tokenizerfacts.h"
#include "models/instruments/instrument.h"
#include "models/instruments/weights/parts/completeness.h"

#include <algorithm>
#include <array>

namespace prosector {

namespace {

using namespace std::string_view_literals;
using namespace completeness;

class Completeness {
public:
    Completeness(const Inputs &inputs, const Job &job) : m_run(inputs.run), m_job(job) {}

    Result<Report> look()
    {
        for (const ModelFolder &folder : m_run.models()) {
            lookAtPointers(m_run, folder, m_report);
            for (const WeightSet &set : weightSetsOf(m_run, folder)) {
                if (m_job.cancelled())
                    return Job::cancelledError();
                if (!lookAtSet(set))
                    return Job::cancelledError();
            }
        }
        lookAtCutHeaders(m_run, m_report);
        for (const Artifact *const log : m_run.ofKind(Kind::StartupLog)) {
            if (m_job.cancelled())
                return Job::cancelledError();
            if (const auto *const text = log->as<TextContent>())
                lookAtLog(*log, *text);
        }
        if (!m_decided && m_report.findings.empty())
            m_report.missing = {"weights"};
        return std::move(m_report);
    }

private:
    // False when cancelled.
    bool lookAtSet(const WeightSet &set)
    {
        lookAtFiles(set, m_report);
        const Artifact *const config = m_run.find(set.folder->config);
        Architecture architecture;
        if (const auto *const gguf = set.gguf() && !set.files.empty() ? set.files[0]->as<GgufContent>() : nullptr)
            architecture = architectureOfGguf(set.files[0]->id, *gguf);
        else if (config && config->tree() && !set.gguf())
            architecture = architectureOfConfig(config->id, config->tree());
        lookAtEmbedding(set, architecture);
        const auto groups = partGroupsOf(set);
        if (!architecture.gguf && config)
            lookAtLabels(set, architecture, *config, groups);
        if (config && !lookAtFreshness(set, *config))
            return false;
        if (set.rows.empty())
            return true;
        if (!groups.all() && !set.index) {
            m_report.notSeen.push_back(set.describe() + ": an excerpt without " + groups.absentText()
                                       + "; whether it is complete cannot be said");
            return true;
        }
        m_decided = true;
        if (!set.index && !set.listed()) {
            m_report.notSeen.push_back(set.describe() + ": the layers, since not every file lists its tensors");
            return true;
        }
        lookAtLayers(set, architecture, config, m_report);
        lookAtShapes(set, architecture, m_report);
        if (!architecture.gguf)
            lookAtHead(set, architecture, groups);
        return true;
    }

    void lookAtHead(const WeightSet &set, const Architecture &architecture, const PartGroups &groups)
    {
        const bool generates = std::any_of(architecture.classes.begin(), architecture.classes.end(), [](const std::string &name) {
            return name.ends_with("ForCausalLM") || name.ends_with("LMHeadModel");
        });
        if (!generates || !groups.embedding || outputHeadOf(set))
            return;
        const auto tied = architecture.tiedHead();
        if (!tied) {
            m_report.notSeen.push_back(set.describe() + ": whether the absent output head is tied (no configuration says it)");
            return;
        }
        if (*tied)
            return;
        const Setting *const said = architecture.get(ArchField::TiedHead);
        Finding &finding = add(m_report, "weights.head.absent", Severity::Error, "The output head is absent and not tied to the embedding");
        finding.detail = said ? "The configuration says that the head has weights of its own; no file holds them."
                              : "Models of type " + architecture.modelType
                                    + " have a head of their own unless the configuration ties it; no file holds one.";
        if (said)
            finding.evidence.push_back(said->where);
        else if (architecture.artifact.valid())
            finding.evidence.push_back({architecture.artifact, Whole{}, "tie_word_embeddings is not set"});
        if (const WeightRow *const embedding = embeddingOf(set))
            finding.evidence.push_back(set.placeOf(*embedding, "the input embedding is stored; no output head is"));
        finding.falseIf = "the engine ties the head in spite of the configuration";
        finding.next = {"F3", "F10"};
    }

    void lookAtLabels(const WeightSet &set, const Architecture &architecture, const Artifact &config, const PartGroups &groups)
    {
        const bool classifies = std::any_of(architecture.classes.begin(), architecture.classes.end(), [](const std::string &name) {
            return name.ends_with("ForSequenceClassification") || name.ends_with("ForTokenClassification");
        });
        const Value root = config.tree();
        const Value labels = root["id2label"];
        const Value number = root["num_labels"];
        std::uint64_t expected = 2; // PretrainedConfig.num_labels
        Evidence declaredAt{config.id, Whole{}, "neither id2label nor num_labels is set: two labels"};
        if (labels.isObject() && labels.size() > 0) {
            expected = labels.size();
            declaredAt = {config.id, labels.anchor(), "id2label names " + counted(expected, "label")};
        } else if (number.integer() && *number.integer() > 0) {
            expected = static_cast<std::uint64_t>(*number.integer());
            declaredAt = {config.id, number.anchor(), "num_labels = " + std::to_string(expected)};
        }
        if (!classifies)
            return;
        const WeightRow *const head = labelHeadOf(set);
        if (!head) {
            if (!groups.all() || !set.listed())
                return;
            Finding &finding = add(m_report, "weights.head.absent", Severity::Error, "The classification head is absent");
            finding.detail = "The architecture " + architecture.classes.front()
                             + " scores labels with a head of its own; no file holds one, so a loader draws it at random.";
            finding.evidence.push_back({config.id, root["architectures"].anchor(), "architectures names " + architecture.classes.front()});
            finding.evidence.push_back({set.files.front()->id, Whole{}, "no tensor is called score or classifier"});
            finding.falseIf = "the head has a name of its own that this model's code knows";
            finding.next = {"F3"};
            return;
        }
        if (!head->info || head->info->shape.size() != 2 || head->info->shape[0] == expected)
            return;
        Finding &finding = add(m_report, "weights.head.rows", Severity::Error,
                               std::string(head->name) + " has " + counted(head->info->shape[0], "row") + " for "
                                   + counted(expected, "label"));
        finding.detail = "A loader refuses the head or draws another one at random (ignore_mismatched_sizes).";
        finding.evidence.push_back(set.placeOf(*head, head->info->shapeText()));
        finding.evidence.push_back(std::move(declaredAt));
        finding.measure = Measure{.number = static_cast<double>(head->info->shape[0]), .unit = "rows"};
        finding.falseIf = "the labels are given at loading and override the configuration";
        finding.next = {"F3"};
    }

    void lookAtEmbedding(const WeightSet &set, const Architecture &architecture)
    {
        const WeightRow *const embedding = embeddingOf(set);
        if (!embedding || !embedding->info || embedding->info->shape.size() != 2)
            return;
        const std::uint64_t rows = embedding->info->shape[0];
        const auto tokenizer = set.gguf() && !set.files.empty() ? TokenizerFacts::ofGguf(*set.files[0])
                                                                : TokenizerFacts::ofFolder(m_run, *set.folder);
        if (tokenizer && tokenizer->largestId && *tokenizer->largestId >= 0)
            compareRows(set, *embedding, rows, *tokenizer);
        const Setting *const vocabulary = architecture.get(ArchField::Vocab);
        if (!set.gguf() && vocabulary && vocabulary->number && *vocabulary->number != static_cast<double>(rows)) {
            Finding &finding = add(m_report, "weights.embedding.declared", Severity::Warning,
                                   "The embedding has " + counted(rows, "row") + ", the configuration says " + vocabulary->text);
            finding.detail = "Transformers refuses the pair or draws a new embedding; other engines cut or pad it.";
            finding.evidence.push_back(set.placeOf(*embedding, embedding->info->shapeText()));
            finding.evidence.push_back(vocabulary->where);
            finding.measure = Measure{.number = static_cast<double>(rows), .unit = "rows"};
            finding.falseIf = "the engine takes the size from the file";
            finding.next = {"F10", "T13"};
        }
    }

    void compareRows(const WeightSet &set, const WeightRow &embedding, std::uint64_t rows, const TokenizerFacts &tokenizer)
    {
        const auto largest = static_cast<std::uint64_t>(*tokenizer.largestId);
        Table table{"Embedding rows and tokens", {"tensor", "rows", "largest token id", "rows without token"}, {}};
        table.rows.push_back({{std::string(embedding.name), set.placeOf(embedding, embedding.info->shapeText())},
                              {std::to_string(rows), {}, Severity::Ok, true},
                              {std::to_string(largest), {}, Severity::Ok, true},
                              {rows > largest ? std::to_string(rows - largest - 1) : "0", {}, Severity::Ok, true}});
        m_report.tables.push_back(std::move(table));
        if (rows > largest)
            return; // rows to spare are lawful padding
        // Added tokens are often declared and never used; words of the vocabulary are.
        std::uint64_t addedBeyond = 0;
        for (const AddedToken &token : tokenizer.added)
            addedBeyond += token.id >= 0 && static_cast<std::uint64_t>(token.id) >= rows;
        const bool vocabularyToo = tokenizer.gguf || !tokenizer.size || *tokenizer.size > rows + addedBeyond
                                   || addedBeyond == 0;
        Finding &finding = add(m_report, "weights.embedding.rows", vocabularyToo ? Severity::Error : Severity::Warning,
                               "Token id " + std::to_string(largest) + " has no row in the embedding of " + counted(rows, "row"));
        finding.detail = vocabularyToo ? "The tokenizer can produce ids that the embedding does not hold."
                                       : "Only added tokens are concerned: text that contains them cannot be embedded.";
        finding.evidence.push_back(set.placeOf(embedding, embedding.info->shapeText()));
        finding.evidence.push_back(tokenizer.pieceAt(*tokenizer.largestId, "id " + std::to_string(largest)));
        finding.measure = Measure{.number = static_cast<double>(largest + 1 - rows), .unit = "rows"};
        finding.falseIf = "these tokens never occur, or the embedding is enlarged after loading";
        finding.next = {"T13", "T6"};
    }

    // False when cancelled.
    bool lookAtFreshness(const WeightSet &set, const Artifact &config)
    {
        const WeightRow *const head = labelHeadOf(set);
        if (!head || !head->file)
            return true;
        const auto freshness = freshnessOf(set, *head, m_job);
        if (!freshness)
            return false;
        const Value stated = textPartOf(config.tree())["initializer_range"];
        const double range = stated.number().value_or(0.02); // PretrainedConfig's usual default
        if (!*freshness || !(*freshness)->fresh(range))
            return true;
        const auto start = beforeTraining(*set.folder);
        Finding &finding = add(m_report, "weights.head.fresh", start ? Severity::Info : Severity::Warning, std::string(head->name) + " looks freshly drawn");
        finding.detail = "Mean " + decimal((*freshness)->mean) + ", deviation " + decimal((*freshness)->deviation) + " for a range of " + decimal(range)
                         + ", normal with p = " + decimal((*freshness)->p, 2) + ", bias zero or absent: nothing tells it from a head that was never trained.";
        finding.evidence.push_back(set.placeOf(*head, head->info->shapeText()));
        finding.evidence.push_back(stated ? Evidence{config.id, stated.anchor(), "initializer_range = " + std::string(stated.raw())}
                                          : Evidence{config.id, Whole{}, "initializer_range is not set: 0.02"});
        if (start) {
            finding.detail += " The trainer had taken no step when the checkpoint was written.";
            finding.evidence.push_back(*start);
        }
        finding.measure = Measure{.number = (*freshness)->deviation, .unit = "standard deviation", .p = (*freshness)->p, .n = (*freshness)->n};
        finding.falseIf = "the checkpoint is meant as a start for training";
        finding.next = {"F3", "E1"};
        return true;
    }

    /// The trainer's state beside the weights, when it says that training has not begun.
    std::optional<Evidence> beforeTraining(const ModelFolder &folder) const
    {
        for (const Artifact &artifact : m_run.artifacts()) {
            const Value root = artifact.tree(), step = root["global_step"];
            const std::string_view parent = std::string_view(artifact.path).substr(0, artifact.path.rfind('/') + 1);
            const bool beside = parent == (folder.path.empty() ? std::string() : folder.path + '/');
            if (beside && root["log_history"].isArray() && step.number() == 0.0)
                return Evidence{artifact.id, step.anchor(), "global_step = 0"};
        }
        return std::nullopt;
    }

    void lookAtLog(const Artifact &log, const TextContent &text)
    {
        const bool training = isTrainingLog(text);
        std::vector<LoaderLine> drawn, harmless, unused;
        for (LoaderLine &line : loaderLinesOf(text)) {
            if (line.what == LoaderLine::What::Unused)
                unused.push_back(std::move(line));
            else if (training || std::all_of(line.tensors.begin(), line.tensors.end(), isComputed))
                harmless.push_back(std::move(line));
            else
                drawn.push_back(std::move(line));
        }
        m_decided = m_decided || !drawn.empty() || !harmless.empty() || !unused.empty();
        if (!drawn.empty()) {
            Finding &finding = logFinding("weights.log.initialized", Severity::Error, log, drawn,
                                          "was drawn at random by the loader, not read from the checkpoint",
                                          "were drawn at random by the loader, not read from the checkpoint");
            finding.falseIf = "the model is about to be trained and these tensors are meant to start at random";
            finding.next = {"F3"};
        }
        if (!harmless.empty()) {
            Finding &finding = logFinding("weights.log.initialized", Severity::Info, log, harmless,
                                          training ? "starts at random for training" : "is computed, not read",
                                          training ? "start at random for training" : "are computed, not read");
            finding.falseIf = "this model is served without the training that follows";
        }
        if (!unused.empty()) {
            Finding &finding = logFinding("weights.log.unused", Severity::Info, log, unused,
                                          "of the checkpoint was dropped by the loader", "of the checkpoint were dropped by the loader");
            finding.falseIf = "the task needs them";
        }
    }

    // Absent from checkpoints by design: rotary tables, position ids; the pooler of an encoder whose
    // task does not use it.
    static bool isComputed(const std::string &name)
    {
        return name.ends_with("inv_freq") || name.ends_with("position_ids") || name.find("pooler.") != std::string::npos
               || name.ends_with("masked_bias");
    }

    Finding &logFinding(std::string code, Severity severity, const Artifact &log, const std::vector<LoaderLine> &lines,
                        std::string_view one, std::string_view many)
    {
        std::uint64_t tensors = 0;
        std::string names;
        Finding &finding = add(m_report, std::move(code), severity, "");
        for (const LoaderLine &line : lines) {
            tensors += std::max<std::size_t>(line.tensors.size(), 1);
            for (const std::string &name : line.tensors) {
                if (names.size() < 200)
                    names += (names.empty() ? "" : ", ") + name;
            }
            if (finding.evidence.size() < evidenceLimit)
                finding.evidence.push_back({log.id, LogLine{line.line, line.line},
                                            "the loader names " + (line.tensors.empty() ? std::string("tensors") : line.tensors.front())});
        }
        finding.title = counted(tensors, "tensor") + " " + std::string(tensors == 1 ? one : many);
        finding.detail = "Named: " + (names.empty() ? std::string("none") : names) + ".";
        finding.measure = Measure{.number = static_cast<double>(tensors), .unit = "tensors"};
        return finding;
    }

    const Run &m_run;
    const Job &m_job;
    Report m_report;
    bool m_decided = false;
};

Result<Report> run(const Inputs &inputs, const Params &, const Job &job)
{
    return Completeness(inputs, job).look();
}

constexpr std::array inputKinds{"weights"sv, "weight_index"sv, "config_files"sv, "tokenizer_files"sv, "startup_log"sv};

} // namespace

extern constinit const Instrument weights_checkpoint_completeness{
    .id = "W8",
    .name = "Checkpoint completeness",
    .question = "Is every served weight really from the file?",
    .slug = "weights_checkpoint_completeness",
    .inputs = inputKinds,
    .params = {},
    .run = run,
};

} // namespace prosector
