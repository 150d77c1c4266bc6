// SPDX-License-Identifier: GPL-3.0-or-later
// What Python's operators and built-in conversions do with values.
#pragma once

#include "models/templates/nodes.h"
#include "models/templates/text.h"

namespace prosector::jinja {

std::string typeName(const Var &value); ///< `type(x).__name__`
/// What Jinja calls a value without such a member: "dict object", "None".
std::string ownerName(const Var &value);
std::string undefinedMessage(const UndefinedObject &undefined);
[[noreturn]] void raiseUndefined(const Var &undefined);

bool truth(const Var &value);
bool equal(const Var &left, const Var &right);
/// Less, LessEqual, Greater, GreaterEqual; raises TypeError for what has no order.
bool ordered(Comparison comparison, const Var &left, const Var &right);

/// `str(x)`, keeping where it came from.
Var toText(const Var &value);
std::string repr(const Var &value);
std::string floatRepr(double value);
/// An infinity or zero for digits that fit no double.
double overflowed(std::string_view digits);

Var calculate(Operation operation, const Var &left, const Var &right);
Var negated(const Var &value);
Var positive(const Var &value);

/// A string or sequence so many times.
Var repeated(const Var &value, std::int64_t times);

/// The value as an index: an int or a bool. Raises TypeError with the words given otherwise.
std::int64_t toIndex(const Var &value, std::string_view complaint);

/// A level of nested values on this thread's stack; raises RecursionError where it grows too deep.
class Nesting {
public:
    static constexpr int maxDepth = 900;
    Nesting();
    ~Nesting();
    Nesting(const Nesting &) = delete;
    Nesting &operator=(const Nesting &) = delete;
};

} // namespace prosector::jinja
