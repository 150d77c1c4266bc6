// SPDX-License-Identifier: GPL-3.0-or-later
// PCRE2's objects with an owner, for the sources that match with it; headers do not show it.
#pragma once

#include "models/core/result.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <memory>
#include <string_view>

namespace prosector {

struct Pcre2Free {
    void operator()(pcre2_code *code) const { pcre2_code_free(code); }
    void operator()(pcre2_match_data *data) const { pcre2_match_data_free(data); }
    void operator()(pcre2_match_context *context) const { pcre2_match_context_free(context); }
    void operator()(pcre2_jit_stack *stack) const { pcre2_jit_stack_free(stack); }
};
template<class T>
using Pcre2Ptr = std::unique_ptr<T, Pcre2Free>;

/// Compiled, never with \C. Malformed: the place in the expression, `found` in PCRE2's words.
Result<Pcre2Ptr<pcre2_code>> compilePcre2(std::string_view expression, std::uint32_t options);

} // namespace prosector
