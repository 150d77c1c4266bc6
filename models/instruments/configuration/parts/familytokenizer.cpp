// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/instruments/configuration/parts/familycheck.h"

#include <algorithm>
#include <set>

namespace prosector {

namespace {

class TokenizerCheck {
public:
    TokenizerCheck(const FamilySubject &subject, const KnownModels &book, Report &report)
        : m_subject(subject), m_facts(*subject.tokenizer), m_rows(subject.recognition.tokenizers), m_book(book), m_report(report)
    {
    }

    void run()
    {
        specials();
        ignoreMerges();
        splitting();
        ggufPre();
        bos();
        ends();
        extension();
    }

private:
    Finding &add(std::string code, Severity severity, std::string title, std::string detail, std::vector<Evidence> evidence, std::string falseIf)
    {
        Finding finding{std::move(code), severity, std::move(title), std::move(detail)};
        finding.evidence = std::move(evidence);
        finding.falseIf = std::move(falseIf);
        finding.next = {"T13", "T12"};
        return m_report.findings.emplace_back(std::move(finding));
    }

    /// Facts of this name in the recognised rows; recalled ones do not count.
    std::vector<KnownFact> facts(std::string_view name) const
    {
        std::vector<KnownFact> found;
        for (const KnownRow *const row : m_rows) {
            if (auto fact = m_book.fact(*row, name); fact && !fact->recalled)
                found.push_back(std::move(*fact));
        }
        return found;
    }

    /// Known special tokens that stand at another id here. Renamed ones are the business of a fine-tune.
    void specials()
    {
        if (m_subject.recognition.renamed == 0)
            return;
        std::size_t moved = 0;
        std::vector<Evidence> evidence;
        std::string first;
        for (const auto &[name, id] : specialIds(m_book, *m_rows.front())) {
            const auto here = std::find_if(m_facts.added.begin(), m_facts.added.end(), [&](const AddedToken &t) { return t.content == name; });
            if (here == m_facts.added.end() || here->id == id)
                continue;
            ++moved;
            if (evidence.size() < 4)
                evidence.push_back(here->where);
            if (first.empty())
                first = name + " is " + std::to_string(here->id) + ", the reference has " + std::to_string(id);
        }
        if (moved > 0) {
            add("family.special.moved", Severity::Warning, "Special tokens stand at other ids than in " + m_rows.front()->id + ": " + first,
                std::to_string(moved) + " in all. The rows of the weights belong to the reference's ids.", std::move(evidence),
                "The embedding was rearranged together with the vocabulary.")
                .measure = Measure{static_cast<double>(moved), "tokens"};
        }
    }

    void ignoreMerges()
    {
        if (m_facts.gguf || m_facts.model != "BPE" || !m_subject.recognition.byVocabulary)
            return;
        const auto known = facts("ignore_merges");
        const bool expected = !known.empty() && std::all_of(known.begin(), known.end(), [](const KnownFact &f) { return f.accepts(true); });
        const bool here = m_facts.ignoreMerges && m_facts.ignoreMerges->boolean == true;
        if (!expected || here)
            return;
        add("family.tokenizer.ignore_merges", Severity::Error, "ignore_merges is " + std::string(m_facts.ignoreMerges ? "false" : "absent")
                + "; the reference for " + namesOf(m_rows) + " sets it",
            "Words that are tokens of their own are split otherwise; reference " + known.front().citation() + '.',
            {m_facts.ignoreMerges ? m_facts.ignoreMerges->where : *m_facts.modelAt}, "The model was trained with split words.");
    }

    void splitting()
    {
        const auto here = m_facts.splitRegexSha256();
        const auto known = facts("split_regex_sha256");
        if (here.empty() || known.empty() || !m_subject.recognition.byVocabulary)
            return;
        const bool accepted = std::any_of(known.begin(), known.end(), [&](const KnownFact &fact) {
            return std::all_of(here.begin(), here.end(), [&](const std::string &hash) { return fact.accepts(std::string_view(hash)); });
        });
        if (accepted)
            return;
        const Artifact &file = m_subject.run->artifact(m_facts.vocabularyFile);
        const Value pre = file.tree()["pre_tokenizer"];
        add("family.tokenizer.split", Severity::Warning, "The pre-tokenizer splits by another pattern than " + namesOf(m_rows),
            "The same text gives other tokens than in training; reference " + known.front().citation() + '.',
            {{file.id, pre.anchor(), "pattern hash " + here.front().substr(0, 12)}}, "The pattern is another spelling of the same language.");
    }

    void ggufPre()
    {
        if (!m_facts.gguf || m_facts.model != "gpt2" || !m_facts.pre || !m_facts.pre->word || !m_subject.recognition.byVocabulary)
            return;
        const std::string &here = *m_facts.pre->word;
        const auto known = facts("gguf_pre");
        if (known.empty() || here == "default")
            return; // the kind check speaks of default
        const bool accepted = std::any_of(known.begin(), known.end(), [&](const KnownFact &fact) {
            return m_book.splitAlike(fact.value.string(""), here);
        });
        if (accepted)
            return;
        add("family.tokenizer.pre", Severity::Error, "tokenizer.ggml.pre is \"" + here + "\"; the vocabulary is that of " + namesOf(m_rows)
                + ", whose text is split as \"" + known.front().value.string("") + '"',
            "llama.cpp splits text before merging by that name, so the same text gives other tokens; reference " + known.front().citation() + '.',
            {m_facts.pre->where}, "Both names split alike in the version that serves it.");
    }

    void bos()
    {
        const BosAdder adder = m_facts.bosAdder();
        if (!adder.adds || adder.evidence.empty())
            return;
        std::set<bool> accepted;
        std::string citation;
        for (const KnownRow *const row : m_rows) {
            const auto ids = specialIds(m_book, *row);
            const auto bosToken = m_book.fact(*row, "bos_token");
            const auto take = [&](std::string_view name, auto judge) {
                const auto fact = m_book.fact(*row, name);
                if (!fact || fact->recalled)
                    return;
                for (const Value value : fact->accepted()) {
                    if (const auto verdict = judge(value)) {
                        accepted.insert(*verdict);
                        citation = fact->citation();
                    }
                }
            };
            take("post_processor_sequence", [&](Value value) -> std::optional<bool> {
                const auto text = bosToken ? bosToken->value["string"].string() : std::nullopt;
                if (!value.isArray() || !text)
                    return std::nullopt;
                return value[0].string() == text;
            });
            take("cfg_add_bos_token", [](Value value) { return value.boolean(); });
            take("gguf_defaults", [](Value value) { return value["add_bos"].boolean(); });
            take("gguf_add_bos", [](Value value) { return value.boolean(); });
            take("add_bos_variants", [&](Value value) -> std::optional<bool> {
                for (const Value variant : value)
                    accepted.insert(variant.boolean().value_or(false));
                return std::nullopt;
            });
        }
        if (accepted.empty() || accepted.contains(*adder.adds))
            return;
        add("family.bos", Severity::Warning,
            std::string(*adder.adds ? "BOS is put" : "No BOS is put") + " before plain text; with " + namesOf(m_rows) + " it is "
                + (*adder.adds ? "not" : "put"),
            "Here: " + adder.reason + ". Reference " + citation + '.', adder.evidence, "The prompt's template prints what is missing, or strips what is doubled.");
    }

    /// Ends of generation that no member of the family has.
    void ends()
    {
        if (!m_subject.model)
            return;
        const Setting *const eos = m_subject.model->arch.get(ArchField::Eos);
        if (!eos)
            return;
        std::set<double> accepted;
        std::string citation;
        const auto collect = [&](Value value, auto &self) -> void {
            if (const auto number = value.number())
                accepted.insert(*number);
            for (const Value inner : value)
                self(inner, self);
        };
        for (const KnownRow *const row : m_rows) {
            for (const std::string_view name : {"eos_token", "turn_end", "stop_ids", "stop_ids_reference_code", "config_ids", "ids_config", "pad_token"}) {
                if (const auto fact = m_book.fact(*row, name)) {
                    collect(fact->value, collect);
                    citation = fact->citation();
                }
            }
        }
        for (const KnownRow &row : m_book.models()) {
            const bool related = std::any_of(m_rows.begin(), m_rows.end(), [&](const KnownRow *t) { return t->id == row.tokenizer; });
            if (!related)
                continue;
            for (const Value field : row.facts) {
                if (field.key().find("eos") != std::string::npos || field.key().find("stop") != std::string::npos) {
                    collect(field["v"], collect);
                    collect(field["or"], collect);
                }
            }
        }
        if (accepted.empty())
            return;
        for (const double id : eos->numbers) {
            if (accepted.contains(id))
                continue;
            const auto text = m_facts.piece(static_cast<std::int64_t>(id));
            const bool added = longestKnown() && id >= *longestKnown();
            add("family.stop", added ? Severity::Info : Severity::Warning,
                "Generation ends at " + numberText(id) + (text ? " (" + *text + ")" : "") + ", which ends nothing in " + namesOf(m_rows),
                added ? "A fine-tune added the token." : "Known ends: see the reference" + std::string(citation.empty() ? "." : ", " + citation + '.'),
                {m_subject.model->at(eos->where)}, "The model was tuned to end its turns with this token.");
        }
    }

    std::optional<double> longestKnown() const
    {
        std::optional<double> longest;
        for (const KnownRow *const row : m_rows) {
            const auto fact = m_book.fact(*row, "tokenizer_len");
            const auto length = fact ? fact->value.number() : std::nullopt;
            if (length && (!longest || *length > *longest))
                longest = length;
        }
        return longest;
    }

    void extension()
    {
        const auto longest = longestKnown();
        if (m_facts.gguf || !longest || !m_facts.size || static_cast<double>(*m_facts.size) <= *longest || m_facts.added.empty())
            return;
        const double more = static_cast<double>(*m_facts.size) - *longest;
        add("family.vocabulary.extended", Severity::Info, numberText(more) + " tokens more than " + namesOf(m_rows) + " has",
            "A fine-tune or a later release added them; whether the weights have rows for them is W8's business.",
            {m_facts.added.back().where}, "The reference's count is of another release.")
            .measure = Measure{more, "tokens"};
    }

    const FamilySubject &m_subject;
    const TokenizerFacts &m_facts;
    const std::vector<const KnownRow *> &m_rows;
    const KnownModels &m_book;
    Report &m_report;
};

/// A mistake that one file proves.
class MistakeCheck {
public:
    MistakeCheck(const FamilySubject &subject, const KnownModels &book, Report &report) : m_subject(subject), m_book(book), m_report(report) {}

    void run()
    {
        for (const KnownMistake &mistake : m_book.mistakes()) {
            const Value test = mistake.test;
            if (!test.isObject())
                continue;
            if (test["field"].isString() && isOfModel(mistake))
                field(mistake);
            else if (test["stop_lacks"].isNumber() && (isOfModel(mistake) || isOfTokenizer(mistake)))
                stop(mistake);
            else if (test["tokenizer"].string("") == "post_processor_adds_bos" && isOfTokenizer(mistake))
                postProcessor(mistake);
        }
    }

private:
    bool isOfModel(const KnownMistake &mistake) const
    {
        const auto &models = m_subject.recognition.models;
        return std::any_of(models.begin(), models.end(), [&](const KnownRow *row) {
            return std::find(mistake.models.begin(), mistake.models.end(), row->id) != mistake.models.end();
        });
    }

    /// Every recognised tokenizer is one of the mistake's models'.
    bool isOfTokenizer(const KnownMistake &mistake) const
    {
        const auto &rows = m_subject.recognition.tokenizers;
        if (rows.empty() || m_subject.recognition.renamed > 0)
            return false;
        return std::all_of(rows.begin(), rows.end(), [&](const KnownRow *tokenizer) {
            return std::any_of(m_book.models().begin(), m_book.models().end(), [&](const KnownRow &row) {
                return row.tokenizer == tokenizer->id && std::find(mistake.models.begin(), mistake.models.end(), row.id) != mistake.models.end();
            });
        });
    }

    void add(const KnownMistake &mistake, std::string title, std::vector<Evidence> evidence)
    {
        const auto level = severityFromString(mistake.test["level"].string("warning")).value_or(Severity::Warning);
        Finding finding{"family.mistake." + mistake.id, mistake.recalled ? Severity::Info : level, std::move(title),
                        std::string(mistake.recalled ? "As recalled: " : "Known: ") + mistake.what + ". Repair: " + mistake.fix + ". "
                            + (mistake.recalled ? "" : "Reference ") + mistake.citation() + '.'};
        finding.evidence = std::move(evidence);
        finding.falseIf = "The weights are of another model of the same shape.";
        finding.next = {"F9", "T5"};
        m_report.findings.push_back(std::move(finding));
    }

    /// Another model of the same shape may rightly have what is a mistake here: Llama 1 has the window of 2048 that the
    /// first files of Llama 2 had, and another epsilon.
    bool isAnotherModel(const KnownMistake &mistake) const
    {
        const auto eps = m_subject.model->arch.number(ArchField::NormEps);
        return std::all_of(m_subject.recognition.models.begin(), m_subject.recognition.models.end(), [&](const KnownRow *row) {
            if (std::find(mistake.models.begin(), mistake.models.end(), row->id) == mistake.models.end())
                return true;
            const auto fact = m_book.fact(*row, "rms_norm_eps");
            return !declaresType(m_subject, *row, m_book) || (fact && eps && !fact->recalled && !fact->accepts(*eps));
        });
    }

    void field(const KnownMistake &mistake)
    {
        if (!m_subject.model || isAnotherModel(mistake))
            return;
        const std::string name = mistake.test["field"].string("");
        const Value is = mistake.test["is"], isNot = mistake.test["is_not"];
        for (const auto &[field, setting] : m_subject.model->arch.settings) {
            const bool same = nameOf(field) == name;
            if (!same)
                continue;
            const auto equals = [&, &value = setting](Value expected) {
                if (expected.isString())
                    return value.word == expected.string();
                const auto number = expected.number();
                return number && value.numbers.size() == 1 && sameNumber(*number, value.numbers[0]);
            };
            if ((is && equals(is)) || (isNot && !setting.numbers.empty() && !equals(isNot)
                                       && std::none_of(setting.numbers.begin(), setting.numbers.end(), [&](double n) { return isNot.number() == n; })))
                add(mistake, name + " is " + setting.text + ", a known mistake; it should be " + std::string(mistake.test["repair"].raw()),
                    {m_subject.model->at(setting.where)});
        }
    }

    void stop(const KnownMistake &mistake)
    {
        const Artifact *const file = m_subject.run->find(m_subject.folder->generationConfig);
        if (!file || !m_subject.tokenizer || m_subject.tokenizer->gguf)
            return;
        const Value eos = file->tree()["eos_token_id"];
        if (!eos.isSet())
            return;
        const auto id = *mistake.test["stop_lacks"].integer();
        std::vector<double> stops = Setting::of(file->id, eos).numbers;
        if (m_subject.model) {
            if (const Setting *const declared = m_subject.model->arch.get(ArchField::Eos))
                stops.insert(stops.end(), declared->numbers.begin(), declared->numbers.end());
        }
        for (const SpecialRole &role : m_subject.tokenizer->roles) {
            if (role.role == "eos" && role.id)
                stops.push_back(static_cast<double>(*role.id));
        }
        if (std::find(stops.begin(), stops.end(), static_cast<double>(id)) != stops.end())
            return;
        const auto piece = m_subject.tokenizer->piece(id);
        const auto &templates = m_subject.tokenizer->templates;
        const auto printing = std::find_if(templates.begin(), templates.end(), [&](const TemplateText &t) { return piece && t.text.find(*piece) != std::string::npos; });
        if (printing == templates.end())
            return;
        add(mistake, "No stop list holds " + std::to_string(id) + " (" + *piece + "), which the chat template prints",
            {{file->id, eos.anchor(), "eos_token_id = " + std::string(eos.raw())}, printing->where});
    }

    void postProcessor(const KnownMistake &mistake)
    {
        if (!m_subject.tokenizer || m_subject.tokenizer->gguf || !m_subject.tokenizer->prefix.empty() || !m_subject.tokenizer->postProcessorAt)
            return;
        const BosAdder adder = m_subject.tokenizer->bosAdder();
        if (adder.adds == false)
            add(mistake, "The post-processor of tokenizer.json adds no BOS, a known mistake", {*m_subject.tokenizer->postProcessorAt});
    }

    const FamilySubject &m_subject;
    const KnownModels &m_book;
    Report &m_report;
};

} // namespace

void checkFamilyTokenizer(const FamilySubject &subject, const KnownModels &book, Report &report)
{
    if (subject.tokenizer && !subject.recognition.tokenizers.empty())
        TokenizerCheck(subject, book, report).run();
}

void checkKnownMistakes(const FamilySubject &subject, const KnownModels &book, Report &report)
{
    MistakeCheck(subject, book, report).run();
}

} // namespace prosector
