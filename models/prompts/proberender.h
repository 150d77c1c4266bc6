// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/prompts/tokenizerview.h"

#include <optional>
#include <string>
#include <vector>

namespace prosector {

/// What a tokenizer's chat template prints, told from its source. Cheap to make; valid as long as the view.
class ProbeRenders {
public:
    explicit ProbeRenders(const TokenizerView &view) : m_view(view) {}

    /// The default template, or null.
    const TemplateText *chat() const;
    /// Where the template first prints the start token (as `bos_token` or spelt out); nothing when it does not.
    std::optional<Evidence> printsFirst(const std::string &bos) const;
    /// Whether it prints the start token for every round, as Llama 2's does.
    bool printsBetweenTurns(const std::string &bos) const;

private:
    const TokenizerView &m_view;
};

} // namespace prosector
