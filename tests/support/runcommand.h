// SPDX-License-Identifier: GPL-3.0-or-later
// prosector-cli as a script runs it.
#pragma once

#include <QJsonDocument>
#include <QJsonObject>
#include <QProcess>
#include <QString>

namespace prosector::test {

struct Ran {
    int status = -1; ///< -2: ended by a signal
    QByteArray out, err;
};

inline Ran finish(QProcess &process)
{
    if (!process.waitForFinished(60'000))
        return {-1, {}, process.errorString().toUtf8()};
    return {process.exitStatus() == QProcess::NormalExit ? process.exitCode() : -2, process.readAllStandardOutput(),
            process.readAllStandardError()};
}

inline Ran runCommand(const QStringList &arguments, const QString &folder = {},
                      const QProcessEnvironment &environment = QProcessEnvironment::systemEnvironment())
{
    QProcess process;
    process.setWorkingDirectory(folder);
    process.setProcessEnvironment(environment);
    process.start(QStringLiteral(PROSECTOR_TEST_BINARY_DIR "/app/prosector-cli"), arguments);
    return finish(process);
}

/// With a limit of the shell: `limit` is "-v 300000", "-f 1".
inline Ran runLimited(const QString &limit, const QStringList &arguments, const QString &folder)
{
    QProcess process;
    process.setWorkingDirectory(folder);
    process.start(QStringLiteral("/bin/bash"),
                  QStringList{QStringLiteral("-c"), QStringLiteral("ulimit %1 && exec \"$0\" \"$@\"").arg(limit),
                              QStringLiteral(PROSECTOR_TEST_BINARY_DIR "/app/prosector-cli")}
                      + arguments);
    return finish(process);
}

inline QJsonObject jsonObject(const QByteArray &json)
{
    return QJsonDocument::fromJson(json).object();
}

/// One line that begins with the program's name.
inline bool isOneClearLine(const QByteArray &text)
{
    return text.startsWith("prosector-cli: ") && text.count('\n') == 1 && text.endsWith('\n');
}

} // namespace prosector::test
