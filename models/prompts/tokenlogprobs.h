// SPDX-License-Identifier: GPL-3.0-or-later
// What engines record of the probability of each token.
#pragma once

#include "models/prompts/tokenarrays.h"

namespace prosector {

/// Not a number where the value is none.
float logprobOf(Value value);

/// The most probable tokens of one place: a list of objects, or an object from piece to logprob or to an
/// object with it (vLLM, keyed by id).
std::vector<TokenArray::Alternative> alternativesOf(Value list);

/// Adds the numbers beside the ids, each list only if it is as long as they are.
void addLogprobs(TokenArray &array, Value logprobs, Value top, Value ranks);

} // namespace prosector
