// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QRegularExpression>
#include <QTest>

#include "models/core/result.h"

/// Ends a test file: makes the class runnable by its suite, which finds it by this name.
#define PROSECTOR_TEST(Class, name)                                                                                    \
    int run_##name(int argc, char **argv)                                                                              \
    {                                                                                                                  \
        Class test;                                                                                                    \
        return QTest::qExec(&test, argc, argv);                                                                        \
    }

/// In init(): every Qt warning fails the test. The offscreen platform warns of one thing by itself.
inline void failOnQtWarnings()
{
    QTest::failOnWarning(QRegularExpression(QStringLiteral("^(?!This plugin does not support )")));
}

/// The result holds a value; else fails with its error.
#define QVERIFY_RESULT(result)                                                                                         \
    QVERIFY2((result).ok(), (result).ok() ? "" : prosector::describe((result).error()).c_str())
