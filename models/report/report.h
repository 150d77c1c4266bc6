// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/instruments/instrument.h"

#include <string>

#include <nlohmann/json_fwd.hpp>

namespace prosector {

/// Schema "prosector.report/1" (DESIGN §6). The same examination gives the same bytes.
std::string toJson(const Examination &examination);

/// The anchor as the report's `locator` object.
nlohmann::ordered_json locatorJson(const Anchor &anchor);

} // namespace prosector
