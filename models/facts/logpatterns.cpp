// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/facts/logpatterns.h"

namespace prosector {

Result<LogPatterns> LogPatterns::parse(DocumentPtr)
{
    return LogPatterns();
}

} // namespace prosector
