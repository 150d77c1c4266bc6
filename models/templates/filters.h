// SPDX-License-Identifier: GPL-3.0-or-later
// `value | filter`
#pragma once

#include "models/templates/value.h"

#include <functional>
#include <span>

namespace prosector::jinja {

struct FilterRow {
    std::string_view name;
    Var (*run)(Renderer &renderer, const Var &input, Arguments &arguments);
};

const FilterRow *findFilter(std::string_view name);

// The rooms the filters live in.
std::span<const FilterRow> textFilters();
std::span<const FilterRow> markupFilters();
std::span<const FilterRow> numberFilters();
std::span<const FilterRow> sequenceFilters();
std::span<const FilterRow> selectionFilters();

/// Jinja's make_attrgetter: "a.b.0" looked up part by part. A Missing attribute gives the item itself.
std::function<Var(Renderer &, Var)> attributeGetter(const Var &attribute, const Var &fallback = {}, bool ignoreCase = false);
Var ignoreCase(const Var &value); ///< lower-case strings, all else as it is

} // namespace prosector::jinja
