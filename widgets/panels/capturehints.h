// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/artifacts/artifact.h"

#include <QString>

namespace prosector {

/// How an artifact of this kind is captured with the engines we know: for the page of an instrument
/// that lacks it.
QString captureHint(Kind kind);

} // namespace prosector
