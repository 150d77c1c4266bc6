// SPDX-License-Identifier: GPL-3.0-or-later
// int() and float().
#pragma once

#include "models/templates/value.h"

namespace prosector::jinja {

Var toInteger(const Var &value);                      ///< `int(value)`
Var parseInteger(std::string_view text, std::int64_t base); ///< `int('…', base)`
double toReal(const Var &value);                      ///< `float(value)`
Var truncated(double value);                          ///< `int(…)` of a float
/// `round(value, digits)` of a float: to even, correctly rounded.
double rounded(double value, std::int64_t digits);

} // namespace prosector::jinja
