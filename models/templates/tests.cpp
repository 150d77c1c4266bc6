// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/templates/tests.h"

#include "models/templates/access.h"
#include "models/templates/arguments.h"
#include "models/templates/filters.h"
#include "models/templates/iterators.h"
#include "models/templates/operators.h"
#include "models/templates/pystring.h"
#include "models/templates/raised.h"
#include "models/templates/renderer.h"

namespace prosector::jinja {

namespace {

void none(Arguments &arguments, std::string_view function)
{
    if (!arguments.positional.empty() || !arguments.named.empty())
        bind(arguments, function, {}, 0, 1);
}

template<bool (*Predicate)(const Var &)>
bool ask(Renderer &, const Var &value, Arguments &arguments)
{
    none(arguments, "test");
    return Predicate(value);
}

template<Comparison comparison>
bool compare(Renderer &, const Var &value, Arguments &arguments)
{
    const std::vector<Var> bound = bind(arguments, "test", {"other"}, 1, 1);
    if (comparison == Comparison::Equal)
        return equal(value, bound[0]);
    if (comparison == Comparison::NotEqual)
        return !equal(value, bound[0]);
    return ordered(comparison, value, bound[0]);
}

bool isOdd(Renderer &, const Var &value, Arguments &arguments)
{
    none(arguments, "test_odd");
    return equal(calculate(Operation::Modulo, value, Var::integer(2)), Var::integer(1));
}

bool isEven(Renderer &, const Var &value, Arguments &arguments)
{
    none(arguments, "test_even");
    return equal(calculate(Operation::Modulo, value, Var::integer(2)), Var::integer(0));
}

bool isDivisibleBy(Renderer &, const Var &value, Arguments &arguments)
{
    const std::vector<Var> bound = bind(arguments, "test_divisibleby", {"num"}, 1, 1);
    return equal(calculate(Operation::Modulo, value, bound[0]), Var::integer(0));
}

bool isIn(Renderer &renderer, const Var &value, Arguments &arguments)
{
    const std::vector<Var> bound = bind(arguments, "test_in", {"seq"}, 1, 1);
    return contains(renderer, bound[0], value);
}

bool isSameAs(Renderer &, const Var &value, Arguments &arguments)
{
    const std::vector<Var> bound = bind(arguments, "test_sameas", {"other"}, 1, 1);
    const Var &other = bound[0];
    if (value.kind() != other.kind())
        return false;
    switch (value.kind()) {
    case Kind::None:
    case Kind::Bool: return equal(value, other);
    case Kind::Int: return value.asInt() == other.asInt() && value.asInt() >= -5 && value.asInt() <= 256; // the ints Python keeps once
    case Kind::Float: return false;
    case Kind::Tuple: return value.heapObject() == other.heapObject() || (value.sequence().items.empty() && other.sequence().items.empty());
    case Kind::String:
        return value.heapObject() == other.heapObject() || (value.view() == other.view() && value.view().size() <= 1);
    default: return value.heapObject() == other.heapObject();
    }
}

bool isSequence(Renderer &renderer, const Var &value, Arguments &arguments)
{
    none(arguments, "test_sequence");
    if (value.isUndefined())
        return true; // it has a length and a __getitem__, if one that fails
    if (value.isObject())
        return value.object().subscriptable() && value.object().length(renderer).has_value();
    return value.isString() || value.isSequence() || value.isDict();
}

bool isFilterName(Renderer &, const Var &value, Arguments &arguments)
{
    none(arguments, "test_filter");
    return value.isString() && findFilter(value.view());
}

bool isTestName(Renderer &, const Var &value, Arguments &arguments)
{
    none(arguments, "test_test");
    return value.isString() && findTest(value.view());
}

bool defined(const Var &v) { return !v.isUndefined(); }
bool undefined(const Var &v) { return v.isUndefined(); }
bool isNone(const Var &v) { return v.isNone(); }
bool isBoolean(const Var &v) { return v.isBool(); }
bool isFalse(const Var &v) { return v.isBool() && !v.asBool(); }
bool isTrue(const Var &v) { return v.isBool() && v.asBool(); }
bool isInteger(const Var &v) { return v.isInt() || v.kind() == Kind::BigInt; }
bool isFloat(const Var &v) { return v.isFloat(); }
bool isString(const Var &v) { return v.isString(); }
bool isMapping(const Var &v) { return v.isDict(); }
bool isNumber(const Var &v) { return v.isIntegral() || v.isFloat() || v.kind() == Kind::BigInt; }
bool isLower(const Var &v) { return isLowerText(toText(v).view()); }
bool isUpper(const Var &v) { return isUpperText(toText(v).view()); }
bool isCallable(const Var &v) { return v.isUndefined() || (v.isObject() && v.object().callable()); }
bool isEscaped(const Var &v) { return v.isString() && v.isMarkup(); }

constexpr TestRow rows[] = {
    {"defined", ask<defined>},
    {"undefined", ask<undefined>},
    {"none", ask<isNone>},
    {"string", ask<isString>},
    {"mapping", ask<isMapping>},
    {"sequence", isSequence},
    {"iterable", ask<isIterable>},
    {"boolean", ask<isBoolean>},
    {"true", ask<isTrue>},
    {"false", ask<isFalse>},
    {"number", ask<isNumber>},
    {"integer", ask<isInteger>},
    {"float", ask<isFloat>},
    {"odd", isOdd},
    {"even", isEven},
    {"divisibleby", isDivisibleBy},
    {"lower", ask<isLower>},
    {"upper", ask<isUpper>},
    {"callable", ask<isCallable>},
    {"sameas", isSameAs},
    {"escaped", ask<isEscaped>},
    {"in", isIn},
    {"filter", isFilterName},
    {"test", isTestName},
    {"==", compare<Comparison::Equal>},
    {"eq", compare<Comparison::Equal>},
    {"equalto", compare<Comparison::Equal>},
    {"!=", compare<Comparison::NotEqual>},
    {"ne", compare<Comparison::NotEqual>},
    {">", compare<Comparison::Greater>},
    {"gt", compare<Comparison::Greater>},
    {"greaterthan", compare<Comparison::Greater>},
    {">=", compare<Comparison::GreaterEqual>},
    {"ge", compare<Comparison::GreaterEqual>},
    {"<", compare<Comparison::Less>},
    {"lt", compare<Comparison::Less>},
    {"lessthan", compare<Comparison::Less>},
    {"<=", compare<Comparison::LessEqual>},
    {"le", compare<Comparison::LessEqual>},
};

} // namespace

const TestRow *findTest(std::string_view name)
{
    for (const TestRow &row : rows) {
        if (row.name == name)
            return &row;
    }
    return nullptr;
}

} // namespace prosector::jinja
