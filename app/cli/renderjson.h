// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/templates/chatrequest.h"

#include <string>
#include <string_view>

namespace prosector::cli {

/// {"text": "…"} or {"error": "…", "line": n, "column": n}
std::string renderedJson(const Rendered &rendered);
/// The error of a template that does not parse.
std::string errorJson(const Error &error, std::string_view source);
/// The text with its spans, generation blocks and the coverage of the template.
std::string spansJson(const RenderedChat &rendered, const Template &chatTemplate);

/// "line 12, column 5: UndefinedError: … (called from line 40, column 3)"
Error placedError(const RenderError &error, const Template &chatTemplate);
Error placedError(const Error &error, std::string_view source);

} // namespace prosector::cli
