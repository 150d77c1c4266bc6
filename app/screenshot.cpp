// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/screenshot.h"

#include "app/mainwindow.h"
#include "models/session/session.h"
#include "widgets/panels/panel.h"

#include <QApplication>
#include <QPixmap>

#include <cstdio>

namespace prosector {

namespace {
constexpr int quietTurns = 4; ///< of the event loop, before the picture is taken
enum ExitStatus { Done = 0, UsageError = 2, InputError = 3 };
}

Screenshot::Screenshot(MainWindow *window, const QString &file, const QString &panel, const QSize &size, bool opens)
    : QObject(window), m_window(window), m_file(file), m_panel(panel), m_opens(opens)
{
    if (!size.isEmpty())
        window->resize(size / window->devicePixelRatioF());
    Session *const session = window->session();
    for (const auto signal : {&Session::runChanged, &Session::examinationFinished, &Session::openingChanged})
        connect(session, signal, this, &Screenshot::check);
    connect(session->jobs(), &JobRunner::jobsChanged, this, &Screenshot::check);
    connect(session, &Session::openFailed, this, [](const Error &error) {
        std::fprintf(stderr, "prosector: %s\n", describe(error).c_str());
        QApplication::exit(InputError);
    });
    check();
}

void Screenshot::check()
{
    // Queued, once: what waits in the queue now (layouts, the next job) goes first.
    if (m_queued)
        return;
    m_queued = true;
    QMetaObject::invokeMethod(
        this,
        [this] {
            m_queued = false;
            Session *const session = m_window->session();
            if ((m_opens && session->run() == nullptr) || session->isOpening() || session->isExamining()
                || !session->jobs()->jobs().isEmpty()) {
                m_quietTurns = 0;
                return;
            }
            if (!m_panelOpen) {
                m_panelOpen = true;
                Panel *const panel = m_window->openPanel(m_panel);
                if (panel == nullptr) {
                    std::fprintf(stderr, "prosector: there is no panel %s; panels here: %s\n", qUtf8Printable(m_panel),
                                 qUtf8Printable(m_window->panelIds().join(QStringLiteral(", "))));
                    QApplication::exit(UsageError);
                    return;
                }
                connect(panel, &Panel::settled, this, &Screenshot::check);
                check();
                return;
            }
            Panel *const panel = m_window->openPanel(m_panel);
            if (panel == nullptr || panel->isBusy())
                return;
            // What the last result set off (layouts, widths of columns) waits in the queue: let it pass.
            if (++m_quietTurns < quietTurns)
                return check();
            take();
        },
        Qt::QueuedConnection);
}

void Screenshot::take()
{
    if (!m_window->grab().save(m_file)) {
        std::fprintf(stderr, "prosector: %s could not be written\n", qUtf8Printable(m_file));
        QApplication::exit(UsageError);
        return;
    }
    QApplication::exit(Done);
}

} // namespace prosector
