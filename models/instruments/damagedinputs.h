// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/instruments/instrument.h"

namespace prosector {

/// Names the damaged files among an instrument's inputs in its report. A report that would pass becomes
/// undecidable: what could not be read may hold what is wrong. One with a warning or an error keeps it,
/// and lists the file as not seen.
void nameDamagedInputs(const Instrument &instrument, const Inputs &inputs, Report &report);

} // namespace prosector
