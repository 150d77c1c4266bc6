// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/session/jobrunner.h"

#include "models/session/text.h"

#include <QDateTime>
#include <QThread>
#include <QThreadPool>

#include <algorithm>
#include <chrono>
#include <exception>
#include <mutex>
#include <new>
#include <optional>

namespace prosector {

/// What worker and runner share of one job.
struct JobRunner::Task {
    Generation generation = 0;
    std::stop_source stop;

    std::mutex mutex; // for all below
    double fraction = -1;
    std::string step;
    bool told = false; // an update is on its way to the runner
    std::optional<std::chrono::steady_clock::time_point> toldAt;
};

/// The way back to the runner, which may be gone.
struct JobRunner::Link {
    std::mutex mutex;
    JobRunner *owner;

    template<class Call>
    void post(Call call)
    {
        // Holding the lock keeps the runner alive until the event is in its queue; the events of a
        // destroyed object are dropped by Qt.
        const std::lock_guard lock(mutex);
        if (JobRunner *const runner = owner)
            QMetaObject::invokeMethod(
                runner, [runner, call = std::move(call)] { call(*runner); }, Qt::QueuedConnection);
    }
};

struct JobRunner::Entry {
    Status status;
    std::shared_ptr<Task> task;
    QPointer<const QObject> context;
    std::function<void(const Error *)> finished;
};

JobRunner::JobRunner(QObject *parent, QThreadPool *pool)
    : QObject(parent), m_pool(pool ? pool : QThreadPool::globalInstance()), m_link(std::make_shared<Link>())
{
    m_link->owner = this;
}

JobRunner::~JobRunner()
{
    {
        const std::lock_guard lock(m_link->mutex);
        m_link->owner = nullptr;
    }
    for (auto &[generation, entry] : m_entries)
        entry.task->stop.request_stop();
}

JobRunner::Generation JobRunner::launch(const QString &key, const QString &title, const QObject *context,
                                        std::function<void(const Job &)> work,
                                        std::function<void(const Error *)> finished, int priority)
{
    Q_ASSERT(thread() == QThread::currentThread());
    Q_ASSERT(context);
    const auto former = std::find_if(m_entries.begin(), m_entries.end(),
                                     [&](const auto &item) { return item.second.status.key == key; });
    if (former != m_entries.end()) {
        former->second.task->stop.request_stop();
        m_entries.erase(former);
    }

    const auto task = std::make_shared<Task>();
    task->generation = ++m_generation;
    m_entries.emplace(m_generation,
                      Entry{{m_generation, key, title, {}, -1, false, QDateTime::currentMSecsSinceEpoch()},
                            task,
                            context,
                            std::move(finished)});

    auto body = [link = m_link, task, work = std::move(work)]() mutable {
        const auto progress = [&](double fraction, std::string_view step) {
            const std::lock_guard lock(task->mutex);
            task->fraction = fraction;
            task->step = step;
            const auto now = std::chrono::steady_clock::now();
            if (task->told || (task->toldAt && now - *task->toldAt < std::chrono::milliseconds(progressInterval)))
                return;
            task->told = true;
            task->toldAt = now;
            link->post([generation = task->generation](JobRunner &runner) { runner.showProgress(generation); });
        };
        std::optional<Error> failure;
        if (task->stop.stop_requested()) {
            failure = Job::cancelledError();
        } else {
            link->post([generation = task->generation](JobRunner &runner) { runner.markStarted(generation); });
            try {
                work(Job(task->stop.get_token(), progress));
            } catch (const std::bad_alloc &) {
                failure = Error{Errc::TooLarge, "out of memory"};
            } catch (const std::exception &exception) {
                failure = Error{Errc::Internal, std::string("defect in Prosector: ") + exception.what()};
            } catch (...) {
                failure = Error{Errc::Internal, "defect in Prosector: unknown exception"};
            }
        }
        work = nullptr;
        link->post([generation = task->generation, failure = std::move(failure)](JobRunner &runner) {
            runner.finish(generation, failure);
        });
    };
    m_pool->start(std::move(body), priority);
    const Generation generation = m_generation;
    emit jobsChanged();
    return generation;
}

void JobRunner::markStarted(Generation generation)
{
    const auto it = m_entries.find(generation);
    if (it == m_entries.end())
        return;
    it->second.status.started = true;
    emit jobsChanged();
}

void JobRunner::showProgress(Generation generation)
{
    const auto it = m_entries.find(generation);
    if (it == m_entries.end())
        return;
    Status &status = it->second.status;
    {
        Task &task = *it->second.task;
        const std::lock_guard lock(task.mutex);
        status.fraction = task.fraction;
        status.step = toQt(task.step);
        task.told = false;
    }
    emit progressed(QString(status.key), status.fraction, QString(status.step));
}

void JobRunner::finish(Generation generation, const std::optional<Error> &failure)
{
    auto node = m_entries.extract(generation);
    if (node.empty())
        return; // superseded
    const Entry &entry = node.mapped();
    // Whoever pressed cancel is told so, even if the work came to its end at the same moment.
    const std::optional<Error> told = entry.task->stop.stop_requested() ? Job::cancelledError() : failure;
    const QPointer<JobRunner> alive(this);
    emit jobsChanged();
    if (alive)
        emit jobFinished(QString(entry.status.key));
    if (entry.context)
        entry.finished(told ? &*told : nullptr);
}

void JobRunner::cancel(const QString &key)
{
    for (auto &[generation, entry] : m_entries) {
        if (entry.status.key == key)
            entry.task->stop.request_stop();
    }
}

void JobRunner::cancelAll()
{
    for (auto &[generation, entry] : m_entries)
        entry.task->stop.request_stop();
}

QList<JobRunner::Status> JobRunner::jobs() const
{
    QList<Status> list;
    for (const auto &[generation, entry] : m_entries)
        list.append(entry.status);
    return list;
}

bool JobRunner::isRunning(const QString &key) const
{
    return std::any_of(m_entries.begin(), m_entries.end(),
                       [&](const auto &item) { return item.second.status.key == key; });
}

} // namespace prosector
