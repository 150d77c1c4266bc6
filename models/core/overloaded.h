// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

namespace prosector {

/// A visitor made of lambdas, for std::visit.
template<class... Ts>
struct Overloaded : Ts... {
    using Ts::operator()...;
};
template<class... Ts>
Overloaded(Ts...) -> Overloaded<Ts...>;

} // namespace prosector
