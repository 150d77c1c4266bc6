// SPDX-License-Identifier: GPL-3.0-or-later
// prosector_bench_window [--tensors N] FOLDER...: starts the real window without a screen and prints JSON:
//   start_ms, rss_mb     until the first window is painted and the event loop is idle, from START_NS (nanoseconds
//                        since the epoch, set by the caller) or else from main()
//   folders              for each: until everything is examined, the longest time in which the event loop did not
//                        turn, and the same while every pane is opened and drawn once
//   scroll               p50, p95 and worst frame of scrolling a list of N tensors through its whole length
#include "app/mainwindow.h"
#include "models/item/tensormodel.h"
#include "models/session/text.h"
#include "tests/support/safetensorswriter.h"
#include "widgets/panearea.h"
#include "widgets/panels/panel.h"
#include "widgets/views/tableview.h"

#include <QApplication>
#include <QElapsedTimer>
#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QScrollBar>
#include <QSettings>
#include <QTemporaryDir>
#include <QTimer>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <functional>

using namespace prosector;

namespace {

double memoryInMb(const char *field)
{
    QFile file(QStringLiteral("/proc/self/status"));
    if (file.open(QIODevice::ReadOnly)) {
        for (const QByteArray &line : file.readAll().split('\n')) {
            if (line.startsWith(field))
                return line.mid(line.indexOf(':') + 1).trimmed().split(' ')[0].toDouble() / 1000;
        }
    }
    return 0;
}

/// Two gaps between turns of the event loop: by the clock, which also counts what other programs
/// took of the machine, and by the thread's own processor time, which does not.
class Heart {
public:
    Heart()
    {
        QObject::connect(&m_timer, &QTimer::timeout, &m_timer, [this] { beat(); });
        m_timer.setTimerType(Qt::PreciseTimer);
        m_timer.start(1);
        reset();
    }
    void reset()
    {
        m_clock.start();
        m_cpu = cpuNow();
        m_longest = m_longestCpu = 0;
    }
    QJsonObject read()
    {
        beat();
        const QJsonObject figures{{QStringLiteral("wall_ms"), m_longest}, {QStringLiteral("cpu_ms"), m_longestCpu}};
        reset();
        return figures;
    }

private:
    static double cpuNow()
    {
        timespec now{};
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
        return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) / 1e6;
    }
    void beat()
    {
        m_longest = std::max(m_longest, static_cast<double>(m_clock.nsecsElapsed()) / 1e6);
        m_longestCpu = std::max(m_longestCpu, cpuNow() - m_cpu);
        m_clock.start();
        m_cpu = cpuNow();
    }
    QTimer m_timer;
    QElapsedTimer m_clock;
    double m_cpu = 0, m_longest = 0, m_longestCpu = 0;
};

/// Turns the event loop until it is so; false after two minutes.
bool until(const std::function<bool()> &so)
{
    QElapsedTimer clock;
    clock.start();
    while (!so()) {
        if (clock.elapsed() > 120000)
            return false;
        QCoreApplication::processEvents(QEventLoop::WaitForMoreEvents, 20);
    }
    return true;
}

bool settled(MainWindow &window)
{
    Session *const session = window.session();
    return session->run() && !session->isOpening() && !session->isExamining() && session->jobs()->jobs().isEmpty();
}

QJsonObject measureFolder(MainWindow &window, Heart &heart, const QString &folder)
{
    window.session()->close();
    until([&] { return window.session()->jobs()->jobs().isEmpty(); });
    QElapsedTimer clock;
    heart.reset();
    clock.start();
    window.open({folder});
    const bool done = until([&] { return settled(window); });
    QJsonObject figures{{QStringLiteral("folder"), folder}, {QStringLiteral("settled_ms"), double(clock.elapsed())},
                        {QStringLiteral("settled"), done}, {QStringLiteral("opening_longest"), heart.read()}};
    QJsonObject worst;
    for (const QString &id : window.panelIds().mid(0, 40)) {
        Panel *const panel = window.openPanel(id);
        until([&] { return panel == nullptr || (!panel->isBusy() && window.session()->jobs()->jobs().isEmpty()); });
        QJsonObject longest = heart.read();
        if (longest[QStringLiteral("cpu_ms")].toDouble() > worst[QStringLiteral("cpu_ms")].toDouble()) {
            worst = longest;
            worst[QStringLiteral("pane")] = id;
        }
    }
    figures[QStringLiteral("panes_longest")] = worst;
    figures[QStringLiteral("rss_mb")] = memoryInMb("VmRSS");
    for (const QString &id : window.panes()->ids()) {
        if (id != QLatin1String("welcome"))
            window.panes()->closePane(id);
    }
    return figures;
}

QJsonObject measureScrolling(MainWindow &window, Heart &heart, int tensors)
{
    QTemporaryDir folder;
    SafetensorsWriter writer;
    for (int i = 0; i < tensors; ++i)
        writer.rawEntry("layers." + std::to_string(i) + ".w", "F32", {1}, static_cast<std::uint64_t>(i) * 4, static_cast<std::uint64_t>(i) * 4 + 4);
    QFile file(folder.filePath(QStringLiteral("model.safetensors")));
    if (!file.open(QIODevice::WriteOnly))
        return {};
    file.write(QByteArray::fromStdString(writer.bytes()));
    file.resize(file.size() + 4LL * tensors);
    file.close();
    QJsonObject figures = measureFolder(window, heart, folder.path());
    Panel *const panel = window.openPanel(QStringLiteral("tensors"));
    auto *const view = panel->findChild<TableView *>();
    until([&] { return view->isVisible() && view->model()->rowCount() >= tensors; });
    std::vector<double> frames;
    QScrollBar *const bar = view->verticalScrollBar();
    for (int step = 0; step < 300; ++step) {
        QElapsedTimer clock;
        clock.start();
        bar->setValue(static_cast<int>(static_cast<double>(bar->maximum()) * step / 299));
        view->viewport()->repaint();
        frames.push_back(static_cast<double>(clock.nsecsElapsed()) / 1e6);
        QCoreApplication::processEvents();
    }
    std::sort(frames.begin(), frames.end());
    figures[QStringLiteral("rows")] = view->model()->rowCount();
    figures[QStringLiteral("frame_p50_ms")] = frames[frames.size() / 2];
    figures[QStringLiteral("frame_p95_ms")] = frames[frames.size() * 95 / 100];
    figures[QStringLiteral("frame_worst_ms")] = frames.back();
    return figures;
}

} // namespace

int main(int argc, char **argv)
{
    using namespace std::chrono;
    const auto begin = system_clock::now();
    qputenv("QT_QPA_PLATFORM", "offscreen");
    QApplication application(argc, argv);
    const QTemporaryDir scratch;
    MainWindow window(std::make_unique<QSettings>(scratch.filePath(QStringLiteral("settings.ini")), QSettings::IniFormat));
    window.resize(1280, 800);
    window.show();
    until([&] { return window.isVisible() && window.session()->jobs()->jobs().isEmpty(); });
    QCoreApplication::processEvents();
    const char *const started = std::getenv("START_NS");
    const double since = started ? static_cast<double>(duration_cast<nanoseconds>(system_clock::now().time_since_epoch()).count()) - std::atof(started)
                                 : static_cast<double>(duration_cast<nanoseconds>(system_clock::now() - begin).count());
    QJsonObject figures{{QStringLiteral("start_ms"), since / 1e6}, {QStringLiteral("start_counts_from"), started ? QStringLiteral("exec") : QStringLiteral("main")},
                        {QStringLiteral("rss_mb"), memoryInMb("VmRSS")}};
    Heart heart;
    QJsonArray folders;
    int tensors = 0;
    for (int i = 1; i < argc; ++i) {
        if (QByteArray(argv[i]) == "--tensors" && i + 1 < argc)
            tensors = std::atoi(argv[++i]);
        else
            folders.append(measureFolder(window, heart, QString::fromLocal8Bit(argv[i])));
    }
    figures[QStringLiteral("folders")] = folders;
    if (tensors > 0)
        figures[QStringLiteral("scroll")] = measureScrolling(window, heart, tensors);
    std::fputs(QJsonDocument(figures).toJson().constData(), stdout);
    return 0;
}
