// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/config/ropescaling.h"
#include "models/instruments/configuration/parts/familycheck.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

namespace prosector {

namespace {

struct Rule {
    std::string_view known;
    ArchField field;
    Severity severity;
};
/// What changes the computation of the same weights is an error; what only limits or labels it is not.
constexpr std::array rules = std::to_array<Rule>({
    {"head_dim", ArchField::HeadDim, Severity::Error},
    {"rms_norm_eps", ArchField::NormEps, Severity::Error},
    {"layer_norm_eps", ArchField::NormEps, Severity::Error},
    {"attn_logit_softcapping", ArchField::AttentionSoftcap, Severity::Error},
    {"final_logit_softcapping", ArchField::FinalSoftcap, Severity::Error},
    {"query_pre_attn_scalar", ArchField::QueryScalar, Severity::Error},
    {"attention_multiplier", ArchField::AttentionMultiplier, Severity::Error},
    {"embedding_multiplier", ArchField::EmbeddingMultiplier, Severity::Error},
    {"residual_multiplier", ArchField::ResidualMultiplier, Severity::Error},
    {"logits_scaling", ArchField::LogitScale, Severity::Error},
    {"logit_scale", ArchField::LogitScale, Severity::Error},
    {"partial_rotary_factor", ArchField::PartialRotary, Severity::Error},
    {"num_experts_per_tok", ArchField::ExpertsUsed, Severity::Error},
    {"routed_scaling_factor", ArchField::RoutedScale, Severity::Error},
    {"tie_word_embeddings", ArchField::TiedHead, Severity::Error},
    {"sliding_window", ArchField::SlidingWindow, Severity::Error},
    {"use_sliding_window", ArchField::UseSlidingWindow, Severity::Error},
    {"max_position_embeddings", ArchField::Context, Severity::Info},
    {"torch_dtype", ArchField::DataType, Severity::Info},
    {"hidden_act", ArchField::Activation, Severity::Info},
    {"attention_bias", ArchField::AttentionBias, Severity::Info},
});

/// What the configuration classes of transformers 4.57 take for a key that is absent (configuration_<type>.py).
/// The size of a head is then hidden size by heads.
struct ClassDefault {
    std::string_view known;
    ArchField field;
    double value;
    std::array<std::string_view, 8> types;
};
constexpr std::array classDefaults = std::to_array<ClassDefault>({
    {"rope_theta", ArchField::Context, 10000, {"llama", "mistral", "qwen2", "qwen2_moe", "qwen3", "qwen3_moe", "gemma2", "phi3"}},
    {"rms_norm_eps", ArchField::NormEps, 1e-6, {"llama", "mistral", "qwen2", "qwen2_moe", "qwen3", "qwen3_moe", "gemma", "gemma2"}},
    {"rms_norm_eps", ArchField::NormEps, 1e-5, {"phi3", "mixtral", "olmo2", "", "", "", "", ""}},
    {"head_dim", ArchField::HeadDim, 0, {"llama", "mistral", "mixtral", "qwen2", "qwen2_moe", "", "", ""}},
    {"query_pre_attn_scalar", ArchField::QueryScalar, 256, {"gemma2", "gemma3_text", "", "", "", "", "", ""}},
    {"attn_logit_softcapping", ArchField::AttentionSoftcap, 50, {"gemma2", "", "", "", "", "", "", ""}},
    {"final_logit_softcapping", ArchField::FinalSoftcap, 30, {"gemma2", "", "", "", "", "", "", ""}},
});

struct Mismatch {
    std::string field;
    Severity severity = Severity::Info;
    std::string here;
    Evidence where{};
    KnownFact fact;
    std::string remark{};
};

struct Candidate {
    const KnownRow *row = nullptr;
    std::vector<Mismatch> mismatches;
    /// Context and rotation tell models of one shape apart, so they count as much as an error.
    int weight() const
    {
        int sum = 0;
        for (const Mismatch &mismatch : mismatches)
            sum += mismatch.severity == Severity::Error || mismatch.field == "max_position_embeddings" ? 2 : 1;
        return sum;
    }
    const Mismatch *find(std::string_view field) const
    {
        const auto it = std::find_if(mismatches.begin(), mismatches.end(), [&](const Mismatch &m) { return m.field == field; });
        return it == mismatches.end() ? nullptr : &*it;
    }
};

class NumberCheck {
public:
    NumberCheck(const FamilySubject &subject, const std::vector<ModelDescription> &all, const KnownModels &book, Report &report)
        : m_subject(subject), m_model(*subject.model), m_arch(m_model.arch), m_all(all), m_book(book), m_report(report)
    {
    }

    void run()
    {
        std::vector<Candidate> candidates;
        for (const KnownRow *const row : m_subject.recognition.models)
            candidates.push_back(compare(*row));
        // A model of the declared type is rather meant than another of its shape.
        const auto ofType = [&](const Candidate &candidate) { return declaresType(m_subject, *candidate.row, m_book); };
        if (std::any_of(candidates.begin(), candidates.end(), ofType))
            std::erase_if(candidates, [&](const Candidate &candidate) { return !ofType(candidate); });
        if (candidates.empty())
            return;
        std::stable_sort(candidates.begin(), candidates.end(), [](const Candidate &a, const Candidate &b) { return a.weight() < b.weight(); });
        const int least = candidates.front().weight();
        std::vector<Candidate> nearest = candidates;
        std::erase_if(nearest, [&](const Candidate &candidate) { return candidate.weight() > least; });
        table(nearest);
        std::set<std::string> fields;
        for (const Candidate &candidate : nearest) {
            for (const Mismatch &mismatch : candidate.mismatches) {
                if (fields.insert(mismatch.field).second)
                    report(mismatch, nearest);
            }
        }
        // A row that does not state what every model has absolves nothing: where all that state it differ, it is told as
        // well. Of scaling, windows and caps silence means that there is none.
        static constexpr std::array<std::string_view, 5> everywhere{"rope_theta", "rms_norm_eps", "layer_norm_eps", "head_dim", "tie_word_embeddings"};
        for (const Candidate &candidate : candidates) {
            for (const Mismatch &mismatch : candidate.mismatches) {
                if (std::find(everywhere.begin(), everywhere.end(), mismatch.field) == everywhere.end())
                    continue;
                std::vector<Candidate> stating = candidates;
                std::erase_if(stating, [&](const Candidate &other) { return !m_book.fact(*other.row, mismatch.field) && !other.find(mismatch.field); });
                const bool all = std::all_of(stating.begin(), stating.end(), [&](const Candidate &other) { return other.find(mismatch.field); });
                const bool limits = mismatch.severity < Severity::Warning;
                if (all && !limits && fields.insert(mismatch.field).second)
                    report(mismatch, stating);
            }
        }
    }

private:
    Candidate compare(const KnownRow &row) const
    {
        Candidate candidate{&row};
        for (const Rule &rule : rules) {
            const auto fact = m_book.fact(row, rule.known);
            const Setting *const setting = m_arch.get(rule.field);
            if (!fact || !setting || fact->value.isNull() || accepts(row, *fact, rule, *setting))
                continue;
            candidate.mismatches.push_back({std::string(rule.known), rule.severity, setting->text, m_model.at(setting->where), *fact});
        }
        base(row, candidate);
        scaling(row, candidate);
        leftOut(row, candidate);
        for (Mismatch &mismatch : candidate.mismatches)
            soften(mismatch, candidate);
        anotherModel(row, candidate);
        return candidate;
    }

    /// Shapes repeat: Llama 1 has that of Llama 2, vision models take a text model's. What differs in its type, or
    /// in its window and a number at once, or in three numbers, is rather another model than a damaged one.
    void anotherModel(const KnownRow &row, Candidate &candidate) const
    {
        const auto errors = std::count_if(candidate.mismatches.begin(), candidate.mismatches.end(), [](const Mismatch &m) { return m.severity == Severity::Error; });
        const bool otherType = !declaresType(m_subject, row, m_book);
        const bool otherWindow = candidate.find("max_position_embeddings") && !candidate.find("rope_scaling");
        if (errors == 0 || (!otherType && !otherWindow && errors < 3))
            return;
        for (Mismatch &mismatch : candidate.mismatches) {
            if (mismatch.severity != Severity::Error)
                continue;
            mismatch.severity = Severity::Info;
            mismatch.remark = otherType ? "The declared model_type is another: rather a different model of this shape."
                                        : "It differs in other numbers too: rather a different model of this shape.";
        }
    }

    bool accepts(const KnownRow &row, const KnownFact &fact, const Rule &rule, const Setting &setting) const
    {
        if (rule.field == ArchField::SlidingWindow) {
            const auto known = fact.value.number();
            const auto off = m_book.fact(row, "use_sliding_window"), effective = m_book.fact(row, "sliding_window_effective");
            const bool unused = !m_arch.slidingWindow() || (off && off->accepts(false)) || (effective && effective->accepts(false));
            // Copies count the token itself or not: 2047 and 2048 are both published.
            return unused || (known && setting.number && std::abs(*known - *setting.number) <= 1);
        }
        if (setting.boolean)
            return fact.accepts(*setting.boolean);
        if (setting.word)
            return fact.accepts(std::string_view(*setting.word)) || (rule.field == ArchField::Activation && sameActivation(fact, *setting.word));
        if (setting.number)
            return fact.accepts(*setting.number);
        return true; // lists are not compared with single numbers
    }

    static bool sameActivation(const KnownFact &fact, std::string_view word)
    {
        const bool gelu = word.find("gelu") != std::string_view::npos, silu = word == "silu" || word == "swish";
        return (gelu && fact.text().find("gelu") != std::string::npos) || (silu && (fact.accepts(std::string_view("silu"))));
    }

    void base(const KnownRow &row, Candidate &candidate) const
    {
        const auto fact = m_book.fact(row, "rope_theta");
        if (!fact || !fact->value.isNumber())
            return;
        const auto &theta = m_arch.rope.front().theta;
        if (theta && theta->number) {
            if (!fact->accepts(*theta->number))
                candidate.mismatches.push_back({"rope_theta", Severity::Error, theta->text, m_model.at(theta->where), *fact});
        } else if (!theta && m_model.gguf && m_model.tensorCount() > 0 && !fact->accepts(10000.0)) {
            candidate.mismatches.push_back({"rope_theta", Severity::Error, "absent, 10000 is used",
                                            m_model.key(m_arch.modelType + ".rope.freq_base", "absent"), *fact});
        }
    }

    /// What config.json leaves out the class fills in, and `null` switches a soft-cap off.
    void leftOut(const KnownRow &row, Candidate &candidate) const
    {
        if (m_model.gguf)
            return;
        const Value text = textPartOf(m_model.artifact->tree()), root = m_model.artifact->tree();
        for (const ClassDefault &entry : classDefaults) {
            const bool mine = std::find(entry.types.begin(), entry.types.end(), std::string_view(m_arch.modelType)) != entry.types.end();
            const auto fact = mine ? m_book.fact(row, entry.known) : std::nullopt;
            if (!fact || !fact->value.isNumber())
                continue;
            const bool stated = entry.known == "rope_theta" ? m_arch.rope.front().theta.has_value() : m_arch.get(entry.field) != nullptr;
            if (stated)
                continue;
            const Value null = text[entry.known] ? text[entry.known] : root[entry.known];
            const bool off = null.isNull() && (entry.field == ArchField::AttentionSoftcap || entry.field == ArchField::FinalSoftcap);
            const auto value = entry.known == "head_dim" ? m_arch.headDim() : std::optional(entry.value);
            if (!off && (!value || fact->accepts(*value)))
                continue;
            const std::string here = off ? "null, so off" : (null.isNull() ? "null, so " : "absent, so ") + numberText(*value) + " by default";
            Evidence where = null.isNull() ? Evidence{m_model.artifact->id, null.anchor(), std::string(entry.known) + " = null"}
                                           : m_model.whole(std::string(entry.known) + " is not stated");
            candidate.mismatches.push_back({std::string(entry.known), Severity::Error, here, std::move(where), *fact});
        }
    }

    void scaling(const KnownRow &row, Candidate &candidate) const
    {
        const auto fact = m_book.fact(row, "rope_scaling");
        if (!fact || !fact->value.isObject())
            return;
        const RopeSettings &rope = m_arch.rope.front();
        const std::string known = fact->value["rope_type"].string(fact->value["type"].string(""));
        if (m_model.gguf) {
            const bool needs = known == "llama3" && m_model.complete && m_model.tensorCount() > 0;
            if (needs && !m_model.tensor("rope_freqs.weight"))
                candidate.mismatches.push_back({"rope_scaling", Severity::Error, "no rope_freqs.weight",
                                                m_model.whole("no tensor rope_freqs.weight among " + std::to_string(m_model.tensorCount())), *fact});
            return;
        }
        const Setting *const context = m_arch.get(ArchField::Context);
        if (!rope.scaling) {
            const auto original = fact->value["original_max_position_embeddings"].number();
            const bool cut = context && context->number && original && *context->number <= *original;
            candidate.mismatches.push_back({"rope_scaling", cut ? Severity::Info : Severity::Error, "none",
                                            context ? m_model.at(context->where, "no rope_scaling; " + context->where.note) : m_model.whole("no rope_scaling"),
                                            *fact, cut ? "The window is cut to the unscaled length." : ""});
            return;
        }
        const std::array<std::pair<std::string_view, const std::optional<Setting> *>, 4> numbers{{{"factor", &rope.factor},
            {"original_max_position_embeddings", &rope.original}, {"low_freq_factor", &rope.lowFreq}, {"high_freq_factor", &rope.highFreq}}};
        for (const auto &[key, setting] : numbers) {
            const auto expected = fact->value[key].number();
            if (expected && *setting && (*setting)->number && !sameNumber(*expected, *(*setting)->number))
                candidate.mismatches.push_back({"rope_scaling." + std::string(key), Severity::Error, (*setting)->text,
                                                m_model.at((*setting)->where),
                                                {std::string(key), fact->value[key], {}, fact->recalled, fact->ofFamily, fact->sources}});
        }
        RopeSettings::Type type = RopeSettings::Type::Unknown;
        const auto document = Document::parseJson("{\"rope_scaling\":" + std::string(fact->value.raw()) + '}');
        type = architectureOfConfig({}, document->root()).rope.front().type;
        if (type != rope.type)
            candidate.mismatches.push_back({"rope_scaling.type", Severity::Error, std::string(nameOf(rope.type)), m_model.at(rope.scaling->where), *fact});
    }

    /// A deliberate variant, what was only recalled, and what several files say alike.
    void soften(Mismatch &mismatch, const Candidate &candidate) const
    {
        if (mismatch.fact.recalled || mismatch.fact.ofFamily) {
            mismatch.severity = Severity::Info;
            mismatch.remark = mismatch.fact.recalled ? "The reference is recalled, not read." : "The reference was read for another size of the family.";
            return;
        }
        const bool rotation = mismatch.field.starts_with("rope_");
        const auto context = m_arch.number(ArchField::Context);
        const auto known = m_book.fact(*candidate.row, "max_position_embeddings");
        double theta = 0; // none given
        if (!m_arch.rope.empty() && m_arch.rope.front().theta)
            theta = m_arch.rope.front().theta->number.value_or(0);
        const auto knownTheta = m_book.fact(*candidate.row, "rope_theta");
        const bool longer = context && known && known->value.number() && *context > *known->value.number();
        if (rotation && longer && theta > 0 && knownTheta && (theta > knownTheta->value.number().value_or(0) || mismatch.field != "rope_theta")
            && mismatch.here != "none" && !mismatch.here.starts_with("no ")) {
            mismatch.severity = Severity::Info;
            mismatch.remark = "The window grew with it, to " + numberText(*context) + ": a long-context variant.";
            return;
        }
        if (mismatch.severity == Severity::Error && statedElsewhere(mismatch)) {
            mismatch.severity = Severity::Info;
            mismatch.remark = "Another file of the same model states the same value: a variant of the family.";
        }
    }

    bool statedElsewhere(const Mismatch &mismatch) const
    {
        for (const ModelDescription &other : m_all) {
            if (&other == &m_model || other.isConfig() == m_model.isConfig() || other.arch.number(ArchField::Hidden) != m_arch.number(ArchField::Hidden)
                || other.arch.number(ArchField::Layers) != m_arch.number(ArchField::Layers))
                continue;
            if (mismatch.field == "rope_theta") {
                const auto &a = m_arch.rope.front().theta, &b = other.arch.rope.front().theta;
                if (a && b && a->number && b->number && sameNumber(*a->number, *b->number))
                    return true;
                continue;
            }
            for (const Rule &rule : rules) {
                const auto a = m_arch.number(rule.field), b = other.arch.number(rule.field);
                if (rule.known == mismatch.field && a && b && sameNumber(*a, *b))
                    return true;
            }
        }
        return false;
    }

    bool isKnownMistake(const Mismatch &mismatch, const std::vector<Candidate> &candidates) const
    {
        for (const KnownMistake &mistake : m_book.mistakes()) {
            if (mistake.test["field"].string() != mismatch.field || !mistake.test["is"])
                continue;
            const bool concerned = std::any_of(candidates.begin(), candidates.end(), [&](const Candidate &candidate) {
                return std::find(mistake.models.begin(), mistake.models.end(), candidate.row->id) != mistake.models.end();
            });
            if (concerned && mistake.test["is"].raw() == mismatch.here)
                return true;
        }
        return false;
    }

    void report(const Mismatch &mismatch, const std::vector<Candidate> &candidates)
    {
        if (isKnownMistake(mismatch, candidates))
            return; // said with its repair
        std::string models;
        std::size_t disagree = 0;
        for (const Candidate &candidate : candidates) {
            if (candidate.find(mismatch.field)) {
                models += (models.empty() ? "" : ", ") + candidate.row->id;
                ++disagree;
            }
        }
        const bool all = disagree == candidates.size();
        const Severity severity = all ? mismatch.severity : std::min(mismatch.severity, Severity::Warning);
        const std::string expected = mismatch.fact.text();
        Finding finding{"family.number." + mismatch.field, severity,
                        mismatch.field + " is " + mismatch.here + "; the reference for " + models + (mismatch.fact.recalled ? " (recalled) has " : " has ")
                            + (expected.size() > 120 ? expected.substr(0, 120) + "…" : expected),
                        "Recognised by its shape" + std::string(m_subject.recognition.tokenizers.empty() ? " and vocabulary rows" : " and vocabulary")
                            + "; reference " + mismatch.fact.citation() + '.'};
        if (!mismatch.remark.empty())
            finding.detail += ' ' + mismatch.remark;
        if (!all)
            finding.detail += " Other models of this shape have this value, but differ elsewhere.";
        else if (mismatch.severity == Severity::Error)
            finding.detail += " The same weights are computed differently.";
        finding.evidence = {mismatch.where};
        finding.falseIf = "The weights were trained with this value, or are not of that family.";
        finding.next = {mismatch.field.starts_with("rope") ? "F5" : "F9", "F1"};
        m_report.findings.push_back(std::move(finding));
    }

    void table(const std::vector<Candidate> &candidates)
    {
        Table table{m_model.path() + " against " + names(candidates), {"field", "here", "reference", "read in", "verdict"}, {}};
        const Candidate &candidate = candidates.front();
        for (const Rule &rule : rules) {
            const auto fact = m_book.fact(*candidate.row, rule.known);
            const Setting *const setting = m_arch.get(rule.field);
            if (!fact || !setting)
                continue;
            const Mismatch *const mismatch = candidate.find(rule.known);
            table.rows.push_back({{std::string(rule.known)},
                                  {setting->text, m_model.at(setting->where)},
                                  {fact->text()},
                                  {fact->citation()},
                                  {mismatch ? "differs" : "agrees", {}, mismatch ? mismatch->severity : Severity::Ok}});
        }
        m_report.tables.push_back(std::move(table));
    }

    static std::string names(const std::vector<Candidate> &candidates)
    {
        std::string text;
        for (const Candidate &candidate : candidates)
            text += (text.empty() ? "" : ", ") + candidate.row->id;
        return text;
    }

    const FamilySubject &m_subject;
    const ModelDescription &m_model;
    const Architecture &m_arch;
    const std::vector<ModelDescription> &m_all;
    const KnownModels &m_book;
    Report &m_report;
};

} // namespace

Evidence FamilySubject::whole(std::string note) const
{
    if (model)
        return model->whole(std::move(note));
    const ArtifactId file = tokenizer && tokenizer->vocabularyFile.valid() ? tokenizer->vocabularyFile : folder->all.front();
    return {file, Whole{}, std::move(note)};
}

void checkFamilyNumbers(const FamilySubject &subject, const std::vector<ModelDescription> &all, const KnownModels &book, Report &report)
{
    NumberCheck(subject, all, book, report).run();
}

} // namespace prosector
