// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/core/result.h"

#include <exception>
#include <new>

namespace prosector {

/// Calls what returns a Result; what it throws becomes an Error: too little memory TooLarge, anything
/// else Internal. Stands at borders where the rest of the work goes on without this part.
template<class Function>
auto guarded(Function &&function) -> decltype(function())
{
    try {
        return function();
    } catch (const std::bad_alloc &) {
        return Error{Errc::TooLarge, "not enough memory"};
    } catch (const std::exception &exception) {
        return Error{Errc::Internal, exception.what()};
    }
}

} // namespace prosector
