// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/facts/enginedefaults.h"

namespace prosector {

Result<EngineDefaults> EngineDefaults::parse(DocumentPtr)
{
    return EngineDefaults();
}

} // namespace prosector
