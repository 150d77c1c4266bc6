// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/session/session.h"

#include <QTest>

namespace prosector::test {

/// Runs the event loop until the session has examined everything it was asked to open.
inline bool settles(Session &session)
{
    return QTest::qWaitFor(
        [&] {
            if (!session.run() || session.isOpening() || session.isExamining())
                return false;
            for (int i = 0; i < session.instrumentCount(); ++i) {
                if (!session.state(i).outcome)
                    return false;
            }
            return true;
        },
        30000);
}

} // namespace prosector::test
