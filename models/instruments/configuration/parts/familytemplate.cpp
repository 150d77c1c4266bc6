// SPDX-License-Identifier: GPL-3.0-or-later
// F10, what surrounds the vocabulary: the declared type, the template's markers, the normaliser.
#include "models/instruments/configuration/parts/familycheck.h"

#include <algorithm>

namespace prosector {

namespace {

/// The steps of a tokenizer.json's normaliser in the reference book's notation: "NFC",
/// "Prepend(▁)+Replace( →▁)". Nothing for steps that the notation does not have.
std::optional<std::string> normaliserText(Value normaliser)
{
    if (!normaliser.isSet())
        return "";
    const std::string type = normaliser["type"].string("");
    if (type == "Sequence") {
        std::string text;
        for (const Value step : normaliser["normalizers"]) {
            const auto one = normaliserText(step);
            if (!one)
                return std::nullopt;
            if (!one->empty())
                text += (text.empty() ? "" : "+") + *one;
        }
        return text;
    }
    if (type == "Prepend")
        return "Prepend(" + normaliser["prepend"].string("") + ')';
    if (type == "Replace")
        return "Replace(" + normaliser["pattern"]["String"].string(normaliser["pattern"]["Regex"].string("")) + "→" + normaliser["content"].string("") + ')';
    if (type == "NFC" || type == "NFKC" || type == "NFD" || type == "NFKD" || type == "Precompiled" || type == "BertNormalizer" || type == "Lowercase")
        return type;
    return std::nullopt;
}

std::string referenceText(const KnownFact &fact)
{
    const std::string text = fact.value.string("");
    return text.starts_with("none") ? "" : text;
}

bool hasToken(const TokenizerFacts &facts, std::string_view literal)
{
    const bool added = std::any_of(facts.added.begin(), facts.added.end(), [&](const AddedToken &token) { return token.content == literal; });
    return added || facts.id(literal);
}

} // namespace

void checkFamilyNormaliser(const FamilySubject &subject, const KnownModels &book, Report &report)
{
    if (!subject.tokenizer || subject.tokenizer->gguf || !subject.recognition.byVocabulary)
        return;
    const Artifact &file = subject.run->artifact(subject.tokenizer->vocabularyFile);
    const Value root = file.tree();
    if (!root["model"].isObject())
        return;
    const auto here = normaliserText(root["normalizer"]);
    if (!here)
        return;
    std::optional<KnownFact> reference;
    for (const KnownRow *const row : subject.recognition.tokenizers) {
        auto fact = book.fact(*row, "normalizer");
        if (!fact || fact->recalled || !fact->value.isString())
            continue;
        if (referenceText(*fact) == *here)
            return;
        reference = std::move(fact);
    }
    if (!reference)
        return;
    // A Metaspace pre-tokenizer puts the same marks that Prepend and Replace put.
    const std::string expected = referenceText(*reference);
    const bool marks = expected.find("▁") != std::string::npos && here->find("NF") == std::string::npos;
    if (marks && canonicalJson(root["pre_tokenizer"]).find("\"Metaspace\"") != std::string::npos)
        return;
    Finding finding{"family.tokenizer.normaliser", Severity::Warning,
                    "Text is normalised by " + (here->empty() ? "nothing" : *here) + "; with " + namesOf(subject.recognition.tokenizers) + " it is by "
                        + (expected.empty() ? "nothing" : expected),
                    "The same text gives other tokens than in training; reference " + reference->citation() + '.'};
    const Value normaliser = root["normalizer"];
    finding.evidence = {{file.id, normaliser ? normaliser.anchor() : Anchor(Whole{}), normaliser.isSet() ? "the normaliser" : "no normaliser"}};
    finding.falseIf = "Both ways give the same pieces on all text, or the model was trained with this one.";
    finding.next = {"T2", "T12"};
    report.findings.push_back(std::move(finding));
}

void checkFamilyTemplate(const FamilySubject &subject, const KnownModels &book, Report &report)
{
    // An excerpt lacks many tokens; only of a whole vocabulary, known by its hash, is it told.
    if (!subject.tokenizer || !subject.recognition.byVocabulary)
        return;
    for (const TemplateText &text : subject.tokenizer->templates) {
        for (const TemplateMarker &marker : book.markers()) {
            // Markers that are one token of their family; `[INST]` and the like are plain text in some.
            const std::string &literal = marker.marker;
            const bool token = literal.starts_with('<') && literal.ends_with('>') && literal.find(' ') == std::string::npos;
            if (!token || marker.recalled || text.text.find(literal) == std::string::npos || hasToken(*subject.tokenizer, literal))
                continue;
            Finding finding{"family.template.marker", Severity::Warning,
                            "The chat template prints " + literal + ", the marker of " + marker.family + ", which is no token of this vocabulary",
                            "The vocabulary is that of " + namesOf(subject.recognition.tokenizers)
                                + ": the marker falls apart into ordinary pieces that mark nothing."};
            finding.evidence = {text.where};
            finding.evidence.front().note = "template \"" + text.name + "\" holds " + literal;
            finding.falseIf = "The model was trained with the marker as plain text, or no request takes that branch of the template.";
            finding.next = {"T3", "R10"};
            report.findings.push_back(std::move(finding));
        }
    }
}

bool declaresType(const FamilySubject &subject, const KnownRow &row, const KnownModels &book)
{
    if (!subject.model || subject.model->gguf || subject.model->arch.modelType.empty())
        return true;
    const std::string outer = subject.model->artifact->tree()["model_type"].string("");
    bool stated = false;
    for (const std::string_view name : {"model_type", "text_model_type"}) {
        const auto fact = book.fact(row, name);
        if (!fact)
            continue;
        stated = true;
        if (fact->accepts(std::string_view(subject.model->arch.modelType)) || fact->accepts(std::string_view(outer)))
            return true;
    }
    return !stated;
}

void checkFamilyType(const FamilySubject &subject, const KnownModels &book, Report &report)
{
    const auto &rows = subject.recognition.models;
    if (!subject.model || rows.empty() || std::any_of(rows.begin(), rows.end(), [&](const KnownRow *row) { return declaresType(subject, *row, book); }))
        return;
    const Artifact &file = *subject.model->artifact;
    const Value inner = textPartOf(file.tree())["model_type"];
    const Value type = inner.isSet() ? inner : file.tree()["model_type"];
    Finding finding{"family.model_type", Severity::Info,
                    "model_type is \"" + subject.model->arch.modelType + "\", the shape is that of " + namesOf(rows),
                    "Programs choose the computation by the type, not by the shape."};
    finding.evidence = {{file.id, type.anchor(), "model_type = " + std::string(type.raw())}};
    finding.falseIf = "Another architecture has the same shape.";
    finding.next = {"F9"};
    report.findings.push_back(std::move(finding));
}

} // namespace prosector
