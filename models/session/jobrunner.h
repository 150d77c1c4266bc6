// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/core/job.h"

#include <QList>
#include <QObject>
#include <QPointer>
#include <QString>

#include <functional>
#include <map>
#include <memory>
#include <type_traits>

class QThreadPool;

namespace prosector {

/// Runs functions `Result<T>(const Job &)` on a thread pool and brings their results back to the
/// thread it lives in. All its functions are called from that thread.
///
/// Each job has a key. Starting a key that is still running supersedes the former job: it is asked
/// to stop, leaves the list and never reports. Every other job calls `finished` exactly once; a
/// cancelled one with Errc::Cancelled, one that threw with Errc::Internal. This is the only place
/// where exceptions are caught.
///
/// `work` runs in another thread and must own what it uses (values, shared_ptr), never a QObject.
/// It and all it holds are destroyed before `finished` is called. `finished` is kept, called and
/// destroyed in the runner's thread, and dropped uncalled when `context` dies first. Destroying the
/// runner asks all jobs to stop and does not wait: what they still hold is theirs alone.
class JobRunner : public QObject {
    Q_OBJECT

public:
    /// Counts starts; unique in one runner.
    using Generation = quint64;

    struct Status {
        Generation generation = 0;
        QString key;
        QString title;        ///< what is done, for people
        QString step;         ///< what the job last said it was at
        double fraction = -1; ///< 0..1; negative when unknown
        bool started = false; ///< false while it waits for a thread
        qint64 since = 0;     ///< milliseconds since the epoch when it was put in the queue
    };

    /// How often a job's progress is told at most.
    static constexpr int progressInterval = 50; // ms

    /// `pool`, not owned, must outlive the runner; the global pool when null.
    explicit JobRunner(QObject *parent = nullptr, QThreadPool *pool = nullptr);
    ~JobRunner() override;

    /// Higher `priority` leaves the queue first; see above for the rest.
    template<class Work, class Finished>
    Generation start(const QString &key, const QString &title, const QObject *context, Work work, Finished finished,
                     int priority = 0)
    {
        using Returned = std::invoke_result_t<Work, const Job &>;
        const auto outcome = std::make_shared<Returned>(Job::cancelledError());
        return launch(
            key, title, context, [outcome, work = std::move(work)](const Job &job) { *outcome = work(job); },
            [outcome, finished = std::move(finished)](const Error *failure) {
                finished(failure ? Returned(*failure) : std::move(*outcome));
            },
            priority);
    }

    void cancel(const QString &key);
    void cancelAll();

    /// Queued and running jobs in the order they were started.
    QList<Status> jobs() const;
    bool isRunning(const QString &key) const;

signals:
    /// A job was queued, started, finished or superseded.
    void jobsChanged();
    void progressed(const QString &key, double fraction, const QString &step);
    /// Before the job's own `finished`. Not for superseded jobs.
    void jobFinished(const QString &key);

private:
    struct Task;
    struct Link;
    struct Entry;

    Generation launch(const QString &key, const QString &title, const QObject *context,
                      std::function<void(const Job &)> work, std::function<void(const Error *)> finished, int priority);
    void markStarted(Generation generation);
    void showProgress(Generation generation);
    void finish(Generation generation, const std::optional<Error> &failure);

    QThreadPool *m_pool;
    std::shared_ptr<Link> m_link;
    std::map<Generation, Entry> m_entries;
    Generation m_generation = 0;
};

} // namespace prosector
