// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>
#include <QSize>

namespace prosector {

class MainWindow;

/// Waits until what was asked for is open, examined and drawn, opens a panel, waits until that has
/// nothing left to do, writes a picture and ends the program. Driven by signals alone.
class Screenshot final : public QObject {
    Q_OBJECT
public:
    /// `size` in device pixels; empty: as the window is.
    Screenshot(MainWindow *window, const QString &file, const QString &panel, const QSize &size, bool opens);

private:
    void check();
    void take();

    MainWindow *m_window;
    QString m_file, m_panel;
    bool m_opens;          ///< something is to be opened first
    bool m_panelOpen = false, m_queued = false;
    int m_quietTurns = 0;
};

} // namespace prosector
