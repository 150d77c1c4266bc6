// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/core/version.h"

namespace prosector {

std::string_view version()
{
    return PROSECTOR_VERSION;
}

} // namespace prosector
