// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/core/document.h"

#include <vector>

namespace prosector {

/// What contradicts itself in the record of a token sequence as tokens.json holds it (resources/trace.schema.json),
/// or in a list of such records: arrays that run beside `ids` with another length, elements of another type,
/// offsets that end before they begin, a prompt longer than the ids. At most a hundred; the rest is counted.
std::vector<Error> tokenRecordProblems(Value root);

} // namespace prosector
