// SPDX-License-Identifier: GPL-3.0-or-later
// Members, items, slices and iteration, as the sandboxed environment grants them.
#pragma once

#include "models/templates/value.h"

namespace prosector::jinja {

/// `object[key]`: items first, then attributes; undefined when there is neither.
Var getItem(Renderer &renderer, const Var &object, const Var &key);
/// `object.name`: attributes first.
Var getAttribute(Renderer &renderer, const Var &object, const Var &name);
/// The attribute alone, as Python's getattr finds it; unsafe ones come as an undefined that says so.
std::optional<Var> attribute(Renderer &renderer, const Var &object, const Var &name);

/// `object[start:stop:step]`; Missing for what is left out.
Var getSlice(const Var &object, const Var &start, const Var &stop, const Var &step);

/// `item in container`
bool contains(Renderer &renderer, const Var &container, const Var &item);

std::optional<std::int64_t> lengthOf(Renderer &renderer, const Var &value); ///< nothing: it has no length
Ref<Iterator> iterate(Renderer &renderer, const Var &value);
bool isIterable(const Var &value);
std::vector<Var> itemsOf(Renderer &renderer, const Var &value); ///< list(value)

Var undefinedVariable(const Var &name);
Var undefinedMember(const Var &owner, const Var &name);
Var undefinedHint(std::string hint);

/// The character with an index (negative from the end), or nothing.
std::optional<Var> characterAt(const Var &string, std::int64_t index);

} // namespace prosector::jinja
