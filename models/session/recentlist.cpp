// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/session/recentlist.h"

#include <QFileInfo>
#include <QSettings>

namespace prosector {

namespace {
const QString arrayKey = QStringLiteral("recent");
const QString pathsKey = QStringLiteral("paths");
const QString openedKey = QStringLiteral("opened");
} // namespace

RecentList::RecentList(QSettings *settings, QObject *parent) : QObject(parent), m_settings(settings)
{
    const int count = m_settings->beginReadArray(arrayKey);
    for (int i = 0; i < qMin(count, limit); ++i) {
        m_settings->setArrayIndex(i);
        Entry entry{m_settings->value(pathsKey).toStringList(), m_settings->value(openedKey).toDateTime()};
        if (!entry.paths.isEmpty())
            m_entries.append(std::move(entry));
    }
    m_settings->endArray();
}

void RecentList::add(const QStringList &paths)
{
    if (paths.isEmpty())
        return;
    Entry entry{{}, QDateTime::currentDateTimeUtc()};
    for (const QString &path : paths)
        entry.paths.append(QFileInfo(path).absoluteFilePath());
    m_entries.removeIf([&](const Entry &old) { return old.paths == entry.paths; });
    m_entries.prepend(std::move(entry));
    while (m_entries.size() > limit)
        m_entries.removeLast();
    store();
}

void RecentList::remove(int entry)
{
    if (entry < 0 || entry >= m_entries.size())
        return;
    m_entries.removeAt(entry);
    store();
}

void RecentList::clear()
{
    m_entries.clear();
    store();
}

void RecentList::store()
{
    m_settings->remove(arrayKey);
    m_settings->beginWriteArray(arrayKey, static_cast<int>(m_entries.size()));
    for (int i = 0; i < m_entries.size(); ++i) {
        m_settings->setArrayIndex(i);
        m_settings->setValue(pathsKey, m_entries[i].paths);
        m_settings->setValue(openedKey, m_entries[i].opened);
    }
    m_settings->endArray();
    emit changed();
}

} // namespace prosector
