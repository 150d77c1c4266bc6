// SPDX-License-Identifier: GPL-3.0-or-later
// F9: did the converted file keep what the source said?
#include "models/config/conversionledger.h"
#include "models/instruments/instrument.h"

#include <algorithm>
#include <array>
#include <iterator>

namespace prosector {

namespace {

Severity severityOf(const LedgerRow &row)
{
    return row.outcome == LedgerRow::Class::Kept || row.outcome == LedgerRow::Class::ByDefault ? Severity::Ok : row.severity;
}

Finding findingOf(LedgerRow row)
{
    Finding finding{std::move(row.code), row.severity, std::move(row.title), std::move(row.detail)};
    finding.evidence = std::move(row.evidence);
    finding.falseIf = "The file was not converted from this source, or the difference is a repair made on purpose.";
    finding.next = {finding.code.starts_with("conversion.rope") ? "F5" : finding.code.starts_with("conversion.architecture") ? "F10" : "T7"};
    return finding;
}

Result<Report> run(const Inputs &inputs, const Params &, const Job &job)
{
    if (job.cancelled())
        return Job::cancelledError();
    std::vector<ModelDescription> models = describeModels(inputs.run);
    if (inputs.baseline) {
        auto others = describeModels(*inputs.baseline, Side::B);
        std::move(others.begin(), others.end(), std::back_inserter(models));
    }
    const auto conversions = findConversions(models);
    Report report;
    if (conversions.empty()) {
        const auto none = [&](bool config) {
            return std::none_of(models.begin(), models.end(), [&](const ModelDescription &m) { return m.isConfig() == config; });
        };
        if (none(true) || !none(false)) // a GGUF whose source is not here
            report.missing.emplace_back("config_files");
        if (none(false))
            report.missing.emplace_back("weights");
        return report;
    }
    for (const Conversion &conversion : conversions) {
        if (job.cancelled())
            return Job::cancelledError();
        Ledger ledger;
        compareArchitecture(conversion, job, ledger);
        compareTokenizer(conversion, ledger);
        if (job.cancelled())
            return Job::cancelledError();
        Table table{conversion.source->path() + " → " + conversion.converted->path(), {"key", "source", "converted", "outcome"}, {}};
        std::stable_sort(ledger.rows.begin(), ledger.rows.end(),
                         [](const LedgerRow &a, const LedgerRow &b) { return severityOf(a) > severityOf(b); });
        for (LedgerRow &row : ledger.rows) {
            const auto place = [&](std::size_t index) {
                return index < row.evidence.size() ? std::optional(row.evidence[index]) : std::nullopt;
            };
            table.rows.push_back({{row.key},
                                  {row.sourceText, place(0)},
                                  {row.convertedText, place(1)},
                                  {std::string(nameOf(row.outcome)), {}, severityOf(row)}});
            if (severityOf(row) != Severity::Ok)
                report.findings.push_back(findingOf(std::move(row)));
        }
        report.tables.push_back(std::move(table));
        report.notSeen.insert(report.notSeen.end(), ledger.notSeen.begin(), ledger.notSeen.end());
    }
    return report;
}

constexpr std::array<std::string_view, 4> usable{"config_files", "tokenizer_files", "weights", "chat_template"};

} // namespace

extern constinit const Instrument configuration_conversion_ledger{
    "F9", "Conversion ledger", "Did the converted file keep what the source said?", "configuration_conversion_ledger", usable, {}, run};

} // namespace prosector
