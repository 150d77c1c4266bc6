// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/config/tokenizerfacts.h"

#include <string>
#include <utility>
#include <vector>

namespace prosector {

using SpecialTokens = std::vector<std::pair<std::string, std::string>>; ///< "bos_token" → "<s>"

/// What a model's files give apply_chat_template.
struct FolderTemplate {
    TemplateText chatTemplate;
    SpecialTokens specialTokens;
};

/// The template Transformers takes: a template file before tokenizer_config.json; of several named ones
/// `wanted`, else "tool_use" when tools are given, else "default". Nothing when there is none.
std::optional<FolderTemplate> folderTemplate(const TokenizerFacts &facts, bool tools, std::string_view wanted = {});

/// Of the first model of a run that has a template: a folder, else a GGUF file.
Result<FolderTemplate> folderTemplate(const Run &run, bool tools, std::string_view wanted = {});

/// Of the first model of a run that names any: what a template from elsewhere is given.
SpecialTokens specialTokens(const Run &run);

} // namespace prosector
