// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/config/descriptions.h"
#include "models/config/recognise.h"
#include "models/config/tokenizerfacts.h"
#include "models/facts/facts.h"

#include <optional>
#include <vector>

namespace prosector {

/// One folder or GGUF as F10 looks at it. Valid as long as its run.
struct FamilySubject {
    const Run *run = nullptr;
    const ModelFolder *folder = nullptr;
    const ModelDescription *model = nullptr; ///< null when only a tokenizer is here
    std::optional<TokenizerFacts> tokenizer{};
    Recognition recognition{};

    Evidence whole(std::string note) const;
};

/// "meta-llama/Llama-3.1-8B, …": the ids, for people.
std::string namesOf(const std::vector<const KnownRow *> &rows);

/// Architecture numbers against every model of that shape.
void checkFamilyNumbers(const FamilySubject &subject, const std::vector<ModelDescription> &all, const KnownModels &book, Report &report);
/// Special ids, pre-tokenizer, merges flag, who adds BOS, stop ids against the recognised tokenizers.
void checkFamilyTokenizer(const FamilySubject &subject, const KnownModels &book, Report &report);
/// The normaliser of a recognised vocabulary against the reference.
void checkFamilyNormaliser(const FamilySubject &subject, const KnownModels &book, Report &report);
/// Markers of other families in the template that are no tokens of the recognised vocabulary.
void checkFamilyTemplate(const FamilySubject &subject, const KnownModels &book, Report &report);
/// Whether model_type is one that the reference row has; true where either says nothing.
bool declaresType(const FamilySubject &subject, const KnownRow &row, const KnownModels &book);
/// A model_type that none of the models of this shape has.
void checkFamilyType(const FamilySubject &subject, const KnownModels &book, Report &report);
/// Mistakes that official or widely copied files had, where one value proves them.
void checkKnownMistakes(const FamilySubject &subject, const KnownModels &book, Report &report);

} // namespace prosector
