// SPDX-License-Identifier: GPL-3.0-or-later
// F10: does this folder agree with what is known of the model family it belongs to?
#include "models/core/wording.h"
#include "models/instruments/configuration/parts/familycheck.h"
#include "models/instruments/instrument.h"

#include <algorithm>
#include <array>

namespace prosector {

namespace {

/// What was recognised, for people: also where several fit and what would tell them apart.
Table recognitionTable(const std::vector<FamilySubject> &subjects, const KnownModels &book)
{
    Table table{"Recognised by content (reference book of " + book.made() + ")", {"file", "vocabulary", "tokenizers that fit", "models that fit", "told apart by"}, {}};
    for (const FamilySubject &subject : subjects) {
        const Recognition &r = subject.recognition;
        std::vector<std::string> ids;
        for (const KnownRow *const row : r.models)
            ids.push_back(row->id);
        const Evidence where = subject.whole("looked at here");
        table.rows.push_back({{subject.run->artifact(where.artifact).path, where},
                              {r.tokenizers.empty() ? "–" : r.byVocabulary ? "same tokens (hash)" : "same size and special ids"},
                              {r.tokenizers.empty() ? "none" : namesOf(r.tokenizers)},
                              {r.models.empty() ? "none" : namesOf(r.models)},
                              {book.tieBreaker(ids)}});
    }
    return table;
}

/// Whether there is anything to recognise a family by.
bool isTelling(const FamilySubject &subject)
{
    const bool shape = subject.model && subject.model->arch.number(ArchField::Hidden) && subject.model->arch.number(ArchField::Layers);
    return shape || (subject.tokenizer && subject.tokenizer->baseSize);
}

void tellUnrecognised(const FamilySubject &subject, Report &report)
{
    if (!subject.recognition.tokenizers.empty() || !subject.recognition.models.empty())
        return;
    if (!isTelling(subject)) {
        report.notSeen.push_back(subject.run->artifact(subject.whole("").artifact).path + ": states no shape and no vocabulary to recognise a family by");
        return;
    }
    // Said once for all of them.
    const auto told = std::find_if(report.findings.begin(), report.findings.end(), [](const Finding &finding) { return finding.code == "family.unrecognised"; });
    Evidence place = subject.whole("neither the shape nor the vocabulary is in the book");
    if (told != report.findings.end()) {
        told->evidence.push_back(std::move(place));
        told->title = "No model of the reference book has the shape and vocabulary of " + counted(told->evidence.size(), "model");
        told->measure = Measure{.number = static_cast<double>(told->evidence.size()), .unit = "models"};
        return;
    }
    Finding finding{"family.unrecognised", Severity::Info, "No model of the reference book has this shape and vocabulary",
                    "So nothing of it was compared with a reference."};
    finding.evidence = {std::move(place)};
    finding.falseIf = "The book has this model under other numbers.";
    report.findings.push_back(std::move(finding));
    report.notSeen.push_back("the comparison with a reference: the book has no such model");
}

Result<Report> run(const Inputs &inputs, const Params &, const Job &job)
{
    if (job.cancelled())
        return Job::cancelledError();
    const KnownModels &book = inputs.facts.knownModels;
    const std::vector<ModelDescription> models = describeModels(inputs.run);
    std::vector<FamilySubject> subjects;
    for (const ModelFolder &folder : inputs.run.models()) {
        FamilySubject subject{&inputs.run, &folder, nullptr, TokenizerFacts::ofFolder(inputs.run, folder), {}};
        for (const ModelDescription &model : models) {
            if (model.folder == &folder && model.isConfig())
                subject.model = &model;
        }
        // An adapter's tokenizer is that of its base; what it lacks is no fault of its own.
        if (subject.model || (subject.tokenizer && subject.tokenizer->vocabularyFile.valid()))
            subjects.push_back(std::move(subject));
        for (const ModelDescription &model : models) {
            if (model.folder == &folder && !model.isConfig())
                subjects.push_back({&inputs.run, &folder, &model, TokenizerFacts::ofGguf(*model.artifact), {}});
        }
    }
    if (subjects.empty())
        return Report::missingInputs({"config_files", "tokenizer_files"});
    Report report;
    for (FamilySubject &subject : subjects) {
        if (job.cancelled())
            return Job::cancelledError();
        subject.recognition = recognise(book, subject.model ? &subject.model->arch : nullptr, subject.tokenizer ? &*subject.tokenizer : nullptr);
        if (subject.model)
            checkFamilyNumbers(subject, models, book, report);
        checkFamilyType(subject, book, report);
        checkFamilyTokenizer(subject, book, report);
        checkFamilyNormaliser(subject, book, report);
        checkFamilyTemplate(subject, book, report);
        checkKnownMistakes(subject, book, report);
        tellUnrecognised(subject, report);
    }
    if (report.findings.empty() && std::none_of(subjects.begin(), subjects.end(), isTelling))
        return Report{.missing = {"config_files", "tokenizer_files"}, .notSeen = std::move(report.notSeen)};
    report.tables.insert(report.tables.begin(), recognitionTable(subjects, book));
    return report;
}

constexpr std::array<std::string_view, 4> usable{"config_files", "tokenizer_files", "chat_template", "weights"};

} // namespace

std::string namesOf(const std::vector<const KnownRow *> &rows)
{
    std::string text;
    for (const KnownRow *const row : rows)
        text += (text.empty() ? "" : ", ") + row->id;
    return text;
}

extern constinit const Instrument configuration_family_reference{
    "F10", "Family reference check", "Does this folder agree with what is known of the model family it belongs to?",
    "configuration_family_reference", usable, {}, run};

} // namespace prosector
