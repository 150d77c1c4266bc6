// SPDX-License-Identifier: GPL-3.0-or-later
// Expressions.
#include "models/templates/access.h"
#include "models/templates/filters.h"
#include "models/templates/methods.h"
#include "models/templates/operators.h"
#include "models/templates/pystring.h"
#include "models/templates/renderer.h"
#include "models/templates/tests.h"

namespace prosector::jinja {

Var Renderer::evaluate(const Expr &expr)
{
    const Depth depth(*this);
    step();
    m_site = expr.site;
    ++m_hits[expr.site];
    switch (expr.kind) {
    case Expr::Kind::Const:
    case Expr::Kind::Text: return static_cast<const ConstExpr &>(expr).value;
    case Expr::Kind::Name: return evaluateName(static_cast<const NameExpr &>(expr));
    case Expr::Kind::Attribute: return evaluateAttribute(static_cast<const AttributeExpr &>(expr));
    case Expr::Kind::Item: return evaluateItem(static_cast<const ItemExpr &>(expr));
    case Expr::Kind::Call: return evaluateCall(static_cast<const CallExpr &>(expr));
    case Expr::Kind::Filter: return evaluateFilter(static_cast<const FilterExpr &>(expr));
    case Expr::Kind::Test: return evaluateTest(static_cast<const TestExpr &>(expr));
    case Expr::Kind::Unary: return evaluateUnary(static_cast<const UnaryExpr &>(expr));
    case Expr::Kind::Binary: return evaluateBinary(static_cast<const BinaryExpr &>(expr));
    case Expr::Kind::And: {
        const auto &node = static_cast<const BinaryExpr &>(expr);
        Var left = evaluate(*node.left);
        return truth(left) ? evaluate(*node.right) : left;
    }
    case Expr::Kind::Or: {
        const auto &node = static_cast<const BinaryExpr &>(expr);
        Var left = evaluate(*node.left);
        return truth(left) ? left : evaluate(*node.right);
    }
    case Expr::Kind::Compare: return evaluateCompare(static_cast<const CompareExpr &>(expr));
    case Expr::Kind::Concat: return evaluateConcat(static_cast<const ListExpr &>(expr));
    case Expr::Kind::Condition: return evaluateCondition(static_cast<const ConditionExpr &>(expr));
    case Expr::Kind::Tuple:
    case Expr::Kind::List: return evaluateList(static_cast<const ListExpr &>(expr));
    case Expr::Kind::Dict: return evaluateDict(static_cast<const DictExpr &>(expr));
    case Expr::Kind::Slice:
    case Expr::Kind::NamespaceMember: break; // never stand alone
    }
    return Var::none();
}

Var Renderer::evaluateName(const NameExpr &node)
{
    const Var &value = slot(node.slot);
    return value.isMissing() ? undefinedVariable(makeText(node.name)) : value;
}

Var Renderer::memberOf(const AttributeExpr &node, const Var &object)
{
    if (object.isDict() && !node.methods[methodTable(object)] && !node.name.starts_with('_')) {
        if (const Var *const found = object.dict().find(node.key.view()))
            return *found;
        return undefinedMember(object, node.key);
    }
    return getAttribute(*this, object, node.key);
}

Var Renderer::evaluateAttribute(const AttributeExpr &node)
{
    const Var object = evaluate(*node.object);
    m_site = node.site;
    return memberOf(node, object);
}

Var Renderer::evaluateItem(const ItemExpr &node)
{
    const Var object = evaluate(*node.object);
    if (node.key->kind == Expr::Kind::Slice) {
        const auto &slice = static_cast<const SliceExpr &>(*node.key);
        ++m_hits[slice.site];
        const auto bound = [this](const ExprPtr &part) { return part ? evaluate(*part) : Var(); };
        const Var start = bound(slice.start), stop = bound(slice.stop), step = bound(slice.step);
        m_site = node.site;
        return getSlice(object, start, stop, step);
    }
    const Var key = evaluate(*node.key);
    m_site = node.site;
    return getItem(*this, object, key);
}

Arguments Renderer::evaluateArguments(const CallArguments &node)
{
    Arguments made;
    made.positional.reserve(node.positional.size());
    for (const ExprPtr &argument : node.positional)
        made.positional.push_back(evaluate(*argument));
    for (const CallArguments::Named &argument : node.named)
        made.named.push_back({argument.name, evaluate(*argument.value)});
    if (node.spread) {
        const Var values = evaluate(*node.spread);
        if (!isIterable(values))
            raise(Exc::TypeError, "Value after * must be an iterable, not " + typeName(values));
        for (Var &value : itemsOf(*this, values))
            made.positional.push_back(std::move(value));
    }
    if (node.spreadNamed) {
        const Var values = evaluate(*node.spreadNamed);
        if (!values.isDict())
            raise(Exc::TypeError, "jinja2.sandbox.SandboxedEnvironment.call() argument after ** must be a mapping, not " + typeName(values));
        for (const Dict::Entry &entry : values.dict().entries) {
            if (!entry.key.isString())
                raise(Exc::TypeError, "keywords must be strings");
            if (made.find(entry.key.view()))
                raise(Exc::TypeError, "got multiple values for keyword argument " + repr(entry.key));
            made.named.push_back({std::string(entry.key.view()), entry.value});
        }
    }
    return made;
}

Var Renderer::evaluateCall(const CallExpr &node, const Var *caller)
{
    Var object, callee;
    const MethodRow *method = nullptr;
    if (node.callee->kind == Expr::Kind::Attribute) {
        // A method of a string, list or dict is run at once instead of being bound first.
        const auto &member = static_cast<const AttributeExpr &>(*node.callee);
        object = evaluate(*member.object);
        step();
        m_site = member.site;
        ++m_hits[member.site];
        const std::size_t table = methodTable(object);
        if (table < member.methods.size() && member.methods[table] && !member.methods[table]->mutates)
            method = member.methods[table];
        else
            callee = memberOf(member, object);
    } else {
        callee = evaluate(*node.callee);
    }
    Arguments arguments = evaluateArguments(node.arguments);
    if (caller) {
        if (arguments.find("caller"))
            raise(Exc::TypeError, "got multiple values for keyword argument 'caller'");
        arguments.named.push_back({"caller", *caller});
    }
    m_site = node.site;
    return method ? method->run(*this, object, arguments) : call(callee, arguments);
}

Var Renderer::evaluateFilter(const FilterExpr &node, const Var *block)
{
    if (!node.row)
        raise(Exc::TemplateRuntimeError, "No filter named " + pythonRepr(node.name) + " found.");
    const Var input = node.input ? (block && node.input->kind == Expr::Kind::Filter
                                        ? evaluateFilter(static_cast<const FilterExpr &>(*node.input), block)
                                        : evaluate(*node.input))
                      : block ? *block
                              : Var::none();
    if (block)
        ++m_hits[node.site];
    Arguments arguments = evaluateArguments(node.arguments);
    m_site = node.site;
    return node.row->run(*this, input, arguments);
}

Var Renderer::evaluateTest(const TestExpr &node)
{
    if (!node.row)
        raise(Exc::TemplateRuntimeError, "No test named " + pythonRepr(node.name) + " found.");
    const Var input = evaluate(*node.input);
    Arguments arguments = evaluateArguments(node.arguments);
    m_site = node.site;
    return Var::boolean(node.row->run(*this, input, arguments));
}

Var Renderer::evaluateUnary(const UnaryExpr &node)
{
    const Var operand = evaluate(*node.operand);
    m_site = node.site;
    switch (node.operation) {
    case Operation::Not: return Var::boolean(!truth(operand));
    case Operation::Negate: return negated(operand);
    default: return positive(operand);
    }
}

Var Renderer::evaluateBinary(const BinaryExpr &node)
{
    const Var left = evaluate(*node.left);
    const Var right = evaluate(*node.right);
    m_site = node.site;
    return calculate(node.operation, left, right);
}

Var Renderer::evaluateCompare(const CompareExpr &node)
{
    Var left = evaluate(*node.left);
    bool result = true;
    for (const CompareExpr::Operand &operand : node.operands) {
        Var right = evaluate(*operand.right);
        m_site = node.site;
        switch (operand.comparison) {
        case Comparison::Equal: result = equal(left, right); break;
        case Comparison::NotEqual: result = !equal(left, right); break;
        case Comparison::In: result = contains(*this, right, left); break;
        case Comparison::NotIn: result = !contains(*this, right, left); break;
        default: result = ordered(operand.comparison, left, right); break;
        }
        if (!result)
            break;
        left = std::move(right);
    }
    return Var::boolean(result);
}

Var Renderer::evaluateConcat(const ListExpr &node)
{
    TextBuilder builder;
    std::vector<Var> parts;
    parts.reserve(node.items.size());
    for (const ExprPtr &item : node.items)
        parts.push_back(evaluate(*item));
    m_site = node.site;
    for (const Var &part : parts)
        builder.append(toText(part));
    return builder.build();
}

Var Renderer::evaluateCondition(const ConditionExpr &node)
{
    if (truth(evaluate(*node.test)))
        return evaluate(*node.then);
    if (node.otherwise)
        return evaluate(*node.otherwise);
    return undefinedHint("the inline if-expression evaluated to false and no else section was defined.");
}

Var Renderer::evaluateList(const ListExpr &node)
{
    std::vector<Var> items;
    items.reserve(node.items.size());
    for (const ExprPtr &item : node.items)
        items.push_back(evaluate(*item));
    return node.kind == Expr::Kind::Tuple ? makeTuple(std::move(items)) : makeList(std::move(items));
}

Var Renderer::evaluateDict(const DictExpr &node)
{
    std::vector<Dict::Entry> entries;
    entries.reserve(node.items.size());
    for (const auto &[key, value] : node.items) {
        Var name = evaluate(*key);
        entries.push_back({std::move(name), evaluate(*value)});
    }
    m_site = node.site;
    return makeDict(std::move(entries));
}

Var Renderer::callFilter(const Var &name, const Var &input, Arguments &arguments)
{
    const FilterRow *const row = name.isString() ? findFilter(name.view()) : nullptr;
    if (!row) {
        std::string message = "No filter named " + repr(name) + ".";
        if (name.isUndefined())
            message += " (" + undefinedMessage(name.undefined()) + "; did you forget to quote the callable name?)";
        raise(Exc::TemplateRuntimeError, std::move(message));
    }
    step();
    const Depth depth(*this);
    return row->run(*this, input, arguments);
}

bool Renderer::callTest(const Var &name, const Var &input, Arguments &arguments)
{
    const TestRow *const row = name.isString() ? findTest(name.view()) : nullptr;
    if (!row) {
        std::string message = "No test named " + repr(name) + ".";
        if (name.isUndefined())
            message += " (" + undefinedMessage(name.undefined()) + "; did you forget to quote the callable name?)";
        raise(Exc::TemplateRuntimeError, std::move(message));
    }
    step();
    return row->run(*this, input, arguments);
}

} // namespace prosector::jinja
