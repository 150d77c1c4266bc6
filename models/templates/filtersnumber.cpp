// SPDX-License-Identifier: GPL-3.0-or-later
// Filters that make numbers, or texts of numbers.
#include "models/templates/access.h"
#include "models/templates/arguments.h"
#include "models/templates/filters.h"
#include "models/templates/operators.h"
#include "models/templates/pyformat.h"
#include "models/templates/pynumber.h"
#include "models/templates/raised.h"
#include "models/templates/renderer.h"

#include <cmath>

namespace prosector::jinja {

namespace {

/// The exceptions `int` and `float` answer with their default.
bool isConversionError(Exc type, bool overflow)
{
    return type == Exc::TypeError || type == Exc::ValueError || (overflow && type == Exc::OverflowError);
}

Var absolute(Renderer &, const Var &input, Arguments &arguments)
{
    bind(arguments, "abs", {}, 0, 1);
    if (input.isFloat())
        return Var::real(std::abs(input.asFloat()));
    if (input.isIntegral())
        return input.asInt() < 0 ? negated(input) : Var::integer(input.asInt());
    if (input.kind() == Kind::BigInt)
        raise(Exc::Unsupported, "integer beyond 64 bits");
    raise(Exc::TypeError, "bad operand type for abs(): '" + typeName(input) + "'");
}

Var integer(Renderer &, const Var &input, Arguments &arguments)
{
    const std::vector<Var> bound = bind(arguments, "do_int", {"default", "base"}, 0, 1);
    try {
        if (input.isString())
            return parseInteger(input.view(), bound[1].isMissing() ? 10 : toIndex(bound[1], "'" + typeName(bound[1]) + "' object cannot be interpreted as an integer"));
        return toInteger(input);
    } catch (const Raised &first) {
        if (!isConversionError(first.type, false))
            throw;
        try {
            return truncated(toReal(input)); // "42.23" is 42
        } catch (const Raised &second) {
            if (!isConversionError(second.type, true))
                throw;
            return bound[0].isMissing() ? Var::integer(0) : bound[0];
        }
    }
}

Var real(Renderer &, const Var &input, Arguments &arguments)
{
    const std::vector<Var> bound = bind(arguments, "do_float", {"default"}, 0, 1);
    try {
        return Var::real(toReal(input));
    } catch (const Raised &raised) {
        if (!isConversionError(raised.type, false))
            throw;
        return bound[0].isMissing() ? Var::real(0) : bound[0];
    }
}

Var round(Renderer &, const Var &input, Arguments &arguments)
{
    const std::vector<Var> bound = bind(arguments, "do_round", {"precision", "method"}, 0, 1);
    const std::string method = bound[1].isMissing() ? "common" : std::string(bound[1].isString() ? bound[1].view() : "");
    if (method != "common" && method != "ceil" && method != "floor")
        raise(Exc::FilterArgumentError, "method must be common, ceil or floor");
    if (method == "common") {
        if (input.isUndefined())
            raise(Exc::TypeError, "type Undefined doesn't define __round__ method");
        if (!input.isIntegral() && !input.isFloat())
            raise(Exc::TypeError, "type " + typeName(input) + " doesn't define __round__ method");
        const bool none = bound[0].isNone();
        const std::int64_t digits = bound[0].isMissing() || none ? 0 : toIndex(bound[0], "'" + typeName(bound[0]) + "' object cannot be interpreted as an integer");
        if (input.isFloat())
            return none ? truncated(rounded(input.asFloat(), 0)) : Var::real(rounded(input.asFloat(), digits));
        if (digits >= 0)
            return Var::integer(input.asInt());
        if (digits < -18)
            return Var::integer(0);
        std::int64_t scale = 1;
        for (std::int64_t i = 0; i < -digits; ++i)
            scale *= 10;
        // Half to even.
        const Var quotient = calculate(Operation::FloorDivide, input, Var::integer(scale));
        const std::int64_t low = quotient.asInt(), rest = input.asInt() - low * scale;
        const bool upwards = rest * 2 > scale || (rest * 2 == scale && (low & 1));
        return Var::integer((low + upwards) * scale);
    }
    const Var precision = bound[0].isMissing() ? Var::integer(0) : bound[0];
    const Var scale = calculate(Operation::Power, Var::integer(10), precision);
    const Var scaled = calculate(Operation::Multiply, input, scale);
    if (!scaled.isFloat() && !scaled.isIntegral())
        raise(Exc::TypeError, "must be real number, not " + typeName(scaled));
    const Var whole = scaled.isFloat() ? truncated(method == "ceil" ? std::ceil(scaled.asFloat()) : std::floor(scaled.asFloat())) : scaled;
    return calculate(Operation::Divide, whole, scale);
}

Var filesizeformat(Renderer &, const Var &input, Arguments &arguments)
{
    const std::vector<Var> bound = bind(arguments, "do_filesizeformat", {"binary"}, 0, 1);
    const double bytes = toReal(input);
    const bool binary = truth(bound[0]);
    const double base = binary ? 1024 : 1000;
    constexpr std::string_view prefixes = "kMGTPEZY";
    if (bytes == 1)
        return makeText("1 Byte", input.source());
    if (bytes < base)
        return makeText(std::string(toText(truncated(bytes)).view()) + " Bytes", input.source());
    double unit = base;
    std::size_t i = 0;
    for (; i < prefixes.size(); ++i) {
        unit *= base;
        if (bytes < unit || i + 1 == prefixes.size())
            break;
    }
    const std::string prefix = binary ? std::string(i == 0 ? "K" : std::string(1, prefixes[i])) + "iB" : std::string(1, prefixes[i]) + "B";
    return makeText(fixedDigits(base * bytes / unit, 1) + " " + prefix, input.source());
}

Var sum(Renderer &renderer, const Var &input, Arguments &arguments)
{
    const std::vector<Var> bound = bind(arguments, "sync_do_sum", {"attribute", "start"}, 0, 2);
    const auto get = attributeGetter(bound[0]);
    Var total = bound[1].isMissing() ? Var::integer(0) : bound[1];
    if (total.isString())
        raise(Exc::TypeError, "sum() can't sum strings [use ''.join(seq) instead]");
    const Ref<Iterator> iterator = iterate(renderer, input);
    for (Var item; iterator->next(renderer, item);) {
        renderer.step();
        total = calculate(Operation::Add, total, absent(bound[0]) ? item : get(renderer, item));
    }
    return total;
}

constexpr FilterRow rows[] = {
    {"int", integer}, {"float", real}, {"abs", absolute}, {"round", round}, {"sum", sum}, {"filesizeformat", filesizeformat},
};

} // namespace

std::span<const FilterRow> numberFilters()
{
    return rows;
}

} // namespace prosector::jinja
