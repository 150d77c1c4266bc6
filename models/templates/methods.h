// SPDX-License-Identifier: GPL-3.0-or-later
// Methods of str, dict, list and tuple.
#pragma once

#include "models/templates/value.h"

#include <array>
#include <span>

namespace prosector::jinja {

struct MethodRow {
    std::string_view name;
    Var (*run)(Renderer &renderer, const Var &self, Arguments &arguments);
    bool mutates = false; ///< hidden by the immutable sandbox
};

std::span<const MethodRow> textMethods();
std::span<const MethodRow> containerMethods(Kind kind); ///< Dict, List or Tuple

/// Which of the four tables belongs to a value; 4 when none does.
std::size_t methodTable(const Var &value);
/// The rows of a name in the four tables; null where there is none.
std::array<const MethodRow *, 4> findMethods(std::string_view name);
const MethodRow *findMethod(const Var &object, std::string_view name);
Var boundMethod(const Var &object, const MethodRow &row);
/// real, imag, numerator … of numbers.
std::optional<Var> scalarAttribute(const Var &object, std::string_view name);

} // namespace prosector::jinja
