// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/core/document.h"

#include <string>
#include <string_view>
#include <vector>

namespace prosector {

/// The version of the tables' form that this program reads. Written by `resources/facts/make_tables.py`.
inline constexpr std::string_view factsSchema = "prosector.facts/1";

/// That the document is the table of that name in a form we read; else an Error (`Unsupported` for
/// another schema, `Malformed` for another table) that says what was expected and found.
Result<void> checkFactsTable(const Document &document, std::string_view table);

/// The strings of an array; empty when the value is none.
std::vector<std::string> stringsOf(Value array);

} // namespace prosector
