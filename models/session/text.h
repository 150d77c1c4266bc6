// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>
#include <QStringList>

#include <string>
#include <string_view>
#include <vector>

namespace prosector {

/// UTF-8 to Qt; invalid bytes become U+FFFD.
inline QString toQt(std::string_view text)
{
    return QString::fromUtf8(text.data(), static_cast<qsizetype>(text.size()));
}

/// Also for paths: they are UTF-8 below Qt, as QFile encodes them on Linux.
inline std::vector<std::string> fromQt(const QStringList &list)
{
    std::vector<std::string> texts;
    for (const QString &text : list)
        texts.push_back(text.toStdString());
    return texts;
}

inline QStringList toQt(const std::vector<std::string> &texts)
{
    QStringList list;
    for (const std::string &text : texts)
        list.append(toQt(text));
    return list;
}

} // namespace prosector
