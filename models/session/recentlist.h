// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QDateTime>
#include <QObject>
#include <QStringList>

class QSettings;

namespace prosector {

/// What was opened lately, newest first, kept in the user's settings.
class RecentList : public QObject {
    Q_OBJECT

public:
    struct Entry {
        QStringList paths; ///< absolute; opened together
        QDateTime opened;  ///< UTC
    };
    static constexpr int limit = 12;

    /// `settings`, not owned, must outlive the list.
    explicit RecentList(QSettings *settings, QObject *parent = nullptr);

    const QList<Entry> &entries() const { return m_entries; }
    /// Moves the entry to the top when it is there already.
    void add(const QStringList &paths);
    void remove(int entry);
    void clear();

signals:
    void changed();

private:
    void store();

    QSettings *m_settings;
    QList<Entry> m_entries;
};

} // namespace prosector
