// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/core/finding.h"

#include <QString>

namespace prosector {

/// Bytes of the shown file that a finding points at.
struct ByteMark {
    ByteRange bytes; ///< absolute in the file
    Severity severity = Severity::Info;
    QString note;
};

} // namespace prosector
