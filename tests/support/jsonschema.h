// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QProcess>
#include <QTemporaryFile>
#include <QTest>

/// What Python's jsonschema says of a JSON text: empty when it fits the schema.
inline QString schemaComplaint(const QString &schema, const QByteArray &json)
{
    QTemporaryFile file;
    if (!file.open() || file.write(json) != json.size() || !file.flush())
        return QStringLiteral("cannot write a temporary file");
    QProcess python;
    python.start(QStringLiteral("python3"),
                 {QStringLiteral(PROSECTOR_TEST_SOURCE_DIR "/support/validate.py"), schema, file.fileName()});
    if (!python.waitForFinished())
        return python.errorString();
    return python.exitCode() == 0 ? QString() : QString::fromUtf8(python.readAll());
}

inline bool haveJsonSchema()
{
    static const bool have = QProcess::execute(QStringLiteral("python3"), {QStringLiteral("-c"), QStringLiteral("import jsonschema")}) == 0;
    return have;
}

/// In a test function: skips with a plain line where Python's jsonschema is not installed.
#define REQUIRE_JSON_SCHEMA()                                                                                          \
    if (!haveJsonSchema())                                                                                             \
    QSKIP("python3-jsonschema is not installed")
