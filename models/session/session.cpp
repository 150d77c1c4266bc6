// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/session/session.h"

#include "models/config/evaluation.h"
#include "models/session/text.h"

#include <QThreadPool>

#include <algorithm>
#include <utility>

namespace prosector {

namespace {

const QString openKey = QStringLiteral("open");
const QString baselineKey = QStringLiteral("open-baseline");
const QString factsKey = QStringLiteral("facts");
constexpr int openingFirst = 1; // before instruments that still wait

QString instrumentKey(const Instrument &instrument)
{
    return QStringLiteral("instrument/") + toQt(instrument.id);
}

/// The last owner of a large run frees millions of strings: not in this thread.
template<class T>
void release(std::shared_ptr<const T> pointer)
{
    if (pointer)
        QThreadPool::globalInstance()->start([pointer = std::move(pointer)]() mutable { pointer.reset(); });
}

QString openingTitle(const QStringList &paths)
{
    const QString name = paths.value(0).section(QLatin1Char('/'), -1, -1, QString::SectionSkipEmpty);
    return paths.size() > 1 ? QStringLiteral("Opening %1 and %2 more").arg(name).arg(paths.size() - 1)
                            : QStringLiteral("Opening %1").arg(name);
}

auto opening(const QStringList &paths)
{
    return [paths = fromQt(paths)](const Job &job) -> Result<RunPtr> { return Run::open(paths, job); };
}

} // namespace

Session::Session(QObject *parent, std::span<const Instrument *const> table) : QObject(parent)
{
    for (const Instrument *const instrument : table)
        m_states.push_back({instrument, {}, nullptr, false});
}

Session::~Session()
{
    m_jobs.cancelAll();
    m_evaluation.reset();
    release(std::exchange(m_run, nullptr));
    release(std::exchange(m_baseline, nullptr));
}

// --- opening

void Session::open(const QStringList &paths)
{
    m_restoring.reset();
    startOpening(paths, Keep::Nothing);
}

void Session::add(const QStringList &paths)
{
    // Dropping two folders one after the other opens both.
    const bool busy = m_jobs.isRunning(openKey);
    QStringList all = busy ? m_opening : m_paths;
    for (const QString &path : paths) {
        if (!all.contains(path))
            all.append(path);
    }
    startOpening(all, busy ? m_keep : m_run ? Keep::Places : Keep::Nothing);
}

void Session::reload()
{
    if (m_jobs.isRunning(openKey))
        startOpening(m_opening, m_keep);
    else if (!m_paths.isEmpty())
        startOpening(m_paths, Keep::Places);
    if (!m_baselinePaths.isEmpty())
        startOpeningBaseline(m_baselinePaths);
}

void Session::openBaseline(const QStringList &paths)
{
    startOpeningBaseline(paths);
}

void Session::startOpening(const QStringList &paths, Keep keep)
{
    loadFacts();
    m_opening = paths;
    m_keep = keep;
    m_jobs.start(
        openKey, openingTitle(paths), this, opening(paths),
        [this, paths, keep](Result<RunPtr> run) {
            if (run)
                setRun(std::move(*run), paths, keep);
            else
                notOpened(Side::A, run.error());
            emit openingChanged();
        },
        openingFirst);
    emit openingChanged();
}

void Session::startOpeningBaseline(const QStringList &paths)
{
    loadFacts();
    m_jobs.start(
        baselineKey, openingTitle(paths), this, opening(paths),
        [this, paths](Result<RunPtr> run) {
            if (run)
                setBaseline(std::move(*run), paths);
            else
                notOpened(Side::B, run.error());
            emit openingChanged();
        },
        openingFirst);
    emit openingChanged();
}

void Session::loadFacts()
{
    if (m_facts || m_jobs.isRunning(factsKey))
        return;
    m_jobs.start(
        factsKey, QStringLiteral("Reading the reference tables"), this, [](const Job &) { return Facts::load(); },
        [this](Result<FactsPtr> facts) {
            if (!facts)
                return fail(facts.error());
            m_facts = std::move(*facts);
            m_evaluation.reset();
            emit factsLoaded();
            if (m_stale)
                runAll();
        },
        openingFirst);
}

void Session::close()
{
    m_jobs.cancel(openKey);
    m_jobs.cancel(baselineKey);
    m_restoring.reset();
    m_baselinePaths.clear();
    release(std::exchange(m_baseline, nullptr));
    setRun(nullptr, {}, Keep::Nothing);
}

void Session::closeBaseline()
{
    m_jobs.cancel(baselineKey);
    if (m_baseline)
        setBaseline(nullptr, {});
}

bool Session::isOpening() const
{
    return m_jobs.isRunning(openKey) || m_jobs.isRunning(baselineKey);
}

void Session::notOpened(Side side, const Error &error)
{
    fail(error);
    if (m_restoring && side == Side::A)
        m_restoring.reset();
    else if (m_restoring)
        m_restoring->baseline.clear(); // its places go without it
    applyRestored();
    if (m_stale)
        runAll();
}

void Session::setRun(RunPtr run, const QStringList &paths, Keep keep)
{
    m_evaluation.reset();
    const RunPtr before = std::exchange(m_run, std::move(run));
    m_paths = paths;
    if (keep == Keep::Nothing) {
        m_acknowledged.clear();
        m_hub.clear();
    } else {
        remapPlaces(Side::A, before.get(), m_run.get());
    }
    takeUp();
    release(before);
}

void Session::setBaseline(RunPtr run, const QStringList &paths)
{
    const RunPtr before = std::exchange(m_baseline, std::move(run));
    m_baselinePaths = paths;
    remapPlaces(Side::B, before.get(), m_baseline.get());
    takeUp();
    release(before);
}

void Session::takeUp()
{
    dropOutcomes();
    emit runChanged();
    m_hub.announce();
    applyRestored();
    runAll();
}

void Session::remapPlaces(Side side, const Run *before, const Run *after)
{
    m_hub.remap([&](const Place &place) -> std::optional<Place> {
        if (place.side != side)
            return place;
        const Artifact *const old = before ? before->find(place.artifact) : nullptr;
        const Artifact *const now = old && after ? after->byName(old->name) : nullptr;
        if (!now)
            return std::nullopt;
        return Place{side, now->id, place.where};
    });
}

const Artifact *Session::artifact(const Place &place) const
{
    const Run *const run = place.side == Side::A ? m_run.get() : m_baseline.get();
    return run && place.artifact.index < run->artifacts().size() ? run->find(place.artifact) : nullptr;
}

void Session::fail(const Error &error)
{
    if (error.code != Errc::Cancelled)
        emit openFailed(error);
}

// --- instruments

int Session::indexOf(std::string_view instrumentId) const
{
    const auto it = std::find_if(m_states.begin(), m_states.end(),
                                 [&](const InstrumentState &s) { return s.instrument->id == instrumentId; });
    return it == m_states.end() ? -1 : static_cast<int>(it - m_states.begin());
}

const Report *Session::report(int instrument) const
{
    const auto &outcome = state(instrument).outcome;
    return outcome && outcome->report ? &*outcome->report : nullptr;
}

const Finding &Session::finding(FindingRef ref) const
{
    return report(ref.instrument)->findings[static_cast<std::size_t>(ref.finding)];
}

bool Session::isExamining() const
{
    return std::any_of(m_states.begin(), m_states.end(), [](const InstrumentState &s) { return s.running; });
}

std::vector<const Outcome *> Session::outcomes() const
{
    std::vector<const Outcome *> list;
    for (const InstrumentState &state : m_states)
        list.push_back(state.outcome.get());
    return list;
}

std::optional<Examination> Session::examination() const
{
    if (!m_run)
        return std::nullopt;
    Examination examination{m_run, m_baseline, {}};
    for (const InstrumentState &state : m_states) {
        if (state.outcome)
            examination.outcomes.push_back(*state.outcome);
    }
    return examination;
}

void Session::dropOutcomes()
{
    for (InstrumentState &state : m_states) {
        m_jobs.cancel(instrumentKey(*state.instrument));
        state.outcome.reset();
        state.running = false;
    }
    m_findings = {};
    m_stale = true;
    for (int i = 0; i < instrumentCount(); ++i)
        emit outcomeChanged(i);
    emit findingsChanged();
}

void Session::runAll()
{
    // While another input is still being read every instrument would only have to start again.
    if (!m_run || !m_facts || isOpening())
        return;
    m_stale = false;
    for (int i = 0; i < instrumentCount(); ++i)
        start(i);
    if (m_states.empty())
        emit examinationFinished();
}

void Session::start(int instrument)
{
    InstrumentState &state = m_states[static_cast<std::size_t>(instrument)];
    state.running = true;
    if (!m_evaluation)
        m_evaluation = std::make_shared<Evaluation>(*m_run, *m_facts);
    const Params params(state.instrument->params, state.changed);
    m_jobs.start(
        instrumentKey(*state.instrument), toQt(state.instrument->id) + QLatin1Char(' ') + toQt(state.instrument->name),
        this,
        [run = m_run, baseline = m_baseline, facts = m_facts, evaluation = m_evaluation, instrument = state.instrument, params](const Job &job) {
            return runInstrument(*instrument, Inputs{*run, *facts, baseline.get(), evaluation.get()}, params, job);
        },
        [this, instrument, params, run = m_run, baseline = m_baseline](Result<Report> report) {
            if (run == m_run && baseline == m_baseline)
                settle(instrument, params, std::move(report));
        });
    emit outcomeChanged(instrument);
}

void Session::settle(int instrument, Params params, Result<Report> report)
{
    InstrumentState &state = m_states[static_cast<std::size_t>(instrument)];
    state.running = false;
    state.outcome = std::make_shared<const Outcome>(Outcome{state.instrument, std::move(params), std::move(report)});
    std::vector<std::shared_ptr<const Outcome>> outcomes;
    for (const InstrumentState &s : m_states)
        outcomes.push_back(s.outcome);
    m_findings = FindingIndex(outcomes);
    emit outcomeChanged(instrument);
    emit findingsChanged();
    if (!isExamining())
        emit examinationFinished();
}

// --- thresholds

Params Session::params(int instrument) const
{
    return Params(state(instrument).instrument->params, state(instrument).changed);
}

void Session::setParam(int instrument, std::string_view name, double value)
{
    InstrumentState &state = m_states[static_cast<std::size_t>(instrument)];
    const auto specs = state.instrument->params;
    const auto spec = std::find_if(specs.begin(), specs.end(), [&](const ParamSpec &s) { return s.name == name; });
    if (spec == specs.end() || value != value)
        return;
    value = std::clamp(value, spec->minimum, spec->maximum);
    auto changed = state.changed;
    if (value == spec->value)
        changed.erase(std::string(name));
    else
        changed[std::string(name)] = value;
    if (changed == state.changed)
        return;
    state.changed = std::move(changed);
    rerun(instrument);
}

void Session::resetParams(int instrument)
{
    InstrumentState &state = m_states[static_cast<std::size_t>(instrument)];
    if (state.changed.empty())
        return;
    state.changed.clear();
    rerun(instrument);
}

QString Session::jobKey(int instrument) const { return instrumentKey(*state(instrument).instrument); }

void Session::rerun(int instrument)
{
    if (m_run && m_facts)
        start(instrument);
    else
        emit outcomeChanged(instrument);
}

// --- acknowledgements

QString Session::keyOf(FindingRef ref) const
{
    const Finding &found = finding(ref);
    QString key = toQt(state(ref.instrument).instrument->id) + QLatin1Char('|') + toQt(found.code);
    for (const Evidence &evidence : found.evidence) {
        const Artifact *const at = artifact(placeOf(evidence));
        key += QLatin1Char('|') + (evidence.side == Side::B ? QStringLiteral("B:") : QString())
            + (at ? toQt(at->name) : QString()) + QLatin1Char('#') + toQt(describe(evidence.where));
    }
    return key;
}

FindingRef Session::findingWithKey(const QString &key) const
{
    for (const FindingRef ref : m_findings.all()) {
        if (keyOf(ref) == key)
            return ref;
    }
    return {};
}

bool Session::isAcknowledged(FindingRef ref) const
{
    return !m_acknowledged.empty() && m_acknowledged.contains(keyOf(ref).toStdString());
}

QString Session::acknowledgement(FindingRef ref) const
{
    const auto it = m_acknowledged.find(keyOf(ref).toStdString());
    return it == m_acknowledged.end() ? QString() : toQt(it->second);
}

void Session::acknowledge(FindingRef ref, const QString &reason)
{
    m_acknowledged[keyOf(ref).toStdString()] = reason.toStdString();
    emit acknowledgementsChanged();
}

void Session::withdraw(FindingRef ref)
{
    if (m_acknowledged.erase(keyOf(ref).toStdString()) > 0)
        emit acknowledgementsChanged();
}

} // namespace prosector
