// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/facts/knownmodels.h"

namespace prosector {

Result<KnownModels> KnownModels::parse(DocumentPtr)
{
    return KnownModels();
}

} // namespace prosector
