// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/templates/value.h"

#include <initializer_list>

namespace prosector::jinja {

/// Arguments put to the parameters of a Python function; Missing for those not given. Raises TypeError with
/// Python's words when they do not fit. `implicit` counts what stands before them (self, a filter's input).
std::vector<Var> bind(Arguments &arguments, std::string_view function, std::initializer_list<std::string_view> parameters,
                      std::size_t required = 0, std::size_t implicit = 0);

/// None or left out.
inline bool absent(const Var &value)
{
    return value.isMissing() || value.isNone();
}

const Var &needText(const Var &value, std::string_view function); ///< raises TypeError for what is no str

} // namespace prosector::jinja
