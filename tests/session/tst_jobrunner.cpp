// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/session/jobrunner.h"

#include "tests/support/strict.h"

#include <QSignalSpy>
#include <QThread>
#include <QThreadPool>

#include <latch>
#include <optional>
#include <semaphore>
#include <stdexcept>

using namespace prosector;

namespace {

/// Blocks until somebody stops the job: no polling, no sleeping.
void waitForStop(const Job &job)
{
    std::binary_semaphore stopped(0);
    const std::stop_callback callback(job.stopToken(), [&] { stopped.release(); });
    stopped.acquire();
}

} // namespace

class TestJobRunner : public QObject {
    Q_OBJECT

private slots:
    void init() { failOnQtWarnings(); }

    void deliversInTheOwnersThread()
    {
        JobRunner runner;
        QThread *worked = nullptr;
        QThread *delivered = nullptr;
        std::optional<Result<int>> result;
        runner.start(
            QStringLiteral("a"), QStringLiteral("Adding"), this,
            [&worked](const Job &) -> Result<int> {
                worked = QThread::currentThread();
                return 42;
            },
            [&](Result<int> r) {
                delivered = QThread::currentThread();
                result = std::move(r);
            });
        QVERIFY(!result);
        QTRY_VERIFY(result);
        QCOMPARE(result->value(), 42);
        QCOMPARE(delivered, thread());
        QVERIFY(worked && worked != thread());
        QVERIFY(runner.jobs().isEmpty());
    }

    void errorsAndExceptions_data()
    {
        QTest::addColumn<int>("what");
        QTest::addColumn<int>("code");
        QTest::newRow("error") << 0 << int(Errc::Malformed);
        QTest::newRow("exception") << 1 << int(Errc::Internal);
        QTest::newRow("bad_alloc") << 2 << int(Errc::TooLarge);
        QTest::newRow("something else thrown") << 3 << int(Errc::Internal);
    }
    void errorsAndExceptions()
    {
        QFETCH(int, what);
        JobRunner runner;
        std::optional<Result<int>> result;
        runner.start(
            QStringLiteral("a"), {}, this,
            [what](const Job &) -> Result<int> {
                switch (what) {
                case 0: return Error{Errc::Malformed, "bad"};
                case 1: throw std::runtime_error("oops");
                case 2: throw std::bad_alloc();
                default: throw 7;
                }
            },
            [&](Result<int> r) { result = std::move(r); });
        QTRY_VERIFY(result);
        QVERIFY(!result->ok());
        QTEST(int(result->error().code), "code");
    }

    void laterStartSupersedes()
    {
        JobRunner runner;
        QSignalSpy finished(&runner, &JobRunner::jobFinished);
        std::latch running(1);
        int formerCalls = 0;
        std::optional<int> value;
        const auto first = runner.start(
            QStringLiteral("k"), {}, this,
            [&running](const Job &job) -> Result<int> {
                running.count_down();
                waitForStop(job);
                return 1;
            },
            [&](const Result<int> &) { ++formerCalls; });
        running.wait();
        const auto second = runner.start(
            QStringLiteral("k"), {}, this, [](const Job &) -> Result<int> { return 2; },
            [&](const Result<int> &r) { value = r.value(); });
        QVERIFY(second > first);
        QCOMPARE(runner.jobs().size(), 1);
        QTRY_COMPARE(value, std::optional(2));
        // The former's result, if it were delivered, would be in the queue before this one's.
        QThreadPool::globalInstance()->waitForDone();
        QCoreApplication::processEvents();
        QCOMPARE(formerCalls, 0);
        QCOMPARE(finished.size(), 1);
    }

    void supersededWhileItsResultIsOnTheWay()
    {
        JobRunner runner;
        int formerCalls = 0;
        int laterCalls = 0;
        runner.start(
            QStringLiteral("k"), {}, this, [](const Job &) -> Result<int> { return 1; },
            [&](const Result<int> &) { ++formerCalls; });
        QThreadPool::globalInstance()->waitForDone(); // its result waits in the event queue
        runner.start(
            QStringLiteral("k"), {}, this, [](const Job &) -> Result<int> { return 2; },
            [&](const Result<int> &) { ++laterCalls; });
        QTRY_COMPARE(laterCalls, 1);
        QCOMPARE(formerCalls, 0);
    }

    void cancelTellsOnce()
    {
        JobRunner runner;
        std::latch running(1);
        int calls = 0;
        Errc code = Errc::Usage;
        runner.start(
            QStringLiteral("k"), {}, this,
            [&running](const Job &job) -> Result<int> {
                running.count_down();
                waitForStop(job);
                return 1; // finishes all the same: still told as cancelled
            },
            [&](const Result<int> &r) {
                ++calls;
                code = r.ok() ? Errc::Usage : r.error().code;
            });
        running.wait();
        runner.cancel(QStringLiteral("other"));
        runner.cancel(QStringLiteral("k"));
        runner.cancel(QStringLiteral("k"));
        QTRY_COMPARE(calls, 1);
        QCOMPARE(code, Errc::Cancelled);
    }

    void cancelledBeforeItGotAThread()
    {
        QThreadPool pool;
        pool.setMaxThreadCount(1);
        JobRunner runner(nullptr, &pool);
        std::latch running(1);
        std::binary_semaphore go(0);
        bool worked = false;
        std::optional<Errc> code;
        runner.start(
            QStringLiteral("blocker"), {}, this,
            [&](const Job &) -> Result<int> {
                running.count_down();
                go.acquire();
                return 0;
            },
            [](const Result<int> &) {});
        running.wait();
        runner.start(
            QStringLiteral("waiting"), {}, this,
            [&worked](const Job &) -> Result<int> {
                worked = true;
                return 0;
            },
            [&](const Result<int> &r) { code = r.error().code; });
        QCOMPARE(runner.jobs().size(), 2);
        QVERIFY(!runner.jobs().at(1).started);
        runner.cancel(QStringLiteral("waiting"));
        go.release();
        QTRY_COMPARE(code, std::optional(Errc::Cancelled));
        QVERIFY(!worked);
    }

    void progressIsThrottled()
    {
        JobRunner runner;
        QSignalSpy progress(&runner, &JobRunner::progressed);
        constexpr int steps = 20000;
        std::binary_semaphore go(0);
        bool done = false;
        runner.start(
            QStringLiteral("k"), QStringLiteral("Counting"), this,
            [&go](const Job &job) -> Result<int> {
                for (int i = 0; i < steps; ++i)
                    job.progress(double(i) / steps, "step");
                go.acquire();
                return 0;
            },
            [&](const Result<int> &) { done = true; });
        QVERIFY(progress.wait());
        QCOMPARE(runner.jobs().at(0).step, QStringLiteral("step"));
        QCOMPARE(progress.at(0).at(0).toString(), QStringLiteral("k"));
        QVERIFY(progress.at(0).at(1).toDouble() >= 0);
        go.release();
        QTRY_VERIFY(done);
        QVERIFY2(progress.size() < steps / 100, qPrintable(QString::number(progress.size())));
    }

    void contextGoneMeansNoCall()
    {
        JobRunner runner;
        auto context = std::make_unique<QObject>();
        bool called = false;
        std::binary_semaphore go(0);
        const auto witness = std::make_shared<int>(0);
        runner.start(
            QStringLiteral("k"), {}, context.get(),
            [&go](const Job &) -> Result<int> {
                go.acquire();
                return 0;
            },
            [&called, witness](const Result<int> &) { called = true; });
        context.reset();
        go.release();
        QTRY_VERIFY(runner.jobs().isEmpty());
        QVERIFY(!called);
        QCOMPARE(witness.use_count(), 1L); // and the callback is gone
    }

    void destroyedWhileRunning()
    {
        auto runner = std::make_unique<JobRunner>();
        const auto running = std::make_shared<std::latch>(1);
        const auto ended = std::make_shared<std::latch>(1);
        bool called = false;
        runner->start(
            QStringLiteral("k"), {}, this,
            [running, ended](const Job &job) -> Result<int> {
                running->count_down();
                job.progress(0.5, "half");
                waitForStop(job); // the destructor stops it
                job.progress(0.9, "to nobody");
                ended->count_down();
                return 0;
            },
            [&](const Result<int> &) { called = true; });
        running->wait();
        runner.reset();
        ended->wait();
        QThreadPool::globalInstance()->waitForDone();
        QCoreApplication::processEvents();
        QVERIFY(!called);
    }

    void mayBeDestroyedByItsCallback()
    {
        auto *runner = new JobRunner;
        bool called = false;
        runner->start(
            QStringLiteral("k"), {}, this, [](const Job &) -> Result<int> { return 0; },
            [&](const Result<int> &) {
                called = true;
                delete runner;
            });
        QTRY_VERIFY(called);
    }

    void workIsReleasedBeforeTheResultIsTold()
    {
        JobRunner runner;
        const auto held = std::make_shared<int>(1);
        long owners = 0;
        runner.start(
            QStringLiteral("k"), {}, this, [held](const Job &) -> Result<int> { return *held; },
            [&, weak = std::weak_ptr(held)](const Result<int> &) { owners = weak.use_count(); });
        QTRY_COMPARE(owners, 1L);
    }
};

PROSECTOR_TEST(TestJobRunner, tst_jobrunner)
#include "tst_jobrunner.moc"
