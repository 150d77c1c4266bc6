// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/templates/operators.h"

#include "models/templates/pyformat.h"
#include "models/templates/pystring.h"
#include "models/templates/raised.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

namespace prosector::jinja {

namespace {

thread_local int depth = 0;

[[noreturn]] void beyond64Bits()
{
    raise(Exc::Unsupported, "integer beyond 64 bits");
}

std::string_view symbol(Operation operation)
{
    switch (operation) {
    case Operation::Add: return "+";
    case Operation::Subtract: return "-";
    case Operation::Multiply: return "*";
    case Operation::Divide: return "/";
    case Operation::FloorDivide: return "//";
    case Operation::Modulo: return "%";
    default: return "** or pow()";
    }
}

[[noreturn]] void unsupported(Operation operation, const Var &left, const Var &right)
{
    raise(Exc::TypeError, "unsupported operand type(s) for " + std::string(symbol(operation)) + ": '" + typeName(left) + "' and '"
                              + typeName(right) + "'");
}

bool isNumber(const Var &value)
{
    return value.isIntegral() || value.isFloat() || value.kind() == Kind::BigInt;
}

double toDouble(const Var &value)
{
    if (value.kind() == Kind::BigInt) {
        double number = 0;
        const std::string_view digits = value.view();
        const auto parsed = std::from_chars(digits.data(), digits.data() + digits.size(), number);
        if (parsed.ec != std::errc())
            raise(Exc::OverflowError, "int too large to convert to float");
        return number;
    }
    return value.isFloat() ? value.asFloat() : static_cast<double>(value.asInt());
}

int compareNumbers(const Var &left, const Var &right, bool &unordered)
{
    unordered = false;
    if (left.isIntegral() && right.isIntegral())
        return left.asInt() < right.asInt() ? -1 : left.asInt() > right.asInt();
    const auto wide = [](const Var &v) -> long double {
        return v.isIntegral() ? static_cast<long double>(v.asInt()) : static_cast<long double>(toDouble(v));
    };
    if (left.kind() == Kind::BigInt && right.kind() == Kind::BigInt) {
        const std::string_view a = left.view(), b = right.view();
        const bool negative = a[0] == '-';
        if (negative != (b[0] == '-'))
            return negative ? -1 : 1;
        const int magnitude = a.size() != b.size() ? (a.size() < b.size() ? -1 : 1) : a.compare(b);
        return negative ? -magnitude : magnitude;
    }
    const long double a = wide(left), b = wide(right);
    unordered = std::isnan(a) || std::isnan(b);
    return a < b ? -1 : a > b;
}

Var integerResult(Operation operation, std::int64_t a, std::int64_t b)
{
    std::int64_t result = 0;
    switch (operation) {
    case Operation::Add:
        if (__builtin_add_overflow(a, b, &result))
            beyond64Bits();
        return Var::integer(result);
    case Operation::Subtract:
        if (__builtin_sub_overflow(a, b, &result))
            beyond64Bits();
        return Var::integer(result);
    case Operation::Multiply:
        if (__builtin_mul_overflow(a, b, &result))
            beyond64Bits();
        return Var::integer(result);
    case Operation::Divide:
        if (b == 0)
            raise(Exc::ZeroDivisionError, "division by zero");
        return Var::real(static_cast<double>(static_cast<long double>(a) / static_cast<long double>(b)));
    case Operation::FloorDivide:
    case Operation::Modulo: {
        if (b == 0)
            raise(Exc::ZeroDivisionError, operation == Operation::Modulo ? "integer modulo by zero" : "integer division or modulo by zero");
        if (b == -1) { // the one quotient that overflows
            if (operation == Operation::Modulo)
                return Var::integer(0);
            return integerResult(Operation::Subtract, 0, a);
        }
        std::int64_t quotient = a / b, rest = a % b;
        if (rest != 0 && (rest < 0) != (b < 0)) {
            --quotient;
            rest += b;
        }
        return Var::integer(operation == Operation::Modulo ? rest : quotient);
    }
    default: break;
    }
    // Power.
    if (b < 0) {
        if (a == 0)
            raise(Exc::ZeroDivisionError, "0.0 cannot be raised to a negative power");
        return Var::real(std::pow(static_cast<double>(a), static_cast<double>(b)));
    }
    result = 1;
    for (std::int64_t base = a; b != 0; b >>= 1) {
        if ((b & 1) && __builtin_mul_overflow(result, base, &result))
            beyond64Bits();
        if (b > 1 && __builtin_mul_overflow(base, base, &base))
            beyond64Bits();
    }
    return Var::integer(result);
}

Var floatResult(Operation operation, double a, double b)
{
    switch (operation) {
    case Operation::Add: return Var::real(a + b);
    case Operation::Subtract: return Var::real(a - b);
    case Operation::Multiply: return Var::real(a * b);
    case Operation::Divide:
        if (b == 0)
            raise(Exc::ZeroDivisionError, "float division by zero");
        return Var::real(a / b);
    case Operation::FloorDivide:
    case Operation::Modulo: {
        if (b == 0)
            raise(Exc::ZeroDivisionError, operation == Operation::Modulo ? "float modulo" : "float floor division by zero");
        double rest = std::fmod(a, b);
        double quotient = (a - rest) / b;
        if (rest != 0) {
            if ((b < 0) != (rest < 0)) {
                rest += b;
                quotient -= 1;
            }
        } else {
            rest = std::copysign(0.0, b);
        }
        if (operation == Operation::Modulo)
            return Var::real(rest);
        if (quotient == 0)
            return Var::real(std::copysign(0.0, a / b));
        double whole = std::floor(quotient);
        if (quotient - whole > 0.5)
            whole += 1;
        return Var::real(whole);
    }
    default: break;
    }
    if (a == 0 && b < 0)
        raise(Exc::ZeroDivisionError, "0.0 cannot be raised to a negative power");
    if (a < 0 && std::isfinite(a) && std::isfinite(b) && b != std::floor(b))
        raise(Exc::Unsupported, "a complex number");
    const double result = std::pow(a, b);
    if (std::isinf(result) && std::isfinite(a) && std::isfinite(b))
        raise(Exc::OverflowError, "(34, 'Numerical result out of range')");
    return Var::real(result);
}

Var joinedSequences(const Var &left, const Var &right)
{
    std::vector<Var> items = left.sequence().items;
    items.insert(items.end(), right.sequence().items.begin(), right.sequence().items.end());
    return left.isList() ? makeList(std::move(items)) : makeTuple(std::move(items));
}

Var added(const Var &left, const Var &right)
{
    if (left.isString()) {
        if (!right.isString())
            raise(Exc::TypeError, "can only concatenate str (not \"" + typeName(right) + "\") to str");
        if (left.isMarkup() != right.isMarkup())
            return left.isMarkup() ? concatenated(left, escaped(right)) : concatenated(escaped(left), right);
        return concatenated(left, right);
    }
    if (left.isSequence()) {
        if (left.kind() != right.kind())
            raise(Exc::TypeError, "can only concatenate " + typeName(left) + " (not \"" + typeName(right) + "\") to " + typeName(left));
        return joinedSequences(left, right);
    }
    unsupported(Operation::Add, left, right);
}

Var multiplied(const Var &left, const Var &right)
{
    const bool leftRepeats = left.isString() || left.isSequence(), rightRepeats = right.isString() || right.isSequence();
    if (!leftRepeats && !rightRepeats)
        unsupported(Operation::Multiply, left, right);
    const Var &value = leftRepeats ? left : right, &times = leftRepeats ? right : left;
    if (times.kind() == Kind::BigInt)
        raise(Exc::OverflowError, "cannot fit 'int' into an index-sized integer");
    if (!times.isIntegral())
        raise(Exc::TypeError, "can't multiply sequence by non-int of type '" + typeName(times) + "'");
    return repeated(value, times.asInt());
}

bool equalSequences(const Sequence &left, const Sequence &right)
{
    const Nesting nesting;
    return left.items.size() == right.items.size() && std::equal(left.items.begin(), left.items.end(), right.items.begin(), equal);
}

bool equalDicts(const Dict &left, const Dict &right)
{
    const Nesting nesting;
    return left.entries.size() == right.entries.size()
           && std::all_of(left.entries.begin(), left.entries.end(), [&right](const Dict::Entry &entry) {
                  const Var *const other = right.find(entry.key);
                  return other && equal(entry.value, *other);
              });
}

bool holds(Comparison comparison, int sign)
{
    switch (comparison) {
    case Comparison::Less: return sign < 0;
    case Comparison::LessEqual: return sign <= 0;
    case Comparison::Greater: return sign > 0;
    default: return sign >= 0;
    }
}

bool orderedSequences(Comparison comparison, const Var &left, const Var &right)
{
    const Nesting nesting;
    const auto &a = left.sequence().items, &b = right.sequence().items;
    for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
        if (!equal(a[i], b[i]))
            return ordered(comparison, a[i], b[i]);
    }
    return holds(comparison, a.size() < b.size() ? -1 : a.size() > b.size());
}

void appendRepr(std::string &out, const Var &value)
{
    const auto items = [&out](const std::vector<Var> &all) {
        for (std::size_t i = 0; i < all.size(); ++i) {
            if (i > 0)
                out += ", ";
            appendRepr(out, all[i]);
        }
    };
    switch (value.kind()) {
    case Kind::String:
        out += value.isMarkup() ? "Markup(" + pythonRepr(value.view()) + ")" : pythonRepr(value.view());
        return;
    case Kind::List: {
        const Nesting nesting;
        out += '[';
        items(value.sequence().items);
        out += ']';
        return;
    }
    case Kind::Tuple: {
        const Nesting nesting;
        out += '(';
        items(value.sequence().items);
        out += value.sequence().items.size() == 1 ? ",)" : ")";
        return;
    }
    case Kind::Dict: {
        const Nesting nesting;
        out += '{';
        bool first = true;
        for (const Dict::Entry &entry : value.dict().entries) {
            if (!first)
                out += ", ";
            first = false;
            appendRepr(out, entry.key);
            out += ": ";
            appendRepr(out, entry.value);
        }
        out += '}';
        return;
    }
    case Kind::Undefined: out += "Undefined"; return;
    case Kind::Object: out += value.object().repr(); return;
    default: out += toText(value).view();
    }
}

} // namespace

Nesting::Nesting()
{
    if (depth >= maxDepth)
        raise(Exc::RecursionError, "recursion limit: values nested more than " + std::to_string(maxDepth) + " levels deep");
    ++depth;
}

Nesting::~Nesting()
{
    --depth;
}

std::string typeName(const Var &value)
{
    switch (value.kind()) {
    case Kind::Missing:
    case Kind::None: return "NoneType";
    case Kind::Bool: return "bool";
    case Kind::Int:
    case Kind::BigInt: return "int";
    case Kind::Float: return "float";
    case Kind::Undefined: return "Undefined";
    case Kind::String: return value.isMarkup() ? "Markup" : "str";
    case Kind::List: return "list";
    case Kind::Tuple: return "tuple";
    case Kind::Dict: return "dict";
    case Kind::Object: return std::string(value.object().typeName());
    }
    return {};
}

std::string ownerName(const Var &value)
{
    if (value.isNone())
        return "None";
    if (value.isString() && value.isMarkup())
        return "markupsafe.Markup object";
    return (value.isObject() ? value.object().qualifiedName() : typeName(value)) + " object";
}

std::string undefinedMessage(const UndefinedObject &undefined)
{
    if (!undefined.hint.empty())
        return undefined.hint;
    if (undefined.owner.empty())
        return repr(undefined.name) + " is undefined";
    if (!undefined.name.isString())
        return undefined.owner + " has no element " + repr(undefined.name);
    return pythonRepr(undefined.owner) + " has no attribute " + repr(undefined.name);
}

void raiseUndefined(const Var &undefined)
{
    raise(undefined.undefined().unsafe ? Exc::SecurityError : Exc::UndefinedError, undefinedMessage(undefined.undefined()));
}

bool truth(const Var &value)
{
    switch (value.kind()) {
    case Kind::Missing:
    case Kind::Undefined:
    case Kind::None: return false;
    case Kind::Bool: return value.asBool();
    case Kind::Int: return value.asInt() != 0;
    case Kind::Float: return value.asFloat() != 0;
    case Kind::BigInt: return true;
    case Kind::String: return !value.view().empty();
    case Kind::List:
    case Kind::Tuple: return !value.sequence().items.empty();
    case Kind::Dict: return !value.dict().entries.empty();
    case Kind::Object: return value.object().truth();
    }
    return false;
}

bool equal(const Var &left, const Var &right)
{
    if (left.isString() && right.isString())
        return left.view() == right.view();
    if (isNumber(left) && isNumber(right)) {
        bool unordered = false;
        return compareNumbers(left, right, unordered) == 0 && !unordered;
    }
    if (left.kind() != right.kind())
        return false;
    switch (left.kind()) {
    case Kind::List:
    case Kind::Tuple: return left.heapObject() == right.heapObject() || equalSequences(left.sequence(), right.sequence());
    case Kind::Dict: return left.heapObject() == right.heapObject() || equalDicts(left.dict(), right.dict());
    case Kind::Object: return left.object().equals(right.object());
    default: return true; // None, Undefined
    }
}

bool ordered(Comparison comparison, const Var &left, const Var &right)
{
    if (isNumber(left) && isNumber(right)) {
        bool unordered = false;
        const int sign = compareNumbers(left, right, unordered);
        return !unordered && holds(comparison, sign);
    }
    if (left.isString() && right.isString())
        return holds(comparison, left.view().compare(right.view())); // bytes order as code points do
    if (left.isSequence() && left.kind() == right.kind())
        return orderedSequences(comparison, left, right);
    if (left.isUndefined())
        raiseUndefined(left);
    if (right.isUndefined())
        raiseUndefined(right);
    constexpr std::string_view signs[] = {"==", "!=", "<", "<=", ">", ">="};
    raise(Exc::TypeError, "'" + std::string(signs[static_cast<std::size_t>(comparison)]) + "' not supported between instances of '"
                              + typeName(left) + "' and '" + typeName(right) + "'");
}

std::string floatRepr(double value)
{
    if (std::isnan(value))
        return "nan";
    if (std::isinf(value))
        return value < 0 ? "-inf" : "inf";
    char digits[64];
    const auto [end, error] = std::to_chars(digits, digits + sizeof digits, value, std::chars_format::scientific);
    const std::string_view text(digits, static_cast<std::size_t>(end - digits));
    const std::size_t e = text.find('e');
    int exponent = 0;
    std::from_chars(text.data() + e + (text[e + 1] == '+' ? 2 : 1), end, exponent);
    if (exponent >= -4 && exponent < 16) {
        const auto fixed = std::to_chars(digits, digits + sizeof digits, value, std::chars_format::fixed);
        std::string out(digits, fixed.ptr);
        return out.find('.') == std::string::npos ? out + ".0" : out;
    }
    return std::string(text); // 1e+16, 1e-05: as Python writes it
}

double overflowed(std::string_view digits)
{
    const bool negative = digits.starts_with('-');
    const std::size_t exponent = digits.find_first_of("eE");
    const bool small = exponent != std::string_view::npos ? digits.substr(exponent + 1, 1) == "-" : digits.substr(negative).starts_with("0.");
    const double magnitude = small ? 0.0 : std::numeric_limits<double>::infinity();
    return negative ? -magnitude : magnitude;
}

std::string repr(const Var &value)
{
    std::string out;
    appendRepr(out, value);
    return out;
}

Var toText(const Var &value)
{
    const auto derived = [&value](std::string text) {
        Var made = makeText(std::move(text));
        if (value.source() != 0) {
            const auto size = static_cast<std::uint32_t>(made.view().size());
            return makeText(std::string(made.view()), {{size, value.source(), 0, 0, false}});
        }
        return made;
    };
    switch (value.kind()) {
    case Kind::String: return Var(value).withMarkup(false);
    case Kind::Missing:
    case Kind::Undefined: return makeText({});
    case Kind::None: return derived("None");
    case Kind::Bool: return derived(value.asBool() ? "True" : "False");
    case Kind::Int: return derived(std::to_string(value.asInt()));
    case Kind::BigInt: return derived(std::string(value.view()));
    case Kind::Float: return derived(floatRepr(value.asFloat()));
    default: return derived(repr(value));
    }
}

std::int64_t toIndex(const Var &value, std::string_view complaint)
{
    if (value.isIntegral())
        return value.asInt();
    if (value.isUndefined())
        raiseUndefined(value);
    raise(Exc::TypeError, std::string(complaint));
}

Var repeated(const Var &value, std::int64_t times)
{
    const std::uint64_t count = times > 0 ? static_cast<std::uint64_t>(times) : 0;
    const Ledger *const ledger = Ledger::current();
    const std::uint64_t limit = ledger ? ledger->limit : UINT32_MAX;
    const auto check = [&](std::uint64_t size) {
        if (size != 0 && count > limit / size)
            raise(Exc::Limit, "memory limit: repeating " + std::to_string(size) + " bytes " + std::to_string(count)
                                  + " times is more than " + std::to_string(limit) + " bytes");
    };
    if (value.isString()) {
        check(value.view().size());
        TextBuilder builder;
        for (std::uint64_t i = 0; i < count && !value.view().empty(); ++i)
            builder.append(value);
        return builder.build(value.isMarkup());
    }
    const auto &items = value.sequence().items;
    check(items.size() * sizeof(Var));
    std::vector<Var> all;
    all.reserve(items.size() * count);
    for (std::uint64_t i = 0; i < count && !items.empty(); ++i)
        all.insert(all.end(), items.begin(), items.end());
    return value.isList() ? makeList(std::move(all)) : makeTuple(std::move(all));
}

Var calculate(Operation operation, const Var &left, const Var &right)
{
    if (operation == Operation::Modulo && left.isString())
        return percentFormat(left, right);
    if (left.isUndefined())
        raiseUndefined(left);
    if (right.isUndefined())
        raiseUndefined(right);
    if (isNumber(left) && isNumber(right)) {
        if (left.isIntegral() && right.isIntegral())
            return integerResult(operation, left.asInt(), right.asInt());
        if (!left.isFloat() && !right.isFloat())
            beyond64Bits();
        return floatResult(operation, toDouble(left), toDouble(right));
    }
    switch (operation) {
    case Operation::Add: return added(left, right);
    case Operation::Multiply: return multiplied(left, right);
    default: unsupported(operation, left, right);
    }
}

Var negated(const Var &value)
{
    if (value.isIntegral())
        return integerResult(Operation::Subtract, 0, value.asInt());
    if (value.isFloat())
        return Var::real(-value.asFloat());
    if (value.isUndefined())
        raiseUndefined(value);
    if (value.kind() == Kind::BigInt)
        beyond64Bits();
    raise(Exc::TypeError, "bad operand type for unary -: '" + typeName(value) + "'");
}

Var positive(const Var &value)
{
    if (value.isIntegral())
        return Var::integer(value.asInt());
    if (value.isFloat() || value.kind() == Kind::BigInt)
        return value;
    if (value.isUndefined())
        raiseUndefined(value);
    raise(Exc::TypeError, "bad operand type for unary +: '" + typeName(value) + "'");
}

} // namespace prosector::jinja
