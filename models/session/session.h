// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/instruments/instrument.h"
#include "models/session/findingindex.h"
#include "models/session/jobrunner.h"
#include "models/session/selectionhub.h"
#include "models/session/sessionfile.h"

#include <QStringList>

#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace prosector {

/// What one window works on: the opened run and its baseline, the instruments' outcomes as they
/// come in, thresholds, selection and bookmarks. Lives in the GUI thread and never blocks it: files
/// are read and instruments run by `jobs()`.
///
/// Instruments are numbered 0 … instrumentCount() - 1 in catalogue order.
class Session : public QObject {
    Q_OBJECT

public:
    struct InstrumentState {
        const Instrument *instrument = nullptr;
        std::map<std::string, double, std::less<>> changed; ///< thresholds that differ from the defaults
        std::shared_ptr<const Outcome> outcome;             ///< null until it ran on what is open now
        bool running = false;
    };

    /// `table` must live as long as the session; only tests give another than the catalogue.
    explicit Session(QObject *parent = nullptr, std::span<const Instrument *const> table = prosector::instruments());
    ~Session() override;

    // --- what is open

    /// Opens files, folders and archives together as run A, in place of the present one. Until
    /// runChanged() or openFailed() the present one stays.
    void open(const QStringList &paths);
    /// Opens the present inputs and these together. Selection and bookmarks stay.
    void add(const QStringList &paths);
    /// Reads everything again, baseline included. Selection, history and bookmarks stay where an
    /// artifact of the same name still exists.
    void reload();
    void close();
    void openBaseline(const QStringList &paths);
    void closeBaseline();

    RunPtr run() const { return m_run; }           ///< null when nothing is open
    RunPtr baseline() const { return m_baseline; } ///< null when there is none
    RunPtr run(Side side) const { return side == Side::A ? m_run : m_baseline; }
    FactsPtr facts() const { return m_facts; } ///< null until they are loaded
    QStringList paths() const { return m_paths; }
    QStringList baselinePaths() const { return m_baselinePaths; }
    const Artifact *artifact(const Place &place) const; ///< null when it is not open
    bool isOpening() const;

    // --- what was found

    int instrumentCount() const { return static_cast<int>(m_states.size()); }
    const InstrumentState &state(int instrument) const { return m_states[static_cast<std::size_t>(instrument)]; }
    /// Position of an instrument id, -1 when there is none.
    int indexOf(std::string_view instrumentId) const;
    /// The report, or null when there is none yet or the instrument failed.
    const Report *report(int instrument) const;
    const Finding &finding(FindingRef ref) const;
    const FindingIndex &findings() const { return m_findings; }
    /// An instrument is running or waiting.
    bool isExamining() const;
    /// Worst finding so far.
    Severity worst() const { return m_findings.worst(); }
    /// One for each instrument, null where there is none yet. Valid until the next outcomeChanged().
    std::vector<const Outcome *> outcomes() const;
    /// A copy of the outcomes there are, for export. Nothing when nothing is open.
    std::optional<Examination> examination() const;

    // --- thresholds; each change runs that instrument again

    Params params(int instrument) const;
    /// Kept inside the parameter's limits; a value equal to the default counts as unchanged.
    void setParam(int instrument, std::string_view name, double value);
    void resetParams(int instrument);
    void rerun(int instrument);
    /// The key of the instrument's job in jobs(), for progress and cancelling.
    QString jobKey(int instrument) const;

    // --- acknowledged findings: seen, with the reason why they are left standing

    /// Names a finding by instrument, code and evidence, so that it is found again after a reload.
    QString keyOf(FindingRef ref) const;
    /// The finding that has the key now; not valid when it is gone.
    FindingRef findingWithKey(const QString &key) const;
    bool isAcknowledged(FindingRef ref) const;
    QString acknowledgement(FindingRef ref) const;
    void acknowledge(FindingRef ref, const QString &reason);
    void withdraw(FindingRef ref);

    // --- saved sessions (Ctrl+S)

    /// Writes in the background; `layout` is what restored() gives back.
    void save(const QString &file, const QByteArray &layout);
    /// Reads in the background, then opens what it names.
    void restore(const QString &file);
    SessionFile toFile(const QByteArray &layout) const;
    void fromFile(const SessionFile &file);

    SelectionHub *hub() { return &m_hub; }
    JobRunner *jobs() { return &m_jobs; }

signals:
    /// run() or baseline() is another; all outcomes are gone and on their way again.
    void runChanged();
    /// facts() is there. Once in a session's life.
    void factsLoaded();
    /// Opening started, ended or was cancelled: see isOpening().
    void openingChanged();
    /// What was asked for could not be opened, read or written; the present run stays. Not for
    /// cancelled jobs.
    void openFailed(const prosector::Error &error);
    /// state(instrument) differs: it started, finished or has another threshold.
    void outcomeChanged(int instrument);
    /// findings() differs.
    void findingsChanged();
    /// Every instrument has an outcome. Also after a single one was run again.
    void examinationFinished();
    void acknowledgementsChanged();
    void saved(const QString &file);
    /// The inputs of a restored session are being opened; here is its layout.
    void restored(const QByteArray &layout);

private:
    enum class Keep { Nothing, Places };
    void startOpening(const QStringList &paths, Keep keep);
    void startOpeningBaseline(const QStringList &paths);
    void loadFacts();
    void setRun(RunPtr run, const QStringList &paths, Keep keep);
    void setBaseline(RunPtr run, const QStringList &paths);
    void notOpened(Side side, const Error &error);
    void takeUp();
    void remapPlaces(Side side, const Run *before, const Run *after);
    void runAll();
    void start(int instrument);
    void settle(int instrument, Params params, Result<Report> report);
    void dropOutcomes();
    void applyRestored();
    void fail(const Error &error);
    std::vector<SessionFile::NamedPlace> named(const Selection &selection) const;
    Selection placed(const std::vector<SessionFile::NamedPlace> &places) const;

    JobRunner m_jobs;
    SelectionHub m_hub;
    RunPtr m_run, m_baseline;
    FactsPtr m_facts;
    std::shared_ptr<Evaluation> m_evaluation; ///< of m_run and m_facts; null until an instrument starts
    QStringList m_paths, m_baselinePaths;
    QStringList m_opening;       // what is being opened instead of m_paths
    Keep m_keep = Keep::Nothing; // and what of the present places stays then
    std::vector<InstrumentState> m_states;
    FindingIndex m_findings;
    bool m_stale = false; // outcomes were dropped and the instruments have not been started since
    std::map<std::string, std::string> m_acknowledged;
    std::optional<SessionFile> m_restoring; // its places wait for the run
};

} // namespace prosector
