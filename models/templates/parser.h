// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/templates/lexer.h"
#include "models/templates/nodes.h"

namespace prosector::jinja {

/// Jinja's grammar with its loop controls and Transformers' `generation` tag. Raises
/// TemplateSyntaxError with Jinja's words; `Raised::site` is then a byte of the source.
std::unique_ptr<Tree> parseTree(std::string_view source, const LexerOptions &options);

} // namespace prosector::jinja
