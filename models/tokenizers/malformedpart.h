// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/core/document.h"
#include "models/core/result.h"

#include <string>

namespace prosector {

/// A part of a tokenizer file ("decoder") that is not what it must be, at its place, with the beginning of
/// what stands there.
inline Error malformedPart(std::string part, Value where, std::string expected)
{
    return {Errc::Malformed, std::move(part), where.anchor(), std::move(expected),
            where ? std::string(where.raw().substr(0, 60)) : "nothing"};
}

} // namespace prosector
