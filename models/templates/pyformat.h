// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/templates/value.h"

namespace prosector::jinja {

/// `'…' % values`.
Var percentFormat(const Var &format, const Var &values);
/// `'…'.format(*args, **kwargs)` with the sandbox's view of attributes.
Var braceFormat(Renderer &renderer, const Var &format, Arguments &arguments);
/// `format(value, spec)`.
std::string formatValue(const Var &value, std::string_view spec);
/// markupsafe.escape: marked safe, & < > " ' as entities. A string marked safe already stays.
Var escaped(const Var &value);
/// `f'{value:.{digits}f}'`
std::string fixedDigits(double value, int digits);

} // namespace prosector::jinja
