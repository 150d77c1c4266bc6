// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/instruments/instrument.h"

#include "models/config/evaluation.h"
#include "models/core/guarded.h"
#include "models/instruments/damagedinputs.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cctype>
#include <charconv>
#include <vector>

namespace prosector {

std::span<const Instrument *const> instrumentTable(); // generated

namespace {

struct Family {
    char letter;
    std::string_view name;
};
// In the catalogue's order.
constexpr std::array families = std::to_array<Family>({
    {'T', "Tokens and tokenizer"}, {'R', "Request and template"}, {'M', "Masks and positions"},
    {'C', "Cache and keys"}, {'F', "Configuration and start-up"}, {'S', "Sampling and decoding"},
    {'B', "Batching and numerics"}, {'W', "Weights, adapters, quantization"}, {'L', "Training"},
    {'V', "Retrieval and index"}, {'O', "Load, time, replicas"}, {'E', "Evaluation"},
    {'X', "Reasoning about causes"},
});

const Family *familyOf(std::string_view id)
{
    return std::find_if(families.begin(), families.end(), [&](const Family &f) { return f.letter == id[0]; });
}

int numberOf(std::string_view id)
{
    int number = 0;
    std::from_chars(id.data() + 1, id.data() + id.size(), number);
    return number;
}

} // namespace

double Params::operator[](std::string_view name) const
{
    if (const auto changed = m_changed.find(name); changed != m_changed.end())
        return changed->second;
    const auto spec = std::find_if(m_specs.begin(), m_specs.end(), [&](const ParamSpec &s) { return s.name == name; });
    assert(spec != m_specs.end());
    return spec->value;
}

std::string_view Instrument::family() const
{
    const Family *const family = familyOf(id);
    return family == families.end() ? std::string_view() : family->name;
}

std::span<const Instrument *const> instruments()
{
    static const std::vector<const Instrument *> sorted = [] {
        const auto table = instrumentTable();
        std::vector<const Instrument *> list(table.begin(), table.end());
        std::sort(list.begin(), list.end(), [](const Instrument *a, const Instrument *b) {
            return std::pair(familyOf(a->id), numberOf(a->id)) < std::pair(familyOf(b->id), numberOf(b->id));
        });
        return list;
    }();
    return sorted;
}

const Instrument *findInstrument(std::string_view id)
{
    for (const Instrument *const instrument : instruments()) {
        if (std::equal(id.begin(), id.end(), instrument->id.begin(), instrument->id.end(), [](char a, char b) {
                return std::toupper(static_cast<unsigned char>(a)) == b;
            }))
            return instrument;
    }
    return nullptr;
}

Result<std::shared_ptr<const std::vector<EffectiveConfig>>> Inputs::configs(const Job &job) const
{
    return evaluation ? evaluation->configs(job) : Evaluation(run, facts).configs(job);
}

Result<std::shared_ptr<const LogTriages>> Inputs::logs(const Job &job) const
{
    return evaluation ? evaluation->logs(job) : Evaluation(run, facts).logs(job);
}

Result<Report> runInstrument(const Instrument &instrument, const Inputs &inputs, const Params &params, const Job &job)
{
    auto report = guarded([&] { return instrument.run(inputs, params, job); });
    if (report)
        nameDamagedInputs(instrument, inputs, *report);
    return report;
}

Outcome::Standing Outcome::standing() const
{
    if (!report)
        return Standing::Failed;
    Severity worst = Severity::Ok;
    for (const Finding &finding : report->findings)
        worst = std::max(worst, finding.severity);
    if (worst >= Severity::Warning)
        return Standing::Found;
    const bool blind = report->undecidable() || worst == Severity::Undecidable;
    return blind ? Standing::Undecidable : Standing::Passed;
}

Severity Examination::worst() const
{
    Severity worst = Severity::Ok;
    for (const Outcome &outcome : outcomes) {
        if (outcome.report) {
            for (const Finding &finding : outcome.report->findings)
                worst = std::max(worst, finding.severity);
        }
    }
    return worst;
}

Result<Examination> examine(RunPtr run, RunPtr baseline, const Facts &facts,
                            std::span<const Instrument *const> which, const Job &job,
                            const Thresholds &thresholds)
{
    if (which.empty())
        which = instruments();
    Examination examination{std::move(run), std::move(baseline), {}};
    Evaluation evaluation(*examination.run, facts);
    const Inputs inputs{*examination.run, facts, examination.baseline.get(), &evaluation};
    for (std::size_t i = 0; i < which.size(); ++i) {
        if (job.cancelled())
            return Job::cancelledError();
        job.progress(static_cast<double>(i) / static_cast<double>(which.size()), which[i]->name);
        const auto changed = thresholds.find(which[i]->id);
        Outcome outcome{which[i], changed == thresholds.end() ? Params(which[i]->params)
                                                              : Params(which[i]->params, changed->second), Report{}};
        outcome.report = runInstrument(*which[i], inputs, outcome.params, job);
        if (!outcome.report && outcome.report.error().code == Errc::Cancelled)
            return outcome.report.error();
        examination.outcomes.push_back(std::move(outcome));
    }
    return examination;
}

} // namespace prosector
