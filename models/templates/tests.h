// SPDX-License-Identifier: GPL-3.0-or-later
// `is …`
#pragma once

#include "models/templates/value.h"

namespace prosector::jinja {

struct TestRow {
    std::string_view name;
    bool (*run)(Renderer &renderer, const Var &value, Arguments &arguments);
};

const TestRow *findTest(std::string_view name);

} // namespace prosector::jinja
